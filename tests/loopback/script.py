"""What the model will answer: steps that a test sets, taken in order; without one it repeats what it was told."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

from tests.loopback.refusal import Json

Failing = Literal["429", "500", "hang", "cut"]
"""``hang``: nothing is answered; ``cut``: a stream breaks off in its middle."""


@dataclass(frozen=True, slots=True)
class Step:
    """One answer. ``tool_calls``: ``{name, arguments}`` each."""

    text: str = ""
    thinking: str = ""
    tool_calls: tuple[Json, ...] = ()
    fail: Failing | None = None

    @classmethod
    def of(cls, given: Json) -> Step:
        """A step as JSON has it. Raises ValueError for an unknown field."""
        unknown = set(given) - {"text", "thinking", "tool_calls", "fail"}
        if unknown:
            raise ValueError(f"a step has no {sorted(unknown)}")
        fail = given.get("fail")
        if fail is not None and str(fail) not in ("429", "500", "hang", "cut"):
            raise ValueError(f"a step cannot fail by {fail!r}")
        calls = tuple(given.get("tool_calls", ()))
        return cls(given.get("text", ""), given.get("thinking", ""), calls, None if fail is None else str(fail))  # type: ignore[arg-type]


@dataclass(slots=True)
class Script:
    """The steps to come, from whichever thread asks."""

    _steps: deque[Step] = field(default_factory=deque)
    _lock: Lock = field(default_factory=Lock)

    def put(self, steps: Iterable[Step]) -> None:
        with self._lock:
            self._steps.extend(steps)

    def clear(self) -> None:
        with self._lock:
            self._steps.clear()

    def next(self, last_text: str) -> Step:
        """The next step; an echo of what was said last where there is none."""
        with self._lock:
            return self._steps.popleft() if self._steps else Step(text=f"You said: {last_text}")


def last_text(messages: Any) -> str:
    """The last text of a list of messages, whichever form they have."""
    if isinstance(messages, str):
        return messages
    for message in reversed(messages):
        content = message.get("content", message.get("output", ""))
        if isinstance(content, str) and content:
            return content
        if isinstance(content, list):
            texts = [part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]
            if texts:
                return str(texts[-1])
    return ""
