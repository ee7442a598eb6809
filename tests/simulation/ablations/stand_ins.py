"""What stands in the place of safeguards that belong to no one flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest import mock

from neve import worker
from neve.domain.memories import fact_statements
from neve.domain.memories.text import fingerprint
from neve.domain.records.documents import Document
from neve.domain.records.memories import Memory, Statement, Status
from neve.domain.records.sessions import Audience, SessionHead
from neve.domain.retract import derived
from neve.domain.same.meaning import place_of
from neve.domain.sessions.new_event import NewEvent
from neve.domain.sessions.participants import heard_by
from neve.domain.times import iso
from neve.ports.table import Delete, Expect, Expectation, Put, Version, WriteOp
from neve.store import documents as document_rows
from neve.store import pins, rows
from neve.store.documents import put_announced_text, put_document
from neve.store.keys import UserKeys
from neve.store.memories import deleted_ops
from neve.store.rows import put_retraction
from neve.store.transact import transact
from neve.usecases.ask.memories import list_memories
from neve.usecases.core.jobs import carry_on
from neve.usecases.core.jobs.finish_job import finish_job
from neve.usecases.core.jobs.messages.compaction import RETRACT
from neve.usecases.core.memories import replace_rows
from neve.usecases.tell.memories import delete_memory, fact_place, fact_writes, memory_to_change, update_memory
from neve.usecases.tell.sessions import append_events
from neve.usecases.work.compact.rebuild_packs import rebuild_packs
from neve.usecases.work.erase import erase_user
from neve.usecases.work.indexing import index_events
from neve.usecases.work.observe import extract_session
from neve.usecases.work.observe.lease import LeaseLost
from neve.usecases.work.reflect import reflect_user
from neve.usecases.work.retract import erase_retracted, run_retraction
from tests.simulation.ablations.ablation import Patch
from tests.simulation.clients import operators
from tests.simulation.machine import ports


def nothing(*_: Any, **__: Any) -> None:
    return None


class Whatever(int):
    """A version that every row has."""

    def __eq__(self, _: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class AnyVersion:
    """``neve.store.rows``, whose writes of some kinds go through whatever the row's version is by now."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __getattr__(self, name: str) -> Any:
        made = getattr(rows, name)
        return (lambda *given: blind(made(*given))) if name in self._names else made


def blind(put: Put) -> Put:
    return replace(put, expect=any_version(put.expect.n)) if isinstance(put.expect, Version) else put


def blind_head(keys: UserKeys, document: Document) -> Put:
    return blind(put_document(keys, document))


def never_due(*given: Any) -> Put:
    """A row that no sweep finds."""
    return _never_due(put_announced_text(*given), Expect.ANY)


def retraction_never_due(*given: Any) -> Put:
    put = put_retraction(*given)
    return _never_due(put, put.expect)


def _never_due(put: Put, expect: Expectation) -> Put:
    return Put({name: value for name, value in put.item.items() if not name.startswith("due_")}, expect)


def untold(*given: Any) -> list[WriteOp]:
    return [op for op in deleted_ops(*given) if isinstance(op, Delete)]


def ends_what_a_model_refuses() -> list[Patch]:
    def ends(self: Any, refusal: Any) -> None:
        finish_job(self.work.scope, self.work.job.id, RETRACT, "failed", {"reason": str(refusal)})

    return [(run_retraction._Steps, "_wait", ends)]


def none(*_: Any) -> list[Any]:
    return []


def any_version(n: int) -> Version:
    return Version(Whatever(n))


def another_id_each_time(self: Any) -> Any:
    """So that a pass does not find the one that it gave itself."""
    ports_ = self.scope.ports
    return transact(ports_, lambda: self._attempt(f"mem_{ports_.ids.ulid(ports_.clock.now())}"))


def only_the_time(marker: Any, _: int, now: Any) -> None:
    if marker.lease_until is None or marker.lease_until <= iso(now):
        raise LeaseLost


def builds_what_it_purged_at_once() -> list[Patch]:
    erase = erase_retracted.erase_retracted

    def erasing(work: Any, made: Any) -> None:
        erase(work, made)
        rebuild_packs(work.scope, work.listed("purged"), ())

    return [
        (run_retraction, "erase_retracted", erasing),
        (run_retraction, "rebuild_packs", lambda _, sessions, __: list(sessions)),
    ]


def forgets_its_try() -> list[Patch]:
    commit = append_events.Append._commit

    def forgetting(self: Any, *given: Any) -> Any:
        try:
            return commit(self, *given)
        finally:
            self.tried = None

    return [(append_events.Append, "_commit", forgetting)]


def hears_only_messages(session: SessionHead, user: str, seq: int, event: NewEvent) -> Audience | None:
    """As ``heard_by``, of the speakers alone."""
    return heard_by(session, user, seq, event) if event.participant else None


def takes_client_ids_again() -> list[Patch]:
    row = append_events.Append._client_id_row

    def anyway(self: Any, *given: Any) -> Put:
        return Put(row(self, *given).item, Expect.ANY)

    cls = append_events.Append
    return [(cls, "_known_seqs", lambda *_: {}), (cls, "_client_id_row", anyway)]


