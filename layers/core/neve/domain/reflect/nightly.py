"""Chooses which of a user's rows a night condenses, in which batches, and what of an answer is kept
(docs/rules/reflect.md#nightly). Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Generic, Protocol, TypeVar

from neve.domain.memories.text import cap_lines
from neve.domain.records.memories import Kind, Memory, Scope
from neve.domain.times import iso, parse
from neve.domain.tokens import Counter, estimate, trim_to
from neve.domain.validity import is_bounded
from neve.domain.zones import zone

NIGHT = time(3)
"""Local time of a tenant's night (docs/rules/reflect.md#planner)."""
MIN_ROW = 120
"""Tokens that a row may have however many there are (docs/rules/reflect.md#condensed)."""
A_MOMENT = timedelta(milliseconds=1)
"""The unit of a stored time."""


class Sized(Protocol):
    @property
    def tokens(self) -> int: ...


T = TypeVar("T", bound=Sized)


class HasText(Protocol):
    """A row that a batch came to."""

    @property
    def text(self) -> str: ...


R = TypeVar("R", bound=HasText)


@dataclass(frozen=True, slots=True)
class FittedRows(Generic[R]):
    """The rows that are kept of an answer. ``rows``: with what is stored of their texts. ``left_out``: how many rows of
    the answer are not among them as a whole; ``cut``: of those, how many are there in part."""

    rows: Sequence[tuple[R, str]]
    left_out: int
    cut: int


def last_night(now: datetime, timezone: str) -> datetime:
    """Give the latest 03:00 of a time zone that is not ahead of ``now``, in UTC. Where the clocks leave 03:00 out it is
    the moment at which they jump, where they repeat it the first one: one night a day, whatever they do."""
    zone_ = zone(timezone)
    day = now.astimezone(zone_).date()
    while True:
        night = datetime.combine(day, NIGHT, zone_).astimezone(UTC)
        if night <= now:
            return night
        day -= timedelta(days=1)


def old_enough(now: datetime, days: float) -> str:
    """Give the stored time up to which, included, a row was created that has the minimum age."""
    return iso(now - timedelta(days=days))


def is_candidate(kind: str, scope: str) -> bool:
    """Say whether rows of this kind are condensed at all, once they are old enough: what a person wrote is not
    rewritten, and what was condensed loses detail when it is condensed again."""
    return kind == Kind.OBSERVATION or (kind == Kind.REFLECTION and scope == Scope.SESSION)


def may_be_condensed(row: Memory) -> bool:
    """Say whether this row is condensed: its kind is, and no person has corrected it, for then it is their word and
    stays; nor is one that begins or ends, which what is made of it would not."""
    return is_candidate(row.kind, row.scope) and not row.corrected and not is_bounded(row)


def oldest_first(rows: Iterable[Memory]) -> list[Memory]:
    return sorted(rows, key=place_of)


def place_of(row: Memory) -> tuple[str, str]:
    """Give the place of a row in the order of a run: what a cursor holds."""
    return row.created_at, row.id


def eligible(rows: Iterable[Memory], until: str) -> list[Memory]:
    """Choose from active rows of a user the candidates that were created by ``until``, oldest first."""
    return oldest_first(row for row in rows if may_be_condensed(row) and row.created_at <= until)


def worth_a_run(rows: Sequence[Sized], least_rows: int, least_tokens: int) -> bool:
    return len(rows) >= least_rows or sum(row.tokens for row in rows) >= least_tokens


def batches_of(rows: Sequence[T], cap: int) -> list[list[T]]:
    """Pack rows greedily in the order given, at most ``cap`` tokens a batch; a row above the cap is a batch of its
    own."""
    batches: list[list[T]] = []
    left = 0
    for row in rows:
        if not batches or row.tokens > left:
            batches.append([])
            left = cap
        batches[-1].append(row)
        left -= row.tokens
    return batches


def runs_of(rows: Sequence[Memory], cap: int) -> list[list[Memory]]:
    """Give the batches of a run, by their oldest row. What repeats a tool or a page is condensed apart from what was
    said (docs/adr/0020-what-a-tool-said-is-condensed-apart.md)."""
    by_trust = [[row for row in rows if (row.provenance.trusted == "tool") is tool] for tool in (False, True)]
    batches = [batch for part in by_trust for batch in batches_of(part, cap)]
    return sorted(batches, key=lambda batch: place_of(batch[0]))


def target_of(batch: Sequence[Sized]) -> int:
    """Give the tokens that the rows of a batch may have together afterwards: half of what they have."""
    return sum(row.tokens for row in batch) // 2


def fitted_rows(rows: Sequence[R], target: int, count: Counter = estimate) -> FittedRows[R]:
    """Keep the rows of an answer that fit: each cut to its share of the target, at least ``MIN_ROW``, as long as they
    stay within the target together. The first is always kept."""
    with_text = [row for row in rows if row.text.strip()]
    cap = max(MIN_ROW, target // len(with_text)) if with_text else 0
    fitted: list[tuple[R, str]] = []
    total = 0
    for row in with_text:
        text = trim_to(cap_lines(row.text.strip()), cap, count=count)
        total += count(text)
        if fitted and total > target:
            break
        fitted.append((row, text))
    whole = sum(text == row.text.strip() for row, text in fitted)
    return FittedRows(fitted, left_out=len(with_text) - whole, cut=len(fitted) - whole)


def whole_rows(rows: Sequence[R]) -> FittedRows[R]:
    """Keep all rows of an answer whose maker fitted it already."""
    return FittedRows([(row, row.text.strip()) for row in rows if row.text.strip()], left_out=0, cut=0)


def due_again(left: Sequence[Memory], until: str, worth: Callable[[Sequence[Memory]], bool]) -> str | None:
    """Find when another run will be worth it, of what a run up to ``until`` left of a user's candidates: the creation
    of the row with which it is, behind this run's own limit. None: not before more rows come."""
    rows = oldest_first(left)
    for n in range(1, len(rows) + 1):
        if worth(rows[:n]):
            return max(rows[n - 1].created_at, iso(parse(until) + A_MOMENT))
    return None
