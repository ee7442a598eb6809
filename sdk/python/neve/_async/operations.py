"""What ``raw`` is built on, and the operations whose bodies are no JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._shared.calls import Call, path_of
from .._shared.results import Pack
from .transport import AsyncTransport


class AsyncOperations:
    """The methods by hand."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def read_pack_text(
        self,
        user_id: str,
        *,
        session_id: str | None = None,
        version: int | None = None,
        if_none_match: str | None = None,
        timeout: float | None = None,
    ) -> Pack | None:
        """The exact bytes of a pack; None where they are still those of ``if_none_match``. ``stale``: there is no pack
        to be had."""
        query = {"session_id": session_id, "version": version, "format": "text"}
        headers = self._given({"If-None-Match": if_none_match})
        reply = await self._transport.send(
            Call("GET", path_of("users", user_id, "pack"), query=query, headers=headers), self._seconds(timeout)
        )
        if reply.status == 304:
            return None
        degraded = [one.strip() for one in reply.headers.get("x-neve-degraded", "").split(",") if one.strip()]
        if isinstance(reply.body, str):
            return Pack(reply.body, reply.headers.get("etag"), degraded=degraded)
        return Pack("", None, stale=True, degraded=degraded or list(reply.body.get("degraded") or ()))

    async def _answer(self, call: Call, timeout: float | None) -> Any:
        reply = await self._transport.send(call, self._seconds(timeout))
        return None if reply.status == 304 else reply.body

    def _seconds(self, timeout: float | None) -> float:
        return self._transport.settings.timeout_s("other") if timeout is None else timeout

    @staticmethod
    def _given(values: Mapping[str, Any]) -> dict[str, Any]:
        """Without what was left out."""
        return {name: value for name, value in values.items() if value is not None}
