"""E9, E10, E11, E13: the records of a user, what a model writes there, and what waits for a decision."""

from __future__ import annotations

from neve import wiring
from neve.http.answers.documents import bind_documents
from neve.http.answers.inbox import bind_inbox
from neve.http.answers.memories import created, deleted, imported, only_its_id, updated, with_etag
from neve.http.answers.tools.writing import bind_writing
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router, fitting, once, once_within
from neve.http.schemas.memories import memories as m
from neve.http.schemas.memories.imports import IMPORT_MEMORIES
from neve.http.schemas.memories.kept import CREATE_MEMORY, EVOLVE_MEMORY, EvolveMemoryBody
from neve.http.schemas.memories.traces import TRACE_MEMORY, TraceView
from neve.usecases.ask.memories.list_memories import get_memory, list_memories
from neve.usecases.ask.memories.trace_memory import trace_memory
from neve.usecases.tell.memories.evolve_memory import evolve_memory
from neve.usecases.tell.memories.mark_used import mark_used

router = Router("records", wiring.prepare())
handler = router.handle
bind_documents(router)
router.on(CREATE_MEMORY)(created)
router.on(IMPORT_MEMORIES)(imported)
router.on(m.UPDATE_MEMORY)(updated)
router.on(m.DELETE_MEMORY)(deleted)
bind_inbox(router)
bind_writing(router)
router.on(m.GET_MEMORY)(lambda call: with_etag(call, get_memory(call.user, call.ids["memory_id"])))
router.on(TRACE_MEMORY)(lambda call: Answer(body=TraceView.of(trace_memory(call.user, call.ids["memory_id"]))))
router.on(m.MARK_USED)(lambda call: once(call, lambda: Answer(body=m.UsedView.of(mark_used(call.user, call.body.ids)))))


@router.on(m.LIST_MEMORIES)
def listed(call: Call[m.ListQuery, Nothing]) -> Answer:
    where = call.query.filter()

    def read(limit: int, cursor: str | None) -> m.MemoryPage:
        return m.MemoryPage.listing(*list_memories(call.user, where, limit, cursor), call.now)

    return Answer(body=fitting(call.query, read))


@router.on(EVOLVE_MEMORY)
def evolve(call: Call[Nothing, EvolveMemoryBody]) -> Answer:
    memory_id, wanted = call.ids["memory_id"], call.body.command()
    return once_within(
        call,
        lambda beside: evolve_memory(call.user, memory_id, wanted, call.if_match, beside),
        lambda memory: with_etag(call, memory, 201),
        keep=only_its_id,
        again=lambda stored: with_etag(call, get_memory(call.user, stored.body["id"]), 201),
    )
