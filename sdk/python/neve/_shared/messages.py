"""Messages of the providers, as they are: found in whatever the chat holds, told apart, and counted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ..errors import NeveBadRequest, NeveTooLarge
from .calls import json_bytes

Message = dict[str, Any]
Said = Any
"""A text of the user, a provider's message, the answer of a provider's client, or a list of them."""
EVENT_BYTES = 256 * 1024
"""Of docs/rules/http.md#limits."""
NOT_SAID = frozenset({"id", "created_at", "metadata", "name", "status", "cache_control"})
"""Fields beside what is said: with or without them it is the same message."""
CALLS = frozenset({"tool_use", "tool_result", "tool-call", "tool-result", "server_tool_use"})
ITEMS = frozenset({"function_call", "function_call_output", "reasoning"})
UNKNOWN = (
    "has no known shape: pass a message with `role` and `content`, a text, or the answer of a provider's client "
    "as it came"
)


@dataclass(slots=True, eq=False)
class Spoken:
    """One message that the chat has said. ``id``: None where the service is to find out whether it has it. ``events``:
    an upper bound of what it becomes in the log. ``state``: None until the service, or this package, has decided about
    it; ``tried``: it was sent, and may have arrived."""

    id: str | None
    message: Message
    mark: str
    events: int
    size: int
    state: str | None = None
    seqs: tuple[int, ...] = ()
    tried: bool = False

    @property
    def sent(self) -> Message:
        return self.message if self.id is None else {**self.message, "id": self.id}


def messages_of(said: Said) -> list[Message]:
    """The messages in what was said. Raises NeveBadRequest that names the one of an unknown shape by its place."""
    given = json_of(said)
    many = given if isinstance(given, list | tuple) else [given]
    found: list[Message] = []
    for at, one in enumerate(many):
        shapes = _shapes(json_of(one))
        if not shapes:
            field = f"messages.{at}"
            raise NeveBadRequest(
                "unknown_message", f"{field} {UNKNOWN}.", errors=[{"field": field, "message": UNKNOWN}]
            )
        found += shapes
    return found


def mark_of(message: Message) -> str:
    """The same for the same role and content, however a client wrote it."""
    plain = _plain({name: value for name, value in message.items() if name not in NOT_SAID})
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def events_of(message: Message) -> int:
    """At most so many events of the log."""
    calls = sum(isinstance(part, Mapping) and part.get("type") in CALLS for part in parts_of(message))
    return 1 + calls + len(message.get("tool_calls") or ())


def size_of(message: Message) -> int:
    """Bytes as JSON."""
    return len(json_bytes(message))


def too_large(at: int) -> NeveTooLarge:
    """Says of a message that it is larger than an event may be."""
    why = "is larger than 256 KiB as JSON: part it, or upload it (createUpload)"
    return NeveTooLarge(
        "event_too_large", f"messages.{at} {why}.", errors=[{"field": f"messages.{at}", "message": why}]
    )


def parts_of(message: Mapping[str, Any]) -> Sequence[Any]:
    """The blocks of a message; none where it is a text."""
    content = message.get("content")
    return content if isinstance(content, list) else ()


def is_answer(message: Message) -> bool:
    """Whether a message ends a turn, so that it may wait for the next: one of the assistant that calls no tool."""
    if message.get("role") not in ("assistant", "model") or message.get("tool_calls"):
        return False
    return not any(isinstance(part, Mapping) and part.get("type") in CALLS for part in parts_of(message))


def is_question(message: Message) -> bool:
    """Whether a message begins a turn: one of the user that holds no result of a tool."""
    kinds = {part.get("type") for part in parts_of(message) if isinstance(part, Mapping)}
    return message.get("role") == "user" and not kinds & CALLS


