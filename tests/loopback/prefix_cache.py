"""The prompt caches of the providers: marked prefixes at Anthropic, common beginnings at OpenAI."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from tests.loopback.anthropic_rules import blocks_of
from tests.loopback.refusal import Json

BYTES_A_TOKEN = 4
LIVES_S = {"5m": 300.0, "1h": 3600.0}
LOOKS_BACK = 20
"""Blocks in front of a mark at which Anthropic looks for an older one."""
MINIMUM = 1024
MINIMUMS = (("claude-3-haiku", 2048), ("haiku", 4096), ("opus", 4096), ("claude", 1024))
"""The first one whose name is in the model's."""
STEP = 128
"""What OpenAI caches beyond its minimum comes in such steps of tokens."""


@dataclass(frozen=True, slots=True)
class Accounted:
    """Tokens of a request; the three add up to all of it."""

    fresh: int
    read: int
    written: int


@dataclass(slots=True)
class PrefixCache:
    """``now``: seconds; a test moves them. ``minimum``: in place of the models' own."""

    now: Callable[[], float]
    minimum: int | None = None
    _marked: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    _seen: list[tuple[str, bytes, float]] = field(default_factory=list)

    def minimum_of(self, model: str) -> int:
        """Tokens below which nothing is cached."""
        if self.minimum is not None:
            return self.minimum
        return next((least for name, least in MINIMUMS if name in model), MINIMUM)

    def anthropic(self, body: Json) -> Accounted:
        """Read up to the longest prefix that was marked, and write the others that are marked."""
        model, blocks = body["model"], _blocks(body)
        least = self.minimum_of(model)
        prefixes, marks = [], []
        running, length = sha256(), 0
        for at, (block, mark) in enumerate(blocks):
            running.update(block)
            length += len(block)
            prefixes.append((running.hexdigest(), length // BYTES_A_TOKEN))
            if mark is not None:
                marks.append((at, LIVES_S[mark.get("ttl", "5m")]))
        total = prefixes[-1][1]
        usable = [(at, lives) for at, lives in marks if prefixes[at][1] >= least]
        read = max((self._found(model, prefixes, at) for at, _ in usable), default=0)
        for at, lives in usable:
            self._marked[model, prefixes[at][0]] = (self.now() + lives, lives)
        written = max((prefixes[at][1] for at, _ in usable), default=0) - read
        return Accounted(total - read - written, read, written)

    def openai(self, model: str, content: bytes) -> Accounted:
        """Read the beginning that an earlier request had."""
        now, least = self.now(), self.minimum_of(model)
        self._seen = [one for one in self._seen if one[2] > now]
        common = max((_common(content, before) for name, before, _ in self._seen if name == model), default=0)
        tokens, total = common // BYTES_A_TOKEN, len(content) // BYTES_A_TOKEN
        read = tokens // STEP * STEP if tokens >= least else 0
        self._seen.append((model, content, now + LIVES_S["5m"]))
        return Accounted(total - read, read, 0)

    def _found(self, model: str, prefixes: list[tuple[str, int]], at: int) -> int:
        for place in range(at, max(-1, at - LOOKS_BACK), -1):
            key = (model, prefixes[place][0])
            ends, lives = self._marked.get(key, (0.0, 0.0))
            if ends > self.now():
                self._marked[key] = (self.now() + lives, lives)
                return prefixes[place][1]
        return 0


def content_of(body: Json) -> bytes:
    """The bytes of a request to OpenAI that its cache compares, tools first."""
    parts = (body.get("tools", []), body.get("instructions", ""), body.get("messages", body.get("input")))
    return b"".join(_bytes(part) for part in parts)


def _blocks(body: Json) -> list[tuple[bytes, Json | None]]:
    """Each block with its mark, in the order of the cache; what changes the messages' cache stands in front of them."""
    system = body.get("system") or []
    found = [_marked(tool, "tool") for tool in body.get("tools") or ()]
    texts = [{"type": "text", "text": system}] if isinstance(system, str) else system
    found += [_marked(block, "system") for block in texts]
    found.append((_bytes([body.get("tool_choice"), body.get("thinking")]), None))
    for message in body["messages"]:
        found += [_marked(block, message["role"]) for block in blocks_of(message)]
    return found


def _marked(block: Json, place: str) -> tuple[bytes, Json | None]:
    bare = {name: value for name, value in block.items() if name != "cache_control"}
    return _bytes([place, bare]), block.get("cache_control")


def _bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")


def _common(one: bytes, other: bytes) -> int:
    """The length of the common beginning, by halves."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
