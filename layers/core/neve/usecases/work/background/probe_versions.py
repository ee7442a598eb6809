"""T0 on versions that have no traffic yet: what the new code writes, the new code recalls by meaning.

Each version is called by itself, with the events that API Gateway and SQS would send. The table's stream runs on as
well: whichever workers come first, the live ones or the new ones, bring in words and vector, and the new ones must take
the message without a failure. A user of its own for each probe keeps what was embedded before out of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from neve.ports.runtime import Clock
from neve.store import rows
from neve.store.keys import UserKeys
from neve.usecases.core.jobs.messages.indexing import memory_message

TENANT = "neve-probe"
"""Made once a stage (docs/deploy.md). What a probe writes it deletes again."""
MEMORY = "User's sister is named Mary."
QUESTION = "what is my sibling called?"
"""No word of the memory but stop words."""
WITHIN_S = 60.0
LOOK_AGAIN_S = 1.0

Invoke = Callable[[str, dict[str, Any]], Any]
"""Calls a version with an event; gives the handler's answer, raises what it raised or why it could not be called."""


class ProbeFailed(Exception):
    """T0 does not hold; the message says at which step."""


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions to probe: ARNs that end in a version's number."""

    records: str
    index: str
    embed: str
    recall: str


@dataclass(frozen=True, slots=True)
class Probe:
    """One probe. ``user``: one that no other probe uses."""

    versions: Versions
    invoke: Invoke
    user: str
    clock: Clock

    def run(self) -> None:
        """Run the probe. Raises ProbeFailed, and whatever a call raises."""
        until_ms = self.clock.monotonic_ms() + WITHIN_S * 1000
        memory = self._call(self.versions.records, "POST", "/memories", {"text": MEMORY}, expect=201)
        try:
            self._handle("index", self.versions.index, memory)
            self._handle("embed", self.versions.embed, memory)
            self._wait(until_ms, "the memory is not embedded", lambda: self._embedded(memory["id"]))
            self._wait(
                until_ms, "the question does not find the memory by meaning", lambda: self._recalled(memory["id"])
            )
        finally:
            self._call(self.versions.records, "DELETE", "/memories/{memory_id}", memory_id=memory["id"], expect=200)

    def _handle(self, queue: str, version: str, memory: dict[str, Any]) -> None:
        incarnation = rows.read_head(None).incarnation  # of a user that has just been made
        message = memory_message(UserKeys(TENANT, self.user), incarnation, memory["id"], memory["rev"])
        attributes = {"ApproximateReceiveCount": "1"}
        sent = {"messageId": "probe", "body": json.dumps(message.body), "attributes": attributes}
        answer = self.invoke(version, {"Records": [sent | {"eventSource": "aws:sqs"}]})
        if answer != {"batchItemFailures": []}:
            raise ProbeFailed(f"{queue}: {answer}")

    def _embedded(self, memory_id: str) -> bool:
        memory = self._call(self.versions.records, "GET", "/memories/{memory_id}", memory_id=memory_id)
        return bool(memory["embedding_state"] == "ready")

    def _recalled(self, memory_id: str) -> bool:
        asked = {"query": QUESTION, "budget_ms": 10_000}
        found = self._call(self.versions.recall, "POST", "/recall", asked)
        return any(hit["id"] == memory_id and "rank_vec" in hit["components"] for hit in found["hits"])

    def _wait(self, until_ms: float, problem: str, done: Callable[[], bool]) -> None:
        while not done():
            if self.clock.monotonic_ms() >= until_ms:
                raise ProbeFailed(f"{problem} within {WITHIN_S:.0f} s")
            self.clock.sleep(LOOK_AGAIN_S)

    def _call(
        self, version: str, method: str, route: str, body: Any = None, *, expect: int = 200, **ids: str
    ) -> dict[str, Any]:
        """Make a call, and give its body. Raises ProbeFailed for another status than ``expect``."""
        resource = "/v1/users/{user_id}" + route
        parameters = {"user_id": self.user, **ids}
        authorizer = {"tenant_id": TENANT, "key_id": "probe", "scopes": "chat records"}
        event = {
            "httpMethod": method,
            "resource": resource,
            "path": resource.format(**parameters),
            "pathParameters": parameters,
            "headers": {"Content-Type": "application/json"},
            "body": None if body is None else json.dumps(body),
            "requestContext": {"requestId": f"probe-{self.user}", "authorizer": authorizer},
        }
        answer = self.invoke(version, event)
        status = answer.get("statusCode")
        if status != expect:
            raise ProbeFailed(f"{method} {route}: {status} {answer.get('body')}")
        return dict(json.loads(answer["body"] or "{}"))
