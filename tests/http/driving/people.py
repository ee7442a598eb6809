"""An end user of a tenant, and the calls about them, in the words of docs/features.md."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from ulid import ULID

from local.api_client import ApiClient, Reply
from tests.patience import PATIENCE_S

Json = dict[str, Any]
ENDED = ("done", "failed")
LOOK_S = 0.05

LETTERS = str.maketrans("0123456789", "ghijklmnop")

LONG_TEXT = "The ferry left the harbour at noon. " * 9_000
"""324 KB: of a document, too long for its row."""


def user_message(text: str | list[Json], **more: Any) -> Json:
    """An event of the user."""
    return {"event_type": "user_message", "content": text, **more}


def answered(text: str | list[Json] = "Noted.", **more: Any) -> Json:
    """An event of the assistant."""
    return {"event_type": "assistant_response", "content": text, **more}


def reflect_job(api: ApiClient, user_id: str | None = None, **more: Any) -> Json:
    """E14's job, which a worker may have ended before the answer was written."""
    reply = api.call("POST", "/v1/admin/reflect", {**({} if user_id is None else {"user_id": user_id}), **more})
    job = dict(reply.json())
    assert reply.status == (200 if job.get("status") in ENDED else 202), reply.text
    return job


def troubles_of(api: ApiClient) -> list[tuple[str, str]]:
    """What health complains of, and how. Without dead letters and languages: whatever a test let fail five times is
    one, and what it says in another language is the other, for all tests behind it."""
    found = api.expect(200, "GET", "/v1/health")["troubles"]
    told = (one for one in found if not one["what"].endswith("-dlq") and one["kind"] != "language")
    return [(one["what"], one["kind"]) for one in told]


def used(session: str, *, input: int = 0, read: int = 0, write: int = 0, output: int = 0, **more: Any) -> Json:
    """A report of a prompt's tokens."""
    tokens = {"input": input, "cache_read": read, "cache_write": write, "output": output}
    return {"session_id": session, "pack_version": 0, "model": "claude-opus-5-5", "usage": tokens, **more}


