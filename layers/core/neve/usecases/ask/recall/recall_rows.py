"""Rows as recall answers with them: a memory, a document or an utterance, with its passages and the one check that lets
it be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from neve.domain.documents.paths import is_below
from neve.domain.ids import event_place, is_document_id, is_memory_id
from neve.domain.indexing.document_passages import document_passages
from neve.domain.indexing.memory_passages import memory_passages
from neve.domain.indexing.passage import Passage
from neve.domain.indexing.utterances import Utterance, utterance_of, utterance_passages
from neve.domain.memories.passages import passage_trust
from neve.domain.memories.visibility import born, status_at
from neve.domain.metadata import as_entries, of_entries
from neve.domain.records.documents import Document
from neve.domain.records.memories import Memory, Provenance, Trust
from neve.domain.records.sessions import Audience, Event, EventType
from neve.domain.records.users import UserHead
from neve.domain.validity import holds_at, was_there
from neve.ports.search import SearchFilter
from neve.ports.table import Item, Key
from neve.store import rows
from neve.store.documents import HEAD, REVISION, read_document
from neve.store.keys import UserKeys

GONE = "gone"
"""There is no such row (any more)."""
TAKEN_BACK = "taken_back"
"""Its session says so, whatever the index still holds."""
NOT_YET = "not_yet_visible"
"""It belongs to a replacement that readers do not see yet."""
FILTERED = "filtered"
"""Another status than asked for, or outside the filters: the index lags behind the row."""
UNREADABLE = "unreadable"
"""This version cannot read it: one that came behind it, or a fault, wrote it otherwise."""
NOT_READ = (AttributeError, KeyError, TypeError, ValueError)
"""The errors that reading such a row raises."""
CACHED_ROWS = 2_000
"""Rows of utterances, and of memories, that are cached: some 10 MB each. One message after the other of a conversation
finds much the same hundred."""
CACHED_CHARACTERS = 4_000
"""The longest text of a row that is cached (*chosen*): about twice a passage."""
_NEVER_ACCESSED: Item = {"last_accessed_at": None, "version": 0}
"""The fields that an answer changes in the memories that it holds, and no answer depends on: each recall would take
apart again what the last one answered with."""


@dataclass(frozen=True, slots=True)
class RecallRow:
    """A row that may be answered with. Exactly one of ``memory``, ``document`` and ``utterance`` is set; ``passages``
    is never empty."""

    passages: Sequence[Passage]
    memory: Memory | None = None
    utterance: Utterance | None = None
    document: Document | None = None
    id: str = field(init=False, repr=False, compare=False)
    fingerprint: str = field(init=False, repr=False, compare=False)
    version: int = field(init=False, repr=False, compare=False)
    """Of the first passage, and of all of them: a hundred rows are asked for it ten times each."""

    def __post_init__(self) -> None:
        first = self.passages[0]
        object.__setattr__(self, "id", first.item_id)
        object.__setattr__(self, "fingerprint", first.fingerprint)
        object.__setattr__(self, "version", first.version)

    @property
    def reworded(self) -> bool:
        """Say whether it is a memory that a person has put in other words: it says something else than what it was made
        from, as a rule the opposite."""
        return self.memory is not None and self.memory.provenance.by == "human_edit"

    @property
    def created_at(self) -> str:
        item = self.memory or self.document
        return item.created_at if item else self.passages[0].observed_at

    @property
    def written_at(self) -> str:
        """Return when the row became what it is now."""
        if self.document:
            return self.document.updated_at or self.document.created_at
        return (self.memory.rev_at or self.memory.created_at) if self.memory else self.created_at

    @property
    def provenance(self) -> Provenance:
        item = self.memory or self.document
        if item:
            return item.provenance
        passage, utterance = self.passages[0], self.utterance
        by_user = utterance is not None and utterance.role == "user"
        place = (passage.session_id, passage.seq_from, passage.seq_to)
        if by_user:
            return Provenance("user_stated", *place, trust="user")
        return Provenance("assistant", *place, trust="assistant")

    def trust_of(self, n: int) -> Trust:
        """Return whose word the ``n``-th passage is."""
        return passage_trust(self.memory, n) if self.memory else self.provenance.trusted


@dataclass(frozen=True, slots=True)
class Hidden:
    """A row that must not be shown, and why."""

    reason: str


def row_key(keys: UserKeys, identifier: str) -> Key | None:
    """Return the key of the row of a memory or an utterance; None for a document, which is two rows
    (``stages/hydrate.py``), and for an id of no known form."""
    if place := event_place(identifier):
        session, seq = place
        return keys.of_session(session).event(seq)
    return None if is_document_id(identifier) or not is_memory_id(identifier) else keys.memory(identifier)


def read_row(item: Item | None, head: UserHead, where: SearchFilter) -> RecallRow | Hidden:
    """Return the row as the generation of ``head`` sees it, or why it must not be shown. A row that cannot be read
    takes no other hit with it."""
    if item is None:
        return Hidden(GONE)
    try:
        return _read(item, head, where)
    except NOT_READ:
        return Hidden(UNREADABLE)


def _read(item: Item, head: UserHead, where: SearchFilter) -> RecallRow | Hidden:
    row: RecallRow | None
    if item["type"] == "event":
        row = _utterance_row(item, head)
    elif item["type"] in (HEAD, REVISION):
        row = document_row(read_document(item)) if "text" in item else None
    elif not born(item["born_gen"], head.gen):
        return Hidden(NOT_YET)
    elif len(item["text"]) > CACHED_CHARACTERS:
        row = _row_of_memory(item, head.gen)
    else:
        row = _cached_row_of_memory(_AsStored(item | _NEVER_ACCESSED), head.gen)
    return allowed(row, where)


def allowed(row: RecallRow | None, where: SearchFilter) -> RecallRow | Hidden:
    """Return the row, or why it must not be shown."""
    if row is None:
        return Hidden(GONE)
    waited = where.in_force_at is not None and row.memory is not None and row.memory.was is not None
    return row if allows(where, row.passages[0]) and not waited else Hidden(FILTERED)


def document_row(document: Document) -> RecallRow | None:
    """Make the row of a document that was read with its text; None for one without a passage."""
    passages = document_passages(document)
    return RecallRow(passages, document=document) if passages else None


def _row_of_memory(item: Item, gen: int) -> RecallRow | None:
    memory = rows.read_memory(item)
    passages = memory_passages(memory, status_at(memory, gen))
    return RecallRow(passages, memory=memory) if passages else None


class _AsStored:
    """A stored row that is not changed after it is read, as a key of a cache: another one of the same values is the
    same."""

    def __init__(self, item: Item) -> None:
        self.item = item

    def __hash__(self) -> int:
        return hash(self.item["sk"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _AsStored) and self.item == other.item


@lru_cache(maxsize=CACHED_ROWS)
def _cached_row_of_memory(stored: _AsStored, gen: int) -> RecallRow | None:
    """Make a memory's row, cached by all that is stored but ``_NEVER_ACCESSED``: an equal item, read now, gives the
    same row."""
    return _row_of_memory(stored.item, gen)


def _utterance_row(item: Item, head: UserHead) -> RecallRow | None:
    """Make the row of an utterance; None for an event of an earlier incarnation of the user, and for one that is no
    utterance."""
    if item["incarnation"] != head.incarnation:
        return None
    text = item["content"]
    if item.get("blocks") or len(text) > CACHED_CHARACTERS:
        return _row_of_event(item["session_id"], rows.read_event(item))
    words = _Words(item["session_id"], item["seq"], item["event_type"], text, item["created_at"], item.get("name"))
    labelled = words._replace(metadata=as_entries(item.get("metadata", {})))
    return _row_of(labelled._replace(participant=item.get("participant"), audience=item.get("audience")))


class _Words(NamedTuple):
    """All that an utterance takes from its row."""

    session: str
    seq: int
    event_type: str
    text: str
    created_at: str
    name: str | None
    metadata: tuple[str, ...] = ()
    participant: str | None = None
    audience: Audience | None = None


@lru_cache(maxsize=CACHED_ROWS)
def _row_of(words: _Words) -> RecallRow | None:
    """Make the row of an utterance from its words, cached by them: each item is read from the store again, and a
    changed one has other words."""
    kind, metadata = EventType(words.event_type), of_entries(words.metadata)
    event = Event(words.seq, kind, words.text, 0, words.created_at, name=words.name, metadata=metadata)
    event = replace(event, participant=words.participant, audience=words.audience)
    return _row_of_event(words.session, event)


def _row_of_event(session: str, event: Event) -> RecallRow | None:
    utterance = utterance_of(session, event)
    return RecallRow(utterance_passages([utterance]), utterance=utterance) if utterance else None


def allows(where: SearchFilter, passage: Passage) -> bool:
    """Say whether a passage passes the filter in everything but the exclusions, which ``usecases/ask/recall/search.py``
    tells apart by their reason."""
    return (
        (not where.sources or passage.source in where.sources)
        and (not where.statuses or passage.status in where.statuses)
        and (not where.kinds or passage.kind in where.kinds)
        and where.tier in (None, passage.tier)
        and where.category in (None, passage.category)
        and where.group in (None, passage.group)
        and set(where.tags) <= set(passage.tags)
        and set(where.metadata) <= set(passage.metadata)
        and (where.path_prefix is None or _below(passage.path, where.path_prefix))
        and where.session_id in (None, passage.session_id)
        and (where.not_session_id is None or passage.session_id != where.not_session_id)
        and (where.after is None or passage.observed_at >= where.after)
        and (where.before is None or passage.observed_at < where.before)
        and (where.holds_at is None or holds_at(passage, where.holds_at))
        and (where.in_force_at is None or _was_there(passage, where.in_force_at))
        and (not where.about or not set(where.about).isdisjoint(passage.about))
        and passage.only_in in (None, where.asked_in)
    )


def _was_there(passage: Passage, at: str) -> bool:
    return was_there(passage.created_at or passage.observed_at, passage.superseded_at, at)


def _below(path: str | None, prefix: str) -> bool:
    return path is not None and (path == prefix.rstrip("/") or is_below(path, prefix))
