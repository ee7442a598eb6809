"""Anthropic's ``/v1/messages/batches``: what is handed in is answered when a test says so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from tests.loopback import anthropic_rules
from tests.loopback.refusal import Json, Refused, array, closed, distinct, matching

PATH = re.compile(r"/v1/messages/batches(?:/(?P<id>[^/]+)(?:/(?P<what>results|cancel))?)?")
CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
AT = "2026-03-01T09:30:00Z"
_numbers = count(1)

Status = Literal["in_progress", "canceling", "ended"]
Answer = Callable[[Json], Json]
"""Makes the result of a request, ``{"type": "succeeded" | "errored", ...}``."""


class NoSuchBatch(Exception):
    """Answered with 404."""


@dataclass(slots=True)
class Batch:
    id: str
    requests: list[Json]
    status: Status = "in_progress"
    results: dict[str, Json] = field(default_factory=dict)

    def shown(self, url: str) -> Json:
        """As the API shows it."""
        kinds = [one["type"] for one in self.results.values()]
        counts = {kind: kinds.count(kind) for kind in ("succeeded", "errored", "canceled", "expired")}
        ended = self.status == "ended"
        return {
            "id": self.id,
            "type": "message_batch",
            "processing_status": self.status,
            "request_counts": counts | {"processing": len(self.requests) - len(kinds)},
            "created_at": AT,
            "expires_at": AT,
            "ended_at": AT if ended else None,
            "cancel_initiated_at": AT if self.status == "canceling" else None,
            "archived_at": None,
            "results_url": f"{url}/v1/messages/batches/{self.id}/results" if ended else None,
        }


@dataclass(slots=True)
class Batches:
    """``live``: those that were not deleted."""

    url: str = ""
    live: dict[str, Batch] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    def end(self, answer: Answer, *, expired: bool = False) -> None:
        """Have the provider be done with all of them: what is being cancelled, or has expired, is not answered."""
        for batch in self.live.values():
            if batch.status == "ended":
                continue
            for request in batch.requests:
                unanswered = "canceled" if batch.status == "canceling" else "expired" if expired else None
                result = {"type": unanswered} if unanswered else answer(request["params"])
                batch.results[request["custom_id"]] = result
            batch.status = "ended"

    def handle(self, method: str, path: str, body: object) -> str:
        """Answer a call with JSON, or with lines of it. Raises Refused, NoSuchBatch."""
        found = PATH.fullmatch(path)
        if found is None:
            raise NoSuchBatch(path)
        name, what = found["id"], found["what"]
        self.calls.append(" ".join(filter(None, (method, what if name else "batches"))))
        if name is None and method == "POST":
            return json.dumps(self._create(body).shown(self.url))
        batch = self.live.get(name or "")
        if batch is None:
            raise NoSuchBatch(path)
        return self._of_one(batch, method, what)

    def _of_one(self, batch: Batch, method: str, what: str | None) -> str:
        if (method, what) == ("GET", None):
            return json.dumps(batch.shown(self.url))
        if (method, what) == ("POST", "cancel"):
            if batch.status == "ended":
                raise Refused("message_batch_id", "cannot cancel a batch that has ended")
            batch.status = "canceling"
            return json.dumps(batch.shown(self.url))
        if batch.status != "ended":
            raise Refused("message_batch_id", f"{batch.id} has not ended")
        if (method, what) == ("GET", "results"):
            backwards = reversed(batch.results.items())  # in any order, says the API
            return "".join(json.dumps({"custom_id": name, "result": one}) + "\n" for name, one in backwards)
        if (method, what) == ("DELETE", None):
            del self.live[batch.id]
            return json.dumps({"id": batch.id, "type": "message_batch_deleted"})
        raise NoSuchBatch(f"{method} {what}")

    def _create(self, body: object) -> Batch:
        requests: list[Any] = array(closed(body, "body", {"requests"}, ("requests",))["requests"], "requests")
        for at, request in enumerate(requests):
            where = f"requests.{at}"
            closed(request, where, {"custom_id", "params"}, ("custom_id", "params"))
            matching(request["custom_id"], f"{where}.custom_id", CUSTOM_ID)
            if anthropic_rules.check(request["params"]).get("stream"):
                raise Refused(f"{where}.params.stream", "Extra inputs are not permitted")
        distinct((one["custom_id"] for one in requests), "requests", "custom_id")
        batch = Batch(f"msgbatch_loopback{next(_numbers):08d}", requests)
        self.live[batch.id] = batch
        return batch
