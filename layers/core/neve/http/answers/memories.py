"""The answers with memories that were read or written."""

from __future__ import annotations

from neve import observability
from neve.domain.records.memories import Memory
from neve.http.calls import Answer, Call, once
from neve.http.operations import Nothing
from neve.http.schemas.memories.imports import ImportText, ImportView
from neve.http.schemas.memories.kept import FactsView, fact_view
from neve.http.schemas.memories.memories import ChangedView, CreateBody, CreateQuery
from neve.http.schemas.memories.memory_view import MemoryView
from neve.scope import UserScope
from neve.usecases.memories.create_memory import create_memory, wait_until_embedded
from neve.usecases.memories.import_memories import TIME_LIMIT_MS, import_memories
from neve.usecases.memories.store_fact import store_facts
from neve.usecases.memories.update_memory import Reworded

_WRITTEN = ("stored", "superseded", "inbox")


def with_etag(memory: Memory, status: int = 200) -> Answer:
    return Answer(status, MemoryView.of(memory), headers={"ETag": f'"{memory.rev}"'})


def changed(made: Reworded) -> Answer:
    return Answer(200, ChangedView.after(made), headers={"ETag": f'"{made.memory.rev}"'})


def created(call: Call[CreateQuery, CreateBody]) -> Answer:
    """Of E9 POST. Raises what ``store_facts`` and ``create_memory`` do."""
    if call.body.kind == "fact":
        return once(call, lambda: _facts(call.user, call.query, call.body))
    memory = create_memory(call.user, call.body.command(), call.idempotency)
    return with_etag(wait_until_embedded(call.user, memory) if call.query.wait == "embedded" else memory, 201)


def imported(call: Call[Nothing, ImportText]) -> Answer:
    """Of E9's import. Raises what ``import_memories`` does."""
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


def _facts(user: UserScope, query: CreateQuery, body: CreateBody) -> Answer:
    """201 when a row was written."""
    stored = store_facts(user, body.facts(split=query.split), via="api")
    waits = query.wait == "embedded"
    rows = [wait_until_embedded(user, one.memory) if one.memory and waits else one.memory for one in stored]
    views = [fact_view(one, row) for one, row in zip(stored, rows, strict=True)]
    status = 201 if any(one.decision in _WRITTEN for one in stored) else 200
    if query.split:
        return Answer(status, FactsView(facts=views))
    [row], [view] = rows, views
    return Answer(status, view, headers={"ETag": f'"{row.rev}"'} if row else {})
