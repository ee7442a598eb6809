"""Token vectors of named memories and utterances (docs/rules/indexing.md#token-vectors)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from neve.domain.ids import event_place
from neve.domain.indexing.memory_passages import memory_passages
from neve.domain.indexing.passage import Passage
from neve.domain.indexing.utterances import utterance_of, utterance_passages
from neve.domain.records.memories import Status
from neve.domain.records.users import UserHead
from neve.ports.engines import Ports
from neve.ports.errors import Conflict, EmbeddingRetryable, EmbeddingUnavailable, StoreUnavailable
from neve.ports.models import TokenEncoder
from neve.ports.table import Check, Item, Key, Version, WriteOp
from neve.scope import UserData
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.keys import UserKeys
from neve.store.tenants.leg_health import no_leg_trouble, put_leg_trouble
from neve.store.token_vectors import TokenVectors, read_token_vectors
from neve.store.transact import transact
from neve.usecases.indexing.index_events import EmbedAgain
from neve.usecases.indexing.index_memories import NEVER_RECALLED
from neve.usecases.tenants.usage import usage_put

ITEMS = 16
"""Named by one message, and written by one transaction: with a check of each item, of the user and the usage row it
stays below 100 actions, and with ``MAX_PASSAGES`` of each item at 3.2 MB below 4 MB."""
MAX_PASSAGES = 24
"""Of one item, at most 200 KB: some 12,000 tokens. What a longer message says behind them is found and ranked by its
words and its vectors alone."""
ENCODE_BATCH_SIZE = 4
"""Texts that are encoded between two looks at the clock: a long one takes 0.15 s."""
LATE = "late"


@dataclass(frozen=True, slots=True)
class _Lacking:
    """An item without the token vectors of the text that it has now. ``passages``: at most ``MAX_PASSAGES``."""

    id: str
    row: Item
    passages: Sequence[Passage]

    @property
    def fingerprint(self) -> str:
        return self.passages[0].fingerprint


def item_key(keys: UserKeys, identifier: str) -> Key:
    """Where the row of a memory or an event is kept."""
    place = event_place(identifier)
    return keys.memory(identifier) if place is None else keys.of_session(place[0]).event(place[1])


def encode_items(
    data: UserData[Ports], ids: Sequence[str], incarnation: int | None, ends_ms: float
) -> list[str] | None:
    """Encode those of the items, at most ``ITEMS``, that lack their token vectors; the ids for which there was no time.
    ``incarnation``: of the user that they were told of; None: whoever it is now. That nothing can be encoded until
    somebody mends it is told in health, and the items are left as they are: None. Raises EmbedAgain,
    StoreUnavailable."""
    ports, keys = data.ports, data.keys
    encoder = ports.token_encoder
    if encoder is None:
        return []
    found = ports.table.get_many([keys.head, *(item_key(keys, i) for i in ids), *map(keys.tokens_of, ids)])
    head = rows.read_head(found.get(keys.head))
    try:
        still_there(head, head.incarnation if incarnation is None else incarnation)
        return _Encoding(data, head, encoder, ends_ms).run(list(_lacking(keys, head, encoder.model, ids, found)))
    except UserErased:
        return []
    except EmbeddingRetryable as error:
        raise EmbedAgain from error
    except EmbeddingUnavailable as error:
        _report_unavailable(ports, str(error))
        return None


def _lacking(
    keys: UserKeys, head: UserHead, model: str, ids: Sequence[str], found: Mapping[Key, Item]
) -> Iterator[_Lacking]:
    for identifier in ids:
        row = found.get(item_key(keys, identifier))
        passages = _passages(row, head) if row else []
        held = found.get(keys.tokens_of(identifier))
        if row and passages and not (held and read_token_vectors(held).good_for(passages[0].fingerprint, model)):
            yield _Lacking(identifier, row, passages[:MAX_PASSAGES])


def _passages(row: Item, head: UserHead) -> Sequence[Passage]:
    """Nothing for what recall would never answer with."""
    if row["type"] == "memory":
        memory = rows.read_memory(row)
        return [] if memory.status in NEVER_RECALLED or memory.status is Status.SUPERSEDED else memory_passages(memory)
    utterance = (
        utterance_of(row["session_id"], rows.read_event(row)) if row["incarnation"] == head.incarnation else None
    )
    return utterance_passages([utterance]) if utterance else []


@dataclass(frozen=True, slots=True)
class _Encoding:
    data: UserData[Ports]
    head: UserHead
    encoder: TokenEncoder
    ends_ms: float

    def run(self, lacking: Sequence[_Lacking]) -> list[str]:
        """Raises EmbeddingRetryable, EmbeddingUnavailable, UserErased. What was encoded is written in any case."""
        made: list[tuple[_Lacking, TokenVectors]] = []
        left = list(lacking)
        try:
            while left and self.data.ports.clock.monotonic_ms() < self.ends_ms:
                some = left[:ENCODE_BATCH_SIZE]
                made += zip(some, self._encoded(some), strict=True)
                left = left[ENCODE_BATCH_SIZE:]
        finally:
            if made:
                self._write(made)
        return [one.id for one in left]

    def _encoded(self, items: Sequence[_Lacking]) -> Iterator[TokenVectors]:
        texts = [passage.text for one in items for passage in one.passages]
        parts = iter(self.encoder.encode_passages(texts))
        _report_working(self.data.ports)
        for one in items:
            own = tuple(next(parts) for _ in one.passages)
            yield TokenVectors(one.id, one.fingerprint, self.encoder.model, own)

    def _write(self, made: Sequence[tuple[_Lacking, TokenVectors]]) -> None:
        """While the user is the one that the texts were read of, and each item still has its text: one that was deleted
        or changed meanwhile must not get vectors that nobody would take away again."""
        table, keys = self.data.ports.table, self.data.keys
        first: bool = True

        def attempt() -> None:
            nonlocal first
            found = table.get_many([keys.head, keys.usage, *self._rows_again(made, first)])
            head = rows.read_head(found.get(keys.head))
            still_there(head, self.head.incarnation)
            current = [(self._current(one, found, first), vectors) for one, vectors in made]
            first = False
            ops: list[WriteOp] = [rows.check_head(keys, head)]
            texts = 0
            for row, vectors in current:
                if row is None or _fingerprint(row, self.head) != vectors.fingerprint:
                    continue
                texts += len(vectors.parts)
                ops += [vectors.put(keys), Check(item_key(keys, vectors.item_id), Version(row["version"]))]
            if texts:
                ops.append(usage_put(keys, found.get(keys.usage), {"encoded_texts": texts}))
                table.write(ops)

        transact(self.data.ports, attempt)

    def _rows_again(self, made: Sequence[tuple[_Lacking, TokenVectors]], first: bool) -> list[Key]:
        return [] if first else [item_key(self.data.keys, one.id) for one, _ in made]

    def _current(self, one: _Lacking, found: Mapping[Key, Item], first: bool) -> Item | None:
        return one.row if first else found.get(item_key(self.data.keys, one.id))


def _fingerprint(row: Item, head: UserHead) -> str | None:
    passages = _passages(row, head)
    return passages[0].fingerprint if passages else None


# --- health ---------------------------------------------------------------------------------------


def _report_unavailable(ports: Ports, reason: str) -> None:
    with suppress(StoreUnavailable, Conflict):  # this process knows, and says so again in five minutes
        if ports.caches.troubles.note(LATE, "failing", reason):
            ports.table.write([put_leg_trouble(LATE, reason, ports.clock.now())])


def _report_working(ports: Ports) -> None:
    with suppress(StoreUnavailable, Conflict):
        if ports.caches.troubles.worked(LATE):
            ports.table.write([no_leg_trouble(LATE, ports.clock.now())])
