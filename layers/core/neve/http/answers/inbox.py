"""E13 over HTTP."""

from __future__ import annotations

from typing import Any

from neve.http.calls import Answer, Call, once_within
from neve.http.operations import Nothing
from neve.http.pages import fitting
from neve.http.router import Router
from neve.http.schemas.inbox.inbox import DECISIONS, LIST_INBOX, InboxItem, InboxPage, InboxQuery
from neve.usecases.ask.memories.list_inbox import list_inbox
from neve.usecases.tell.inbox.decide import decide_item


def bind_inbox(router: Router) -> None:
    router.on(LIST_INBOX)(_page)
    for decision in DECISIONS:
        router.on(decision)(_decided)


def _page(call: Call[InboxQuery, Nothing]) -> Answer:
    return Answer(body=fitting(call.query, lambda n, at: InboxPage.listing(*list_inbox(call.user, n, at), call.now)))


def _decided(call: Call[Nothing, Any]) -> Answer:
    item_id, decision = call.ids["item_id"], call.body.decision()
    return once_within(
        call,
        lambda beside: decide_item(call.user, item_id, decision, beside),
        lambda item: Answer(body=InboxItem.of(item, call.now)),
    )
