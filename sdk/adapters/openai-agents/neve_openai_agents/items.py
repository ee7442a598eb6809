"""Items of OpenAI's Responses as events of a log, and back, whole.

An event says what memory can read of its item. Where that is not all of it, ``event_data.response_item`` holds the
item; where the item is larger than an event may be, or holds what no JSON can, its text stands in neutral events behind
it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unicodedata import category
from uuid import uuid4

Item = dict[str, Any]
Event = dict[str, Any]
ITEM, PARTS, PART_OF = "response_item", "response_parts", "response_part_of"
"""Names of our own: the session in TypeScript keeps items of another shape, and each reads what the other's say."""
EVENT_BYTES = 240_000
"""Below the 256 KiB of docs/rules/http.md#limits, with room for what stands around the item."""
PART_CHARACTERS = 120_000
"""Each at most two bytes as JSON in JSON."""
READABLE_CHARACTERS = 30_000
"""Memory reads so much of an item that is too large for an event (chosen)."""
CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
NAME_LENGTH = 256


@dataclass(frozen=True, slots=True)
class Kept:
    """An item of the log, with the seqs of its events."""

    item: Item
    seqs: tuple[int, ...]


@dataclass(slots=True)
class Waiting:
    """An item that is still to be appended. ``sent``: how many of its events are; ``tried``: some may have arrived."""

    item: Item
    events: list[Event]
    in_parts: bool = False
    sent: int = 0
    tried: bool = False

    @property
    def left(self) -> list[Event]:
        return self.events[self.sent :]


@dataclass(slots=True)
class ToolNames:
    """Names of the tools by the ids of their calls: a result does not say which tool it is of."""

    by_call: dict[str, str] = field(default_factory=dict)

    def learn(self, items: Iterable[Mapping[str, Any]]) -> None:
        for item in items:
            if item.get("type") in CALLS and isinstance(item.get("name"), str):
                self.by_call[str(item.get("call_id"))] = item["name"]


def waiting_of(item: Any, names: ToolNames) -> Waiting:
    """An item as the events that keep it. Raises TypeError for what is no JSON."""
    whole: Item = json.loads(json.dumps(item))
    names.learn([whole])
    event = _readable(whole, names)
    if _items_said(event) != [whole]:
        event.setdefault("event_data", {})[ITEM] = whole
    if _fits(event):
        return Waiting(whole, [{**event, "client_id": uuid4().hex}])
    return in_parts(whole, event)


def in_parts(item: Item, event: Event | None = None) -> Waiting:
    """An item whose text stands in events of its own: for what an event cannot hold, or the service refused. ``event``:
    what memory is to read of it; nothing by default."""
    text = json.dumps(item)
    parts = [text[at : at + PART_CHARACTERS] for at in range(0, len(text), PART_CHARACTERS)]
    head = _shortened(event or {"event_type": "neutral"})
    head["client_id"] = uuid4().hex
    head.setdefault("event_data", {})[PARTS] = len(parts)
    behind = [
        {
            "event_type": "neutral",
            "client_id": uuid4().hex,
            "content": part,
            "event_data": {PART_OF: head["client_id"], "number": number},
        }
        for number, part in enumerate(parts)
    ]
    return Waiting(item, [head, *behind], in_parts=True)


def kept_of(events: Sequence[Mapping[str, Any]]) -> list[Kept]:
    """The items of a stretch of the log, oldest first. One whose parts are not all there is left out; so is what is no
    item: boundaries, and neutral events of others."""
    parts: dict[str, dict[int, Mapping[str, Any]]] = {}
    for event in events:
        data = event.get("event_data") or {}
        if event["event_type"] == "neutral" and PART_OF in data:
            parts.setdefault(str(data[PART_OF]), {})[int(data["number"])] = event
    found: list[Kept] = []
    for event in events:
        data = event.get("event_data") or {}
        if PARTS in data:
            own = parts.get(str(event.get("client_id")), {})
            if len(own) == data[PARTS]:
                text = "".join(str(own[number]["content"]) for number in range(len(own)))
                seqs = [event["seq"], *(part["seq"] for part in own.values())]
                found.append(Kept(json.loads(text), tuple(sorted(seqs))))
        elif isinstance(data.get(ITEM), dict):
            found.append(Kept(data[ITEM], (event["seq"],)))
        else:
            found += [Kept(item, (event["seq"],)) for item in _items_said(event)]
    return found


def newest(items: Sequence[Item], limit: int | None) -> list[Item]:
    """The last ``limit`` items, and more where a result would lose its call, or a call the thought that led to it. A
    limit below zero is none, as in the reference."""
    if limit is None or limit < 0:
        return list(items)
    return list(items[_start(items, limit) :])


def is_whole(items: Sequence[Item], limit: int | None) -> bool:
    """Say whether an end of the log holds all that ``newest`` gives of the whole log."""
    if limit is None or limit < 0:
        return False
    start = _start(items, limit)
    shown = items[start:]
    called = {_call_id(item) for item in shown if not _is_result(item)}
    return start > 0 and all(_call_id(item) in called for item in shown if _is_result(item))