@dataclass(frozen=True, slots=True)
class Person:
    """``settle_with`` waits until the derived data of this person (embeddings, index, jobs) is there. ``finish_with``
    returns a job that has ended, asked for with ``wait``."""

    api: ApiClient
    id: str
    settle_with: Callable[[Person], None]
    finish_with: Callable[[Person, str, Json], Json]

    @property
    def path(self) -> str:
        return f"/v1/users/{in_path(self.id)}"

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> Reply:
        return self.api.call(method, self.path + path, body, **more)

    def expect(self, status: int, method: str, path: str, body: Any = None, **more: Any) -> Any:
        return self.api.expect(status, method, self.path + path, body, **more)

    # --- sessions and the log --------------------------------------------------------------------

    def open(self, session: str | None = None, **more: Any) -> Json:
        """E1's answer."""
        body = more if session is None else {"session_id": session, **more}
        return dict(self.expect(200, "POST", "/sessions", body))

    def open_without_pack(self, session: str) -> str:
        """The session, without the first reading of its pack."""
        self.open(session, budget_ms=0)
        return session

    def session(self, session: str) -> Json:
        return dict(self.expect(200, "GET", f"/sessions/{in_path(session)}"))

    def append(self, session: str, *events: Json, **more: Any) -> Json:
        return dict(self.expect(201, "POST", f"/sessions/{in_path(session)}/events", {"events": list(events)}, **more))

    def events(self, session: str, **query: Any) -> list[Json]:
        return list(self.expect(200, "GET", f"/sessions/{in_path(session)}/events", query=query)["events"])

    def observe(self, session: str) -> Json:
        """The ended job of E3."""
        return self.finish_with(self, f"/sessions/{in_path(session)}/observe", {})

    def compact(self, session: str, reason: str = "manual", **more: Any) -> Json:
        """The ended job of E4."""
        return self.finish_with(self, f"/sessions/{in_path(session)}/compact", {"reason": reason, **more})

    def ended(self, job_id: str) -> Json:
        """The job, when it has ended."""
        end = time.monotonic() + PATIENCE_S
        while True:
            self.settle_with(self)
            job = dict(self.expect(200, "GET", f"/jobs/{job_id}"))
            if job["status"] in ENDED:
                return job
            assert time.monotonic() < end, job
            time.sleep(LOOK_S)

    def report(self, session: str, *, key: str | None = None, **tokens: Any) -> Json:
        """E18's answer."""
        headers = {"Idempotency-Key": key} if key else None
        return dict(self.expect(200, "POST", "/usage", used(session, **tokens), headers=headers))

    # --- memories --------------------------------------------------------------------------------

    def remember(self, text: str, **more: Any) -> Json:
        return dict(self.expect(201, "POST", "/memories", {"text": text, **more}))

    def bring_in(self, *rows: Json) -> list[str]:
        """Import; the ids, in the order of the rows."""
        named = [{"id": new_memory_id(n), **row} for n, row in enumerate(rows)]
        lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in named)
        report = self.expect(200, "POST", "/memories/import", raw=lines.encode())
        assert report["imported"] == [row["id"] for row in named]
        return list(report["imported"])

    def memory(self, memory_id: str) -> Json:
        return dict(self.expect(200, "GET", f"/memories/{memory_id}"))

    def memories(self, **query: Any) -> list[Json]:
        """Every memory that the filters admit, oldest first."""
        found: list[Json] = []
        cursor: Json = {}
        while True:
            page = self.expect(200, "GET", "/memories", query={"limit": 200, **query, **cursor})
            found += page["memories"]
            if "next_cursor" not in page:
                return found
            cursor = {"cursor": page["next_cursor"]}

    # --- documents -------------------------------------------------------------------------------

    def put_document(self, path: str, text: str, **more: Any) -> Json:
        """E10's answer."""
        reply = self.call("PUT", "/documents", {"text": text, **more}, query={"path": path})
        assert reply.status in (200, 201), reply.text
        return dict(reply.json())

    def document(self, path: str) -> Json:
        return dict(self.expect(200, "GET", "/documents", query={"path": path}))

    # --- pack and recall -------------------------------------------------------------------------

    def read_pack(self, session: str | None = None, *, etag: str | None = None, **query: Any) -> Reply:
        wanted = query if session is None else {"session_id": session, **query}
        headers = {"If-None-Match": etag} if etag else None
        return self.call("GET", "/pack", query=wanted, headers=headers)

    def pack(self, session: str, **query: Any) -> Json:
        return dict(self.expect(200, "GET", "/pack", query={"session_id": session, **query}))

    def pack_text(self, session: str | None = None, **query: Any) -> str:
        """The bytes for the prompt."""
        reply = self.read_pack(session, format="text", **query)
        assert reply.status == 200, reply.text
        return reply.text

    def versions(self, session: str) -> list[Json]:
        """Oldest first."""
        page = self.expect(200, "GET", "/pack/versions", query={"session_id": session, "limit": 200})
        assert "next_cursor" not in page
        return list(reversed(page["versions"]))

    def recall(self, query: str, **more: Any) -> Json:
        return dict(self.expect(200, "POST", "/recall", {"query": query, **more}))

    def recalled(self, query: str, **more: Any) -> list[str]:
        """The ids of the hits, best first."""
        return [hit["id"] for hit in self.recall(query, **more)["hits"]]

    # --- prompts ---------------------------------------------------------------------------------

    def context(self, session: str, message: str | list[Json] | None = None, **more: Any) -> Json:
        """E8's answer."""
        body = {"session_id": session, **({} if message is None else {"message": message}), **more}
        return dict(self.expect(200, "POST", "/context", body))

    def settle(self) -> None:
        self.settle_with(self)


def in_path(identifier: str) -> str:
    """Percent-encoded, as one segment."""
    return quote(identifier, safe="")


def new_user() -> str:
    return f"user-{uuid4().hex}"


def new_word() -> str:
    """That nobody else writes. Without digits: those of a hexadecimal number are a card's now and then."""
    return uuid4().hex.translate(LETTERS)


def new_memory_id(place: int = 0) -> str:
    """A memory id; of two with the same first digits the one with the larger ``place`` sorts last."""
    return f"mem_{ULID.from_int(uuid4().int >> 28 << 25 | place)}"


def ids_in_order(count: int) -> list[str]:
    """Memory ids in ascending order."""
    return sorted(new_memory_id(place) for place in range(count))


def layer_ids(pack: Json, layer: str) -> list[str]:
    """The items of a layer, in rendered order."""
    return [entry["id"] for entry in pack["layers"][layer]]


def filler(tokens: int, *, word: str = "lorem") -> str:
    """Exactly this many tokens of text (3.2 characters each, docs/rules/tokens.md#estimate), ending in no space."""
    characters = tokens * 16 // 5
    text = (f"{word} " * (characters // (len(word) + 1) + 1))[:characters]
    return text if not text.endswith(" ") else text[:-1] + "."


def tokens(text: str) -> int:
    """ceil(UTF-16 units / 3.2), as in docs/rules/tokens.md#estimate."""
    return math.ceil(len(text.encode("utf-16-le")) / 2 / 3.2)


def events_of(*pairs: tuple[str, str]) -> Sequence[Json]:
    """Turns of (what the user said, what the assistant answered)."""
    return [event for said_, answer in pairs for event in (user_message(said_), answered(answer))]
