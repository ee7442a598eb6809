"""What was made of events that are taken back leaves in one replacement, and what it had replaced comes back as copies
(docs/rules/retract.md#derived)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from neve.domain.errors import NeveError
from neve.domain.memories.taken_back import Consequences, consequences, unknown_sources
from neve.domain.records import EmbeddingState, Job, Kind, Memory, Retraction, Scope, Spans, Status
from neve.domain.times import iso, parse
from neve.ports import WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.memories import memories_of
from neve.store.partitions import all_rows
from neve.usecases.erase.incarnation import UserErased, still_there
from neve.usecases.memories.fact_place import holds
from neve.usecases.reflect.candidates import READ_TOGETHER
from neve.usecases.reflect.replace_rows import Replacement, ReplacementBusy, SourcesReplaced, replace_rows
from neve.usecases.sessions.retract_job import REPLACED, after, is_done, note, read

SKEW = timedelta(hours=1)
"""A memory's id holds the time of the worker that made it, the session's start that of whoever opened it."""
BUSY_S, BUSY_TIMES = 1.0, 5
"""How long another replacement of the user is waited for: one takes a second, and words stay visible meanwhile."""


@dataclass(frozen=True)
class _Read:
    """``touched``: ids of everything that may hold words of what is to be erased."""

    outcome: Consequences
    touched: frozenset[str]


def replace_taken_back(scope: SessionScope, incarnation: int, retraction: Retraction, job_id: str) -> Job:
    """The job once readers see nothing any more of what was made of the events. ``state.again`` holds what is to be
    read again, as id, first and last seq.

    Raises UserErased, ReplacementBusy, StoreUnavailable."""
    busy = 0
    while True:
        job = read(scope, job_id)
        if is_done(job, REPLACED):
            return job
        seen = _read(scope, incarnation, retraction)
        if not seen.outcome.leave:
            return note(scope, job_id, partial(_noted, seen, retraction, restored=0))
        try:
            _replace(scope, incarnation, retraction, job_id, seen)
        except SourcesReplaced:
            continue
        except ReplacementBusy:
            busy += 1
            if busy > BUSY_TIMES:
                raise
            scope.ports.clock.sleep(BUSY_S)
        except NeveError as error:
            if error.code != "erasing":
                raise
            raise UserErased from error


def _replace(scope: SessionScope, incarnation: int, retraction: Retraction, job_id: str, seen: _Read) -> None:
    now = scope.ports.clock.now()
    copies = [_copy(source, f"mem_{scope.ports.ids.ulid(now)}", iso(now)) for source in seen.outcome.back]

    def beside() -> list[WriteOp]:
        noted = rows.put_job(scope.keys, _noted(seen, retraction, read(scope, job_id), restored=len(copies)))
        return [noted, *_places(scope, copies)]

    wanted = Replacement(
        tuple(copies),
        seen.outcome.leave,
        f"taken back ({retraction.reason})",
        scope.session,
        beside,
        _order(scope, copies),
    )
    replace_rows(scope, incarnation, wanted)


def _noted(seen: _Read, retraction: Retraction, job: Job, *, restored: int) -> Job:
    """With what was done before where it takes more than one replacement."""
    outcome = seen.outcome
    again = [[m.id, m.provenance.seq_from, m.provenance.seq_to] for m in outcome.again]
    superseded = job.result.get("superseded", 0) + len(outcome.leave)
    result = {"superseded": superseded, "restored": job.result.get("restored", 0) + restored}
    state = {"again": [*job.state.get("again", ()), *again], "flipped": superseded > 0}
    if outcome.more:
        return replace(job, status="running", state=job.state | state, result=job.result | result)
    kept = {"touched": sorted(seen.touched)} if retraction.erases else {}
    return after(job, REPLACED, result, **state, **kept)


# --- reading --------------------------------------------------------------------------------------


def _read(scope: SessionScope, incarnation: int, retraction: Retraction) -> _Read:
    """Everything that is taken back of the session is looked at, by whichever of its retractions: a job that finds
    nothing left to do does nothing. Raises UserErased."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.session_head])
    head = rows.read_head(found.get(keys.head))
    still_there(head, incarnation)
    if keys.session_head not in found:
        raise UserErased
    session = rows.read_session(found[keys.session_head])
    memories, outcome = _weighed(scope, session.started_at, session.retracted, head.gen)
    if not retraction.erases:
        return _Read(outcome, frozenset())
    return _Read(outcome, consequences(memories, scope.session, [retraction.span], head.gen).touched)


