"""A provider's message as the events of a log, built piece by piece in the order in which it says them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from neve.domain.compile.arguments import read_object
from neve.domain.records.sessions import SILENT, EventType
from neve.domain.sessions.new_event import NewEvent

Format = Literal["anthropic", "openai", "openai_responses", "ai_sdk"]
Role = Literal["user", "assistant"]
NO_NAME = ""
"""The name in a tool's result whose message does not name the tool: the log has the call."""
DISTINCTIVE = 40
"""Characters of a text that no speaker says twice in the same words by chance (*chosen*)."""


@dataclass(frozen=True, slots=True)
class PartLeft:
    """A part of a message that has no place among what was said. ``index``: of the message in its list; ``part``: a
    path within it; ``kept``: as a neutral event."""

    index: int
    part: str
    why: str
    kept: bool


@dataclass(frozen=True, slots=True)
class Heard:
    """One message. ``own_id``: the id that it came with. ``events``: none of one that says nothing. ``thoughts``: of an
    item that holds nothing else; they belong to the next event of the assistant."""

    index: int
    events: tuple[NewEvent, ...] = ()
    left: tuple[PartLeft, ...] = ()
    own_id: str | None = None
    thoughts: tuple[dict[str, Any], ...] = ()

    @property
    def is_silent(self) -> bool:
        """Say whether the message is no part of what was said."""
        return all(event.event_type in SILENT for event in self.events)

    @property
    def of_user(self) -> bool:
        return any(event.event_type is EventType.USER_MESSAGE for event in self.events)

    @property
    def distinctive(self) -> bool:
        """Say whether a speaker does not say it twice: it has ids of calls, or many words."""
        return any("tool_use_id" in event.event_data or _letters(event) >= DISTINCTIVE for event in self.events)


def _letters(event: NewEvent) -> int:
    if isinstance(event.content, str):
        return len(event.content)
    return sum(len(str(block.get("text", ""))) for block in event.content)


@dataclass
class Builder:
    """Collects the pieces of one message and makes its events of them. ``index``: of the message; ``role``: whose words
    its texts are; ``name``: the speaker; ``form``: whose message it is."""

    index: int
    role: Role
    form: Format
    name: str | None = None
    created_at: str | None = None
    own_id: str | None = None
    _events: list[NewEvent] = field(default_factory=list)
    _neutral: list[NewEvent] = field(default_factory=list)
    _left: list[PartLeft] = field(default_factory=list)
    _blocks: list[dict[str, Any]] = field(default_factory=list)
    _thoughts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def at(self) -> str:
        return f"messages[{self.index}]"

    def text(self, text: str) -> None:
        """Add a text; a blank one is nothing: no provider takes it."""
        if text.strip():
            self._blocks.append({"type": "text", "text": text})

    def image(self, block: dict[str, Any]) -> None:
        self._blocks.append(block)

    def think(self, block: Mapping[str, Any]) -> None:
        """Add what the model thought. After a text it belongs to what follows, so the text becomes an event of its own;
        between calls that wait for their results nothing may stand, and there it is put before the text."""
        if self._blocks and not self._calls:
            self._say()
        self._thoughts.append(dict(block))

    def call(self, identifier: str, name: str, given: Any) -> None:
        """Add a tool's call, with the texts before it."""
        data = {"tool_use_id": identifier, "name": name, "args": _arguments(given)}
        self._event(EventType.TOOL_CALL, self._take_blocks() or "", data, thinking=True)

    def result(self, identifier: str, content: str | list[dict[str, Any]], name: str, *, is_error: bool) -> None:
        data = {"tool_use_id": identifier, "name": name} | ({"is_error": True} if is_error else {})
        self._event(EventType.TOOL_RESULT, content, data)

    def leave(self, part: str, why: str, kept: Any = None) -> None:
        """Leave out a part. ``kept``: what of the message a neutral event holds; None: nothing of it."""
        self._left.append(PartLeft(self.index, part, why, kept is not None))
        if kept is not None:
            data = {"format": self.form, "role": self.role, "at": part, "part": kept}
            self._neutral.append(NewEvent(EventType.NEUTRAL, "", event_data=data, created_at=self.created_at))

    def built(self) -> Heard:
        if self.role == "assistant":
            self._end_of_answer()
        elif self._blocks:
            self._event(EventType.USER_MESSAGE, self._take_blocks())
        thoughts, self._thoughts = tuple(self._thoughts), []
        return Heard(self.index, (*self._events, *self._neutral), tuple(self._left), self.own_id, thoughts)

    def _end_of_answer(self) -> None:
        """End an assistant's answer. Texts behind the last call stay with it: the round waits for its results."""
        if self._blocks and not self._calls:
            self._say()
        elif self._blocks or (self._thoughts and self._events):
            last = self._events.pop()
            before = _listed(last.content)
            data = last.event_data | ({"blocks_before": len(before)} if self._blocks else {})
            content = [*before, *self._blocks] or ""
            thinking = (*last.thinking, *self._thoughts)
            self._events.append(replace(last, content=content, event_data=data, thinking=thinking))
            self._blocks, self._thoughts = [], []

    @property
    def _calls(self) -> bool:
        return any(event.event_type is EventType.TOOL_CALL for event in self._events)

    def _say(self) -> None:
        self._event(EventType.ASSISTANT_RESPONSE, self._take_blocks(), thinking=True)

    def _take_blocks(self) -> str | list[dict[str, Any]]:
        """Take the blocks so far; a single text as it is, so that it is the same however it was sent."""
        blocks, self._blocks = self._blocks, []
        return blocks[0]["text"] if len(blocks) == 1 and blocks[0]["type"] == "text" else blocks

    def _event(
        self,
        kind: EventType,
        content: str | list[dict[str, Any]],
        data: dict[str, Any] | None = None,
        *,
        thinking: bool = False,
    ) -> None:
        thoughts: tuple[dict[str, Any], ...] = ()
        if thinking:
            thoughts, self._thoughts = tuple(self._thoughts), []
        name = self.name if kind in (EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE) else None
        self._events.append(
            NewEvent(kind, content, name=name, event_data=data or {}, created_at=self.created_at, thinking=thoughts)
        )


def _listed(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def _arguments(given: Any) -> Any:
    """Read a text of JSON as the object that it is, so that the gate sees its names; one that is broken as it was
    sent."""
    if not isinstance(given, str):
        return {} if given is None else given
    if not given.strip():
        return {}
    found = read_object(given)
    return given if found is None else found


def as_text(value: Any) -> str:
    """Write a value as a model reads it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
