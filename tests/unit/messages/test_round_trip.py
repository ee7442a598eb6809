"""Messages that are appended come back from a prompt of the same form (docs/rules/messages.md#forms)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from neve.domain.compile.conversation import Conversation
from neve.domain.compile.formats import anthropic, openai_chat
from neve.domain.compile.prompt import Prompt
from neve.domain.messages.heard import Format
from neve.domain.messages.read import read_messages
from neve.domain.records.sessions import Event

Json = dict[str, Any]
TEXTS = st.sampled_from(["yes", "Hello there.", "What is the weather?", "  two  spaces "])
ARGS = st.dictionaries(st.sampled_from(["city", "n"]), st.one_of(st.integers(0, 9), TEXTS), max_size=2)
PICTURE = "https://example.org/a.png"


def prompt_of(messages: Sequence[Json], form: Format) -> list[Json]:
    """As a prompt of that form shows what was appended."""
    made = Conversation()
    seq = 0
    for heard in read_messages(messages, form):
        for new in heard.events:
            seq += 1
            data = new.event_data | ({"name": "tool"} if new.event_data.get("name") == "" else {})
            made.add(Event(seq, new.event_type, new.content, 0, "2026-03-10T09:30:00.000Z", event_data=data))
    history, last = made.parts()
    prompt = Prompt([], "", "", "", history, last)
    request = anthropic.render_anthropic(prompt) if form == "anthropic" else openai_chat.render_openai_chat(prompt)
    return [message for message in request["messages"] if message.get("content") != []]


@st.composite
def chats(draw: st.DrawFn) -> list[Json]:
    """Of Anthropic's form: turns with loops of parallel calls."""
    messages: list[Json] = []
    number = 0
    for _ in range(draw(st.integers(1, 3))):
        said: list[Json] = [{"type": "text", "text": text} for text in draw(st.lists(TEXTS, min_size=1, max_size=2))]
        if draw(st.booleans()):
            said.insert(draw(st.integers(0, 1)), {"type": "image", "source": {"type": "url", "url": PICTURE}})
        messages.append({"role": "user", "content": said})
        for _ in range(draw(st.integers(0, 2))):
            blocks: list[Json] = []
            results: list[Json] = []
            for _ in range(draw(st.integers(1, 3))):
                number += 1
                if draw(st.booleans()):
                    blocks.append({"type": "text", "text": draw(TEXTS)})
                blocks.append({"type": "tool_use", "id": f"c{number}", "name": "look", "input": draw(ARGS)})
                results.append(_result(draw, f"c{number}"))
            if draw(st.booleans()):
                blocks.append({"type": "text", "text": draw(TEXTS)})
            messages += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
        messages.append({"role": "assistant", "content": [{"type": "text", "text": draw(TEXTS)}]})
    return messages


def _result(draw: st.DrawFn, identifier: str) -> Json:
    result: Json = {"type": "tool_result", "tool_use_id": identifier}
    if draw(st.booleans()):
        result["content"] = [{"type": "text", "text": draw(TEXTS)}]
        if draw(st.booleans()):
            result["is_error"] = True
    return result


def unmarked(messages: Sequence[Json]) -> list[Json]:
    return [
        message
        | {"content": [{n: v for n, v in block.items() if n != "cache_control"} for block in message["content"]]}
        for message in messages
    ]


@given(chats())
def test_anthropic_messages_come_back_as_they_were(chat: list[Json]) -> None:
    assert unmarked(prompt_of(chat, "anthropic")) == chat


@given(chats())
def test_openai_messages_come_back_as_they_were(chat: list[Json]) -> None:
    sent = [one for message in chat for one in _as_openai(message)]
    assert [_plain(one) for one in prompt_of(sent, "openai")] == [_plain(one) for one in sent]


def _as_openai(message: Json) -> list[Json]:
    texts = [block["text"] for block in message["content"] if block["type"] == "text"]
    if message["role"] == "assistant":
        calls = [block for block in message["content"] if block["type"] == "tool_use"]
        said = {"role": "assistant", "content": "\n\n".join(texts) if texts else None, "refusal": None}
        return [said | ({"tool_calls": [_call(call) for call in calls]} if calls else {})]
    results = [block for block in message["content"] if block["type"] == "tool_result"]
    if results:
        return [{"role": "tool", "tool_call_id": r["tool_use_id"], "content": _text(r)} for r in results]
    parts = [
        {"type": "text", "text": block["text"]}
        if block["type"] == "text"
        else {"type": "image_url", "image_url": {"url": PICTURE}}
        for block in message["content"]
    ]
    return [{"role": "user", "content": parts}]


def _call(call: Json) -> Json:
    return {
        "id": call["id"],
        "type": "function",
        "function": {"name": call["name"], "arguments": json.dumps(call["input"], ensure_ascii=False)},
    }


def _text(result: Json) -> str:
    return "\n".join(part["text"] for part in result.get("content", []))


def _plain(message: Json) -> Json:
    """Without nulls, and arguments as what they say."""
    plain = {name: value for name, value in message.items() if value is not None}
    if "tool_calls" in plain:
        plain["tool_calls"] = [
            call | {"function": call["function"] | {"arguments": json.loads(call["function"]["arguments"])}}
            for call in plain["tool_calls"]
        ]
    return plain
