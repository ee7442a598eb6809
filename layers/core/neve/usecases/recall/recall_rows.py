"""Rows as recall answers with them: a memory or an utterance, with its passages and the one check that lets it be
seen."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.memories.visibility import status_at
from neve.domain.records import Memory, Provenance, UserHead
from neve.ports import Item, Key, Passage, SearchFilter
from neve.store import rows
from neve.store.keys import UserKeys
from neve.usecases.indexing.memory_passages import memory_passages
from neve.usecases.indexing.utterances import Utterance, event_place, utterance_of, utterance_passages
from neve.usecases.recall.filter import allows

GONE = "gone"
"""There is no such row (any more)."""
NOT_YET = "not_yet_visible"
"""It belongs to a replacement that readers do not see yet."""
FILTERED = "filtered"
"""Another status than asked for, or outside the filters: the index lags behind the row."""


@dataclass(frozen=True, slots=True)
class RecallRow:
    """Exactly one of ``memory`` and ``utterance`` is set; ``passages`` is never empty."""

    passages: list[Passage]
    memory: Memory | None = None
    utterance: Utterance | None = None

    @property
    def id(self) -> str:
        return self.passages[0].item_id

    @property
    def fingerprint(self) -> str:
        return self.passages[0].fingerprint

    @property
    def version(self) -> int:
        return self.passages[0].version

    @property
    def created_at(self) -> str:
        return self.memory.created_at if self.memory else self.passages[0].observed_at

    @property
    def written_at(self) -> str:
        """When it became what it is now."""
        return (self.memory.rev_at or self.memory.created_at) if self.memory else self.created_at

    @property
    def provenance(self) -> Provenance:
        if self.memory:
            return self.memory.provenance
        passage, said = self.passages[0], self.utterance
        by_user = said is not None and said.role == "user"
        return Provenance(
            "user_stated" if by_user else "assistant", passage.session_id, passage.seq_from, passage.seq_to
        )


@dataclass(frozen=True, slots=True)
class Hidden:
    """A row that must not be shown, and why."""

    reason: str


def row_key(keys: UserKeys, identifier: str) -> Key | None:
    """Where the row of a hit is kept; None for an id of no known form."""
    if place := event_place(identifier):
        session, seq = place
        return keys.of_session(session).event(seq)
    return keys.memory(identifier) if identifier.startswith("mem_") else None


def read_row(item: Item | None, head: UserHead, where: SearchFilter) -> RecallRow | Hidden:
    """The row as the generation of ``head`` sees it, or why it must not be shown."""
    if item is None:
        return Hidden(GONE)
    if item["type"] == "event":
        row = _utterance_row(item, head)
    elif item["born_gen"] > head.gen:
        return Hidden(NOT_YET)
    else:
        memory = rows.read_memory(item)
        row = RecallRow(memory_passages(memory, status_at(memory, head.gen)), memory=memory)
    if row is None or not row.passages:
        return Hidden(GONE)
    return row if allows(where, row.passages[0]) else Hidden(FILTERED)


def _utterance_row(item: Item, head: UserHead) -> RecallRow | None:
    """None for what an earlier incarnation of the user said, and for an event that nobody uttered."""
    if item["incarnation"] != head.incarnation:
        return None
    said = utterance_of(item["session_id"], rows.read_event(item))
    return RecallRow(utterance_passages([said]), utterance=said) if said else None
