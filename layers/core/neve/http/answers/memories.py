"""The answers with memories that were read or written."""

from __future__ import annotations

from typing import Any

from neve import observability
from neve.domain.errors import invalid
from neve.domain.records.memories import Memory
from neve.http.calls import Answer, Call, again_at_its_rev, once, once_within
from neve.http.operations import Nothing
from neve.http.schemas.memories.imports import ImportText, ImportView
from neve.http.schemas.memories.kept import DecidedFact, FactsView
from neve.http.schemas.memories.memories import (
    ChangedView,
    CreateBody,
    CreateQuery,
    DeletedView,
    DeleteQuery,
    UpdateBody,
)
from neve.http.schemas.memories.memory_view import MemoryView
from neve.store.idempotency import StoredReply
from neve.usecases.ask.memories.list_memories import get_memory
from neve.usecases.tell.memories.create_memory import WAIT_MS, create_memory, wait_until_embedded
from neve.usecases.tell.memories.delete_memory import delete_memory, foresee_deletion
from neve.usecases.tell.memories.import_memories import TIME_LIMIT_MS, import_memories
from neve.usecases.tell.memories.store_fact import store_facts
from neve.usecases.tell.memories.stored_fact import StoredFact
from neve.usecases.tell.memories.update_memory import Reworded, reword_memory

_WRITTEN = ("stored", "superseded", "inbox")


def with_etag(call: Call[Any, Any], memory: Memory, status: int = 200) -> Answer:
    return Answer(status, MemoryView.of(memory, call.now), headers={"ETag": f'"{memory.rev}"'})


def only_its_id(body: dict[str, Any]) -> dict[str, Any]:
    """Give what is kept of an answer: a memory may be deleted before the day is over, and nothing may still have its
    text then."""
    return {"id": body["id"]}


def deleted(call: Call[DeleteQuery, Nothing]) -> Answer:
    """Answer E9 DELETE. Raises what ``delete_memory`` does."""
    user, memory_id, rev, also = call.user, call.ids["memory_id"], call.if_match, call.query.options()
    if call.query.dry_run:
        return Answer(body=DeletedView.of(foresee_deletion(user, memory_id, rev, **also), dry_run=True))
    return once(call, lambda: Answer(body=DeletedView.of(delete_memory(user, memory_id, rev, **also))))


def updated(call: Call[Nothing, UpdateBody]) -> Answer:
    """Answer E9 PATCH. Raises what ``reword_memory`` does."""
    memory_id, change = call.ids["memory_id"], call.body.command()
    return once_within(
        call,
        lambda beside: reword_memory(call.user, memory_id, change, call.if_match, beside),
        lambda made: _changed(call, made),
        again=again_at_its_rev,
    )


def _changed(call: Call[Any, Any], made: Reworded) -> Answer:
    return Answer(200, ChangedView.after(made, call.now), headers={"ETag": f'"{made.memory.rev}"'})


def created(call: Call[CreateQuery, CreateBody]) -> Answer:
    """Answer E9 POST. Raises what ``store_facts`` and ``create_memory`` do, and 422 for what only a fact has."""
    if call.body.kind == "fact":
        return _facts(call)
    if call.query.split:
        raise invalid("query.split", "is for the kind fact")
    memory = create_memory(call.user, call.body.command(), call.idempotency)
    return with_etag(call, _wait_for_vectors(call, memory), 201)


def _wait_for_vectors(call: Call[CreateQuery, CreateBody], memory: Memory) -> Memory:
    """Wait for a memory's vectors if the call asks for it: for all memories of a call together no longer than for
    one."""
    waits = call.query.wait == "embedded"
    return wait_until_embedded(call.user, memory, call.began_ms + WAIT_MS) if waits else memory


def imported(call: Call[Nothing, ImportText]) -> Answer:
    """Answer E9's import. Raises what ``import_memories`` does."""
    ends_ms = call.began_ms + TIME_LIMIT_MS
    read = call.body.read()

    def answer() -> Answer:
        report = import_memories(call.user, read.rows(), ends_ms)
        counts = {"ImportLinesDeferred": len(read.left), "LiveRowsRefused": len(report.no_room)}
        if any(counts.values()):
            observability.emit_metrics("records", {name: count for name, count in counts.items() if count})
        read.reject(report.not_taken)
        return Answer(body=ImportView.of(report, read))

    return once(call, answer)


def _facts(call: Call[CreateQuery, CreateBody]) -> Answer:
    candidates = call.body.facts(split=call.query.split)

    def shown(facts: list[StoredFact]) -> Answer:
        return _facts_answer(call, [DecidedFact.of(one) for one in facts], [one.memory for one in facts])

    def waited(facts: list[StoredFact]) -> Answer:
        rows = [_wait_for_vectors(call, one.memory) if one.memory else None for one in facts]
        return _facts_answer(call, [DecidedFact.of(one) for one in facts], rows)

    def again(stored: StoredReply) -> Answer:
        facts = DecidedFact.read(stored.body)
        rows = [_wait_for_vectors(call, get_memory(call.user, one.id)) if one.id else None for one in facts]
        return _facts_answer(call, facts, rows)

    return once_within(
        call,
        lambda beside: store_facts(call.user, candidates, via="api", beside=beside),
        shown,
        finished=waited,
        keep=DecidedFact.kept,
        again=again,
    )


def _facts_answer(call: Call[CreateQuery, CreateBody], facts: list[DecidedFact], rows: list[Memory | None]) -> Answer:
    """Answer with facts: 201 when a row was written."""
    views = [one.view(row, call.now) for one, row in zip(facts, rows, strict=True)]
    status = 201 if any(one.decision in _WRITTEN for one in facts) else 200
    if call.query.split:
        return Answer(status, FactsView(facts=views))
    [row], [view] = rows, views
    return Answer(status, view, headers={"ETag": f'"{row.rev}"'} if row else {})
