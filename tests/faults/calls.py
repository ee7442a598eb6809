"""The calls of the fault tests, and what each of their answers has to look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neve.http.problems import CONTENT_TYPE
from neve.http.schemas.pack.packs import PACK
from neve.http.schemas.recall.recall import RECALL
from neve.http.schemas.sessions.events import EVENTS
from neve.http.schemas.sessions.sessions import SESSIONS
from tests.unit.api_world import Api, Reply

RETRY_AFTER = "2"
"""Seconds, as docs/faults.md promises."""
TURN = ("I moved to Lisbon.", "Noted.")


def events(*texts: str, client_ids: bool = True) -> list[dict[str, Any]]:
    """User and assistant in turn. With client ids a repeat is recognised."""
    kinds = ("user_message", "assistant_response")
    given = [{"event_type": kinds[n % 2], "content": text} for n, text in enumerate(texts)]
    return [event | ({"client_id": f"c{n}"} if client_ids else {}) for n, event in enumerate(given)]


class Caller:
    """One user's client. Each method is one call and returns the answer, whatever it is."""

    def __init__(self, apis: Sequence[Api]) -> None:
        self._apis: dict[tuple[str, str], Api] = {
            (o.method, o.path): api for api in apis for o in api.router.operations
        }

    def call(self, method: str, resource: str, body: Any = None, **more: Any) -> Reply:
        ids = {"user_id": "ann", "session_id": "s1", **more.pop("ids", {})}
        named = {name: value for name, value in ids.items() if f"{{{name}}}" in resource}
        return self._apis[method, resource].call(method, resource, body, **more, **named)

    def open(self) -> Reply:
        return self.call("POST", SESSIONS, {"session_id": "s1", "budget_ms": 0})

    def append(self, *messages: str, client_ids: bool = True, headers: Mapping[str, str] | None = None) -> Reply:
        body = {"events": events(*(messages or TURN), client_ids=client_ids)}
        return self.call("POST", EVENTS, body, headers=headers)

    def log(self) -> list[str]:
        """What is stored, after a look at its seqs: from 1 and without a gap."""
        stored = self.call("GET", EVENTS).json["events"]
        assert [event["seq"] for event in stored] == list(range(1, len(stored) + 1))
        return [event["content"] for event in stored]

    def pack(self, query: str = "session_id=s1") -> Reply:
        return self.call("GET", PACK, query=query)

    def recall(self, query: str = "kayak", **more: Any) -> Reply:
        return self.call("POST", RECALL.path, {"query": query, **more})


def is_refused_for_now(reply: Reply) -> bool:
    """A write that failed loudly: 503, when to come again, and no word about which store it was or why."""
    assert (reply.status, reply.headers["Content-Type"]) == (503, CONTENT_TYPE), reply.text
    assert reply.headers["Retry-After"] == RETRY_AFTER
    assert reply.json["code"] == "store_unavailable"
    assert reply.json["request_id"]
    return not any(word in reply.text for word in ("dynamodb", "DynamoDB", "Exception", "Throttl", "s3", "sqs"))


def is_degraded(reply: Reply, *names: str) -> bool:
    """A read that answers with what is left, says so in body and header, and is not kept by a cache."""
    assert reply.status == 200, reply.text
    assert sorted(reply.headers["X-Neve-Degraded"].replace(",", " ").split()) == sorted(names), reply.headers
    return sorted(reply.json["degraded"]) == sorted(names)
