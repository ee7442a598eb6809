"""A chat backend that does everything at once, by a script that its seed decides."""

from __future__ import annotations

import http.client
import random
import threading
from collections.abc import Callable
from typing import Any

from local.api_client import ApiClient, ApiError
from tests.crash.journal import Acknowledged, Append, Journal, KnownMemory

STATEMENTS = (
    "I live in {} now.",
    "My favourite tea is {}.",
    "I work at {} on Mondays.",
    "I moved to {} last week.",
    "I am allergic to {}.",
    "I decided on {} for the kitchen.",
    "My sister {} is a nurse.",
    "I finished the {} project yesterday.",
)
"""The extractive observer keeps each of them, so that every observed user message is in some observation."""

MAX_TURNS = 6
"""In one append: a tail that takes several passes keeps its session busy for a while."""
WITH_TOOL = 0.25
"""How many turns hold a tool's result that is so large that a compaction puts it away."""


def output_of(use: str) -> str:
    """What the tool prints, by the id of its use: 5,400 characters."""
    return f"{use} says so. ".ljust(5_400, ".")


class Writer:
    """Runs in a thread of its own until the server is gone. ``failure``: an answer that should not have been."""

    def __init__(
        self, name: str, journal: Journal, sessions: list[str], client: ApiClient, acknowledged: Acknowledged
    ) -> None:
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.journal = journal
        self.failure: ApiError | None = None
        self._random = random.Random(name)
        self._sessions = sessions
        self._client = client
        self._acknowledged = acknowledged
        self._made = 0
        steps: list[tuple[int, Callable[[], None]]] = [
            (22, self._append_with_client_ids),
            (12, self._append_without),
            (8, self._append_with_key),
            (16, self._append_and_compact),
            (10, self._open),
            (7, self._observe),
            (7, self._compact),
            (10, self._remember),
            (6, self._edit),
            (4, self._delete),
            (8, self._read_pack),
        ]
        self._weights = [weight for weight, _ in steps]
        self._steps = [step for _, step in steps]

    def _run(self) -> None:
        try:
            for session in self._sessions:
                self._open(session)
            while True:
                self._random.choices(self._steps, self._weights)[0]()
        except ApiError as error:
            self.failure = error
        except (OSError, http.client.HTTPException):
            return  # the server is gone: what was in flight stays unanswered in the journal
        finally:
            self._client.close()

    # --- the steps ------------------------------------------------------------------------------

    def _open(self, session: str | None = None) -> None:
        """Without a name: a session of its own, which takes a new pack, or one that is there."""
        wanted = session or self._random.choice([self._token("s"), self._session()])
        opened = self._call(200, "POST", "/sessions", {"session_id": wanted})
        self.journal.sessions.add(wanted)
        self._saw_pack(opened["pack"])

    def _append_with_client_ids(self) -> None:
        self._append([event | {"client_id": self._token("c")} for event in self._events()], None)

    def _append_without(self) -> None:
        self._append(self._events(), None)

    def _append_with_key(self) -> None:
        self._append(self._events(), self._token("k"))

    def _append_and_compact(self) -> None:
        """The compaction and the pass that the append asks for meet in one session."""
        session = self._session()
        self._append(self._events(), self._token("k"), session)
        self._compact(session)

    def _append(self, events: list[dict[str, Any]], key: str | None, session: str | None = None) -> None:
        sent = Append(session or self._session(), events, key)
        self.journal.appends.append(sent)
        answer = self._call(201, "POST", f"/sessions/{sent.session}/events", {"events": events}, key)
        sent.seqs = answer["seqs"]

    def _observe(self) -> None:
        self._accept(f"/sessions/{self._session()}/observe", {})

    def _compact(self, session: str | None = None) -> None:
        self._accept(f"/sessions/{session or self._session()}/compact", {"reason": "manual"})

    def _accept(self, path: str, body: dict[str, Any]) -> None:
        self.journal.jobs.append(self._call((200, 202), "POST", path, body)["id"])

    def _remember(self) -> None:
        body: dict[str, Any] = {"text": f"Remember {self._token('m')}", "kind": self._random.choice(["manual", "note"])}
        if self._random.random() < 0.4:
            body["session_id"] = self._session()
        memory = KnownMemory(body, self._token("k") if self._random.random() < 0.5 else None, texts={body["text"]})
        self.journal.memories.append(memory)
        memory.id = self._call(201, "POST", "/memories", body, memory.key)["id"]

    def _edit(self) -> None:
        for memory in self._some_memory():
            text = f"Edited {self._token('m')}"
            memory.texts.add(text)
            self._call(200, "PATCH", f"/memories/{memory.id}", {"text": text})
            memory.texts = {text}

    def _delete(self) -> None:
        for memory in self._some_memory():
            memory.deleted = "perhaps"
            self._call(200, "DELETE", f"/memories/{memory.id}")
            memory.deleted = "yes"

    def _read_pack(self) -> None:
        self._saw_pack(self._call(200, "GET", f"/pack?session_id={self._session()}"))

    # --- what they are made of ------------------------------------------------------------------

    def _saw_pack(self, pack: dict[str, Any]) -> None:
        if pack["state"] == "ready":
            self.journal.packs[pack["session_id"], pack["pack_version"]] = pack["text"]

    def _some_memory(self) -> list[KnownMemory]:
        """At most one that is there, as a list."""
        there = [memory for memory in self.journal.memories if memory.id and memory.deleted == "no"]
        return [self._random.choice(there)] if there else []

    def _session(self) -> str:
        return self._random.choice(self._sessions)

    def _events(self) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        for _ in range(self._random.randint(1, MAX_TURNS)):
            statement = self._random.choice(STATEMENTS).format(self._token("e"))
            events.append({"event_type": "user_message", "content": statement})
            if self._random.random() < WITH_TOOL:
                events += self._tool_use()
            events.append({"event_type": "assistant_response", "content": f"I see, {self._token('e')}."})
        return events[: len(events) - (self._random.random() < 0.2)]

    def _tool_use(self) -> list[dict[str, Any]]:
        use = self._token("t")
        data = {"tool_use_id": use, "name": "lookup"}
        return [
            {"event_type": "tool_call", "content": f"looking up {use}", "event_data": data},
            {"event_type": "tool_result", "content": output_of(use), "event_data": data},
        ]

    def _token(self, kind: str) -> str:
        """A word that this run uses once."""
        self._made += 1
        return f"Zq{kind}{self.thread.name.replace('-', '')}n{self._made}"

    def _call(
        self, status: int | tuple[int, ...], method: str, path: str, body: Any = None, key: str | None = None
    ) -> Any:
        headers = {"Idempotency-Key": key} if key else None
        path = f"/v1/users/{self.journal.user}{path}"
        reply = self._client.call(method, path, body, headers=headers)
        if reply.status not in (status if isinstance(status, tuple) else (status,)):
            raise ApiError(method, path, reply)
        self._acknowledged.add()
        return reply.json()
