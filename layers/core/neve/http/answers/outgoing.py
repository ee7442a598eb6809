"""The answers about outgoing events and webhooks."""

from __future__ import annotations

from neve.domain.cursors import InvalidCursor
from neve.domain.errors import invalid
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router, once
from neve.http.schemas.outgoing import events as e
from neve.http.schemas.outgoing import webhooks as w
from neve.http.schemas.outgoing.webhooks import without_secret
from neve.usecases.ask.outgoing.read_feed import read_feed
from neve.usecases.ask.outgoing.read_webhooks import list_deliveries, list_webhooks, read_webhook
from neve.usecases.tell.outgoing.try_webhook import try_webhook
from neve.usecases.tell.outgoing.write_webhook import delete_webhook, write_webhook


def bind_outgoing(router: Router) -> None:
    router.on(e.READ_FEED)(_feed)
    router.on(w.LIST_WEBHOOKS)(
        lambda call: Answer(body=w.WebhooksOut(webhooks=[w.WebhookOut.of(one) for one in list_webhooks(call.tenant)]))
    )
    router.on(w.READ_WEBHOOK)(lambda call: Answer(body=w.WebhookOut.of(read_webhook(call.tenant, _id(call)))))
    router.on(w.PUT_WEBHOOK)(_put)
    router.on(w.DELETE_WEBHOOK)(_deleted)
    router.on(w.TRY_WEBHOOK)(_tried)
    router.on(w.LIST_DELIVERIES)(
        lambda call: Answer(body=w.DeliveriesOut.listing(list_deliveries(call.tenant, _id(call))))
    )


def _id(call: Call[Nothing, Nothing]) -> str:
    return call.ids["webhook_id"]


def _feed(call: Call[e.FeedQuery, Nothing]) -> Answer:
    query, types = call.query, (call.query.types or "").split(",")
    try:
        page = read_feed(call.tenant, query.limit, query.after, [one for one in types if one], query.user_id)
    except InvalidCursor:
        raise invalid("query.after", "must be the cursor of an answer of this call") from None
    return Answer(body=e.FeedOut.of(page, call.tenant.tenant.id))


def _put(call: Call[Nothing, w.WebhookBody]) -> Answer:
    body, webhook_id = call.body, call.ids["webhook_id"]

    def put() -> Answer:
        wanted = (webhook_id, body.url, body.types, body.secret)
        written = write_webhook(call.tenant, *wanted, include_text=body.include == "text")
        return Answer(201 if written.created else 200, w.WebhookOut.of(written.webhook, written.secret))

    return once(call, put, keep=without_secret)


def _deleted(call: Call[Nothing, Nothing]) -> Answer:
    def deleted() -> Answer:
        delete_webhook(call.tenant, call.ids["webhook_id"])
        return Answer(204)

    return once(call, deleted)


def _tried(call: Call[Nothing, Nothing]) -> Answer:
    return once(call, lambda: Answer(body=w.AttemptOut.of(try_webhook(call.tenant, _id(call)))))
