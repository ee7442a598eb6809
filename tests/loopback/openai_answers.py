"""OpenAI's answers of chat completions: a completion, its stream of chunks, and a failure."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import count

from tests.loopback.anthropic_answers import pieces
from tests.loopback.prefix_cache import BYTES_A_TOKEN, Accounted
from tests.loopback.refusal import Json
from tests.loopback.script import Step

KINDS = {400: "invalid_request_error", 401: "invalid_request_error", 429: "rate_limit_exceeded", 500: "server_error"}
_numbers = count(1)


def failure(status: int, message: str, where: str | None = None) -> Json:
    """The body of an answer that failed."""
    code = {401: "invalid_api_key", 429: "rate_limit_exceeded"}.get(status)
    return {"error": {"message": message, "type": KINDS.get(status, "server_error"), "param": where, "code": code}}


def completion(body: Json, step: Step, accounted: Accounted) -> Json:
    """The whole answer."""
    message: Json = {"role": "assistant", "content": step.text or None, "refusal": None, "annotations": []}
    if step.tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call_{next(_numbers):016d}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for call in step.tool_calls
        ]
    answered = max(1, len(json.dumps(message)) // BYTES_A_TOKEN)
    asked = accounted.fresh + accounted.read
    ended = "tool_calls" if step.tool_calls else "stop"
    return {
        "id": f"chatcmpl-{next(_numbers):016d}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": ended}],
        "usage": {
            "prompt_tokens": asked,
            "completion_tokens": answered,
            "total_tokens": asked + answered,
            "prompt_tokens_details": {"cached_tokens": accounted.read, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
    }


def chunks(body: Json, whole: Json) -> Iterator[bytes]:
    """The same answer as a stream; usage only where the request asks for it."""
    message = whole["choices"][0]["message"]
    yield _chunk(whole, {"role": "assistant", "content": "", "refusal": None})
    for piece in pieces(message["content"] or ""):
        yield _chunk(whole, {"content": piece})
    for index, call in enumerate(message.get("tool_calls", ())):
        opened = call | {"index": index, "function": call["function"] | {"arguments": ""}}
        yield _chunk(whole, {"tool_calls": [opened]})
        for piece in pieces(call["function"]["arguments"]):
            yield _chunk(whole, {"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield _chunk(whole, {}, whole["choices"][0]["finish_reason"])
    if (body.get("stream_options") or {}).get("include_usage"):
        yield _data(_head(whole) | {"choices": [], "usage": whole["usage"]})
    yield b"data: [DONE]\n\n"


def _head(whole: Json) -> Json:
    return {name: whole[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}


def _chunk(whole: Json, delta: Json, ended: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": ended}
    return _data(_head(whole) | {"choices": [choice]})


def _data(value: Json) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()
