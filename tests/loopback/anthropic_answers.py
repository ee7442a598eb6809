"""Anthropic's answers: a message, its stream of events, and a failure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count

from tests.loopback.anthropic_rules import signature_of
from tests.loopback.prefix_cache import BYTES_A_TOKEN, Accounted
from tests.loopback.refusal import Json
from tests.loopback.script import Step

PIECE = 24
"""Characters of a delta."""
KINDS = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error",
         413: "request_too_large", 429: "rate_limit_error", 500: "api_error"}  # fmt: skip
_numbers = count(1)


def failure(status: int, message: str) -> Json:
    """The body of an answer that failed."""
    error = {"type": KINDS.get(status, "api_error"), "message": message}
    return {"type": "error", "error": error, "request_id": f"req_loopback{next(_numbers):08d}"}


def message(body: Json, step: Step, accounted: Accounted) -> Json:
    """The whole answer."""
    thinks = body.get("thinking", {}).get("type") in ("enabled", "adaptive")
    content: list[Json] = []
    if step.thinking and thinks:
        content.append({"type": "thinking", "thinking": step.thinking, "signature": signature_of(step.thinking)})
    if step.text:
        content.append({"type": "text", "text": step.text})
    content += [
        {"type": "tool_use", "id": f"toolu_{next(_numbers):016d}", "name": call["name"], "input": call["arguments"]}
        for call in step.tool_calls
    ]
    return {
        "id": f"msg_{next(_numbers):016d}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": "tool_use" if step.tool_calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": accounted.fresh,
            "cache_creation_input_tokens": accounted.written,
            "cache_read_input_tokens": accounted.read,
            "cache_creation": {"ephemeral_5m_input_tokens": accounted.written, "ephemeral_1h_input_tokens": 0},
            "output_tokens": max(1, len(json.dumps(content)) // BYTES_A_TOKEN),
            "service_tier": "standard",
        },
    }


def events(whole: Json) -> Iterator[bytes]:
    """The same answer as a stream of events."""
    begun = whole | {"content": [], "stop_reason": None, "usage": whole["usage"] | {"output_tokens": 1}}
    yield _event("message_start", message=begun)
    yield _event("ping")
    for index, block in enumerate(whole["content"]):
        yield _event("content_block_start", index=index, content_block=_empty(block))
        for delta in _deltas(block):
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=ended, usage={"output_tokens": whole["usage"]["output_tokens"]})
    yield _event("message_stop")


def _empty(block: Json) -> Json:
    return {
        "text": block | {"text": ""},
        "thinking": block | {"thinking": "", "signature": ""},
        "tool_use": block | {"input": {}},
    }[block["type"]]


def _deltas(block: Json) -> Iterator[Json]:
    if block["type"] == "text":
        yield from ({"type": "text_delta", "text": piece} for piece in pieces(block["text"]))
    elif block["type"] == "thinking":
        yield from ({"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"]))
        yield {"type": "signature_delta", "signature": block["signature"]}
    else:
        text = json.dumps(block["input"])
        yield from ({"type": "input_json_delta", "partial_json": piece} for piece in pieces(text))


def pieces(text: str) -> Iterator[str]:
    """A text in the pieces in which it is streamed."""
    yield from (text[at : at + PIECE] for at in range(0, len(text), PIECE))


def _event(name: str, **more: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **more})}\n\n".encode()
