"""A request to a provider as the blocks that its cache compares, in the order in which it reads them: tools, system,
messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neve.domain.tokens import estimate


@dataclass(frozen=True, slots=True)
class Block:
    """``data``: its canonical JSON with the role of its message, without the mark of a breakpoint, which is no content
    to a provider. ``marked``: a cache breakpoint ends here. ``last_turn``: it is of the user's last message."""

    data: bytes
    tokens: int
    marked: bool = False
    last_turn: bool = False


def blocks_of(request: Mapping[str, Any]) -> list[Block]:
    """Of the arguments of Anthropic's ``messages.create``."""
    blocks = [_block("tool", tool) for tool in request.get("tools", ())]
    blocks += [_block("system", part) for part in _parts(request.get("system", ()))]
    messages: Sequence[Mapping[str, Any]] = request["messages"]
    for n, message in enumerate(messages):
        last = n == len(messages) - 1
        blocks += [_block(message["role"], part, last_turn=last) for part in _parts(message["content"])]
    return blocks


def stable(blocks: Sequence[Block]) -> bytes:
    """What stands before the user's last message."""
    return b"".join(block.data for block in blocks if not block.last_turn)


def whole(blocks: Sequence[Block]) -> bytes:
    return b"".join(block.data for block in blocks)


def common_prefix(one: bytes, other: bytes) -> int:
    """Length in bytes."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def text_in(request: Mapping[str, Any]) -> str:
    """Every text that the model reads, as one."""
    return "\n".join(_texts(request))


def _parts(content: Any) -> list[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _block(role: str, part: Mapping[str, Any], *, last_turn: bool = False) -> Block:
    bare = {name: value for name, value in part.items() if name != "cache_control"}
    data = json.dumps([role, bare], ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    return Block(data, estimate("\n".join(_texts(bare))), "cache_control" in part, last_turn)


def _texts(value: Any) -> Iterator[str]:
    """The words of a block, however deep; names of fields and types are no words."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in ("type", "role", "cache_control", "id", "tool_use_id"):
                yield from _texts(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _texts(inner)
    elif value is not None:
        yield json.dumps(value)
