"""Events and memories with the fields a test does not care about filled in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from neve.domain.memories.text import fingerprint
from neve.domain.records.memories import Kind, Memory, Priority, Provenance, Scope, Status, Tier
from neve.domain.records.sessions import Event, EventType

AT = "2026-03-10T09:30:00.000Z"


def event(seq: int, content: str | list[dict[str, Any]] = "hello", **given: Any) -> Event:
    base = Event(seq=seq, event_type=EventType.USER_MESSAGE, content=content, original_tokens=0, created_at=AT)
    return replace(base, **given)


def tool_call(seq: int, name: str, args: Any, content: str = "") -> Event:
    return event(seq, content, event_type=EventType.TOOL_CALL, event_data={"name": name, "args": args})


def tool_result(seq: int, name: str, content: str, *, is_error: bool = False) -> Event:
    data = {"name": name, "is_error": True} if is_error else {"name": name}
    return event(seq, content, event_type=EventType.TOOL_RESULT, event_data=data)


def image(name: str = "cat") -> dict[str, Any]:
    return {"type": "image", "media_type": "image/png", "object": f"uploads/{name}.png"}


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def memory(text: str, **given: Any) -> Memory:
    base = Memory(
        id="mem_01",
        kind=Kind.OBSERVATION,
        tier=Tier.EPISODIC,
        scope=Scope.SESSION,
        text=text,
        priority=Priority.MEDIUM,
        importance=3,
        fingerprint=fingerprint(text),
        status=Status.ACTIVE,
        provenance=Provenance(by="user_stated", session_id="s1", seq_from=1, seq_to=8),
        created_at=AT,
        observed_at=AT,
        last_used_at=AT,
        tokens=1,
        rev=1,
        born_gen=1,
    )
    return replace(base, **given)
