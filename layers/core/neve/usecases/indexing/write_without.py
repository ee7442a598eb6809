"""Take the words of events that are about to be removed out of the passages beside them, which carry their neighbours'
(docs/rules/sessions.md#retention)."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.indexing.passage import MAX_FOLLOWING, Passage
from neve.domain.indexing.utterances import utterance_passages
from neve.domain.records.sessions import Span
from neve.ports.engines import WordsPorts
from neve.ports.table import Table
from neve.scope import SessionData
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.keys import SessionKeys
from neve.usecases.indexing.index_events import REACH, REINDEXED_BEFORE, utterances_around
from neve.usecases.indexing.vectors.user_vectors import known_vectors, passage_texts


def write_without(data: SessionData[WordsPorts], incarnation: int, hole: Span) -> None:
    """As if the log ended before the ``hole`` and began behind it: the two utterances on either side, with the vectors
    that they have. An index takes them, because they know as much of what follows as before. Of a user who was erased
    meanwhile nothing stays. Raises StoreUnavailable."""
    ports, keys = data.ports, data.keys
    passages = [*_before(ports.table, keys, incarnation, hole[0]), *_behind(ports.table, keys, incarnation, hole[1])]
    if not passages:
        return
    model = ports.search.model()
    known = known_vectors(data, model, passage_texts(passages)) if model.dimensions else {}
    ports.search.upsert(keys.owner, [replace(one, vector=known.get(one.text)) for one in passages])
    try:
        still_there(rows.read_head(ports.table.get(keys.head)), incarnation)
    except UserErased:
        for identifier, version in {one.item_id: one.version for one in passages}.items():
            ports.search.trim(keys.owner, identifier, keep=0, version=version)


def _before(table: Table, keys: SessionKeys, incarnation: int, first: int) -> list[Passage]:
    """What follows them is known: nothing does any more."""
    around = utterances_around(table, keys, incarnation, first, first)
    left = [utterance for utterance in around if utterance.seq < first]
    passages = utterance_passages(left, [utterance.seq for utterance in left[-REINDEXED_BEFORE:]])
    return [replace(passage, following_known=MAX_FOLLOWING) for passage in passages]


def _behind(table: Table, keys: SessionKeys, incarnation: int, last: int) -> list[Passage]:
    around = utterances_around(table, keys, incarnation, last + 1, last + REACH)
    left = [utterance for utterance in around if utterance.seq > last]
    return utterance_passages(left, [utterance.seq for utterance in left[:REINDEXED_BEFORE]])
