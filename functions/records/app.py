"""E9: the records of a user."""

from __future__ import annotations

from neve.http.schemas.traces import TRACE_MEMORY, TraceView
from neve.usecases.trace_memory import trace_memory

from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router
from neve.http.schemas import memories as m
from neve.usecases.create_memory import create_memory, wait_until_embedded
from neve.usecases.delete_memory import delete_memory
from neve.usecases.import_memories import import_memories
from neve.usecases.list_memories import get_memory, list_memories
from neve.usecases.mark_used import mark_used
from neve.usecases.update_memory import update_memory

router = Router("records")


@router.on(m.LIST_MEMORIES)
def list_call(call: Call[m.ListQuery, Nothing]) -> Answer:
    page, cursor = list_memories(
        call.ports, call.tenant, call.user, call.query.filter(), call.query.limit, call.query.cursor
    )
    return Answer(200, m.MemoryPage(memories=[m.MemoryView.of(memory) for memory in page], next_cursor=cursor))


@router.on(m.CREATE_MEMORY)
def create_call(call: Call[m.CreateQuery, m.CreateBody]) -> Answer:
    memory = create_memory(call.ports, call.tenant, call.user, call.body.command(), call.idempotency)
    if call.query.wait == "embedded":
        memory = wait_until_embedded(call.ports, call.tenant, call.user, memory)
    return Answer(201, m.MemoryView.of(memory))


@router.on(m.GET_MEMORY)
def get_call(call: Call[Nothing, Nothing]) -> Answer:
    memory = get_memory(call.ports, call.tenant, call.user, call.ids["memory_id"])
    return Answer(200, m.MemoryView.of(memory), headers={"ETag": f'"{memory.rev}"'})


@router.on(m.UPDATE_MEMORY)
def update_call(call: Call[Nothing, m.UpdateBody]) -> Answer:
    memory = update_memory(
        call.ports, call.tenant, call.user, call.ids["memory_id"], call.body.command(), call.if_match
    )
    return Answer(200, m.MemoryView.of(memory), headers={"ETag": f'"{memory.rev}"'})


@router.on(m.DELETE_MEMORY)
def delete_call(call: Call[Nothing, Nothing]) -> Answer:
    return Answer(
        200, m.DeletedView.of(delete_memory(call.ports, call.tenant, call.user, call.ids["memory_id"], call.if_match))
    )


@router.on(m.MARK_USED)
def used_call(call: Call[Nothing, m.UsedBody]) -> Answer:
    return Answer(200, m.UsedView.of(mark_used(call.ports, call.tenant, call.user, call.body.ids)))


@router.on(m.IMPORT_MEMORIES)
def import_call(call: Call[Nothing, m.ImportText]) -> Answer:
    return Answer(200, m.ImportView.of(import_memories(call.ports, call.tenant, call.user, call.body.command())))


@router.on(TRACE_MEMORY)
def trace_call(call: Call[Nothing, Nothing]) -> Answer:
    return Answer(200, TraceView.of(trace_memory(call.ports, call.tenant, call.user, call.ids["memory_id"])))


handler = router.handle
