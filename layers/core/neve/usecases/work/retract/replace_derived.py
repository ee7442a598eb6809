"""Replaces in one go what was made of events that are taken back; what it had replaced comes back as copies
(docs/rules/retract.md#derived)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from neve.domain.memories.fact_statements import with_room_for, with_statement, without_retracted
from neve.domain.memories.live_rows import LivePlace, live_places
from neve.domain.memories.made_of import whole_range
from neve.domain.memories.text import observed_date, time_of_day
from neve.domain.records.memories import EmbeddingState, Kind, Memory, Scope, Status
from neve.domain.retract.derived import named_by
from neve.domain.same.meaning import place_of
from neve.domain.times import iso
from neve.ports.table import WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import still_there
from neve.store.memories import memories_of
from neve.store.transact import Rounds, transact
from neve.usecases.core.memories.replace_rows import BATCH, Replacement, ReplacementBusy, SourcesReplaced, replace_rows
from neve.usecases.tell.memories.fact_place import holds, place_key
from neve.usecases.work.retract.find_derived import Weighed, by_ids, weigh
from neve.usecases.work.retract.retracting import REPLACED, Retracting

BUSY_S, BUSY_TIMES = 1.0, 5
"""How long and how often another replacement of the user is waited for: one takes a second, and words stay visible
meanwhile."""


def replace_derived(work: Retracting) -> None:
    """Replace what was made of the events, so that readers see nothing any more of it. What is to be read again is in
    the job's state by then.

    Raises OutOfTime behind one of several replacements, UserErased, ReplacementBusy, StoreUnavailable, and 409
    ``conflict`` where others change the rows each time."""
    busy, rounds = 0, Rounds(work.scope.ports)
    while not work.is_done(REPLACED):
        rounds.begin()
        seen = weigh(work)
        if seen.outcome.changed:
            _change_statements(work.scope, work.incarnation, seen)
        elif seen.retained or seen.heirs:
            _keep(work, seen)
        elif not seen.outcome.leave:
            work.note(REPLACED, **_noted(work, seen, restored=0))
        else:
            try:
                _replace(work, seen)
            except SourcesReplaced:
                pass
            except ReplacementBusy:
                busy += 1
                if busy > BUSY_TIMES:
                    raise
                work.scope.ports.clock.sleep(BUSY_S)
                work.read_again()
            else:
                if seen.outcome.more:
                    work.need_time()
                rounds = Rounds(work.scope.ports)


def _replace(work: Retracting, seen: Weighed) -> None:
    scope, now = work.scope, work.scope.ports.clock.now()
    sources = [_with_tokens_and_day(scope, source, seen) for source in seen.outcome.back]
    copies = [_copy(source, f"mem_{scope.ports.ids.ulid(now)}", iso(now)) for source in sources]
    gone = {memory.id for memory in seen.outcome.leave}
    back = {source.id: copy.id for source, copy in zip(sources, copies, strict=True) if source.id not in gone}
    done = () if seen.outcome.more else (REPLACED,)

    def beside() -> list[WriteOp]:
        noted = work.put(*done, **_noted(work, seen, restored=len(copies)))
        return [noted, *_places(scope, copies), *_held_again(scope, back)]

    wanted = Replacement(
        tuple(copies),
        seen.outcome.leave,
        f"taken back ({work.retraction.reason})",
        scope.session,
        beside,
        _order(scope, copies),
    )
    replace_rows(scope, work.incarnation, wanted)
    work.written()


def _noted(work: Retracting, seen: Weighed, *, restored: int) -> dict[str, Any]:
    """Give what the job is to say, with what was done before where it takes more than one replacement."""
    before = work.job.result
    superseded = before.get("superseded", 0) + len(seen.outcome.leave)
    result = {"superseded": superseded, "restored": before.get("restored", 0) + restored}
    again = [*work.listed("again"), *map(_place_to_read, seen.outcome.again)]
    return {"result": result, "again": again, "flipped": superseded > 0}


def _place_to_read(observation: Memory) -> list[Any]:
    return [observation.id, *whole_range(observation, observation.provenance.session_id)]


# --- statements -----------------------------------------------------------------------------------


def _change_statements(scope: SessionScope, incarnation: int, seen: Weighed) -> None:
    """Change the statements of facts that stay: what is taken back leaves their lists, in place, and what another one
    knew joins them, and what that one had replaced. Readers see a count and names. Raises UserErased."""
    own = {scope.session: seen.sessions[scope.session].retracted}

    def changed(memory: Memory) -> Memory:
        left = without_retracted(memory, own)
        for statement in with_room_for(left, seen.outcome.changed[memory.id], memory.text):
            left = with_statement(left, statement)
        inherited = (i for i in seen.outcome.inherited.get(memory.id, ()) if i not in left.supersedes)
        return replace(left, supersedes=(*left.supersedes, *inherited))

    ids = list(seen.outcome.changed)
    for start in range(0, len(ids), BATCH):
        transact(scope.ports, partial(_rewrite, scope, incarnation, ids[start : start + BATCH], changed))


def _keep(work: Retracting, seen: Weighed) -> None:
    """Erase from a fact that something else has replaced, and that was said elsewhere, too, all but what was said
    there: should what replaced it be taken back, it holds again, and so does what a fact had replaced that is erased as
    a whole. The job knows it first, because packs may hold the words as they were. Raises UserErased."""
    scope, now = work.scope, iso(work.scope.ports.clock.now())
    retained = {one.id: _with_tokens_and_day(scope, one, seen) for one in seen.retained}
    heirs = {one.id: one for one in seen.heirs}

    def changed(memory: Memory) -> Memory:
        if memory != seen.memories[memory.id]:
            return memory  # everything is looked at again
        if memory.id not in retained:
            return heirs[memory.id]
        one = replace(retained[memory.id], embedding_state=EmbeddingState.PENDING)
        return replace(one, rev=memory.rev + 1, rev_at=now, words_at=None)

    work.note(kept=sorted({*work.listed("kept"), *retained}))
    ids = [*retained, *(i for i in heirs if i not in retained)]
    for start in range(0, len(ids), BATCH):
        transact(scope.ports, partial(_rewrite, scope, work.incarnation, ids[start : start + BATCH], changed))


def _rewrite(scope: SessionScope, incarnation: int, ids: Sequence[str], change: Callable[[Memory], Memory]) -> None:
    """Rewrite some memories in one transaction. Raises Conflict, UserErased."""
    head = rows.read_head(scope.ports.table.get(scope.keys.head))
    still_there(head, incarnation)
    ops: list[WriteOp] = []
    for memory in memories_of(scope.ports.table, scope.keys, ids):
        changed = change(memory)
        if changed != memory:
            ops.append(rows.put_memory(scope.keys, changed))
    if ops:
        scope.ports.table.write([rows.check_head(scope.keys, head), *ops])


# --- copies ---------------------------------------------------------------------------------------


def _with_tokens_and_day(scope: SessionScope, memory: Memory, seen: Weighed) -> Memory:
    """Count a memory's tokens and tell its day anew, where it stands by another statement than before."""
    if memory.provenance == seen.memories[memory.id].provenance:
        return memory
    session = seen.sessions.get(memory.session_id or "")
    timezone = session.timezone if session else "UTC"
    return replace(
        memory,
        tokens=scope.count(memory.text),
        observed_date=observed_date(memory.observed_at, timezone),
        time_of_day=time_of_day(memory.observed_at, timezone),
    )


