"""A service in memory for the Python SDK, whose answers may be lost, late or refused on their way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sdk.python.neve import Neve, NeveBadRequest, NeveConnection, NeveError, NeveUnavailable, Session
from sdk.python.neve._shared.calls import Call, Reply
from sdk.python.neve._shared.settings import Settings, settings_of

REFUSED = "REFUSED"
"""A text that the service takes for no event."""
IMPOSSIBLE = "IMPOSSIBLE"
"""An instruction that no prompt has room for."""
TOO_LONG = "x" * 999
"""A title, or a value of metadata, that the service does not take."""


def settings() -> Settings:
    return settings_of("nv_x", "http://127.0.0.1:9", strict=False, bound=1000, linger=0, timeouts=None)


def chat(service: FakeService, **options: Any) -> Session:
    """A session on that service, which does nothing in the background."""
    neve = Neve("nv_x", linger=0, **options)
    neve.transport = service  # type: ignore[assignment]
    session = neve.user("ada").session("s1")
    session._later.after = lambda _: None  # type: ignore[assignment,method-assign]
    return session


@dataclass
class FakeService:
    """In the place of a transport. ``faults``: one for each call, then none: ``down`` (nothing arrives), ``lost`` (it
    is done, the answer is lost), ``503``."""

    settings: Settings = field(default_factory=settings)
    faults: Iterator[str] = field(default_factory=lambda: iter(()))
    log: list[tuple[str, Any]] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    seqs: dict[str, int] = field(default_factory=dict)
    answers: dict[tuple[str, str], Any] = field(default_factory=dict)
    retracted: set[int] = field(default_factory=set)
    calls: list[Call] = field(default_factory=list)

    def send(self, call: Call, seconds: float) -> Reply:
        self.calls.append(call)
        fault = next(self.faults, "")
        if fault == "down":
            failed = NeveConnection("unreachable", "down")
            failed.may_have_arrived = False
            raise failed
        if fault == "503":
            raise NeveUnavailable("store_unavailable", "a store", status=503)
        key = (call.path, call.headers.get("Idempotency-Key", ""))
        if key not in self.answers or not key[1]:
            self.answers[key] = self._done(call)
        if fault == "lost":
            raise NeveConnection("timeout", "lost")
        found = self.answers[key]
        if isinstance(found, NeveError):
            del self.answers[key]  # the key is free again
            raise found
        return Reply(200, {}, found, 0)

    def texts(self) -> list[Any]:
        """What stands in the log, less what was taken back."""
        return [text for seq, (_, text) in enumerate(self.log, start=1) if seq not in self.retracted]

    def close(self) -> None:
        """As a transport has it."""

    def _done(self, call: Call) -> Any:
        wrong = [name for name in ("title", "metadata") if TOO_LONG in str(call.body.get(name))]
        if wrong:
            errors: Any = [{"field": name, "message": "is too long"} for name in wrong]
            return NeveBadRequest("validation_failed", "no", status=422, errors=errors)
        if call.path.endswith("/sessions"):
            return {}
        if call.path.endswith("/messages"):
            return self._appended(call.body["messages"])
        if call.path.endswith("/turn"):
            found = self._appended(call.body["messages"])
            return found if isinstance(found, NeveError) else {"appended": found} | self._compiled(call.body["compile"])
        if call.path.endswith("/context"):
            return self._prompt(call.body)
        if call.path.endswith("/retract"):
            self.retracted |= set(range(call.body["from_seq"], len(self.log) + 1))
            return {}
        raise AssertionError(call.path)

    def _compiled(self, body: dict[str, Any]) -> Any:
        if body.get("instructions") != [IMPOSSIBLE]:
            return {"prompt": self._prompt(body), "degraded": []}
        problem = {"status": 422, "code": "budget_infeasible", "detail": "too much"}
        return {"problem": problem, "degraded": ["compile:budget_infeasible"]}

    def _appended(self, messages: list[dict[str, Any]]) -> Any:
        for at, message in enumerate(messages):
            if message.get("content") == REFUSED:
                where = f"messages[{at}].content"
                return NeveBadRequest("pii_blocked", where, status=422, errors=[{"field": where, "message": "blocked"}])
        texts = [text for _, text in self.log]
        sent = [message.get("content") for message in messages]
        unsure = sum("id" not in message for message in messages)
        ends = range(min(len(texts), unsure), 0, -1)
        known = next((size for size in ends if texts[-size:] == sent[:size]), 0) if unsure else 0
        told = []
        for at, message in enumerate(messages):
            seq = len(texts) - known + at + 1 if at < known else self.seqs.get(message.get("id", ""))
            state = "known" if seq else "appended"
            if seq is None:
                self.log.append((message.get("id", ""), message.get("content")))
                self.messages.append({name: value for name, value in message.items() if name != "id"})
                seq = self.seqs[message.get("id", f"#{len(self.log)}")] = len(self.log)
            told.append({"id": message.get("id"), "state": state, "seqs": [seq]})
        return {"messages": told, "last_seq": len(self.log)}

    def _prompt(self, body: dict[str, Any]) -> Any:
        """Of what was said, as it was said: other than the real service's it needs no pack to be a prompt."""
        form = body.get("format", "anthropic")
        said = [message for seq, message in enumerate(self.messages, start=1) if seq not in self.retracted]
        said += [{"role": "user", "content": body["message"]}] if "message" in body else []
        request = {"input" if form == "openai_responses" else "messages": said}
        request |= {"system": [{"type": "text", "text": "Ada bakes."}]} if form == "anthropic" else {}
        request |= {"tools": body["tools"]} if "tools" in body else {}
        return {"request": request, "prompt_id": f"p{len(self.log)}", "degraded": []}
