"""The answer of opening a session."""

from __future__ import annotations

from dataclasses import replace

from neve.http.operations import Nothing
from neve.http.router import Answer, Call, once
from neve.http.schemas.sessions.sessions import OpenedOut, OpenSessionBody, opening_of
from neve.store.idempotency import StoredReply
from neve.usecases.tell.sessions.open_session import OpenedSession, OpenSession, open_session


def opening_answer(call: Call[Nothing, OpenSessionBody]) -> Answer:
    """Open a session. A repeat with the same Idempotency-Key reads the session that the first call opened again: a
    title that another call has given since stays."""

    def again(stored: StoredReply) -> Answer:
        wanted = OpenSession(stored.body["session_id"], budget_ms=call.body.budget_ms)
        found = open_session(call.user, wanted)
        return _answer(replace(found, created=stored.body.get("created", found.created)))

    return once(call, lambda: _answer(open_session(call.user, call.body.command())), keep=opening_of, again=again)


def _answer(opened: OpenedSession) -> Answer:
    return Answer(body=OpenedOut.of(opened), degraded=opened.degraded)
