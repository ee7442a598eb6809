"""A list of providers' messages, whichever their form is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from neve.domain.errors import invalid
from neve.domain.ids import is_identifier
from neve.domain.messages import openai_chat, openai_responses
from neve.domain.messages.ai_sdk import read_ai_sdk
from neve.domain.messages.anthropic import read_anthropic
from neve.domain.messages.heard import Builder, Format, Heard, PartLeft, Role
from neve.domain.messages.openai_chat import read_openai_chat
from neve.domain.messages.openai_responses import read_openai_item
from neve.domain.messages.parts import unknown_role
from neve.domain.records.sessions import EventType
from neve.domain.sessions.frames import one_line
from neve.domain.sessions.new_event import NewEvent

SYSTEM = ("system", "developer")
INSTRUCTIONS = "is no part of the conversation: kept as a neutral event; send it as `system` of the prompt"
MARKS = "cache_control"
NAME_CHARACTERS = 200
_PARTS: Mapping[Format, frozenset[str]] = {
    "anthropic": frozenset(
        {"tool_use", "tool_result", "thinking", "redacted_thinking", "document", "server_tool_use", "search_result"}
    ),
    "openai": frozenset({"image_url", "input_audio", "refusal"}),
    "openai_responses": frozenset({"input_text", "output_text", "input_image", "input_file"}),
    "ai_sdk": frozenset({"tool-call", "tool-result", "reasoning", "tool-approval-request", "tool-approval-response"}),
}
_READ = {
    "anthropic": read_anthropic,
    "openai": read_openai_chat,
    "openai_responses": read_openai_item,
    "ai_sdk": read_ai_sdk,
}


def read_messages(messages: Sequence[Any], form: Format | None = None) -> list[Heard]:
    """Read a list of messages. ``form`` None: it is found for each message. Raises NeveError: 422 that names the place
    and the cure."""
    heard = _move_thoughts([_read(message, n, form) for n, message in enumerate(messages)])
    marked = next((n for n, message in enumerate(messages) if _is_marked(message)), None)
    if marked is not None:
        left = PartLeft(marked, MARKS, "marks are dropped: a prompt of Neve's sets its own", kept=False)
        heard[marked] = replace(heard[marked], left=(*heard[marked].left, left))
    return heard


def _is_marked(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return any(part.get(MARKS) for part in (message, *parts))


def _read(message: Any, index: int, form: Format | None) -> Heard:
    at = f"messages[{index}]"
    if not isinstance(message, Mapping):
        raise invalid(at, "must be a message: an object with a role and a content")
    if isinstance(message.get("parts"), list) and "content" not in message:
        raise invalid(f"{at}.parts", "is of a UI message: send what convertToModelMessages makes of it")
    found = form or form_of(message)
    builder = Builder(
        index,
        _role(message, found, at),
        found,
        name=_name(message, at),
        created_at=message.get("created_at"),
        own_id=_own_id(message),
    )
    if message.get("role") in SYSTEM and message.get("type") in (None, "message"):
        builder.leave("role", f"{message['role']} {INSTRUCTIONS}", _strip_own_fields(message))
    else:
        _READ[found](message, builder)
    heard = builder.built()
    if not heard.events and not heard.left and not heard.thoughts:
        return replace(heard, left=(PartLeft(index, "content", "says nothing", kept=False),))
    return heard


def form_of(message: Mapping[str, Any]) -> Format:
    """Find a message's form by what only one form has; a message of text is the same in all of them."""
    kind, role = message.get("type"), message.get("role")
    if kind in (*openai_responses.OF_ASSISTANT, *openai_responses.OUTPUTS) or (isinstance(kind, str) and role is None):
        return "openai_responses"
    content = message.get("content")
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    kinds = {part.get("type") for part in parts}
    for form, own in _PARTS.items():
        if kinds & own:
            return form
    if any(part.get("type") in ("image", "file") and "source" not in part for part in parts):
        return "openai" if any(isinstance(part.get("file"), Mapping) for part in parts) else "ai_sdk"
    if role in ("tool", "function", *SYSTEM) or message.get("tool_calls") or message.get("function_call"):
        return "ai_sdk" if role == "tool" and "tool_call_id" not in message and isinstance(content, list) else "openai"
    if isinstance(content, list):
        return "anthropic"
    return "openai"


def _role(message: Mapping[str, Any], form: Format, at: str) -> Role:
    """Give the role whose words the message's texts are: a tool's results come with the user's."""
    role, kind = message.get("role"), message.get("type")
    if form == "openai_responses" and kind not in (None, "message"):
        return "assistant" if kind in openai_responses.OF_ASSISTANT else "user"
    taken = {
        "anthropic": ("user", "assistant", *SYSTEM),
        "openai": openai_chat.ROLES,
        "openai_responses": ("user", "assistant", *SYSTEM),
        "ai_sdk": ("user", "assistant", "tool", "system"),
    }[form]
    if role not in taken:
        raise unknown_role(at, role, taken)
    return "assistant" if role == "assistant" else "user"


def _name(message: Mapping[str, Any], at: str) -> str | None:
    """Give the speaker's name; what a tool is called is no speaker's name."""
    name = message.get("name")
    if name is None or message.get("role") not in ("user", "assistant"):
        return None
    if not isinstance(name, str) or len(name) > NAME_CHARACTERS:
        raise invalid(f"{at}.name", f"must be text of at most {NAME_CHARACTERS} characters")
    return one_line(name) or None


def _own_id(message: Mapping[str, Any]) -> str | None:
    """Give the message's own id; None for one that could not be an event's: then its words say which message it is."""
    own = message.get("id")
    return own if isinstance(own, str) and is_identifier(own) else None


def _strip_own_fields(message: Mapping[str, Any]) -> dict[str, Any]:
    """Give the message without what is said beside it."""
    return {
        name: value for name, value in message.items() if name not in ("id", "created_at", "metadata", "participant")
    }


def _move_thoughts(heard: Sequence[Heard]) -> list[Heard]:
    """Move what an item thought to the assistant's next event; where there is none it is left out."""
    found: list[Heard] = []
    waiting: list[dict[str, Any]] = []
    for one in heard:
        if not one.events and one.thoughts:
            waiting += one.thoughts
        elif waiting and (first := _first_answer(one.events)) is not None:
            events = list(one.events)
            events[first] = replace(events[first], thinking=(*waiting, *events[first].thinking))
            one, waiting = replace(one, events=tuple(events)), []
        found.append(one)
    return found


def _first_answer(events: Sequence[NewEvent]) -> int | None:
    answers = (EventType.TOOL_CALL, EventType.ASSISTANT_RESPONSE)
    return next((n for n, event in enumerate(events) if event.event_type in answers), None)
