"""Send a conversation through the API as a chat backend would, and ask its questions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from evals.locomo.dataset import Conversation, Question, Turn
from evals.locomo.scoring import WIDEST_RANGE, Ranking
from local.api_client import ApiClient
from neve.domain.times import iso

BATCH = 48
"""The most events a call takes."""
SETTLE_S = 600.0
DEPTH = 20
TUNED_ON = range(1, 6)
"""Conversations on which field weights, depths and the rerank stage were chosen."""


@dataclass(frozen=True, slots=True)
class System:
    """What is asked: a name for the tables, the sources, and further fields of the call. ``held_out``: nothing of it
    was chosen by any other conversation than those of ``TUNED_ON``."""

    name: str
    sources: Sequence[str]
    held_out: bool
    fields: Mapping[str, Any] = field(default_factory=dict)


SYSTEMS = (
    System("event, keyword leg", ["event"], True, {"legs": ["lexical"], "rerank": "off"}),
    System("event, vector leg", ["event"], True, {"legs": ["vector"], "rerank": "off"}),
    System("event, RRF", ["event"], True, {"rerank": "off"}),
    System("event", ["event"], True),
    System("memory", ["memory"], False),
    System("both", ["memory", "event"], False),
)
"""The last three are the defaults. Memories are never held out: how the extractive observer splits, dates and rewords
what was said was worked on while its output on samples of all ten conversations was read."""


def send(client: ApiClient, conversation: Conversation) -> None:
    """Sessions in order, each event with its time, speaker and a client id, so that a repeated run appends nothing."""
    for session, turns in _sessions(conversation):
        base = f"/v1/users/{conversation.id}/sessions"
        opened = {"session_id": session, "budget_ms": 0}
        client.expect(200, "POST", base, opened)
        for start in range(0, len(turns), BATCH):
            events = [_event(turn) for turn in turns[start : start + BATCH]]
            client.expect(201, "POST", f"{base}/{session}/events", {"events": events})


def _sessions(conversation: Conversation) -> list[tuple[str, list[Turn]]]:
    return [(session, list(turns)) for session, turns in groupby(conversation.turns, key=lambda turn: turn.session)]


def _event(turn: Turn) -> dict[str, Any]:
    return {
        "client_id": turn.dia_id,
        "event_type": "user_message" if turn.is_user else "assistant_response",
        "name": turn.speaker,
        "content": turn.text,
        "created_at": iso(turn.at),
    }


def settle(client: ApiClient, conversation: Conversation) -> None:
    """Wait until everything that was said is observed, indexed and embedded. Raises TimeoutError."""
    end = time.monotonic() + SETTLE_S
    user = f"/v1/users/{conversation.id}"
    jobs = [client.call("POST", f"{user}/sessions/{s}/observe", {}).json()["id"] for s, _ in _sessions(conversation)]
    for job in jobs:
        while client.expect(200, "GET", f"{user}/jobs/{job}")["status"] in ("queued", "running"):
            _wait(end, f"{conversation.id}: job {job}")
    while any((lag := client.expect(200, "GET", f"{user}/stats")["memory_lag"]).values()):
        _wait(end, f"{conversation.id} is behind: {lag}")


def _wait(end: float, what: str) -> None:
    if time.monotonic() > end:
        raise TimeoutError(what)
    time.sleep(0.05)


def ask(client: ApiClient, conversation: Conversation, question: Question, system: System) -> Ranking:
    """The hits' credit, best first. Threshold 0 and no time budget to speak of, so that what is measured is the
    ranking."""
    body = {
        **system.fields,
        "query": question.text,
        "k": DEPTH,
        "mode": "tool",
        "sources": list(system.sources),
        "threshold": 0,
    }
    answer = client.expect(200, "POST", f"/v1/users/{conversation.id}/recall", body)
    if answer.get("degraded"):
        raise RuntimeError(f"a degraded answer is not a measurement: {answer['degraded']}")
    place = {(turn.session, turn.seq): turn.dia_id for turn in conversation.turns}
    return [_credit(hit, place) for hit in answer["hits"]]


def _credit(hit: dict[str, Any], place: dict[tuple[str, int], str]) -> frozenset[str]:
    session = str(hit.get("session_id"))
    if hit["source"] == "event":
        return frozenset({place[session, hit["seq"]]})
    passage = hit["passage"]
    first, last = passage.get("seq_from"), passage.get("seq_to")
    if first is None or last is None or last - first >= WIDEST_RANGE:
        return frozenset()
    return frozenset(place[session, seq] for seq in range(first, last + 1))
