"""Sends lines of messages to a service: each conversation becomes a session, in which a repeat adds nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from neve_cli.importing.reading import LeftOut, Malformed, Record
from neve_cli.importing.said import message_lines
from neve_cli.importing.sent import Sent
from neve_cli.importing.service import OF_A_LINE, Service, in_the_end, not_taken, object_of, reason_of

MAX_EVENTS, MAX_BYTES = 48, 960 * 1024
"""Of one append: the service takes 48 events and 1 MiB."""
EVENT_TYPES = {"user": "user_message", "assistant": "assistant_response"}
IS_THERE = "client_id_conflict"

Numbered = tuple[int, Record]
"""An event, and the number of its line."""


def is_message(found: Record) -> bool:
    """Tells a line of a message from one of an import or an export."""
    return "role" in found and "type" not in found


def send_messages(service: Service, user: str, lines: list[Numbered], sent: Sent) -> None:
    """Sends conversations oldest first, so that what was said last is observed last. Raises NotTaken, OSError."""
    conversations: dict[str, list[Numbered]] = {}
    for number, line in lines:
        left_out = LeftOut()
        try:
            for message in message_lines(line, left_out):
                conversations.setdefault(message["conversation"], []).append((number, message))
        except Malformed as reason:
            sent.rejected[number] = str(reason)
        sent.skipped.update(left_out)
    for name, messages in sorted(conversations.items(), key=lambda one: str(one[1][0][1].get("created_at", "~"))):
        _send_conversation(service, user, name, messages, sent)


def _send_conversation(service: Service, user: str, name: str, messages: list[Numbered], sent: Sent) -> None:
    sessions = f"/v1/users/{quote(user, safe='')}/sessions"
    title = next((message["title"] for _, message in messages if "title" in message), None)
    # no pack is built: the first one would stay without what is being sent
    opening = {"session_id": name, "budget_ms": 0} | ({"title": title} if title else {})
    reply = in_the_end(lambda: service.call("POST", sessions, opening))
    if reply.status not in (200, 201) or "session" not in object_of(reply):
        raise not_taken(f"lines {messages[0][0]} to {messages[-1][0]}", reply)
    sent.conversations += 1
    for piece in _pieces([(number, event) for (number, _), event in zip(messages, events_of(messages), strict=True)]):
        _append(service, f"{sessions}/{quote(name, safe='')}/events", piece, sent)


def events_of(messages: list[Numbered]) -> Iterator[Record]:
    """Makes the events of one conversation. A message without an id has one of its own words and of how often they
    were said before, so that the whole conversation can be sent again."""
    said: Counter[tuple[str, str]] = Counter()
    for _, message in messages:
        words = (message["role"], message["content"])
        said[words] += 1
        event = {
            "client_id": message.get("id") or sha256(json.dumps([*words, said[words]]).encode()).hexdigest(),
            "event_type": EVENT_TYPES[message["role"]],
            "name": message.get("name"),
            "content": message["content"],
            "created_at": message.get("created_at"),
        }
        yield {key: value for key, value in event.items() if value is not None}


def _pieces(events: list[Numbered]) -> Iterator[list[Numbered]]:
    piece: list[Numbered] = []
    size = 0
    for number, event in events:
        own = len(json.dumps(event, ensure_ascii=False).encode()) + 2
        if piece and (len(piece) == MAX_EVENTS or size + own > MAX_BYTES):
            yield piece
            piece, size = [], 0
        piece.append((number, event))
        size += own
    yield piece


def _append(service: Service, path: str, piece: list[Numbered], sent: Sent) -> None:
    """In halves where a call refuses what one of its events holds: the others go in, in their order."""
    body = {"events": [event for _, event in piece]}
    reply = in_the_end(lambda: service.call("POST", path, body))
    answer = object_of(reply)
    if reply.status in (200, 201) and "seqs" in answer:
        sent.messages += len(piece)
        sent.redacted.update(_counts(answer.get("redacted")))
        return
    about_one = reply.status in OF_A_LINE or answer.get("code") in (IS_THERE, "retracted")
    if not about_one:
        raise not_taken(f"lines {piece[0][0]} to {piece[-1][0]}", reply)
    if len(piece) > 1:
        half = len(piece) // 2
        _append(service, path, piece[:half], sent)
        _append(service, path, piece[half:], sent)
    elif answer.get("code") == IS_THERE:
        sent.conflicting.append(piece[0][1]["client_id"])
    elif answer.get("code") == "retracted":
        sent.skipped["messages that were deleted there"] += 1
    else:
        sent.rejected[piece[0][0]] = reason_of(reply)


def _counts(found: Any) -> dict[str, int]:
    return found if isinstance(found, dict) else {}
