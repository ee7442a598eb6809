"""E7, E11, E12: recall, recall as a tool, and the ledger of recalls."""

from __future__ import annotations

from collections.abc import Callable

from neve import observability, wiring
from neve.domain.tenants.policy import Policy
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router, fitting
from neve.http.schemas.recall import recall as r
from neve.ports import Ports
from neve.usecases.recall.answer import RecallAnswer
from neve.usecases.recall.note_legs import note_legs
from neve.usecases.recall.read_recalls import get_recall, list_recalls
from neve.usecases.recall.recall import recall
from neve.usecases.recall.tool import recall_memory

router = Router("recall", wiring.prepare())
handler = router.handle

router.on(r.LIST_TOOLS)(lambda _: Answer(body=r.ToolsView.current()))


def _answer(ports: Ports, policy: Policy, recalled: Callable[[], RecallAnswer]) -> Answer:
    """The recall's budget starts when the process is ready."""
    cold_start_ms = wiring.ready(ports, late=policy.rerank == "late")
    found = recalled()
    note_legs(ports, found.legs)
    started = {} if cold_start_ms is None else {"ColdStartSeconds": cold_start_ms / 1000}
    observability.measured("recall", found.metrics() | started)
    return Answer(body=r.RecallView.of(found, cold_start_ms), degraded=found.degraded)


@router.on(r.RECALL)
def search(call: Call[Nothing, r.RecallBody]) -> Answer:
    return _answer(call.ports, call.user.policy, lambda: recall(call.user, call.body.command()))


@router.on(r.RECALL_MEMORY)
def search_as_tool(call: Call[Nothing, r.RecallMemoryBody]) -> Answer:
    given = call.body.arguments
    session_id = call.body.session_id
    return _answer(
        call.ports,
        call.user.policy,
        lambda: recall_memory(call.user, given.query, limit=given.limit, within=given.scope, session_id=session_id),
    )


@router.on(r.LIST_RECALLS)
def recalls(call: Call[r.RecallsQuery, Nothing]) -> Answer:
    return Answer(body=fitting(call.query, lambda n, at: r.RecallPage.of(*list_recalls(call.user, n, at))))


@router.on(r.READ_RECALL)
def one_recall(call: Call[Nothing, Nothing]) -> Answer:
    return Answer(body=r.RecallRecordView.of(get_recall(call.user, call.ids["recall_id"])))
