"""E9 forget and E11's tool forget over HTTP."""

from __future__ import annotations

from typing import Any

from neve.domain.errors import FieldError
from neve.http.answers.job import job_answer, job_once
from neve.http.answers.tools.writing import written
from neve.http.calls import Answer, Call, once
from neve.http.model_mistakes import mistake
from neve.http.operations import Nothing
from neve.http.router import Router
from neve.http.schemas.memories.forget import FORGET_MEMORIES, ForgetBody, ForgetListView
from neve.http.schemas.recall.forget_tool import FORGET, ForgetToolBody, ForgetView
from neve.store.idempotency import StoredReply
from neve.store.memories import memories_of
from neve.usecases.tell.forget.confirm import confirm_forgetting
from neve.usecases.tell.forget.list_to_forget import list_to_forget

_BY_A_PERSON = "is for a person here, who confirms the list outside of this conversation"


def bind_forgetting(router: Router) -> None:
    router.on(FORGET_MEMORIES)(forget_answer)
    router.on(FORGET)(forget_tool_answer)


def forget_answer(call: Call[Nothing, ForgetBody]) -> Answer:
    """Answer E9 forget. What only lists is kept for no repeat: it has the texts of memories."""
    body, user = call.body, call.user
    if body.lists_only:
        shown = list_to_forget(user, body.wanted())
        return Answer(body=ForgetListView.of(shown), degraded=shown.degraded)

    def work() -> Answer:
        if body.confirm is not None:
            return job_answer(confirm_forgetting(user, body.confirm, purge_packs=body.purge_packs))
        shown = list_to_forget(user, body.wanted())
        if shown.confirm is None:
            return Answer(body=ForgetListView.of(shown), degraded=shown.degraded)
        return job_answer(confirm_forgetting(user, shown.confirm, purge_packs=body.purge_packs))

    return job_once(call, work)


def forget_tool_answer(call: Call[Nothing, ForgetToolBody]) -> Answer:
    """Answer E11 forget. A list is kept for a repeat without its texts, which are read again: what is deleted since is
    not there any more."""
    return written(
        call, lambda: once(call, lambda: _forget(call), keep=_without_texts, again=lambda one: _again(call, one))
    )


def _forget(call: Call[Nothing, ForgetToolBody]) -> Answer:
    wanted, given = call.body.wanted(), call.body.arguments
    confirm, doing = given.confirm, given.confirm is not None or not given.dry_run
    if doing and call.tenant.policy.write_tools == "propose":
        errors = [FieldError("arguments.confirm" if confirm else "arguments.dry_run", _BY_A_PERSON)]
        return Answer(body=mistake(errors))
    if wanted is not None:
        shown = list_to_forget(call.user, wanted)
        if given.dry_run or shown.confirm is None:
            return Answer(body=ForgetView.listed(ForgetListView.of(shown)), degraded=shown.degraded)
        confirm = shown.confirm
    return Answer(body=ForgetView.queued(confirm_forgetting(call.user, str(confirm))))


def _without_texts(body: dict[str, Any]) -> dict[str, Any]:
    if "memories" not in body:
        return body
    return body | {"content": "", "memories": [one | {"text": ""} for one in body["memories"]]}


def _again(call: Call[Any, Any], stored: StoredReply) -> Answer:
    """Answer with the stored list, with the texts of those that are still there."""
    body = stored.body
    if not body.get("memories"):
        return Answer(stored.status, body)
    ids = [one["id"] for one in body["memories"]]
    texts = {memory.id: memory.text for memory in memories_of(call.ports.table, call.user.keys, ids)}
    left = [one | {"text": texts[one["id"]]} for one in body["memories"] if one["id"] in texts]
    listed = {name: value for name, value in body.items() if name in ForgetListView.model_fields} | {"memories": left}
    return Answer(body=ForgetView.listed(ForgetListView.model_validate({"complete": True} | listed)))
