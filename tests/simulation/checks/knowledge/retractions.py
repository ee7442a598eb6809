"""What was taken back, and what was made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from neve.domain.ids import event_place
from neve.domain.memories.fact_statements import MAX_STATEMENTS, is_retracted, range_of, statements_of
from neve.domain.memories.text import fingerprint
from neve.domain.memories.visibility import active, status_at
from neve.domain.records.jobs import Job
from neve.domain.records.memories import BY_A_PERSON, Kind, Memory, Statement, Status
from neve.domain.records.sessions import Spans
from neve.domain.sessions.spans import holds, joined, without
from neve.ports.search import Owner
from neve.ports.table import Item, Key, key_of
from neve.store import rows
from neve.store.keys import DELETED_MEMORY, DOCUMENT, SUMMARY, SessionKeys, UserKeys, deleted_memory_id
from neve.usecases.core.jobs.messages.compaction import RETRACT
from neve.usecases.core.pack.what_holds import what_holds_of
from neve.usecases.work.retract.retracting import PACK as PACKED
from neve.usecases.work.retract.retracting import is_done
from tests.simulation.checks.memories import memories_of
from tests.simulation.checks.replay import (
    Found,
    before_erasure,
    first_texts,
    log_of,
    of_kind,
    row,
    rows_of,
    transactions,
)
from tests.simulation.clients.history import Did
from tests.simulation.engines.memory_table import Written

if TYPE_CHECKING:
    from tests.simulation.run import Run


def retractions_of(run: Run, keys: SessionKeys) -> list[Did]:
    """Those that were answered, and whose user was not erased since."""
    found = (did for did in run.history.of("retract") if did.ok and did.keys == keys)
    return [did for did in found if not before_erasure(run, keys, did.began_s)]


def the_lists_are_what_was_taken_back(run: Run) -> Found:
    """On all three rows of a session, what was answered; more only by calls that nobody was answered."""
    for keys in run.history.sessions():
        found = {place: row(run, keys, place) for place in ("session_head", "marker", "epoch")}
        lists = {place: _spans(item.get("retracted", ())) if item else () for place, item in found.items()}
        if len(set(lists.values())) != 1:
            yield f"{keys.log}: {lists}"
        asked = joined((did.value.from_seq, did.value.to_seq) for did in retractions_of(run, keys))
        missing = [part for span in asked for part in without(span, lists["session_head"])]
        if missing:
            yield f"{keys.log}: {missing} was answered, and is not taken back"


def a_retraction_is_done(run: Run) -> Found:
    """When calm: however long the model took no request, what is left is read again and the job says that it is
    done."""
    for item in run.cloud.table.rows.values():
        if item.get("kind") == RETRACT:
            job = rows.read_job(item)
            if job.status != "done":
                yield f"{job.id}: {job.status} with {job.result}"


def a_repeat_is_answered_the_same(run: Run) -> Found:
    """Whoever asks for the same range, for the same reason."""
    for keys in run.history.sessions():
        first: dict[object, object] = {}
        for did in retractions_of(run, keys):
            known = first.setdefault(did.given, did.value)
            if known != did.value:
                yield f"{keys.log}: {did.given} was answered {known}, then {did.value}"


def what_still_stands_holds(run: Run) -> Found:
    """When calm: a fact that a message states which nobody has taken back is there, or something that corrected it is,
    or a person corrected it or put it away, whichever of its messages it was kept by."""
    for keys in run.history.users():
        if keys in run.erased:
            continue
        stated = _Stated(run, keys)
        for statement, (first, ids) in stated.statements.items():
            if not _is_gone(run, keys, first) and not any(stated.holds(i, frozenset()) for i in ids):
                yield f"{keys.partition}: {statement} is said in {range_of(first)}, and none of {sorted(ids)} holds"


class _Stated:
    """``statements``: who ever said which fact where, and the rows that ever knew of it. ``last``: each row as it was
    last, also of those that are erased."""

    def __init__(self, run: Run, keys: UserKeys) -> None:
        self.gen = rows.read_head(row(run, keys, "head")).gen
        self.last: dict[str, Memory] = {}
        self.statements: dict[tuple[str, object], tuple[Statement, set[str]]] = {}
        deleted = rows_of(run, keys.partition, DELETED_MEMORY)
        by_people = (item for item in deleted if not str(item.get("write_id")).startswith("ret_"))
        self.put_away = {deleted_memory_id(key_of(item)) for item in by_people}
        for _, item in of_kind(run, "memory"):
            if item["pk"] == keys.partition and item["kind"] == Kind.FACT:
                fact = rows.read_memory(item)
                self.last[fact.id] = fact
                for statement in statements_of(fact) if len(fact.restatements) < MAX_STATEMENTS else ():
                    text = fingerprint(statement.text or fact.text)
                    if range_of(statement) is not None:
                        self.statements.setdefault((text, range_of(statement)), (statement, set()))[1].add(fact.id)

    def holds(self, memory_id: str, seen: frozenset[str]) -> bool:
        fact = self.last.get(memory_id)
        if fact is None or memory_id in seen:
            return False
        status, seen = status_at(fact, self.gen), seen | {memory_id}
        if memory_id in self.put_away or status is not Status.SUPERSEDED:
            return True
        named = [one.id for one in self.last.values() if memory_id in one.supersedes]
        return any(self.holds(i, seen) or self._said_by_a_person(i) for i in (*named, fact.superseded_by or ""))

    def _said_by_a_person(self, memory_id: str) -> bool:
        """What a person's correction had replaced stays replaced, also where the correction is taken back."""
        fact = self.last.get(memory_id)
        return fact is not None and fact.provenance.by in BY_A_PERSON


