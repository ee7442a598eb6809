"""Plays a scenario with one face of the Python SDK: sdk/scenarios/README.md."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any
from uuid import uuid4

from local.api_client import ApiClient
from sdk.python.neve import AsyncNeve, Neve, Prompt, Recalled, errors
from tests.patience import PATIENCE_S
from tests.sdk.patterns import difference, value_of
from tests.sdk.proxy import Proxy

KINDS: dict[str, type[errors.NeveError]] = {
    "auth": errors.NeveAuth,
    "bad_request": errors.NeveBadRequest,
    "too_large": errors.NeveTooLarge,
    "not_found": errors.NeveNotFound,
    "conflict": errors.NeveConflict,
    "quota": errors.NeveQuota,
    "unavailable": errors.NeveUnavailable,
    "connection": errors.NeveConnection,
    "protocol": errors.NeveProtocol,
}
SESSION = "s1"
NOBODY = "http://127.0.0.1:9"
LOOK_S = 0.05
CLOSES: dict[type, str] = {Neve: "close", AsyncNeve: "aclose"}
PATIENT = dict.fromkeys(("append", "context", "flush", "pack", "recall", "turn", "usage"), 20.0)
"""Seconds by call, for a machine with far too much to do: what has a budget in a scenario says so there."""
FIRST = {"append": "said", "turn": "said", "stop": "said", "context": "message", "recall": "query", "usage": "response",
         "branch": "which", "remember": "text", "forget": "which"}  # fmt: skip
"""The argument that is given by its place."""


@dataclass
class Scene:
    """A scenario that is being played. ``face``: Neve or AsyncNeve."""

    face: type[Neve] | type[AsyncNeve]
    proxy: Proxy
    api: ApiClient
    key: str
    user: str = field(default_factory=lambda: f"scene-{uuid4().hex[:12]}")
    saved: dict[str, Any] = field(default_factory=dict)
    neve: Any = None
    abandoned: list[Any] = field(default_factory=list)

    async def play(self, scenario: Mapping[str, Any]) -> None:
        """All steps. Raises AssertionError at the first that does not hold."""
        self.proxy.heal()
        self.neve = self._client(scenario.get("client", {}))
        try:
            for number, step in enumerate(scenario["steps"], start=1):
                await self._step(step, f"step {number}: {json.dumps(step)[:200]}")
        finally:
            for client in (*self.abandoned, self.neve):
                for session in client._sessions.values():
                    session.rest()
                    session.conversation.waiting.clear()
                await _maybe(getattr(client, CLOSES[self.face])())

    async def _step(self, step: Mapping[str, Any], at: str) -> None:
        if "fault" in step:
            self.proxy.inject(**step["fault"])
        elif "heal" in step:
            self.proxy.heal()
        elif "client" in step:
            self.abandoned.append(self.neve)
            self.neve = self._client(self._resolved(step["client"]))
        elif "log" in step:
            await self._log(step, at)
        elif "sent" in step:
            self._sent(step["sent"], at)
        else:
            await self._call(step, at)

    def _client(self, given: Mapping[str, Any]) -> Any:
        url = {"nowhere": NOBODY, "no scheme": "localhost:8787", "v1": f"{self.proxy.url}/v1"}
        key = {"wrong": "nv_wrong", "none": "", None: self.key}
        return self.face(
            key.get(given.get("key"), given.get("key")),
            url.get(given.get("url", ""), self.proxy.url),
            strict=given.get("strict", False),
            timeouts=PATIENT | given.get("timeouts", {}),
            bound=given.get("bound", 1000),
            linger=given.get("linger", 0),
        )

    async def _call(self, step: Mapping[str, Any], at: str) -> None:
        arguments = self._resolved(step.get("args", {}))
        began = time.monotonic()
        try:
            found = _told(await self._made(step, arguments))
        except errors.NeveError as error:
            assert "raises" in step, f"{at}\nraised {type(error).__name__} {error.code}: {error}"
            self._raised(step["raises"], error, at)
        else:
            assert "raises" not in step, f"{at}\ndid not raise, and returned {found!r}"
            different = difference(step.get("returns", {"$same": "it"}), found, {**self.saved, "it": found})
            assert different is None, f"{at}\n{different}\nwhole: {found!r}"
            if "save" in step:
                self.saved[step["save"]] = found
        took = (time.monotonic() - began) * 1000
        assert took <= step.get("within_ms", took), f"{at}\ntook {took:.0f} ms"

    async def _made(self, step: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        name, place = step["call"], step.get("on", "session")
        user = self.neve.user(self.user)
        if name == "close":
            name = CLOSES[self.face]
        target = {"client": self.neve, "user": user, "raw": self.neve.raw, "session": user.session(SESSION)}[place]
        first = FIRST.get(name) if place != "raw" else None
        by_place = [arguments.pop(first)] if first in arguments else []
        return await _maybe(getattr(target, name)(*by_place, **arguments))

    def _raised(self, wanted: Mapping[str, Any], error: errors.NeveError, at: str) -> None:
        assert type(error) is KINDS[wanted["kind"]], f"{at}\n{type(error).__name__}: {error}"
        assert error.code == wanted["code"], f"{at}\n{error.code}: {error}"
        missing = [text for text in wanted.get("says", ()) if text not in str(error)]
        assert not missing, f"{at}\n{error} does not say {missing}"

    async def _log(self, step: Mapping[str, Any], at: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while (found := self._events()) != step["log"]:
            assert time.monotonic() < end and len(found) <= len(step["log"]) + 9, f"{at}\nin the log: {found!r}"
            await asyncio.sleep(LOOK_S)

    def _events(self) -> list[list[str]]:
        path = f"/v1/users/{self.user}/sessions/{SESSION}/events"
        reply = self.api.call("GET", path, query={"limit": 200})
        if reply.status == 404:
            return []
        events = [one for one in reply.json()["events"] if not one["retracted"] and not one.get("erased")]
        return [[one["event_type"], _text(one["content"])] for one in events]

    def _sent(self, wanted: Mapping[str, Any], at: str) -> None:
        found = [one for one in self.proxy.sent if re.search(wanted["match"], one["line"])]
        lines = [one["line"] for one in self.proxy.sent]
        assert len(found) == wanted.get("count", len(found)), f"{at}\nsent: {lines}"
        if "same" in wanted:
            assert len({one["headers"].get(wanted["same"]) for one in found}) == 1, f"{at}\n{found}"
            assert found[0]["headers"].get(wanted["same"]), f"{at}\nno {wanted['same']}"
        if "body" in wanted:
            different = difference(wanted["body"], json.loads(found[-1]["body"]), self.saved)
            assert different is None, f"{at}\n{different}"

    def _resolved(self, value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("$user", self.user)
        if isinstance(value, list):
            return [self._resolved(one) for one in value]
        if not isinstance(value, dict):
            return value
        if "$repeat" in value:
            return value["$repeat"][0] * value["$repeat"][1]
        if "$times" in value:
            number, one = value["$times"]
            return [json.loads(json.dumps(one).replace("$n", str(n))) for n in range(1, number + 1)]
        if "$same" in value:
            return value_of(value["$same"], self.saved)
        return {name: self._resolved(one) for name, one in value.items()}


async def _maybe(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _told(found: Any) -> Any:
    """A result of a call as JSON."""
    if isinstance(found, Prompt):
        more = {"prompt_id": found.prompt_id, "stale": found.stale, "degraded": found.degraded}
        return {"request": dict(found), **more}
    if isinstance(found, Recalled):
        return {"hits": list(found), "text": found.text, "degraded": found.degraded}
    return asdict(found) if is_dataclass(found) and not isinstance(found, type) else found


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")
