"""OpenAI's answers of responses: the response, and its stream of events."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import count

from tests.loopback.anthropic_answers import pieces
from tests.loopback.anthropic_rules import signature_of
from tests.loopback.prefix_cache import BYTES_A_TOKEN, Accounted
from tests.loopback.refusal import Json
from tests.loopback.script import Step

_numbers = count(1)


def response(body: Json, step: Step, accounted: Accounted) -> Json:
    """The whole answer."""
    output: list[Json] = []
    if step.thinking and body.get("reasoning"):
        summary = [{"type": "summary_text", "text": step.thinking}]
        sealed = signature_of(step.thinking)
        output.append({"type": "reasoning", "id": _id("rs"), "summary": summary, "encrypted_content": sealed})
    if step.text:
        part = {"type": "output_text", "text": step.text, "annotations": []}
        said = {"type": "message", "id": _id("msg"), "role": "assistant", "status": "completed", "content": [part]}
        output.append(said)
    output += [
        {
            "type": "function_call",
            "id": _id("fc"),
            "call_id": _id("call"),
            "name": call["name"],
            "arguments": json.dumps(call["arguments"]),
            "status": "completed",
        }
        for call in step.tool_calls
    ]
    answered = max(1, len(json.dumps(output)) // BYTES_A_TOKEN)
    asked = accounted.fresh + accounted.read
    return {
        "id": _id("resp"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "model": body["model"],
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": body.get("tools", []),
        "metadata": {},
        "usage": {
            "input_tokens": asked,
            "input_tokens_details": {"cached_tokens": accounted.read},
            "output_tokens": answered,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": asked + answered,
        },
    }


def events(whole: Json) -> Iterator[bytes]:
    """The same answer as a stream: each item as a whole, texts in pieces."""
    numbers = count(0)

    def event(kind: str, **more: object) -> bytes:
        data = {"type": kind, "sequence_number": next(numbers), **more}
        return f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode()

    yield event("response.created", response=whole | {"status": "in_progress", "output": [], "usage": None})
    for index, item in enumerate(whole["output"]):
        yield event("response.output_item.added", output_index=index, item=item)
        if item["type"] == "message":
            for piece in pieces(item["content"][0]["text"]):
                place = {"item_id": item["id"], "output_index": index, "content_index": 0}
                yield event("response.output_text.delta", delta=piece, logprobs=[], **place)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=whole)


def _id(kind: str) -> str:
    return f"{kind}_{next(_numbers):016d}"
