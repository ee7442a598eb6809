"""Say why one memory was not among the hits of a recall, from the ledger's row and the memory's own row, and never by
another search (docs/rules/recall.md#why-not)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from neve.domain.indexing.memory_passages import memory_passages
from neve.domain.memories.visibility import born, status_at
from neve.domain.records.memories import Memory, Status
from neve.domain.records.users import UserHead
from neve.ports.search import SearchFilter
from neve.ports.table import Item
from neve.scope import UserScope
from neve.store import rows
from neve.usecases.ask.recall.dropped import EXCLUDED
from neve.usecases.ask.recall.recall_rows import FILTERED, allows
from neve.usecases.ask.recall.record_recall import RETURNED, UNKEPT, RecallRecord, filter_of, recall_of

UNKNOWN = "unknown"
"""There is no such memory: there never was, or it is deleted."""
NOT_SEARCHED = "not_searched"
"""No leg completed: nothing can be said of any memory."""
NOT_LOOKED_FOR = "not_looked_for"
"""No leg had anything to look for: the message says nothing, or its words are in no language that is served."""
NOT_THERE_YET = "not_there_yet"
"""It was written behind the recall."""
NEVER_RECALL = "never_recall"
STATUS = "status"
VALIDITY = "validity"
OTHER_SESSION = "other_session"
"""Its session alone is told of it, and the recall was asked for in another one."""
SCOPE = "scope"
NOT_KEPT = "not_kept"
"""The ledger does not keep what would tell: values of filters that a caller wrote, and rows of before."""
NOT_FOUND = "not_found"
"""No leg had it within its depth."""

ToldBy = Literal["recall", "memory"]
_RANK = {"lexical": "rank_lex", "vector": "rank_vec"}
_SCORE = {"lexical": "bm25", "vector": "sim_raw"}


@dataclass(frozen=True, slots=True)
class LegPlace:
    """The place of the memory in one leg. ``depth``: of the leg; ``rank`` and ``score`` (BM25, cosine): None where it
    did not find it, or the ledger does not say."""

    status: str
    depth: int
    rank: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The answer. ``found``: it was a hit. ``told_by``: the ledger's row, which says what was true then, or the row of
    the memory, which says what is true now; None where neither tells. ``filter``: by which name it was filtered out, or
    may have been; ``status``: of the memory now; ``similarity``: calibrated."""

    id: str
    found: bool
    reason: str
    told_by: ToldBy | None = None
    rank: int | None = None
    score: float | None = None
    similarity: float | None = None
    status: str | None = None
    filters: tuple[str, ...] = ()
    legs: Mapping[str, LegPlace] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Explained:
    """A recall, and why a memory was not among its hits."""

    record: RecallRecord
    why_not: WhyNot


def explain_recall(scope: UserScope, recall_id: str, memory_id: str) -> Explained:
    """Read a recall and say why a memory was not among its hits, in one batch read. Raises recall_not_found,
    StoreUnavailable."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.recall(recall_id), keys.memory(memory_id)])
    head = rows.read_head(found.get(keys.head))
    record = recall_of(scope, recall_id, found)
    return Explained(record, why_not(record, memory_id, _as_known(found.get(keys.memory(memory_id)), head), head))


def _as_known(item: Item | None, head: UserHead) -> Memory | None:
    return rows.read_memory(item) if item is not None and born(item["born_gen"], head.gen) else None


def why_not(record: RecallRecord, memory_id: str, memory: Memory | None, head: UserHead) -> WhyNot:
    """Say why a memory was not among the hits: first by what the recall kept of it, else by its row. Pure."""
    status = status_at(memory, head.gen) if memory else None
    kept = next((hit for hit in record.hits if hit["id"] == memory_id), None)
    if kept is not None:
        return _by_the_recall(record, kept, memory, status)
    reason, told_by, filters = _by_the_row(record, memory, status)
    return WhyNot(memory_id, False, reason, told_by, status=status, filters=filters, legs=_legs(record, {}))


def _by_the_recall(
    record: RecallRecord, kept: Mapping[str, Any], memory: Memory | None, status: Status | None
) -> WhyNot:
    measured = kept.get("components") or kept.get("found") or {}
    filtered = kept["outcome"] == FILTERED
    refused = _refusals(record, memory, status) if filtered and memory and status else ()
    return WhyNot(
        kept["id"],
        kept["outcome"] == RETURNED,
        kept["outcome"],
        "recall",
        rank=kept.get("rank"),
        score=kept.get("score"),
        similarity=measured.get("sim_cal"),
        status=status,
        filters=refused,
        legs=_legs(record, measured),
    )


def _legs(record: RecallRecord, measured: Mapping[str, float]) -> dict[str, LegPlace]:
    """Say what each leg found. A candidate that was dropped before the ranking has a score by the leg's name, and no
    rank."""
    return {
        name: LegPlace(
            str(leg.get("status")),
            int(leg.get("depth", 0)),
            int(measured[_RANK[name]]) if _RANK[name] in measured else None,
            measured.get(_SCORE[name], measured.get(name)),
        )
        for name, leg in record.legs.items()
        if name in _RANK
    }


def _by_the_row(
    record: RecallRecord, memory: Memory | None, status: Status | None
) -> tuple[str, ToldBy | None, tuple[str, ...]]:
    """Say why a memory that is not among the candidates is not: the reason, who tells it, and by which filters."""
    if memory is None or status is None:
        return UNKNOWN, "memory", ()
    states = {leg.get("status") for leg in record.legs.values()}
    if "complete" not in states:
        return (NOT_SEARCHED if "error" in states or not states or record.degraded else NOT_LOOKED_FOR), "recall", ()
    if memory.created_at > record.at:
        return NOT_THERE_YET, "memory", ()
    if refused := _refusals(record, memory, status):
        return (refused[0] if refused[0] in _BY_ITSELF else FILTERED), "memory", refused
    if record.filters is None:
        return NOT_KEPT, None, ()
    if unkept := tuple(record.filters.get(UNKEPT, ())):
        return NOT_KEPT, None, unkept
    return NOT_FOUND, "recall", ()


_BY_ITSELF = (NEVER_RECALL, STATUS, VALIDITY, OTHER_SESSION, SCOPE, EXCLUDED)
_NAMES = {"statuses": STATUS, "holds_at": VALIDITY, "in_force_at": VALIDITY, "asked_in": OTHER_SESSION, "kinds": "kind"}
_NAMES |= {"session_id": SCOPE, "not_session_id": SCOPE}
"""The names by which an answer calls parts of a search's filter, where they are not their own."""


def _refusals(record: RecallRecord, memory: Memory, status: Status) -> tuple[str, ...]:
    """Name what would not let pass the memory's row, as it is now: each part of the search's filter by itself. What was
    superseded behind the recall was active then, unless it says what it was."""
    if status is Status.SUPERSEDED and (memory.superseded_at or "") > record.at:
        status = memory.was or Status.ACTIVE
    [passage, *_] = memory_passages(replace(memory, never_recall=False), status)
    where = filter_of(record)
    refused = [NEVER_RECALL] if memory.never_recall else []
    for part in fields(SearchFilter):
        alone = replace(_ANYTHING, asked_in=passage.only_in)
        if not allows(replace(alone, **{part.name: getattr(where, part.name)}), passage):
            refused.append(_NAMES.get(part.name, part.name))
    if memory.id in where.exclude_ids:
        refused.append(EXCLUDED)
    return tuple(dict.fromkeys(refused))


_ANYTHING = SearchFilter(statuses=())
