"""The answers about outgoing events."""

from __future__ import annotations

from neve.domain.cursors import InvalidCursor
from neve.domain.errors import invalid
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router
from neve.http.schemas.outgoing import events as e
from neve.usecases.ask.outgoing.read_feed import read_feed


def bind_outgoing(router: Router) -> None:
    router.on(e.READ_FEED)(_feed)


def _feed(call: Call[e.FeedQuery, Nothing]) -> Answer:
    query, types = call.query, (call.query.types or "").split(",")
    try:
        page = read_feed(call.tenant, query.limit, query.after, [one for one in types if one], query.user_id)
    except InvalidCursor:
        raise invalid("query.after", "must be the cursor of an answer of this call") from None
    return Answer(body=e.FeedOut.of(page, call.tenant.tenant.id))
