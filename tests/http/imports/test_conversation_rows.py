"""The row of docs/features.md about conversations of other products: they become sessions, and the rest is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neve_cli.importing.formats import converted
from neve_cli.importing.sending import send_lines
from neve_cli.importing.sent import Sent
from tests.http.driving.people import Json, Person

CHATGPT = [
    {
        "conversation_id": "chat-1",
        "title": "Moving house",
        "create_time": 1_746_000_000.0,
        "current_node": "a2",
        "mapping": {
            "root": {"parent": None, "message": None},
            "q1": {"parent": "root", "message": None},
            "u1": {"parent": "q1", "message": {
                "id": "u1", "author": {"role": "user"}, "create_time": 1_746_000_000.0, "recipient": "all",
                "content": {"content_type": "text", "parts": ["I moved to Porto, and my cat is called Figo."]}}},
            "a1": {"parent": "u1", "message": {
                "id": "a1", "author": {"role": "assistant"}, "create_time": 1_746_000_005.0, "recipient": "all",
                "content": {"content_type": "text", "parts": ["An answer that was asked for again."]}}},
            "a2": {"parent": "u1", "message": {
                "id": "a2", "author": {"role": "assistant"}, "create_time": 1_746_000_009.5, "recipient": "all",
                "content": {"content_type": "text", "parts": ["Welcome to Porto!"]}}},
        },
    }
]  # fmt: skip
CLAUDE = [
    {
        "uuid": "chat-2",
        "name": "A diet",
        "created_at": "2025-04-30T08:00:00Z",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "created_at": "2025-04-30T08:00:00Z", "attachments": [], "files": [{}],
             "content": [{"type": "text", "text": "I am allergic to hazelnuts."}]},
            {"uuid": "m2", "sender": "assistant", "created_at": "2025-04-30T08:00:04Z",
             "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "I will remember it."}]},
        ],
    }
]  # fmt: skip
MESSAGES = [
    {"conversation": "chat-3", "role": "system", "content": "Be brief."},
    {"conversation": "chat-3", "role": "user", "content": "ok", "created_at": "2025-05-01T08:00:00Z"},
    {"conversation": "chat-3", "role": "assistant", "content": "Good.", "created_at": "2025-05-01T08:00:01Z"},
    {"conversation": "chat-3", "role": "user", "content": "ok", "created_at": "2025-05-01T08:00:02Z"},
]


def brought_in(user: Person, folder: Path, product: str, text: str) -> tuple[Sent, dict[str, int]]:
    """What was sent of a dump, and what was left out on the way."""
    (folder / "dump").write_text(text)
    made = converted(product, folder / "dump")
    assert made.malformed == []
    sent = send_lines(user.api, user.id, "\n".join(made.lines))
    assert (sent.rejected, sent.conflicting) == ({}, [])
    return sent, dict(+made.left_out)


def events(user: Person, session: str) -> list[tuple[int, str, Any, str]]:
    found: list[Json] = user.expect(200, "GET", f"/sessions/{session}/events")["events"]
    return [(one["seq"], one["event_type"], one["content"], one["created_at"]) for one in found]


@pytest.mark.live
def test_e26_a_file_of_chatgpt_becomes_sessions_with_their_times_and_the_branch_that_was_seen(
    user: Person, tmp_path: Path
) -> None:
    for _ in range(2):  # a repeat adds nothing
        sent, left_out = brought_in(user, tmp_path, "chatgpt", json.dumps(CHATGPT))
        assert (sent.conversations, sent.messages) == (1, 2)
        assert left_out == {"messages on branches that were left": 1}
        assert events(user, "chat-1") == [
            (1, "user_message", "I moved to Porto, and my cat is called Figo.", "2025-04-30T08:00:00.000Z"),
            (2, "assistant_response", "Welcome to Porto!", "2025-04-30T08:00:09.500Z"),
        ]
    assert user.expect(200, "GET", "/sessions/chat-1")["title"] == "Moving house"


@pytest.mark.live
def test_e26_a_file_of_claude_becomes_sessions_and_is_observed(user: Person, tmp_path: Path) -> None:
    sent, left_out = brought_in(user, tmp_path, "claude", json.dumps(CLAUDE))
    assert (sent.messages, left_out) == (2, {"files and images": 1, "parts of messages (thinking)": 1})
    assert [what for _, _, what, _ in events(user, "chat-2")] == [
        "I am allergic to hazelnuts.",
        "I will remember it.",
    ]
    user.finish_with(user, "/sessions/chat-2/observe", {})
    [observed] = user.memories(kind="observation")
    assert "hazelnuts" in observed["text"] and observed["observed_date"] == "2025-04-30"


@pytest.mark.live
def test_e26_lines_of_messages_become_sessions_and_the_whole_chat_may_be_sent_again(
    user: Person, tmp_path: Path
) -> None:
    text = "\n".join(map(json.dumps, MESSAGES))
    sent, left_out = brought_in(user, tmp_path, "messages", text)
    assert (sent.messages, left_out) == (3, {"messages of the role system": 1})
    more = text + "\n" + json.dumps({"conversation": "chat-3", "role": "assistant", "content": "And now?"})
    assert brought_in(user, tmp_path, "messages", more)[0].messages == 4
    assert [(seq, what) for seq, _, what, _ in events(user, "chat-3")] == [
        *((1, "ok"), (2, "Good."), (3, "ok"), (4, "And now?")),
    ]


@pytest.mark.live
def test_e26_a_message_that_no_append_takes_keeps_no_other_from_it(user: Person) -> None:
    lines = [{"conversation": "c", "id": f"m{n}", "role": "user", "content": f"Number {n}."} for n in range(100)]
    lines[70]["content"] = "x" * 300_000
    lines[3]["id"] = "no/id"
    sent = send_lines(user.api, user.id, "\n".join(map(json.dumps, lines)))
    assert (sent.messages, sorted(sent.rejected)) == (98, [4, 71])
    assert sent.rejected[71].startswith(
        "events[0] has 300060 bytes as JSON; 262144 are accepted; send a longer text to"
    )
    found = user.expect(200, "GET", "/sessions/c/events?limit=200")["events"]
    assert [one["content"] for one in found] == [f"Number {n}." for n in range(100) if n not in (3, 70)]

    lines[5]["content"] = "Something else."
    again = send_lines(user.api, user.id, "\n".join(map(json.dumps, lines)))
    assert (again.messages, again.conflicting) == (97, ["m5"]), "what is there stays"
