"""Logs for the tests of compiling, and how to draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from neve.domain.records.sessions import Event, EventType
from neve.domain.tokens import event_tokens

AT = "2026-03-10T09:30:00.000Z"


def event(seq: int, kind: EventType, content: Any, data: dict[str, Any] | None = None, **more: Any) -> Event:
    return Event(seq, kind, content, event_tokens(content, data or {}), AT, event_data=data or {}, **more)


def user_message(seq: int, text: str = "What now?", **more: Any) -> Event:
    return event(seq, EventType.USER_MESSAGE, text, **more)


def answered(seq: int, text: str = "This.") -> Event:
    return event(seq, EventType.ASSISTANT_RESPONSE, text)


def call(seq: int, identifier: str = "c1", args: Any = None, text: str = "") -> Event:
    data = {"tool_use_id": identifier, "name": "search"} | ({} if args is None else {"args": args})
    return event(seq, EventType.TOOL_CALL, text, data)


def result(seq: int, identifier: str = "c1", text: str = "found", **more: Any) -> Event:
    return event(seq, EventType.TOOL_RESULT, text, {"tool_use_id": identifier, "name": "search", **more})


def turns(count: int, tokens: int = 100, first_seq: int = 1) -> list[Event]:
    """Turns of two events, each of half of the tokens (3.2 characters each)."""
    text = "x" * (tokens // 2 * 16 // 5)
    made: list[Event] = []
    for n in range(count):
        seq = first_seq + 2 * n
        made += [user_message(seq, text), answered(seq + 1, text)]
    return made


_TURN_PARTS = st.lists(st.sampled_from(["call", "result", "answer", "boundary", "orphan", "blank"]), max_size=7)


@st.composite
def drawn_logs(draw: st.DrawFn, *, most_turns: int = 9) -> list[Event]:
    """Any log that can be appended: calls without results, results without calls, ids that are used again, answers that
    say nothing, turns without an answer."""
    events: list[Event] = []
    for _ in range(draw(st.integers(0, most_turns))):
        size = draw(st.integers(1, 400))
        if draw(st.booleans()) or not events:
            events.append(user_message(len(events) + 1, "u" * size, name=draw(st.sampled_from([None, "Ada"]))))
        for part in draw(_TURN_PARTS):
            events.append(_part(part, len(events) + 1, draw(st.sampled_from("ab")), size))
    return events


def _part(part: str, seq: int, identifier: str, size: int) -> Event:
    if part == "call":
        return call(seq, identifier, {"q": "x" * (size // 4)})
    if part == "result":
        return result(seq, identifier, "r" * size)
    if part == "orphan":
        return result(seq, f"gone-{identifier}", "late")
    if part == "boundary":
        return event(seq, EventType.TASK_BOUNDARY, "", {"kind": "task"})
    if part == "blank":
        return answered(seq, " ")
    return answered(seq, "a" * size)


def seqs(events: Sequence[Event]) -> list[int]:
    return [one.seq for one in events]