def unconditional_log() -> list[Patch]:
    return [
        (append_events, "rows", AnyVersion("put_event", "put_session")),
        (append_events, "Expect", mock.Mock(ABSENT=Expect.ANY)),
    ]


class FreePlaces(AnyVersion):
    """And whose facts take their place whoever holds it."""

    def put_place(self, *given: Any) -> Put:
        return Put(rows.put_place(*given).item, Expect.ANY)


def overwrites() -> list[Patch]:
    def put(self: Any, key: str, body: bytes, *, content_type: str) -> bool:
        self.put(key, body, content_type=content_type)
        return True

    return [(ports.SimObjects, "put_new", put)]


def keeps_the_live_list() -> list[Patch]:

    def without_session(*given: Any) -> Any:
        head, memory = memory_to_change.memory_to_change(*given)
        return head, replace(memory, session_id=None)

    return [(delete_memory, "memory_to_change", without_session)]


def changes_what_was_replaced() -> list[Patch]:
    def as_active(*given: Any) -> Any:
        head, memory = memory_to_change.memory_to_change(*given)
        return head, replace(memory, status=Status.ACTIVE) if memory.status is Status.SUPERSEDED else memory

    return [(update_memory, "memory_to_change", as_active)]


def one_look() -> list[Patch]:
    return [(index_events, "CONTEXTS", 1), (index_events, "EmbedAgain", Never)]


def notes_first() -> list[Patch]:
    cls = index_events._Vectors
    note = cls._note

    def first(self: Any, span: Any, seen: Any, written: Any) -> Any:
        log, done = note(self, span, seen, written)
        if not done:
            note(self, span, log, written)
        return log, done

    return [(cls, "_note", first)]


class Never(Exception):
    pass


def unfenced() -> list[Patch]:
    cls = replace_rows._Replacing

    def write(self: Any, ops: Any) -> None:
        self.scope.ports.table.write(ops)

    return [(cls, "_write", write)]


def flips_anyway() -> list[Patch]:
    return [*unfenced(), (replace_rows, "rows", AnyVersion("put_head"))]


def every_generation() -> list[Patch]:
    def as_it_is(memory: Any, _: int) -> Any:
        return memory.status

    return [(list_memories, "_in_view", lambda *_: True), (list_memories, "status_at", as_it_is)]


def lost_postponement() -> list[Patch]:
    """Nor does the sweep send it, which would make up for it."""
    return [(worker, "_send_again", nothing), (extract_session, "_asked", nothing)]


def no_second_look() -> list[Patch]:
    """An erasure ends with its first removal."""
    removals: list[Any] = []

    def erase(data: Any) -> Any:
        if removals:
            return None
        removals.append(data)
        return erase_user.erase_user(data)

    return [(operators, "erase_user", erase)]


def leaves_pins_behind() -> list[Patch]:
    """A document that changes its place in packs stands in both."""

    def only_puts(*given: Any) -> list[Any]:
        return [op for op in pins.pin_ops(*given) if not isinstance(op, Delete)]

    return [(document_rows, "pin_ops", only_puts)]


def counts_before_it_flips() -> list[Patch]:
    """What a batch did is written on the job before readers see it, not with it."""

    def counted_first(scope: Any, incarnation: int, wanted: Any) -> Any:
        transact(scope.ports, lambda: scope.ports.table.write(wanted.beside()))
        return replace_rows.replace_rows(scope, incarnation, replace(wanted, beside=list))

    return [(reflect_user, "replace_rows", counted_first)]


def nights_rebuild_packs() -> list[Patch]:
    def of_a_session(scope: Any, incarnation: int, wanted: Any) -> Any:
        return replace_rows.replace_rows(scope, incarnation, replace(wanted, session=wanted.old[0].session_id))

    return [(reflect_user, "replace_rows", of_a_session)]


def nobody_owns_a_night() -> list[Patch]:
    """A worker of the night that was taken for dead goes on; it is as soon as somebody looks."""
    cls = reflect_user._Batch
    committing = cls._committing

    def trusting(self: Any, *cost: Any, **counts: Any) -> Any:
        item = self.run.scope.ports.table.get(self.run.scope.keys.job(self.run.work.id))
        work = replace(self.run.work, version=item["version"] if item else 0)
        return committing(replace(self, run=replace(self.run, work=work)), *cost, **counts)

    return [(cls, "_committing", trusting), (carry_on, "LEASE_S", 0)]


def by_the_first_statement(fact: Memory, remaining: Sequence[Statement]) -> Memory | None:
    """Whatever was said later."""
    return fact if fact_statements.first_statement(fact) in remaining else None


def by_its_words_alone() -> list[Patch]:
    """The place of a statement, as it was before other words counted."""
    return [(module, "place_of", fingerprint) for module in (fact_place, fact_writes)]


def whatever_it_says_of_it() -> list[Patch]:
    """The place of a statement, whether it likes or dislikes something."""

    def place(text: str) -> str:
        return place_of(text.casefold().replace("dislikes", "likes"))

    return [(module, "place_of", place) for module in (fact_place, fact_writes)]


def by_its_own_range(self: Any, memory: Any) -> bool:
    return derived.is_touched(memory, self.session, self.spans)
