"""Conversations of other products as lines of messages, and what of them is left out."""

from __future__ import annotations

import json
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.importers.__main__ import main
from neve_cli.ids import NAME_RULE
from neve_cli.importing.branches import shown_path
from neve_cli.importing.conversations import events_of
from neve_cli.importing.reading import Record

CHAT = "6a3f2c1e-0000-4000-8000-000000000001"


def node(
    name: str, parent: str | None, role: str, *parts: Any, at: float | None = 1_760_000_000.0, **more: Any
) -> Record:
    """A node of ChatGPT's mapping."""
    content = more.pop("content", {"content_type": "text", "parts": list(parts)})
    message = {"id": name, "author": {"role": role}, "create_time": at, "content": content, "recipient": "all"} | more
    return {"id": name, "parent": parent, "children": [], "message": message}


def chatgpt(*nodes: Record, current: str, **more: Any) -> Record:
    root: Record = {"id": "root", "parent": None, "children": [], "message": None}
    mapping = {one["id"]: one for one in (root, *nodes)}
    return {"conversation_id": CHAT, "title": "A move", "create_time": 1_750_000_000.5, "current_node": current} | {
        "mapping": mapping,
        **more,
    }


def said(role: str, text: str, at: str, **more: Any) -> Record:
    """A message of Claude's file, in the order of which ``uuid`` is the text."""
    return {"uuid": text.split()[0], "sender": role, "text": "", "content": [{"type": "text", "text": text}]} | {
        "created_at": f"2026-05-01T10:00:{at}Z",
        "attachments": [],
        "files": [],
        **more,
    }


def converted(file: Path, capsys: pytest.CaptureFixture[str], product: str, dump: Any) -> tuple[int, list[Record], str]:
    """Exit code, lines, and what was said of the rest."""
    file.write_text(dump if isinstance(dump, str) else json.dumps(dump))
    code = main([product, str(file)])
    captured = capsys.readouterr()
    return code, [json.loads(line) for line in captured.out.splitlines()], captured.err


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "dump.json"


def test_a_chat_of_chatgpt_is_what_a_person_sees_of_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chat = chatgpt(
        node("q-old", "root", "user", "I live in Lyon."),
        node("a-old", "q-old", "assistant", "Lyon is nice."),
        node("q", "root", "user", "I live in Nice.", at=1_760_000_001.25),
        node("a", "q", "assistant", "Nice\ue200cite\ue202turn0search1\ue201 is nice.", at=None),
        current="a",
    )
    code, lines, err = converted(file, capsys, "chatgpt", [chat])
    shared = {"conversation": CHAT, "title": "A move", "created_at": "2025-10-09T08:53:21.250Z"}
    assert lines == [
        {**shared, "id": "q", "role": "user", "content": "I live in Nice."},
        {**shared, "id": "a", "role": "assistant", "content": "Nice is nice."},
    ]
    assert (code, err) == (2, "left out: 2 messages on branches that were left\n")


