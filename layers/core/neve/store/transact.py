"""One bounded optimistic transaction: read, decide, write on condition, and again when another writer won
(docs/rules/http.md#conflicts)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from neve.domain.errors import lost_to_writer
from neve.ports.errors import Conflict
from neve.ports.runtime import Clock, Ids
from neve.ports.table import Item

T = TypeVar("T")

ATTEMPTS = 50
"""The number of writers of one row that can be ahead of a caller before it is told 409. Each lost attempt means that
another writer made progress."""
ROUNDS_OF_A_MODEL = 5
"""*Chosen*: the same where each lost round has asked a language model. The message fails then, and is delivered again
later."""
FIRST_PAUSE_S, MAX_PAUSE_S = 0.002, 0.25
"""The second attempt follows at once. Before each later one lies a random part of a pause that starts here and doubles
(full jitter), so that writers who met once do not meet again."""
MAX_ROWS = 90
"""The rows of one batch: beside them a transaction checks or notes some rows of the user and the job."""
BATCH_BYTES = 2_000_000
"""*Chosen*: half of what a transaction holds (*limit*, DynamoDB): a row may be written larger than it was read."""
TOO_MANY_WRITERS = "Too many writers are changing this at the same time; try again."


class Timing(Protocol):
    """The ports that it takes to wait."""

    @property
    def clock(self) -> Clock: ...
    @property
    def ids(self) -> Ids: ...


def transact(ports: Timing, attempt: Callable[[], T], *, attempts: int = ATTEMPTS) -> T:
    """Return what ``attempt`` returns. It reads everything it decides on, writes at most once, and lets Conflict
    through; it is called again then. Raises what it raises, and 409 ``conflict`` after the last attempt."""
    rounds = Rounds(ports, attempts)
    while True:
        rounds.begin()
        try:
            return attempt()
        except Conflict:
            continue


@dataclass
class Rounds:
    """The rounds of work that is more than one read and one write: each round of its loop begins here, and there are at
    most ``most`` of them. ``begun``: how many there were."""

    ports: Timing
    most: int = ATTEMPTS
    begun: int = 0

    def begin(self) -> None:
        """Pauses before the third round and each later one. Raises 409 ``conflict`` instead of a round too many."""
        if self.begun >= self.most:
            raise lost_to_writer(TOO_MANY_WRITERS)
        if self.begun > 1:
            longest = min(FIRST_PAUSE_S * 2 ** (self.begun - 2), MAX_PAUSE_S)
            self.ports.clock.sleep(int(self.ports.ids.token()[:8], 16) / (1 << 32) * longest)
        self.begun += 1


def _of_no_size(_thing: object) -> int:
    return 0


def batches(
    things: Iterable[T], size_of: Callable[[T], int] = _of_no_size, *, most: int = MAX_ROWS, largest: int = BATCH_BYTES
) -> Iterator[list[T]]:
    """Split things into batches of at most ``most`` things, together not above ``largest`` unless one alone is.
    ``size_of``: without it they are counted alone."""
    batch: list[T] = []
    size = 0
    for thing in things:
        own = size_of(thing)
        if batch and (len(batch) == most or size + own > largest):
            yield batch
            batch, size = [], 0
        batch.append(thing)
        size += own
    if batch:
        yield batch


def item_bytes(item: Item) -> int:
    """Estimate the bytes of a row as the store counts them."""
    return sum(len(name) + len(str(value).encode()) for name, value in item.items())
