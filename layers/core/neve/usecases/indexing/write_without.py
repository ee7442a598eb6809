"""Take the words of events that are about to be removed out of the passages behind them, which carry their neighbours'
(docs/rules/sessions.md#retention)."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.indexing.utterances import utterance_passages
from neve.ports.engines import WordsPorts
from neve.scope import SessionData
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.usecases.indexing.index_events import REACH, REINDEXED_BEFORE, utterances_around
from neve.usecases.indexing.vectors.user_vectors import known_vectors, passage_texts


def write_without(data: SessionData[WordsPorts], incarnation: int, removed_to: int) -> None:
    """As if the log began behind the seq ``removed_to``: the next two utterances, with the vectors that they have. An
    index takes them, because they know as much of what is behind them as before. Of a user who was erased meanwhile
    nothing stays. Raises StoreUnavailable."""
    ports, keys = data.ports, data.keys
    around = utterances_around(ports.table, keys, incarnation, removed_to + 1, removed_to + REACH)
    left = [utterance for utterance in around if utterance.seq > removed_to]
    passages = utterance_passages(left, [utterance.seq for utterance in left[:REINDEXED_BEFORE]])
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
