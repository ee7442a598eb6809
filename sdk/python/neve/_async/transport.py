"""Requests over a kept connection, repeated within one budget."""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING, Any

from .._shared.calls import TRIES, Call, Reply, closed, not_neve, pause_s, too_late, understood, unreachable
from .._shared.settings import Settings
from .._shared.tracing import spanned
from ..errors import NeveError
from .concurrency import bounded, sleep

if TYPE_CHECKING:
    import httpx2

LEAST_S = 0.001


class Deadline(dict[str, Any]):
    """The timeouts of a request, each as long as its budget still is: connecting and reading share it."""

    def __init__(self, ends: float) -> None:
        super().__init__()
        self._ends = ends

    def get(self, name: str, default: Any = None) -> Any:
        del name, default
        return max(LEAST_S, self._ends - time.monotonic())


class AsyncTransport:
    """``client``: of httpx2, in place of one of its own, which is made at the first call."""

    def __init__(self, settings: Settings, client: httpx2.AsyncClient | None = None) -> None:
        self.settings = settings
        self._client = client
        self._own = client is None

    async def send(self, call: Call, seconds: float) -> Reply:
        """The answer, within a budget that holds all repeats. Raises NeveError."""
        if self.settings.wrong is not None:
            raise self.settings.wrong
        with spanned(call.span, call.told):
            return await self._repeated(call, seconds)

    async def aclose(self) -> None:
        if self._client is not None and self._own:
            await self._client.aclose()

    async def _repeated(self, call: Call, seconds: float) -> Reply:
        ends = time.monotonic() + seconds
        request = (
            call.method,
            call.target(self.settings.base_url),
            call.sent_headers(self.settings.key),
            call.content(),
        )
        for attempt in count(1):
            try:
                return await self._once(request, ends, seconds)
            except NeveError as error:
                pause = pause_s(error, attempt)
                if not error.retryable or attempt == TRIES or time.monotonic() + pause >= ends:
                    raise
            await sleep(pause)
        raise AssertionError("it is counted without end")

    async def _once(self, request: tuple[str, str, dict[str, str], bytes | None], ends: float, seconds: float) -> Reply:
        import httpx2

        method, address, headers, content = request
        if self._client is None:
            self._client = httpx2.AsyncClient(follow_redirects=False)
        try:
            async with bounded(ends - time.monotonic()):
                sent = self._client.build_request(
                    method, address, headers=headers, content=content, extensions={"timeout": Deadline(ends)}
                )
                answer = await self._client.send(sent, stream=True)
                try:
                    body = b""
                    async for chunk in answer.aiter_bytes():
                        body += chunk
                        if time.monotonic() > ends:
                            raise TimeoutError
                finally:
                    await answer.aclose()
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise self._late(seconds, isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout)) from error
        except RuntimeError as error:
            raise closed() from error
        except (httpx2.TransportError, OSError) as error:
            failed = unreachable(self.settings.base_url, type(error).__name__)
            failed.may_have_arrived = not isinstance(error, httpx2.ConnectError)
            raise failed from error
        except (httpx2.RequestError, httpx2.InvalidURL, ValueError) as error:
            raise not_neve(self.settings.base_url, type(error).__name__) from error
        return understood(
            answer.status_code,
            {name.lower(): value for name, value in answer.headers.items()},
            body,
            self.settings.base_url,
        )

    def _late(self, seconds: float, unsent: bool) -> NeveError:
        failed = too_late(self.settings.base_url, seconds)
        failed.may_have_arrived = not unsent
        return failed