def _copy(source: Memory, identifier: str, now: str) -> Memory:
    """Copy a source as it was before it was replaced, under an id of its own: what was replaced stays so."""
    return replace(
        source,
        id=identifier,
        supersedes=named_by(source),
        status=source.status if source.status in (Status.INBOX, Status.RESOLVED) else Status.ACTIVE,
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
    """Give the copies of facts their places, so that what is said again is counted on them. Raises SourcesReplaced
    where the same has been said meanwhile: then it stands elsewhere."""
    table, keys, ops = scope.ports.table, scope.keys, list[WriteOp]()
    facts = {place_key(keys, copy.text): copy for copy in copies if copy.has_place}
    places = table.get_many(list(facts)) if facts else {}
    holders = {memory.id: memory for memory in by_ids(scope, [str(item["memory_id"]) for item in places.values()])}
    for key, copy in facts.items():
        place = places.get(key)
        holder = holders.get(str(place["memory_id"])) if place else None
        if holder is None or not holds(holder, place_of(copy.text)):
            ops.append(rows.put_place(key, copy.id, place))
        elif holder.id != copy.id:
            raise SourcesReplaced
    return ops


def _held_again(scope: SessionScope, back: Mapping[str, str]) -> list[WriteOp]:
    """Point facts at their copies: what took the place of a fact is taken back, and from the flip on the fact's copy
    has it, so that the messages and lines that say it hold again, too. ``back``: ids of copies by those of their
    sources."""
    sources = memories_of(scope.ports.table, scope.keys, back)
    facts = [one for one in sources if one.kind is Kind.FACT and one.status is Status.SUPERSEDED]
    return [rows.put_memory(scope.keys, replace(one, superseded_by=back[one.id])) for one in facts]


def _order(scope: SessionScope, copies: Sequence[Memory]) -> Mapping[str, LivePlace]:
    """Give the places of copies, and of the rows of the live lists that they join, in their conversations."""
    sessions = dict.fromkeys(m.session_id for m in copies if m.scope is Scope.SESSION and m.session_id is not None)
    markers = [scope.keys.of_session(session).marker for session in sessions]
    found = scope.ports.table.get_many(markers) if markers else {}
    live = [row.id for item in found.values() for row in rows.read_marker(item).live]
    return live_places([*copies, *by_ids(scope, live)])
