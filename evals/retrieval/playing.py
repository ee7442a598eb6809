"""Send a chat through the API as a chat backend would, and ask its questions."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from evals.retrieval.chats import Chat, Message
from evals.retrieval.scoring import WIDEST_RANGE, Ranking
from evals.retrieval.ways import set_and_way
from local.api_client import ApiClient, ApiError
from neve.domain.times import iso

BATCH = 48
"""The most events a call takes."""
MAX_CHARACTERS = 200_000
"""Characters of a message that are sent: an event has at most 256 KiB, and BEAM has one message of 350."""
SETTLE_S = 1_800.0
DEPTH = 20
PATIENT_MS = 20_000
"""A budget that no recall needs: what is measured is the ranking."""
OF_THE_OBSERVER = frozenset({"locomo"})
"""The sets on which nothing is held out where memories take part: how the extractive observer splits, dates and rewords
what was said was worked on while its output on samples of all ten conversations was read."""


@dataclass(frozen=True, slots=True)
class System:
    """What is asked: a name for the tables and the fields of the call. ``memories``: whether they take part."""

    name: str
    memories: bool
    fields: Mapping[str, Any] = field(default_factory=dict)

    def held_out(self, chat_set: str) -> bool:
        return not self.memories or set_and_way(chat_set)[0] not in OF_THE_OBSERVER


_UTTERANCES = {"limit": DEPTH, "mode": "tool", "threshold": 0, "sources": ["event"]}
_MEMORIES = _UTTERANCES | {"sources": ["memory"]}
_BOTH = _UTTERANCES | {"sources": ["memory", "event"]}
_LINEAR, _DEEP = {"rerank": "linear"}, {"rerank": "deep"}

SYSTEMS = (
    System("keyword leg", memories=False, fields=_UTTERANCES | {"legs": ["lexical"], "rerank": "off"}),
    System("vector leg", memories=False, fields=_UTTERANCES | {"legs": ["vector"], "rerank": "off"}),
    System("RRF", memories=False, fields=_UTTERANCES | {"rerank": "off"}),
    System("event", memories=False, fields=_UTTERANCES | _LINEAR),
    System("memory", memories=True, fields=_MEMORIES | _LINEAR),
    System("both RRF", memories=True, fields=_BOTH | {"rerank": "off"}),
    System("both", memories=True, fields=_BOTH | _LINEAR),
    System("event deep", memories=False, fields=_UTTERANCES | _DEEP),
    System("both deep", memories=True, fields=_BOTH | _DEEP),
    System("prompt", memories=True),
)
"""``event`` and ``both`` with the rerank stage, and ``deep`` as a tool has it by default. ``prompt``: the defaults of
every message."""


@dataclass(frozen=True, slots=True)
class Answered:
    ranking: Ranking
    ms: float


def digest(chat: Chat) -> str:
    """Of everything that is sent of a chat."""
    sent = "\0".join(f"{m.id} {m.session} {iso(m.at)} {m.indexed_text}" for m in chat.messages)
    return hashlib.sha256(sent.encode()).hexdigest()


def send(client: ApiClient, chat: Chat) -> None:
    """Sessions in order, each event with its time, the speaker's name and a client id, so that a repeated run appends
    nothing."""
    for session, messages in _sessions(chat):
        base = f"/v1/users/{chat.user}/sessions"
        client.call("POST", base, {"session_id": session, "budget_ms": 0})
        for start in range(0, len(messages), BATCH):
            events = [_event(message) for message in messages[start : start + BATCH]]
            client.expect(201, "POST", f"{base}/{session}/events", {"events": events})


def _sessions(chat: Chat) -> list[tuple[str, list[Message]]]:
    return [(session, list(messages)) for session, messages in groupby(chat.messages, key=lambda m: m.session)]


def _event(message: Message) -> dict[str, Any]:
    event = {
        "client_id": message.id,
        "event_type": "user_message" if message.by_user else "assistant_response",
        "content": message.text[:MAX_CHARACTERS],
        "created_at": iso(message.at),
    }
    return event | ({"name": message.name} if message.name else {})


def settle(client: ApiClient, chat: Chat) -> None:
    """Wait until everything that was said is observed, indexed and embedded. Raises TimeoutError."""
    end = time.monotonic() + SETTLE_S
    user = f"/v1/users/{chat.user}"
    for job in [_observe(client, f"{user}/sessions/{session}/observe") for session, _ in _sessions(chat)]:
        while client.expect(200, "GET", f"{user}/jobs/{job}")["status"] in ("queued", "running"):
            _wait(end, f"{chat.user}: job {job}")
    while any((lag := client.expect(200, "GET", f"{user}/stats")["memory_lag"]).values()):
        _wait(end, f"{chat.user} is behind: {lag}")


def _observe(client: ApiClient, path: str) -> str:
    """The id of the job: 202, or 200 where it has nothing to do any more. Raises ApiError."""
    reply = client.call("POST", path, {})
    if reply.status not in (200, 202):
        raise ApiError("POST", path, reply)
    return str(reply.json()["id"])


def _wait(end: float, what: str, pause_s: float = 0.05) -> None:
    if time.monotonic() > end:
        raise TimeoutError(what)
    time.sleep(pause_s)


def ask(client: ApiClient, chat: Chat, query: str, system: System) -> Answered:
    """The hits' credit, best first. Raises RuntimeError for a degraded answer: it is not a measurement."""
    body = {"query": query, "budget_ms": PATIENT_MS, **system.fields}
    began = time.perf_counter()
    answer = client.expect(200, "POST", f"/v1/users/{chat.user}/recall", body)
    ms = 1000 * (time.perf_counter() - began)
    if answer.get("degraded"):
        raise RuntimeError(f"a degraded answer is not a measurement: {answer['degraded']}")
    place = {(message.session, message.seq): message.id for message in chat.messages}
    return Answered([_credit(hit, place) for hit in answer["hits"]], ms)


def _credit(hit: dict[str, Any], place: Mapping[tuple[str, int], str]) -> frozenset[str]:
    session = str(hit.get("session_id"))
    if hit["source"] == "event":
        return frozenset({place[session, hit["seq"]]})
    ranges = [(one.get("seq_from"), one.get("seq_to")) for one in (hit["passage"], *(hit.get("also") or ()))]
    narrow = [(a, b) for a, b in ranges if a is not None and b is not None and b - a < WIDEST_RANGE]
    return frozenset(place[session, seq] for first, last in narrow for seq in range(first, last + 1))


def named(systems: Sequence[str] | None) -> list[System]:
    """Those of ``SYSTEMS``; None: all. Raises ValueError for an unknown name."""
    known = {system.name: system for system in SYSTEMS}
    unknown = sorted(set(systems or ()) - set(known))
    if unknown:
        raise ValueError(f"no system is called {unknown[0]!r}; there are {', '.join(known)}")
    return [known[name] for name in systems] if systems is not None else list(SYSTEMS)