def _start(items: Sequence[Item], limit: int) -> int:
    start = max(0, len(items) - limit)
    if start == len(items):
        return start
    places = {_call_id(item): at for at, item in enumerate(items) if not _is_result(item)}
    at = len(items) - 1
    while at >= start:
        if _is_result(items[at]):
            start = min(start, places.get(_call_id(items[at]), start))
        at -= 1
    while start > 0 and items[start - 1].get("type") == "reasoning":
        start -= 1
    return start


def _is_result(item: Mapping[str, Any]) -> bool:
    kind = str(item.get("type"))
    return kind.endswith("_output") or kind == "mcp_approval_response"


def _call_id(item: Mapping[str, Any]) -> str | None:
    """Give the id that a call and its result have in common."""
    if item.get("type") == "mcp_approval_request":
        return item.get("id")
    return item.get("call_id") or item.get("approval_request_id")


# --- what memory reads ------------------------------------------------------------------------------------------


def _readable(item: Item, names: ToolNames) -> Event:
    """An event of what an item says; a neutral one where it is none of a user, an assistant or a tool."""
    kind, role = item.get("type", "message"), item.get("role")
    if kind == "message" and role in ("user", "assistant"):
        blocks = _blocks(item.get("content"), with_images=role == "user")
        if blocks:
            return {"event_type": "user_message" if role == "user" else "assistant_response", "content": blocks}
    call_id, name = item.get("call_id"), item.get("name") or names.by_call.get(str(item.get("call_id"))) or "tool"
    known = isinstance(call_id, str) and call_id.strip() and len(call_id) <= NAME_LENGTH
    named = isinstance(name, str) and name.strip() and len(name) <= NAME_LENGTH
    if known and named and kind in CALLS:
        data = {"tool_use_id": call_id, "name": name, "args": _arguments(item.get(CALLS[kind]))}
        return {"event_type": "tool_call", "content": "", "event_data": data}
    if known and named and kind in RESULTS:
        data = {"tool_use_id": call_id, "name": name}
        return {"event_type": "tool_result", "content": _blocks(item.get("output")) or "", "event_data": data}
    return {"event_type": "neutral"}


def _blocks(content: Any, *, with_images: bool = True) -> str | list[dict[str, Any]]:
    """A text alone, or blocks of text and images by address; empty where there is neither."""
    if isinstance(content, str):
        return content if content.strip() else ""
    found: list[dict[str, Any]] = []
    for part in content if isinstance(content, list) else ():
        text = part.get("text") or part.get("refusal") if isinstance(part, Mapping) else None
        if isinstance(text, str) and text.strip():
            found.append({"type": "text", "text": text})
        elif with_images and isinstance(part, Mapping) and part.get("type") == "input_image":
            address = part.get("image_url")
            if isinstance(address, str) and address.startswith(("http://", "https://")):
                found.append({"type": "image", "media_type": "image/*", "url": address})
    if found and all(block["type"] == "text" for block in found):
        return "\n".join(block["text"] for block in found)
    return found


def _arguments(said: Any) -> Any:
    try:
        return json.loads(said)
    except (TypeError, ValueError):
        return said


def _shortened(event: Event) -> Event:
    """Shorten an event whose item stands behind it to the beginning of its text."""
    content = event.get("content")
    if isinstance(content, list):
        content = "\n".join(block["text"] for block in content if block["type"] == "text") or "[an image]"
    short = {**event} if content is None else {**event, "content": _plain(content[:READABLE_CHARACTERS])}
    data = {name: value for name, value in event.get("event_data", {}).items() if name not in (ITEM, "args")}
    return {**short, "event_data": {name: _plain(value) for name, value in data.items()}}


def _plain(text: str) -> str:
    """Without what no text of the service may hold."""
    kept = "".join(sign for sign in text if sign in "\t\n\r" or category(sign) not in ("Cc", "Cs"))
    return kept if kept.strip() else "[no text]"


def _fits(event: Event) -> bool:
    try:
        return len(json.dumps(event, ensure_ascii=False, allow_nan=False).encode()) <= EVENT_BYTES
    except ValueError:
        return False


# --- what others appended ---------------------------------------------------------------------------------------


def _items_said(event: Mapping[str, Any]) -> list[Item]:
    """The items that an event without one stands for."""
    kind, content, data = event["event_type"], event.get("content", ""), event.get("event_data") or {}
    if kind == "user_message":
        return [{"role": "user", "content": _input(content)}]
    if kind == "assistant_response":
        return [{"role": "assistant", "content": _text(content)}]
    if kind == "tool_call":
        said = [{"role": "assistant", "content": _text(content)}] if _text(content).strip() else []
        args = data.get("args")
        written = args if isinstance(args, str) else json.dumps({} if args is None else args)
        call = {"type": "function_call", "call_id": data["tool_use_id"], "name": data["name"], "arguments": written}
        return [*said, call]
    if kind == "tool_result":
        return [{"type": "function_call_output", "call_id": data["tool_use_id"], "output": _text(content)}]
    return []


def _input(content: Any) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    return [
        {"type": "input_image", "image_url": block["url"], "detail": "auto"}
        if block.get("type") == "image" and "url" in block
        else {"type": "input_text", "text": block.get("text", "[an image]")}
        for block in content
    ]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(block["text"]) for block in content if block.get("type") == "text")