def stopped(messages: Iterable[Message]) -> list[Message]:
    """What is left of an answer that was stopped in its middle: no call, which will have no result, and no unsigned
    thought."""
    found = []
    for message in messages:
        if message.get("type") in ITEMS:
            continue
        content = message.get("content")
        if isinstance(content, list):
            content = [part for part in content if _whole(part)]
        if content and (not isinstance(content, str) or content.strip()):
            left = {name: value for name, value in message.items() if name not in ("tool_calls", "content")}
            found.append({**left, "content": content})
    return found


def content_for_compile(message: Message) -> Any:
    """The content of a message of the user as compile takes it: a text, or blocks of text and images. Raises
    NeveBadRequest."""
    content = message.get("content")
    if not isinstance(content, list):
        return content
    return [_block(part, at) for at, part in enumerate(content)]


def _block(part: Any, at: int) -> dict[str, Any]:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if kind in ("text", "input_text"):
        return {"type": "text", "text": part["text"]}
    if kind == "image" and isinstance(part.get("source"), Mapping):
        source = part["source"]
        place = {"url": source["url"]} if source.get("type") == "url" else {"data": source.get("data")}
        return {"type": "image", "media_type": source.get("media_type") or _media(source.get("url")), **place}
    if kind in ("image_url", "input_image"):
        url = part["image_url"]["url"] if isinstance(part.get("image_url"), Mapping) else part.get("image_url")
        if str(url).startswith("data:"):
            media, _, data = str(url).removeprefix("data:").partition(";base64,")
            return {"type": "image", "media_type": media, "data": data}
        return {"type": "image", "media_type": _media(url), "url": url}
    if kind == "image":
        return dict(part)
    why = f"a message of the user has texts and images; for {kind!r} append it first, and use turn"
    raise NeveBadRequest(
        "unknown_message", f"message.{at}: {why}.", errors=[{"field": f"message.{at}", "message": why}]
    )


def _media(url: Any) -> str:
    ending = str(url).partition("?")[0].rpartition(".")[2].lower()
    return {"jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}.get(
        ending, "image/png"
    )


def _whole(part: Any) -> bool:
    if not isinstance(part, Mapping):
        return False
    if part.get("type") == "thinking":
        return False
    return part.get("type") not in CALLS and (part.get("type") != "text" or bool(str(part.get("text", "")).strip()))


def _shapes(one: Any) -> list[Message]:
    if isinstance(one, str):
        return [{"role": "user", "content": one}] if one.strip() else []
    if not isinstance(one, Mapping):
        return []
    found: dict[str, Any] = dict(one)
    choices, output = found.get("choices"), found.get("output")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):  # a chat completion of OpenAI
        return [dict(choices[0]["message"])] if isinstance(choices[0].get("message"), Mapping) else []
    if found.get("object") == "response" and isinstance(output, list):  # of OpenAI's Responses
        return [dict(item) for item in output]
    if found.get("type") == "message" and "model" in found:  # of Anthropic
        return [{"role": found["role"], "content": found["content"]}]
    if isinstance(found.get("role"), str) and ("content" in found or "tool_calls" in found or "parts" in found):
        return [found]
    return [found] if found.get("type") in ITEMS else []


def json_of(value: Any) -> Any:
    """An object of a provider's client as the JSON that it came from, at any depth."""
    if hasattr(value, "model_dump"):
        return json_of(value.model_dump(mode="json", exclude_none=True, exclude_unset=True, warnings=False))
    if isinstance(value, Mapping):
        return {str(name): json_of(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [json_of(one) for one in value]
    return value


def _plain(value: Any) -> Any:
    """Without what a provider adds to its own answers: a text alone is the block of it, what is empty is not there."""
    if isinstance(value, Mapping):
        kept = {name: _plain(one) for name, one in value.items() if name != "cache_control"}
        content = kept.get("content")
        if isinstance(content, str):
            kept["content"] = [{"type": "text", "text": content}]
        return {name: one for name, one in kept.items() if one is not None and one != [] and one != {}}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