def _is_gone(run: Run, keys: UserKeys, statement: Statement) -> bool:
    place = range_of(statement)
    return place is None or is_retracted(statement, {place[0]: _retracted(run, keys.of_session(place[0]))})


def nothing_visible_is_about_what_is_taken_back(run: Run) -> Found:
    """When calm: no row that readers see was made of it, by its own range, by its sources, or by what a person evolved
    it from; but for what a person last wrote, where it is nothing that is deleted."""
    origins = _origins(run)
    for keys in run.history.sessions():
        spans, erased = _retracted(run, keys), _retracted(run, keys, "erased")
        gen = rows.read_head(row(run, keys, "head")).gen
        every = {m.id: m for m in memories_of(run, keys)}
        for memory in every.values():
            taken_back = _taken_back(origins.get(memory.id, memory), every, keys, spans, frozenset())
            stays = memory.corrected and not any(holds(erased, seq) for seq in taken_back)
            if active(memory, gen, memory.valid_from or "") and taken_back and not stays:
                yield f"{memory.id}: {memory.kind} of {memory.provenance}, {spans} is taken back"


def what_a_person_last_wrote_stays(run: Run) -> Found:
    """When calm: it is not superseded by a retraction, but for a deletion of what it was made of."""
    for keys in run.history.users():
        for memory in memories_of(run, keys):
            reason = str(memory.superseded_reason)
            if memory.corrected and reason in ("taken back (edited)", "taken back (branched)"):
                yield f"{memory.id}: {memory.provenance}, {reason}"


def nothing_taken_back_is_recalled(run: Run) -> Found:
    """At every moment, once the call was answered."""
    for did in run.history.of("recall"):
        if not did.ok:
            continue
        for hit in did.value.hits:
            place = event_place(hit.id)
            if place is None:
                continue
            keys = UserKeys(did.keys.tenant, did.keys.user).of_session(place[0])
            for gone in retractions_of(run, keys):
                if gone.ended_s < did.began_s and gone.value.from_seq <= place[1] <= gone.value.to_seq:
                    yield f"{did.who} at {did.began_s:.1f} was answered {hit.id}, taken back at {gone.ended_s:.1f}"


def nothing_deleted_is_stored(run: Run) -> Found:
    """When calm: no event, memory, summary, artifact, pack, export or passage holds what a deleted event said."""
    for keys in run.history.sessions():
        deleted = joined(
            (did.value.from_seq, did.value.to_seq) for did in retractions_of(run, keys) if did.given.reason == "deleted"
        )
        if not deleted:
            continue
        texts = first_texts(run, keys)
        labels = {text.split()[2] for seq, text in texts.items() if holds(deleted, seq) and len(text.split()) > 2}
        marks = re.compile("|".join(rf"{re.escape(keys.session)} {re.escape(label)}\b" for label in sorted(labels)))
        for where, text in _texts(run, keys):
            if labels and marks.search(text):
                yield f"{where}: {text[:160]}"


def a_pack_rebuilt_holds_what_is_left(run: Run) -> Found:
    """At the moment when a deletion is through with the packs that it purged: what it had read again is in each, unless
    it says nothing but what does not hold."""
    then: dict[Key, Item] = {}
    for written in run.cloud.table.log:
        if written.new is None:
            then.pop(written.key, None)
            continue
        then[written.key] = written.new
        if written.new["type"] in ("job", rows.QUEUED_JOB) and written.new["kind"] == RETRACT:
            job, before = rows.read_job(written.new), rows.read_job(written.old) if written.old else None
            if before is not None and is_done(job, PACKED) and not is_done(before, PACKED):
                for keys in run.history.sessions():
                    if keys.retraction(job.state["retraction"]) in then:
                        yield from _left_out_of_packs(then, keys, job)