def _weighed(scope: SessionScope, started_at: str, spans: Spans, gen: int) -> tuple[Iterable[Memory], Consequences]:
    """The user's rows since the session began, and what becomes of them: none that is older was made of it, though it
    may be what such a row had replaced."""
    table, keys = scope.ports.table, scope.keys
    since = scope.ports.ids.ulid(parse(started_at) - SKEW)[:10]
    found = map(rows.read_memory, all_rows(table, keys.partition, between=keys.memories_since(since)))
    known = {memory.id: memory for memory in found}
    asked: set[str] = set()
    while True:
        outcome = consequences(known.values(), scope.session, spans, gen)
        missing = sorted(unknown_sources({i: known[i] for i in outcome.touched}) - known.keys() - asked)
        missing = missing or sorted(_said_since(scope, outcome) - known.keys() - asked)
        if not missing:
            return known.values(), outcome
        asked |= set(missing)
        known |= {memory.id: memory for memory in _by_ids(scope, missing)}


def _said_since(scope: SessionScope, outcome: Consequences) -> set[str]:
    """Ids of the facts that are in the places of those that are to come back: one that is older may have been edited
    since to say the same."""
    places = [scope.keys.fingerprint(fact.fingerprint) for fact in outcome.facts_back]
    found = scope.ports.table.get_many(places) if places else {}
    return {str(item["memory_id"]) for item in found.values()}


def _by_ids(scope: SessionScope, ids: Sequence[str]) -> Iterable[Memory]:
    for start in range(0, len(ids), READ_TOGETHER):
        yield from memories_of(scope.ports.table, scope.keys, ids[start : start + READ_TOGETHER])


# --- copies ---------------------------------------------------------------------------------------


def _copy(source: Memory, identifier: str, now: str) -> Memory:
    """As it was before it was replaced, under an id of its own: what was replaced stays so."""
    return replace(
        source,
        id=identifier,
        supersedes=(source.id,),
        status=Status.ACTIVE,
        superseded_by=None,
        superseded_at=None,
        superseded_reason=None,
        embedding_state=EmbeddingState.PENDING,
        embedding_model=None,
        embed_queued_at=None,
        born_gen=0,
        died_gen=None,
        rev=1,
        rev_at=now,
        words_at=None,
        write_id=None,
        version=0,
    )


def _places(scope: SessionScope, copies: Sequence[Memory]) -> list[WriteOp]:
    """That what is said again is counted on the copies of facts. Raises SourcesReplaced where somebody has said the
    same meanwhile: then it stands elsewhere."""
    table, keys, ops = scope.ports.table, scope.keys, list[WriteOp]()
    facts = {keys.fingerprint(copy.fingerprint): copy for copy in copies if copy.kind is Kind.FACT}
    places = table.get_many(list(facts)) if facts else {}
    holders = {memory.id: memory for memory in _by_ids(scope, [str(item["memory_id"]) for item in places.values()])}
    for key, copy in facts.items():
        place = places.get(key)
        holder = holders.get(str(place["memory_id"])) if place else None
        if holder is None or not holds(holder, copy.fingerprint):
            ops.append(rows.put_fingerprint(keys, copy, place))
        elif holder.id != copy.id:
            raise SourcesReplaced
    return ops


def _order(scope: SessionScope, copies: Sequence[Memory]) -> Mapping[str, int]:
    """Where copies and the rows of the live lists that they join stand in their conversations."""
    sessions = dict.fromkeys(m.session_id for m in copies if m.scope is Scope.SESSION and m.session_id is not None)
    markers = [scope.keys.of_session(session).marker for session in sessions]
    found = scope.ports.table.get_many(markers) if markers else {}
    live = [row.id for item in found.values() for row in rows.read_marker(item).live]
    return seqs_of([*copies, *_by_ids(scope, live)])


def seqs_of(memories: Iterable[Memory]) -> dict[str, int]:
    """Where each begins, of those that were made from a log."""
    return {m.id: m.provenance.seq_from for m in memories if m.provenance.seq_from is not None}
