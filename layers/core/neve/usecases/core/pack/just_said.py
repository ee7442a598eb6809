"""Reads what was said in other conversations and is not observed yet, for a pack that is built now
(docs/rules/pack.md#just-said). No model is waited for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from neve.domain.records.users import UserHead
from neve.domain.tails.fit import JustSaid, just_said
from neve.domain.tails.told import Told
from neve.ports.runtime import Task
from neve.scope import UserScope
from neve.store.keys import SessionKeys
from neve.usecases.core.lag.tails import sessions_that_may_have_one, tails_of, told_in

MOST_TOKENS = 1_000
"""Tokens of all of it (docs/rules/pack.md#just-said)."""


class Tails:
    """A query under way beside the first rows of a build, which says which sessions may be behind."""

    def __init__(self, scope: UserScope, session: str | None) -> None:
        self._scope = scope
        self._sessions: Task[list[SessionKeys]] = scope.ports.tasks.start_read(
            lambda: sessions_that_may_have_one(scope, session)
        )

    def start(self, user: UserHead) -> Telling:
        """Read how far each is observed before the memories are read: what a pass commits meanwhile is then in one of
        the two, or in both. Raises StoreUnavailable."""
        sessions = self._sessions.result() if user.state == "active" else []
        table, tasks = self._scope.ports.table, self._scope.ports.tasks
        tails = tails_of(table, sessions)
        return Telling(self._scope, [tasks.start_read(partial(told_in, table, user, tail)) for tail in tails])


class Telling:
    """Reads under way of the logs of those sessions that are behind."""

    def __init__(self, scope: UserScope, logs: Sequence[Task[list[Told]]] = ()) -> None:
        self._scope, self._logs = scope, logs

    def result(self) -> JustSaid:
        """Give what was just said, within the budget of the global layer. The conversation in which a message came last
        comes first: a history that is sent after the fact is older than it was appended. Raises StoreUnavailable."""
        told = sorted((log.result() for log in self._logs), key=_last_said, reverse=True)
        return just_said(told, min(MOST_TOKENS, self._scope.policy.global_layer))


def _last_said(told: Sequence[Told]) -> str:
    return max((one.event.created_at for one in told), default="")