@pytest.mark.parametrize(
    ("left", "what"),
    [
        (node("x", "q", "tool", "A page."), "1 results of tools"),
        (node("x", "q", "assistant", "search('x')", recipient="web"), "1 calls of tools"),
        (node("x", "q", "system", "Be brief."), "1 messages of the role system, or hidden ones"),
        (
            node("x", "q", "user", "Hidden.", metadata={"is_visually_hidden_from_conversation": True}),
            "1 messages of the role user, or hidden ones",
        ),
        (
            node("x", "q", "user", content={"content_type": "user_editable_context", "user_profile": "A baker."}),
            "1 custom instructions and memories of ChatGPT",
        ),
        (node("x", "q", "assistant", content={"content_type": "thoughts", "thoughts": []}), "1 thinking of the model"),
        (node("x", "q", "assistant", content={"content_type": "poll"}), "1 messages of the kind poll"),
        (
            node("x", "q", "user", content={"content_type": "multimodal_text", "parts": [
                {"content_type": "image_asset_pointer"}]}),
            "1 images",
        ),
        (node("x", "q", "user", "", metadata={"attachments": [{"name": "a.pdf"}]}), "1 attached files"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)  # fmt: skip
def test_what_is_no_word_of_a_chat_is_counted(
    left: Record, what: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = chatgpt(node("q", "root", "user", "Hello."), left, node("a", "x", "assistant", "Hi."), current="a")
    code, lines, err = converted(file, capsys, "chatgpt", [chat])
    assert [line["content"] for line in lines] == ["Hello.", "Hi."]
    assert (code, err) == (2, f"left out: {what}\n")


def test_blank_messages_and_an_empty_system_prompt_are_nothing_that_was_left_out(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = chatgpt(node("s", "root", "system", ""), node("q", "s", "user", "Hello.", " "), current="q")
    code, lines, err = converted(file, capsys, "chatgpt", [chat])
    assert (code, [line["content"] for line in lines], err) == (0, ["Hello."], "")


def test_what_was_said_to_a_recorder_is_words(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [{"content_type": "audio_transcription", "text": "Hello."}, {"content_type": "audio_asset_pointer"}]
    chat = chatgpt(node("q", "root", "user", content={"content_type": "multimodal_text", "parts": parts}), current="q")
    code, lines, err = converted(file, capsys, "chatgpt", [chat])
    assert (code, lines[0]["content"], err) == (2, "Hello.", "left out: 1 recordings\n")


def test_a_chat_that_is_not_to_be_remembered_is_not(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chat = chatgpt(node("q", "root", "user", "Hello."), current="q", is_do_not_remember=True)
    code, lines, err = converted(file, capsys, "chatgpt", [chat])
    assert (code, lines, err) == (2, [], "left out: 1 conversations that are not to be remembered\n")


def test_a_chat_of_claude_in_the_order_of_its_branch(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = "00000000-0000-4000-8000-000000000000"
    messages = [
        said("human", "m1 Hello.", "01", parent_message_uuid=root),
        said("assistant", "m2 Hi.", "02", parent_message_uuid="m1"),
        said("human", "m3 I live in Lyon.", "03", parent_message_uuid="m2"),
        said("human", "m4 I live in Nice.", "04", parent_message_uuid="m2"),
        said("assistant", "m5 Good.", "05", parent_message_uuid="m4", content=[
            {"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "m5 Good."}, {"type": "tool_use"}]),
    ]  # fmt: skip
    chat = {"uuid": CHAT, "name": "A move", "created_at": "2026-05-01T10:00:00Z", "chat_messages": messages}
    code, lines, err = converted(file, capsys, "claude", [chat])
    assert [(line["role"], line["content"]) for line in lines] == [
        ("user", "m1 Hello."),
        ("assistant", "m2 Hi."),
        ("user", "m4 I live in Nice."),
        ("assistant", "m5 Good."),
    ]
    assert (lines[0]["id"], lines[0]["title"], lines[0]["created_at"]) == ("m1", "A move", "2026-05-01T10:00:01.000Z")
    assert code == 2
    assert err.splitlines() == [
        "left out: 1 messages on branches that were left",
        "left out: 1 parts of messages (thinking)",
        "left out: 1 parts of messages (tool_use)",
    ]


def test_an_older_file_of_claude_has_no_branches(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    older = said("assistant", "m2", "02") | {"content": [], "text": "m2 Hi.", "files": [{}]}
    messages = [said("human", "m1 Hello.", "01"), older]
    code, lines, err = converted(file, capsys, "claude", [{"uuid": CHAT, "name": "", "chat_messages": messages}])
    assert ([line["content"] for line in lines], "title" in lines[0]) == (["m1 Hello.", "m2 Hi."], False)
    assert (code, err) == (2, "left out: 1 files and images\n")


def test_plain_messages_may_be_written_as_a_provider_has_them(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"session_id": "c1", "role": "system", "content": "Be brief."},
        {"session_id": "c1", "role": "user", "content": [{"type": "text", "text": "Hello."}, {"type": "image_url"}]},
        {
            "session_id": "c1",
            "role": "assistant",
            "content": "Hi.",
            "timestamp": 1_760_000_000,
            "model": "m",
            "cost": 0,
        },
        {"role": "user", "content": "Whose?"},
        {"conversation": "c/1", "role": "user", "content": "Where?"},
    ]
    code, made, err = converted(file, capsys, "messages", "\n".join(map(json.dumps, lines)))
    assert made == [
        {"conversation": "c1", "role": "user", "content": "Hello."},
        {"conversation": "c1", "role": "assistant", "content": "Hi.", "created_at": "2025-10-09T08:53:20.000Z"},
    ]
    assert code == 1, "two lines say no conversation that can be one"
    assert err.splitlines() == [
        f"4: conversation {NAME_RULE}",
        f"5: conversation {NAME_RULE}",
        "left out: 1 members of messages (model)",
        "left out: 1 messages of the role system",
        "left out: 1 parts of messages (image_url)",
    ]


def test_the_archive_is_read_as_it_was_loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for n in range(2):
            chat = chatgpt(node(f"q{n}", "root", "user", f"Chat {n}."), current=f"q{n}")
            archive.writestr(f"conversations-00{n}.json", json.dumps([chat]))
        archive.writestr("user.json", "{}")
    assert main(["chatgpt", str(tmp_path / "export.zip")]) == 0
    assert [json.loads(line)["content"] for line in capsys.readouterr().out.splitlines()] == ["Chat 0.", "Chat 1."]
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("user.json", "{}")
    assert main(["chatgpt", str(tmp_path / "other.zip")]) == 1
    assert capsys.readouterr().err.endswith("the archive has no conversations.json\n")


@pytest.mark.parametrize("product", ["chatgpt", "claude"])
def test_a_file_of_another_product_is_refused(product: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, err = converted(file, capsys, product, [{"id": "x", "text": "A memory."}])
    assert (code, lines) == (1, [])
    assert "this is no conversation as" in err


@given(st.lists(st.integers(-1, 12), min_size=1, max_size=12), st.integers(0, 14))
def test_a_path_ends_however_a_tree_is_broken(parents: list[int], leaf: int) -> None:
    tree: dict[str, str | None] = {str(n): str(parent) for n, parent in enumerate(parents)}
    path = shown_path(tree, list(tree), str(leaf))
    assert len(set(path)) == len(path)
    assert all(tree[after] == before for before, after in pairwise(path))


def test_messages_without_ids_have_the_same_ones_when_the_whole_chat_is_sent_again() -> None:
    chat = [(n, {"role": "user", "content": text}) for n, text in enumerate(["ok", "Hello.", "ok"])]
    ids = [event["client_id"] for event in events_of(chat)]
    assert len(set(ids)) == 3
    assert [event["client_id"] for event in events_of([*chat, (9, {"role": "user", "content": "New."})])][:3] == ids
