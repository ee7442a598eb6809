"""The calls that are measured, each over HTTP on a kept connection."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from evals.bench.texts import memory_texts, questions
from local.api_client import ApiClient, Reply

USER = "bench"
SESSION = "frozen"
"""Its pack is the one that is read."""
BASELINE = "GET /v1/health (baseline)"
REBUILD = "pack rebuild (new session)"
APPEND_TWENTY = "append, 20 events"
MORE_TEXTS = 20_000
SETTLE_S = 120.0


@dataclass
class Operations:
    """Calls against one service. Every call is a new one: texts, questions and sessions are not used twice."""

    client: ApiClient
    name: str
    etag: str = ""
    recalls: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._texts = iter(memory_texts(MORE_TEXTS, seed=901))
        self._questions = iter(questions(MORE_TEXTS, seed=902))
        self._numbers: Iterator[int] = count(time.time_ns() // 1_000_000)
        self._log = ""

    @property
    def timed(self) -> dict[str, Callable[[], Any]]:
        """By the name that the tables show."""
        return {
            BASELINE: self._health,
            "pack, 304": self._pack_304,
            "pack, 200": self._pack_200,
            REBUILD: self._new_session,
            "recall, keyword leg": self._recall_keyword,
            "recall, hybrid": self._recall_hybrid,
            "append, 1 event": self._append_one,
            APPEND_TWENTY: self._append_twenty,
        }

    def prepare(self) -> None:
        """The session whose pack is read, and the one of this run that is appended to."""
        self._expect(200, "POST", "/sessions", {"session_id": SESSION, "budget_ms": 20_000})
        self.etag = self._get_pack(200, {}).headers["etag"]
        self._log = f"log-{next(self._numbers)}"
        self._expect(200, "POST", "/sessions", {"session_id": self._log, "budget_ms": 0})

    def recall_in_prompt(self) -> None:
        """As a chat backend asks on every message: with the policy's time budget. The answer is kept in
        ``recalls``."""
        body = {"query": next(self._questions), "mode": "prompt"}
        self.recalls.append(self._expect(200, "POST", "/recall", body))

    def settle(self) -> None:
        """Until the appended events are in the index, with their vectors. Raises TimeoutError."""
        end = time.monotonic() + SETTLE_S
        while True:
            session = self._expect(200, "GET", f"/sessions/{self._log}")
            if not session["memory_lag"]["unembedded"]:
                return
            if time.monotonic() > end:
                raise TimeoutError(f"{self.name}: the log stands at {session}")
            time.sleep(0.05)

    # --- the calls ------------------------------------------------------------------------------

    def _health(self) -> Any:
        return self.client.expect(200, "GET", "/v1/health")

    def _append_one(self) -> Any:
        return self._append(self._event("user_message"))

    def _append_twenty(self) -> Any:
        return self._append(*(self._event(kind) for _ in range(10) for kind in ("user_message", "assistant_response")))

    def _append(self, *events: dict[str, Any]) -> Any:
        return self._expect(201, "POST", f"/sessions/{self._log}/events", {"events": list(events)})

    def _event(self, event_type: str) -> dict[str, Any]:
        return {"event_type": event_type, "content": next(self._texts)}

    def _pack_304(self) -> Reply:
        return self._get_pack(304, {"If-None-Match": self.etag})

    def _pack_200(self) -> Reply:
        return self._get_pack(200, {})

    def _recall_keyword(self) -> Any:
        return self._recall(["lexical"])

    def _recall_hybrid(self) -> Any:
        return self._recall(["lexical", "vector"])

    def _recall(self, legs: list[str]) -> Any:
        body = {"query": next(self._questions), "mode": "tool", "legs": legs}
        answer = self._expect(200, "POST", "/recall", body)
        if answer["degraded"]:
            raise RuntimeError(f"{self.name}: a degraded answer is not a measurement: {answer['degraded']}")
        return answer

    def _new_session(self) -> Any:
        """E1 of a new session: its row, and the first build of its pack."""
        body = {"session_id": f"new-{next(self._numbers)}", "budget_ms": 20_000}
        opened = self._expect(200, "POST", "/sessions", body)
        if opened["pack"]["state"] != "ready":
            raise RuntimeError(f"{self.name}: no pack was built: {opened['pack']['state']}")
        return opened

    def _get_pack(self, status: int, headers: dict[str, str]) -> Reply:
        query = {"session_id": SESSION, "format": "text"}
        reply = self.client.call("GET", f"/v1/users/{USER}/pack", query=query, headers=headers)
        if reply.status != status:
            raise RuntimeError(f"{self.name}: the pack answered {reply.status} instead of {status}")
        return reply

    def _expect(self, status: int, method: str, path: str, body: Any = None) -> Any:
        return self.client.expect(status, method, f"/v1/users/{USER}{path}", body)