def _left_out_of_packs(then: dict[Key, Item], user: SessionKeys, job: Job) -> Found:
    gen, at = rows.read_head(then.get(user.head)).gen, job.created_at
    found = (then.get(user.memory(i)) for i in job.result.get("written", ()))
    there = [
        rows.read_memory(item) for key, item in then.items() if key.pk == user.partition and item["type"] == "memory"
    ]
    written = [memory for memory in map(rows.read_memory, filter(None, found)) if active(memory, gen, at)]
    held = [memory.id for memory in what_holds_of(there, gen, at).of(written)]
    for session in job.result.get("erased", {}).get("rebuilt_packs", ()):
        keys = user.of_session(session)
        epoch = then.get(keys.epoch)
        pack = rows.read_epoch(epoch).pack if epoch else None
        stored = then.get(keys.pack(pack.pack_version)) if pack else None
        if stored is None:
            continue  # another deletion has purged it since
        manifest = rows.read_manifest(stored)
        known = {one.id for layer in (*manifest.layers.values(), manifest.left_out) for one in layer}
        if missing := sorted(set(held) - known):
            yield f"{keys.log} version {manifest.pack_version}: {missing} is left, and not in it"


def _texts(run: Run, keys: SessionKeys) -> Iterator[tuple[str, str]]:
    for item in log_of(run, keys):
        yield f"{keys.log} {item['seq']}", str(item["content"])
    for memory in memories_of(run, keys):
        yield memory.id, memory.text
    for prefix in (SUMMARY, DOCUMENT):
        for item in rows_of(run, keys.partition, prefix):
            yield item["sk"], str(item)
    for name, stored in run.cloud.objects.objects.items():
        if name.startswith(keys.packs_prefix):
            yield name, str(json.loads(stored.body)["text"])
        elif name.startswith(keys.exports_prefix):
            yield name, stored.body.decode()
    for place, passage in run.cloud.search.stored.get(Owner(keys.tenant, keys.user), {}).items():
        yield f"passage {place}", f"{passage.text} {passage.neighbours}"


def _taken_back(
    memory: Memory, every: dict[str, Memory], keys: SessionKeys, spans: Spans, seen: frozenset[str]
) -> set[int]:
    """Seqs of what it is about."""
    if memory.id in seen:
        return set()
    if memory.kind is Kind.REFLECTION:
        sources = [every[i] for i in memory.supersedes if i in every]
        return set().union(*(_taken_back(one, every, keys, spans, seen | {memory.id}) for one in sources))
    return {seq for seq in _range_of(memory, keys) if holds(spans, seq)}


def _origins(run: Run) -> dict[str, Memory]:
    """By the id of what a person evolved: what it was evolved from, as it was then, and where that was evolved, too, in
    the end. What says of itself that it was written over something is not asked."""
    found: dict[str, Memory] = {}
    for together in transactions(run):
        after = [rows.read_memory(one.new) for one in together if one.new is not None and one.new["type"] == "memory"]
        replaced = {one.superseded_by: one for one in after if one.superseded_by is not None}
        for memory in after:
            if memory.id in replaced and memory.provenance.by_hand and _is_new(memory, together):
                before = replaced[memory.id]
                found[memory.id] = found.get(before.id, before)
    return found


def _is_new(memory: Memory, together: Sequence[Written]) -> bool:
    """Whether no fact that was there says it."""
    return any(one.new is not None and one.new.get("id") == memory.id and one.old is None for one in together)


def _range_of(memory: Memory, keys: SessionKeys) -> set[int]:
    origin = memory.provenance
    if origin.session_id != keys.session or origin.seq_from is None or origin.seq_to is None:
        return set()
    own = without((origin.seq_from, origin.seq_to), origin.left_out)
    return {seq for first, last in own for seq in range(first, last + 1)}


def _retracted(run: Run, keys: SessionKeys, name: str = "retracted") -> Spans:
    item = row(run, keys, "session_head")
    return _spans(item.get(name, ())) if item else ()


def _spans(stored: object) -> Spans:
    return tuple((first, last) for first, last in stored)  # type: ignore[attr-defined]


INVARIANTS = (
    the_lists_are_what_was_taken_back,
    a_retraction_is_done,
    a_repeat_is_answered_the_same,
    nothing_visible_is_about_what_is_taken_back,
    what_a_person_last_wrote_stays,
    what_still_stands_holds,
    nothing_taken_back_is_recalled,
    nothing_deleted_is_stored,
    a_pack_rebuilt_holds_what_is_left,
)
