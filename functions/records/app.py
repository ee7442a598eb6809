"""E9: the records of a user."""

from __future__ import annotations

from neve import wiring
from neve.domain.records import Memory
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router, fitting, once
from neve.http.schemas.memories import memories as m
from neve.http.schemas.memories.traces import TRACE_MEMORY, TraceView
from neve.usecases.memories.create_memory import create_memory, wait_until_embedded
from neve.usecases.memories.delete_memory import delete_memory
from neve.usecases.memories.import_memories import import_memories
from neve.usecases.memories.list_memories import get_memory, list_memories
from neve.usecases.memories.mark_used import mark_used
from neve.usecases.memories.trace_memory import trace_memory
from neve.usecases.memories.update_memory import update_memory

router = Router("records", wiring.prepare())
handler = router.handle

router.on(m.GET_MEMORY)(lambda call: _memory(get_memory(call.user, call.ids["memory_id"])))
router.on(TRACE_MEMORY)(lambda call: Answer(body=TraceView.of(trace_memory(call.user, call.ids["memory_id"]))))
router.on(m.MARK_USED)(lambda call: once(call, lambda: Answer(body=m.UsedView.of(mark_used(call.user, call.body.ids)))))


def _memory(memory: Memory, status: int = 200) -> Answer:
    return Answer(status, m.MemoryView.of(memory), headers={"ETag": f'"{memory.rev}"'})


@router.on(m.LIST_MEMORIES)
def listed(call: Call[m.ListQuery, Nothing]) -> Answer:
    where = call.query.filter()
    return Answer(body=fitting(call.query, lambda n, at: m.MemoryPage.of(*list_memories(call.user, where, n, at))))


@router.on(m.CREATE_MEMORY)
def create(call: Call[m.CreateQuery, m.CreateBody]) -> Answer:
    memory = create_memory(call.user, call.body.command(), call.idempotency)
    return _memory(wait_until_embedded(call.user, memory) if call.query.wait == "embedded" else memory, 201)


@router.on(m.UPDATE_MEMORY)
def update(call: Call[Nothing, m.UpdateBody]) -> Answer:
    memory_id, change = call.ids["memory_id"], call.body.command()
    return once(call, lambda: _memory(update_memory(call.user, memory_id, change, call.if_match)))


@router.on(m.DELETE_MEMORY)
def delete(call: Call[Nothing, Nothing]) -> Answer:
    memory_id = call.ids["memory_id"]
    return once(call, lambda: Answer(body=m.DeletedView.of(delete_memory(call.user, memory_id, call.if_match))))


@router.on(m.IMPORT_MEMORIES)
def import_(call: Call[Nothing, m.ImportText]) -> Answer:
    return once(call, lambda: Answer(body=m.ImportView.of(import_memories(call.user, call.body.command()))))
