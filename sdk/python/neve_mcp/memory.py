"""Reads and changes one user's memory for a model, in texts that it can use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from neve_mcp.calls import Answered, Call, Unreachable

OK = 200
AGAIN = (409, 429, 500, 502, 503, 504)
"""Statuses behind which the same call may do."""
UNAUTHORIZED = 401
WRITES_OFF = "write_tools_off"
NO_WRITING = "A model may not write to this memory: tell the user that nothing was changed."
NOT_NEVE = "The memory cannot be read: what answers at its address is not Neve."
NO_SESSION = "This connection names no conversation: leave scope out, or name a conversation_id."
"""The answer to a model that asks for its own conversation, which is an argument of no tool."""
ITS_NAMES = {"remember": {"kind": "category"}}
"""Arguments by the names that a model is told, and those of the API."""


class Said(NamedTuple):
    text: str
    is_error: bool


class Pack(NamedTuple):
    """``etag``: another one for any other text."""

    text: str
    etag: str


class Failed(Exception):
    """A read that is no tool's did not work; the message says why."""


@dataclass(frozen=True, slots=True)
class Memory:
    """``user`` whose memory it is, by the token or by whoever started the server; never by a model. ``session_id``:
    the conversation that the model is in, where whoever connects has named one."""

    call: Call
    token: str = field(repr=False)
    user: str
    session_id: str | None = None

    async def use(self, tool: str, arguments: Mapping[str, Any]) -> Said:
        """Run a tool. Never raises: what goes wrong is told to the model."""
        names = ITS_NAMES.get(tool, {})
        body: dict[str, Any] = {"arguments": {names.get(name, name): value for name, value in arguments.items()}}
        if self.session_id is not None:
            body["session_id"] = self.session_id
        try:
            answer = await self._asked("POST", f"/tools/{tool}", body)
        except Unreachable as error:
            return Said(f"{error} Nothing is known now of what is remembered.", True)
        if answer.status != OK:
            return Said(_refusal(answer), True)
        found = _object(answer)
        if "content" not in found:
            return Said(NOT_NEVE, True)
        return Said(_with_confirm(found), bool(found.get("is_error")))

    async def offered(self) -> frozenset[str]:
        """Name the tools that the tenant's policy offers a model; none where nobody can know."""
        try:
            answer = await self.call("GET", "/v1/tools", None, self.token)
        except Unreachable:
            return frozenset()
        return frozenset(tool["name"] for tool in _object(answer).get("anthropic", ()))

    async def pack(self) -> Pack:
        """Read the frozen text of the session, or a preview of it without one. Raises Failed."""
        where = {"format": "text"} | ({"session_id": self.session_id} if self.session_id else {})
        try:
            answer = await self._asked("GET", f"/pack?{urlencode(where)}", None)
        except Unreachable as error:
            raise Failed(str(error)) from None
        if answer.status != OK:
            raise Failed(_refusal(answer))
        own = f'"{sha256(answer.body).hexdigest()[:32]}"'  # a preview has none
        return Pack(answer.body.decode("utf-8"), answer.headers.get("etag", own))

    async def _asked(self, method: str, path: str, body: Mapping[str, Any] | None) -> Answered:
        return await self.call(method, f"/v1/users/{quote(self.user, safe='')}{path}", body, self.token)


def _with_confirm(found: Mapping[str, Any]) -> str:
    """Give the model's text. What a second call needs is in it: hosts do not show the other fields to a model."""
    text, confirm = str(found["content"]), found.get("confirm")
    return text if not confirm or str(confirm) in text else f"{text}\nconfirm: {confirm}"


def _refusal(answer: Answered) -> str:
    """Say why, and what may be done."""
    problem = _object(answer)
    if problem.get("code") == WRITES_OFF:
        return NO_WRITING
    detail = str(problem.get("detail") or f"Neve answered {answer.status}.")
    fields = problem.get("errors") or ()
    if any(one.get("field") == "session_id" for one in fields):
        return NO_SESSION
    wrong = "; ".join(f"{one['field'].removeprefix('arguments.')} {one['message']}" for one in fields if "field" in one)
    said = f"{detail.removesuffix('.')}: {wrong}." if wrong and wrong not in detail else detail
    if answer.status == UNAUTHORIZED:
        return f"{said} Whoever runs this conversation has to connect with another token."
    if answer.status in AGAIN:
        wait = answer.headers.get("retry-after")
        return f"{said} Try again{f' in {wait} s' if wait else ''}."
    return said


def _object(answer: Answered) -> Mapping[str, Any]:
    try:
        found = json.loads(answer.body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
