"""Memories: live lists, the search index, and replacements as readers see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from neve.domain.ids import ulid_time
from neve.domain.indexing.memory_passages import memory_passages
from neve.domain.indexing.passage import Passage, Source
from neve.domain.indexing.utterances import utterance_of, utterance_passages
from neve.domain.memories.visibility import active, status_at, visible
from neve.domain.records.memories import EmbeddingState, Memory, Scope, Status
from neve.domain.records.sessions import Event
from neve.domain.sessions.spans import holds
from neve.domain.times import parse
from neve.ports.search import Owner
from neve.ports.table import Item
from neve.store import rows
from neve.store.keys import MEMORY, SessionKeys, UserKeys
from neve.store.vectors import as_kept
from neve.usecases.work.indexing.indexed_log import LOOK_BACK, gone_from
from tests.simulation.checks.knowledge.documents import indexed_passages
from tests.simulation.checks.replay import Found, log_of, of_kind, removed_of, row, rows_of, transactions
from tests.simulation.clients.history import Did
from tests.simulation.machine.scripted import vector_of

if TYPE_CHECKING:
    from tests.simulation.run import Run

_INDEXED = ("memory", "document")
"""Kinds of rows that have passages of their own; an artifact, a document without an id, has none."""


def memories_of(run: Run, keys: UserKeys) -> list[Memory]:
    return [rows.read_memory(item) for item in rows_of(run, keys.partition, MEMORY)]


def the_live_list_is_the_rows_that_hold(run: Run) -> Found:
    """Of its session, each once, those that wait included; what passes wrote in the order of the log, in which what
    a person evolved has no place."""
    for keys in run.history.sessions():
        item = row(run, keys, "marker")
        if item is None:
            continue
        live = [one.id for one in rows.read_marker(item).live]
        gen = rows.read_head(row(run, keys, "head")).gen
        local = (m for m in memories_of(run, keys) if m.session_id == keys.session and m.scope is Scope.SESSION)
        own = {m.id: m for m in local if active(m, gen, m.valid_from or "") or _waits(m, gen)}
        if sorted(live) != sorted(own):
            yield f"{keys.log}: live {sorted(set(live) - set(own))}, active {sorted(set(own) - set(live))}, {len(live)}"
        read = [own[i].provenance for i in live if i in own and own[i].kind == "observation"]
        seqs = [origin.seq_from for origin in read if origin.seq_from is not None]
        if seqs != sorted(seqs):
            yield f"{keys.log}: the live list is in the order {seqs}"


def what_comes_back_stands_before_what_was_said_later(run: Run) -> Found:
    """What a retraction brings back, or has read again, joins its live list in front of what a person evolved later,
    unless something stands between that begins before it in the log. So does what a pass makes of what was said before
    the call that evolved something began."""
    first: dict[str, Item] = {}
    for _, new in of_kind(run, "memory"):
        first.setdefault(new["id"], new)
    for old, new in of_kind(run, "marker"):
        before = {one.id for one in rows.read_marker(old).live} if old else set()
        live = rows.read_marker(new).live
        for place, one in enumerate(live):
            if one.id not in before and one.kind == "observation":
                back = rows.read_memory(first[one.id])
                ahead = (rows.read_memory(first[other.id]) for other in reversed(live[:place]))
                if not back.supersedes:
                    since = f"mem_{ulid_time(parse(back.observed_at))}"
                    ahead = (one for one in ahead if one.provenance.seq_from or _evolved_since(one, since))
                if back.provenance.seq_from and (late := _later_ahead(back, ahead)):
                    yield f"{new['pk']}: {back.id} came behind {late.id}"


def _evolved_since(memory: Memory, since: str) -> bool:
    """``since``: begin of an id."""
    return memory.kind in ("observation", "reflection") and memory.id[: len(since)] > since


def _later_ahead(back: Memory, ahead: Iterable[Memory]) -> Memory | None:
    """``ahead``: what stands before it, the nearest first."""
    for one in (memory for memory in ahead if memory.kind != "fact"):
        if one.provenance.seq_from is None and one.observed_at > back.observed_at:
            return one
        if one.provenance.seq_from and one.provenance.seq_from <= (back.provenance.seq_from or 0):
            return None
    return None


def _waits(memory: Memory, gen: int) -> bool:
    return visible(memory.born_gen, memory.died_gen, gen) and status_at(memory, gen) is Status.INBOX


def the_index_is_the_rows(run: Run) -> Found:
    """When calm, every passage of a memory, a document and an utterance, with its vector, and nothing else."""
    for keys in run.history.users():
        wanted = {(p.item_id, p.n): p for p in _passages(run, keys)}
        stored = run.cloud.search.stored.get(Owner(keys.tenant, keys.user), {})
        found = {place: replace(one, version=1) if one.source is Source.EVENT else one for place, one in stored.items()}
        for session in run.history.sessions():
            if (session.tenant, session.user) == (keys.tenant, keys.user) and _may_lack_neighbours(run, session):
                _whatever_stands_beside(session, wanted, found)
        for place in sorted(wanted.keys() | found.keys()):
            yield from _difference(keys, place, wanted.get(place), found.get(place))


def _may_lack_neighbours(run: Run, session: SessionKeys) -> bool:
    """A session that has lost events whose time was over, where nobody says who comes to that from which side; or one
    with so much of tools between the two utterances before something new, gone again or not, and theirs, that they are
    not all read."""
    if removed_of(run, session):
        return True
    left = _left_of_log(run, session)
    said = [place for place, event in enumerate(left) if utterance_of(session.session, event) is not None]
    return any(last - first > LOOK_BACK for first, last in zip(said, [*said[4:], *[len(left)] * 4], strict=False))


def _whatever_stands_beside(session: SessionKeys, *passages: dict[tuple[str, int], Passage]) -> None:
    """What must not stand there is in ``tests/simulation/checks/knowledge/retention.py``."""
    for some in passages:
        for place, one in some.items():
            if one.session_id == session.session and one.source is Source.EVENT:
                some[place] = replace(one, neighbours=(), following_known=0)


def _difference(keys: UserKeys, place: tuple[str, int], wanted: Passage | None, found: Passage | None) -> Found:
    if wanted is None or found is None:
        yield f"{keys.partition}: {place} is {'in the index only' if found else 'not in the index'}"
    elif found != (wanted if wanted.status != Status.SUPERSEDED else replace(wanted, vector=found.vector)):
        yield f"{keys.partition}: {place} is {found}, should be {wanted}"


def _passages(run: Run, keys: UserKeys) -> Iterator[Passage]:
    yield from _memory_passages(run, keys)
    yield from indexed_passages(run, keys)
    yield from _event_passages(run, keys)


def _memory_passages(run: Run, keys: UserKeys) -> Iterator[Passage]:
    for memory in memories_of(run, keys):
        if memory.status is not Status.ARCHIVED:
            ready = memory.embedding_state is EmbeddingState.READY
            yield from (
                replace(p, vector=as_kept(vector_of(p.text)) if ready else None) for p in memory_passages(memory)
            )


def _event_passages(run: Run, keys: UserKeys) -> Iterator[Passage]:
    for session in run.history.sessions():
        if (session.tenant, session.user) == (keys.tenant, keys.user):
            uttered = (utterance_of(session.session, event) for event in _left_of_log(run, session))
            passages = utterance_passages([one for one in uttered if one is not None])
            yield from (replace(p, vector=as_kept(vector_of(p.text))) for p in passages)


def _left_of_log(run: Run, session: SessionKeys) -> list[Event]:
    """The events that an index may hold, in their order."""
    epoch = row(run, session, "epoch")
    gone = gone_from(rows.read_epoch(epoch)) if epoch else ()
    return [rows.read_event(item) for item in log_of(run, session) if not holds(gone, item["seq"])]


def a_deletion_is_noted(run: Run) -> Found:
    """Whatever takes the row of a memory or a document away says in the same transaction that its passages have to
    leave the index, for whoever finds what the outbox has given up. An erasure, which empties the index itself, does
    not, and what is there again at another path is not gone."""
    hidden: dict[str, bool] = {}
    for together in transactions(run):
        after = [one.new for one in together if one.new is not None]
        hidden |= {item["pk"]: rows.hidden(rows.read_head(item)) for item in after if item["type"] == "user"}
        told = {item["id"] for item in after if item["type"] == "leaving"}
        there = {item["id"] for item in after if item["type"] == "document" and "id" in item}
        for one in together:
            gone = one.old if one.new is None and one.old is not None and one.old["type"] in _INDEXED else {}
            if "id" in gone and gone["id"] not in told | there and not hidden.get(one.key.pk, False):
                yield f"{one.key.pk}: {gone['id']} went at {one.at_s:.1f} by {one.by}, and nothing says so"


def every_memory_is_settled(run: Run) -> Found:
    """When calm: no row is between two generations, none waits for the index."""
    for keys in run.history.users():
        head = rows.read_head(row(run, keys, "head"))
        for memory in memories_of(run, keys):
            if memory.born_gen > head.gen or (memory.died_gen is not None and memory.status is not Status.SUPERSEDED):
                yield f"{memory.id}: born {memory.born_gen}, died {memory.died_gen}, {memory.status}, now {head.gen}"
            if memory.rev_at is not None:
                yield f"{memory.id}: its rev {memory.rev} is not in the index"


def a_rev_never_goes_back(run: Run) -> Found:
    for old, new in of_kind(run, "memory"):
        if old is not None and new["rev"] < old["rev"]:
            yield f"{new['id']}: from {old['rev']} to {new['rev']}"


# --- replacements -----------------------------------------------------------------------------------


def readers_see_a_replacement_whole(run: Run) -> Found:
    """Its sources or its rows, never of both, and of neither only what was deleted, corrected or replaced once more,
    or is being erased. A retraction may leave no rows."""
    jobs = _replacements(run)
    replaced = {i for job in jobs for i in job["state"]["old"]}
    for job in jobs:
        old, new = set(job["state"]["old"]), set(job["state"]["new"])
        for did in run.history.of("list_memories", "recall"):
            if not did.ok or f"T#{did.keys.tenant}#JOB" != job["pk"]:
                continue
            seen = {memory.id for memory in (did.value.hits if did.what == "recall" else did.value)}
            if seen & old and seen & new:
                yield f"{did.who} {did.what} at {did.began_s:.1f} saw {sorted(seen & old)} and {sorted(seen & new)}"
            elif new and did.what == "list_memories" and not seen & (new | old) and not new & replaced:
                missing = sorted(i for i in old if _was_there(run, did, i))
                if missing and all(_was_there(run, did, i, holding=True) for i in new) and not _is_erased(run, did):
                    yield f"{did.who} list at {did.began_s:.1f} did not see {missing}, nor what replaced them"


def a_source_is_replaced_once(run: Run) -> Found:
    """By one replacement, which was not undone."""
    taken: set[str] = set()
    for job in _replacements(run):
        if job["status"] == "done":
            yield from (f"{i} was replaced once more" for i in job["state"]["old"] if i in taken)
            taken |= set(job["state"]["old"])


def _was_there(run: Run, did: Did, memory_id: str, *, holding: bool = False) -> bool:
    """From before the call began until after it ended: written, and not deleted. ``holding``: nor superseded."""
    key, there = did.keys.memory(memory_id), False
    for written in run.cloud.table.log:
        if written.key == key:
            if written.at_s > did.ended_s:
                break
            gone = written.new is None or (holding and written.new["status"] == Status.SUPERSEDED)
            there = not gone and (there or written.at_s < did.began_s)
    return there


def _is_erased(run: Run, did: Did) -> bool:
    """Whether an erasure of the user was under way while the call was."""
    state = "active"
    for written in run.cloud.table.log:
        if written.key == did.keys.head:
            if written.at_s >= did.began_s and state == "erasing":
                return True
            if written.at_s > did.ended_s:
                return False
            state = rows.read_head(written.new).state
    return state == "erasing"


def _replacements(run: Run) -> list[Item]:
    """The jobs of replacements, with their state decoded."""
    found: dict[str, Item] = {}
    for _, item in of_kind(run, "job"):
        if item["kind"] == "replace":
            found[item["sk"]] = {"pk": item["pk"], "status": item["status"], "state": rows.read_job(item).state}
    return list(found.values())


INVARIANTS = (
    the_live_list_is_the_rows_that_hold,
    what_comes_back_stands_before_what_was_said_later,
    the_index_is_the_rows,
    a_deletion_is_noted,
    every_memory_is_settled,
    a_rev_never_goes_back,
    readers_see_a_replacement_whole,
    a_source_is_replaced_once,
)
