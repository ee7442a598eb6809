"""E7 to E9, E11, E12, and a turn: recall, prompts, a model's tools, forgetting, and the ledger of recalls."""

from __future__ import annotations

from typing import Any

from neve import wiring
from neve.http.answers.recall import context_answer, conversation_answer, recall_answer, recorded_recall, tool_answer
from neve.http.answers.tools.forgetting import bind_forgetting
from neve.http.answers.turn import turn_answer
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router, fitting
from neve.http.schemas.compile import context as c
from neve.http.schemas.recall import recall as r
from neve.http.schemas.recall import tools as t
from neve.http.schemas.turn import turn as n
from neve.usecases.ask.documents.get_document import read_page
from neve.usecases.ask.recall.recall import recall_and_record
from neve.usecases.ask.recall.record_recall import list_recalls

router = Router("recall", wiring.prepare())
handler = router.handle

router.on(t.LIST_TOOLS)(lambda call: Answer(body=t.ToolsView.offered(call.query.version, call.tenant.policy)))


def _ready(call: Call[Any, Any]) -> float | None:
    return wiring.ready(call.tenant.embedder)


def _search(call: Call[Any, Any]) -> Answer:
    cold_start_ms = _ready(call)
    return recall_answer(call.ports, recall_and_record(call.user, call.body.command()), cold_start_ms)


router.on(r.RECALL)(_search)


def _tool(call: Call[Any, Any]) -> Answer:
    return tool_answer(call, _ready(call))


router.on(t.RECALL_MEMORY)(_tool)
router.on(t.SEARCH_KNOWLEDGE)(_tool)
router.on(t.SEARCH_CONVERSATION)(lambda call: conversation_answer(call, _ready(call)))
router.on(c.COMPILE)(lambda call: context_answer(call, _ready(call)))
router.on(n.TURN)(lambda call: turn_answer(call, lambda: _ready(call)))
bind_forgetting(router)


@router.on(t.READ_DOCUMENT)
def read(call: Call[Nothing, t.ReadDocumentBody]) -> Answer:
    page = read_page(call.user, call.body.path, call.body.arguments.offset)
    return Answer(body=t.ReadDocumentView.of(page), degraded=page.degraded)


router.on(r.LIST_RECALLS)(
    lambda call: Answer(body=fitting(call.query, lambda n, at: r.RecallPage.listing(*list_recalls(call.user, n, at))))
)
router.on(r.READ_RECALL)(recorded_recall)
