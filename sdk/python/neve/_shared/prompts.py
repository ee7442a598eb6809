"""A prompt while the service is not to be had: its last one, byte for byte, and behind it what was said since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .conversation import Conversation
from .messages import Message, Spoken, is_question, mark_of

Format = Literal["anthropic", "openai", "openai_responses", "ai_sdk", "ai-sdk", "gemini"]
FORMATS = {"ai-sdk": "ai_sdk", "openai-responses": "openai_responses"}
"""Other spellings."""
LISTS = {"openai_responses": "input", "gemini": "contents"}
SYSTEMS = {"openai_responses": "instructions", "ai_sdk": "instructions", "gemini": "system_instruction"}
NOT_SENT = frozenset({"id", "created_at", "metadata"})


def format_of(name: str) -> str:
    """As the service spells it."""
    return FORMATS.get(name, name)


def without_the_service(
    conversation: Conversation, form: str, message: Message | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments for the provider's client. ``message``: what the user says now, where it was not appended."""
    said = conversation.said
    compiled = conversation.compiled
    extra = [message] if message is not None and not _ends_with(said, message) else []
    if compiled is None or compiled.format != form:
        known = _from_a_question([one.message for one in said if one.size])
        begun = _begun(conversation.pack[0] if conversation.pack else "", form, options)
        return _with(begun, form, [*known, *extra])
    since = [one.message for one in said[compiled.upto :]]
    if since and compiled.mark is not None and mark_of(since[0]) == compiled.mark:
        since = since[1:]  # the last prompt was made for it
    return _with(dict(compiled.request), form, [*since, *extra])


def _ends_with(said: Sequence[Spoken], message: Message) -> bool:
    return bool(said) and mark_of(said[-1].message) == mark_of(message)


def _from_a_question(messages: list[Message]) -> list[Message]:
    first = next((at for at, message in enumerate(messages) if is_question(message)), len(messages))
    return messages[first:]


def _begun(pack: str, form: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What stands in front of the messages: the caller's system, then the pack."""
    request: dict[str, Any] = {name: options[name] for name in ("tools",) if options.get(name)}
    texts = [*_texts(options.get("system")), pack]
    texts = [text for text in texts if text.strip()]
    if form == "anthropic":
        if texts:
            request["system"] = [{"type": "text", "text": text} for text in texts]
    elif form in SYSTEMS:
        if texts:
            request[SYSTEMS[form]] = "\n\n".join(texts)
    elif texts:
        request["messages"] = [{"role": "system", "content": text} for text in texts]
    return request


def _texts(system: Any) -> list[str]:
    if isinstance(system, str):
        return [system]
    return [str(block["text"]) for block in system or () if isinstance(block, Mapping) and "text" in block]


def _with(request: dict[str, Any], form: str, messages: Sequence[Message]) -> dict[str, Any]:
    name = LISTS.get(form, "messages")
    shown = [{field: value for field, value in one.items() if field not in NOT_SENT} for one in messages]
    found = [*request.get(name, ()), *(map(_of_gemini, shown) if form == "gemini" else shown)]
    return {**request, name: _alternating(found) if form == "anthropic" else found}


def _of_gemini(message: Message) -> Message:
    """What is no message of Gemini as one: its texts."""
    if "parts" in message:
        return message
    role = "model" if message.get("role") in ("assistant", "model") else "user"
    return {"role": role, "parts": [{"text": text} for text in _texts(_blocks(message))]}


def _alternating(messages: Sequence[Message]) -> list[Message]:
    """Joins messages of one role, as Anthropic wants them."""
    joined: list[Message] = []
    for message in messages:
        bare = {"role": message["role"], "content": message.get("content")}
        if joined and joined[-1]["role"] == bare["role"]:
            joined[-1] = {"role": bare["role"], "content": [*_blocks(joined[-1]), *_blocks(bare)]}
        else:
            joined.append(bare)
    return joined


def _blocks(message: Message) -> list[Any]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
