"""The client: one for a process, whose users and sessions cost nothing until they are needed."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from .._shared.settings import BOUND, LINGER_S, settings_of
from ..errors import NeveError
from .concurrency import OPEN
from .raw import AsyncRaw
from .transport import AsyncTransport
from .user import AsyncUser

if TYPE_CHECKING:
    import httpx2

    from .session import AsyncSession

LOG = logging.getLogger("neve")
SESSIONS = 10_000
IDLE_BYTES = 64 * 1024 * 1024
"""Of sessions beyond these nothing is remembered that has reached the service: the longest idle first."""


class AsyncOutbox(Protocol):
    """The events that an adapter of a framework has still to append."""

    async def flush(self, *, timeout: float | None = None) -> object: ...
    def count(self) -> int: ...
    def rest(self) -> None: ...


class AsyncNeve:
    """The service, for one tenant.

    ``api_key`` and ``base_url``: else ``NEVE_KEY`` and ``NEVE_URL``. ``strict``: failures of memory raise in calls of a
    session, too. ``timeouts``: seconds by call (``append``, ``context``, ``pack``, ``recall``, ``turn``, ``usage``,
    ``flush``, ``other``), all repeats included. ``bound``: events of a session that are kept while they cannot be
    appended. ``linger``: seconds that an answer waits for the next message. ``http_client``: of httpx2, in place of one
    of its own. Raises ValueError for a timeout of an unknown call."""

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        strict: bool = False,
        timeouts: Mapping[str, float] | None = None,
        bound: int = BOUND,
        linger: float = LINGER_S,
        http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        self.settings = settings_of(api_key, base_url, strict=strict, bound=bound, linger=linger, timeouts=timeouts)
        self.transport = AsyncTransport(self.settings, http_client)
        self.raw = AsyncRaw(self.transport)
        self._sessions: OrderedDict[tuple[str, str], AsyncSession] = OrderedDict()
        self._told: set[str] = set()
        self.outboxes: set[AsyncOutbox] = set()
        self.closed = False
        OPEN.add(self)

    def user(self, user_id: str) -> AsyncUser:
        """One person's memory. Nothing is called."""
        return AsyncUser(self, user_id)

    async def flush(self) -> int:
        """Append whatever waits, of all sessions, within one budget. Returns how many messages are left."""
        ends = time.monotonic() + self.settings.timeout_s("flush")
        waiting = [session for session in self._sessions.values() if session.conversation.waiting]
        for session in waiting:
            if (left := ends - time.monotonic()) > 0:
                await session.flush(timeout=left)
        for outbox in list(self.outboxes):
            if (left := ends - time.monotonic()) > 0:
                await outbox.flush(timeout=left)
        return self._left()

    async def aclose(self) -> None:
        """Flush, and give the connections back. Raises what fails, in ``strict``."""
        try:
            await self.flush()
        finally:
            self.closed = True
            for session in list(self._sessions.values()):
                session.rest()
            for outbox in self.outboxes:
                outbox.rest()
            self.tell_what_is_lost()
            OPEN.discard(self)
            await self.transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def kept_session(self, session: AsyncSession) -> AsyncSession:
        """The one object of a session: what waits belongs to the client, and outlives whoever asked for the session."""
        key = (session.user_id, session.id)
        if (found := self._sessions.get(key)) is None:
            self._sessions[key] = found = session
            self._forget_idle(key)
        self._sessions.move_to_end(key)
        return found

    def _forget_idle(self, but: tuple[str, str]) -> None:
        size = sum(one.conversation.size for one in self._sessions.values())
        idle = [name for name, one in self._sessions.items() if name != but and not one.conversation.waiting]
        for name in idle:
            if len(self._sessions) <= SESSIONS and size <= IDLE_BYTES:
                return
            size -= self._sessions.pop(name).conversation.size

    def note(self, error: NeveError) -> str:
        """Tell a failure of memory once of each kind. Returns its code."""
        if error.code not in self._told:
            self._told.add(error.code)
            LOG.warning("memory is degraded (%s): %s", error.code, error)
        return error.code

    def recovered(self) -> None:
        """The service answers: what fails from now on is told again."""
        if self._told:
            self._told.clear()
            LOG.info("memory is back")

    def tell_what_is_lost(self) -> None:
        """In the log, when nobody will send it any more."""
        if left := self._left():
            LOG.error("%d messages were not appended, and are lost: the process ends", left)

    def _left(self) -> int:
        waiting = sum(session.conversation.count() for session in self._sessions.values())
        return waiting + sum(outbox.count() for outbox in self.outboxes)
