"""What a backend without a memory sends, and what one sends that rewrites its memory for every turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.prompt_cost.blocks import Block, blocks_of
from evals.prompt_cost.sending import Sent
from evals.prompt_cost.transcripts import Turn

MARK = {"type": "ephemeral"}
WINDOW = 20
"""Messages of the sliding window."""
Request = dict[str, Any]


class FullHistory:
    """Everything that was ever said. ``cached``: with a breakpoint behind the system prompt and one that moves with the
    last message, as Anthropic's automatic caching sets them. Every request begins with the whole one before, so what it
    costs is counted as it grows; ``request`` makes it."""

    def __init__(self, prefix: str, minimum: int, *, cached: bool) -> None:
        self._prefix, self._minimum, self._cached = prefix, minimum, cached
        self._total = _Size.of(blocks_of({"system": [_text(prefix)], "messages": [_user("")]})[:1])
        self._before = _Size()

    def request(self, turns: Sequence[Turn], message: str) -> Request:
        messages = [*_messages(turns), _user(message, mark=self._cached)]
        return {"system": [_text(self._prefix, mark=self._cached)], "messages": messages}

    def send(self, message: str) -> Sent:
        """The request with this message."""
        size = _Size.of(blocks_of({"messages": [_user(message)]}))
        whole, before = self._total.plus(size), self._before
        self._before = whole
        is_cached = self._cached and whole.tokens >= self._minimum
        read = before.tokens if is_cached and before.tokens >= self._minimum else 0
        return Sent(
            bytes=whole.bytes,
            prefix=before.bytes,
            stable=self._total.bytes,
            stable_prefix=before.bytes,
            input=0 if is_cached else whole.tokens,
            cache_read=read,
            cache_write=whole.tokens - read if is_cached else 0,
        )

    def keep(self, turn: Turn) -> None:
        """The turn is history now."""
        self._total = self._total.plus(_Size.of(blocks_of({"messages": list(_messages([turn]))})))


@dataclass(frozen=True, slots=True)
class _Size:
    bytes: int = 0
    tokens: int = 0

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> _Size:
        return cls(sum(len(block.data) for block in blocks), sum(block.tokens for block in blocks))

    def plus(self, other: _Size) -> _Size:
        return _Size(self.bytes + other.bytes, self.tokens + other.tokens)


def last_messages(prefix: str, turns: Sequence[Turn], message: str) -> Request:
    """The last ``WINDOW`` messages, this one included, from a user's message on. The window moves with every turn, so
    only the system prompt is worth a breakpoint."""
    window = list(_messages(turns[-WINDOW:]))[-(WINDOW - 1) :]
    first = next((n for n, one in enumerate(window) if _is_message(one)), len(window))
    return {"system": [_text(prefix, mark=True)], "messages": [*window[first:], _user(message)]}


def rebuilt_memory(request: Request, memory: str) -> Request:
    """A request of E8 with the pack as it would be if it were built for this turn; the rest is as it was. What stands
    behind a memory that is always new is never read from a cache, so nothing but the static prefix is written to it."""
    system = [dict(part) if n == 0 else _unmarked(part) for n, part in enumerate(request["system"])]
    at = next((n for n, part in enumerate(system) if "<neve-memory" in part["text"]), None)
    if at is None:
        system = [*system, {"type": "text", "text": memory}] if memory else system
    elif memory:
        system[at]["text"] = memory
    else:
        del system[at]
    messages = [{**one, "content": [_unmarked(part) for part in one["content"]]} for one in request["messages"]]
    return {**request, "system": system, "messages": messages}


def _unmarked(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name != "cache_control"}


def _messages(turns: Sequence[Turn]) -> Iterator[Request]:
    for turn in turns:
        yield _user(turn.user)
        for tool in turn.tools:
            call = {"type": "tool_use", "id": tool.id, "name": tool.name, "input": tool.args}
            yield {"role": "assistant", "content": [call]}
            result = {"type": "tool_result", "tool_use_id": tool.id, "content": tool.result}
            yield {"role": "user", "content": [result]}
        yield {"role": "assistant", "content": [_text(turn.assistant)]}


def _is_message(message: Mapping[str, Any]) -> bool:
    """A message of the user, not a tool's result without its call."""
    return bool(message["role"] == "user" and message["content"][0]["type"] == "text")


def _user(text: str, *, mark: bool = False) -> Request:
    return {"role": "user", "content": [_text(text, mark=mark)]}


def _text(text: str, *, mark: bool = False) -> Request:
    return {"type": "text", "text": text, **({"cache_control": MARK} if mark else {})}
