"""Dumps of other memory stores as lines that an import takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.api_client import ApiClient, Reply
from local.importers.__main__ import main
from neve.http.schemas.memories.imports import ImportText
from neve_cli.importing.observations import observation_line
from neve_cli.importing.reading import Malformed, read_records, time_of
from neve_cli.importing.sending import NO_ROOM, PIECE_BYTES, pieces, send_lines
from neve_cli.importing.service import NotTaken


def observation(**more: Any) -> dict[str, Any]:
    """As a store of observations has it."""
    row = {
        "id": "obs_7-x",
        "createdAt": 1_767_225_600_000,
        "lastUsedAt": 1_767_312_000_000,
        "kind": "observation",
        "observedDate": "2026-01-01",
        "priority": "high",
        "source": {"kind": "system"},
        "content": '<observation-group id="a1" range="3:9">\n* 🔴 User moved to Lisbon.\n</observation-group>',
        "tags": ["observational-memory"],
    }
    return row | more


def converted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, *command: str
) -> tuple[int, list[Any], str]:
    """Exit code, lines that an import takes, and what was said of the others."""
    file = tmp_path / "dump"
    file.write_text(text, encoding="utf-8")
    code = main([*command, str(file)])
    captured = capsys.readouterr()
    if captured.out:
        read = ImportText(captured.out).read()
        assert (len(list(read.rows())), read.rejected) == (len(captured.out.splitlines()), [])
    return code, [json.loads(line) for line in captured.out.splitlines()], captured.err


def test_a_row_keeps_its_id_times_kind_priority_and_range() -> None:
    assert observation_line(observation()) == {
        "id": "obs_7-x",
        "text": "* 🔴 User moved to Lisbon.",
        "kind": "observation",
        "priority": "high",
        "tags": ["observational-memory"],
        "created_at": "2026-01-01T00:00:00.000Z",
        "last_used_at": "2026-01-02T00:00:00.000Z",
        "provenance": {"seq_from": 3, "seq_to": 9},
    }


def test_several_groups_are_passages_with_their_own_ranges() -> None:
    content = (
        'Before.<observation-group id="a" range="1:2">One.</observation-group>\n\n'
        '<observation-group range="5:8" id="b" kind="reflection">Two.\nThree.</observation-group>'
    )
    line = observation_line(observation(content=content, kind=None))
    assert (line["kind"], line["text"]) == ("reflection", "Before.\nOne.\nTwo.\nThree.")
    assert line["passages"] == [
        {"text": "Before."},
        {"text": "One.", "seq_from": 1, "seq_to": 2},
        {"text": "Two.\nThree.", "seq_from": 5, "seq_to": 8},
    ]
    assert "provenance" not in line, "a part of it has no range"


@pytest.mark.parametrize(
    "given",
    [
        "msg_1:msg_9",
        "9:3",
        "0:4",
        "",
        "4",
        "1712345678901:1712345679999",
        "1:1000000001",
        pytest.param("1:" + "9" * 5_000, id="long"),
    ],
)
def test_a_range_that_is_no_place_in_a_log_is_left_out(given: str) -> None:
    line = observation_line(observation(content=f'<observation-group id="a" range="{given}">One.</observation-group>'))
    assert (line["text"], line.get("provenance")) == ("One.", None)
    assert ImportText(json.dumps(line)).read().rejected == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"content": " "}, "content"),
        ({"content": '<observation-group id="a" range="1:2"> </observation-group>'}, "wrappers"),
        ({"kind": "dream"}, "kind"),
        ({"priority": "urgent"}, "priority"),
        ({"createdAt": "yesterday"}, "createdAt"),
        ({"tags": "one"}, "tags"),
    ],
)
def test_what_is_wrong_is_named(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(Malformed, match=said):
        observation_line(observation(**wrong))


def test_malformed_lines_are_named_and_the_others_converted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = "\n".join([json.dumps(observation()), "{broken", "", "[]", json.dumps(observation(id="x", kind="dream"))])
    code, lines, captured = converted(tmp_path, capsys, dump, "observations")
    assert (code, [line["id"] for line in lines]) == (1, ["obs_7-x"])
    assert [line.partition(":")[0] for line in captured.splitlines()] == ["2", "4", "5"]


@pytest.mark.parametrize("wrap", [lambda rows: rows, lambda rows: {"observations": rows}, lambda rows: {"rows": rows}])
def test_a_dump_may_be_one_json_text(tmp_path: Path, capsys: pytest.CaptureFixture[str], wrap: Any) -> None:
    rows = [observation(id="a"), observation(id="b"), 7]
    code, lines, captured = converted(tmp_path, capsys, json.dumps(wrap(rows)), "observations")
    assert (code, [line["id"] for line in lines], captured) == (1, ["a", "b"], "3: is not an object\n")


def test_what_mem0_gives_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memory = {
        "id": "3c90c3cc-0d44-4b50-8888-8dd25736052a",
        "memory": "Dev works at TechCorp.",
        "user_id": "dev",
        "agent_id": None,
        "app_id": "crm",
        "run_id": None,
        "hash": "abc",
        "metadata": {"type": "professional"},
        "categories": ["work"],
        "created_at": "2023-11-07T05:31:56-08:00",
        "updated_at": "2023-11-08T05:31:56.123456",
    }
    other = {**memory, "id": "other", "user_id": "carl"}
    dump = json.dumps({"count": 3, "results": [memory, other, {"id": "z", "memory": None}]})
    code, lines, captured = converted(tmp_path, capsys, dump, "mem0", "--user", "dev")
    assert (code, captured) == (1, "3: memory must be text that is not blank\n")
    assert lines == [
        {
            "id": "3c90c3cc-0d44-4b50-8888-8dd25736052a",
            "text": "Dev works at TechCorp.",
            "kind": "note",
            "tags": ["work"],
            "label": "professional",
            "group": "crm",
            "created_at": "2023-11-07T13:31:56.000Z",
            "observed_at": "2023-11-08T05:31:56.123Z",
        }
    ]


def test_memories_of_several_people_do_not_become_those_of_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memories = [{"id": name, "memory": f"Of {name}.", "user_id": name} for name in ("dev", "carl")]
    dump = json.dumps([*memories, {"id": "z", "memory": "Of nobody."}])
    code, lines, captured = converted(tmp_path, capsys, dump, "mem0")
    assert (code, lines) == (1, [])
    assert captured == "these are memories of 2 users: say whose they are to be with --user\n"
    code, lines, _ = converted(tmp_path, capsys, dump, "mem0", "--user", "carl")
    assert (code, [line["id"] for line in lines]) == (0, ["carl", "z"])
    assert converted(tmp_path, capsys, json.dumps(memories[:1]), "mem0")[0] == 0


def test_users_that_are_numbers_have_memories_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memories = [{"id": f"of-{user}", "memory": "Likes tea.", "user_id": user} for user in (42, 43, "42")]
    code, lines, _ = converted(tmp_path, capsys, json.dumps(memories), "mem0", "--user", "42")
    assert (code, [line["id"] for line in lines]) == (0, ["of-42", "of-42"])


def test_whoever_has_no_memory_in_the_dump_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memories = [{"id": name, "memory": f"Of {name}.", "user_id": name} for name in ("dev", "carl")]
    code, lines, captured = converted(tmp_path, capsys, json.dumps(memories), "mem0", "--user", "Dev")
    assert (code, lines, captured) == (1, [], "none of these memories is of the user 'Dev'\n")


@pytest.mark.parametrize("given", [1_767_225_600, 1_767_225_600_000, "2026-01-01T01:00:00+01:00", "2026-01-01"])
def test_times_of_every_form(given: Any) -> None:
    assert time_of(given, "at") == "2026-01-01T00:00:00.000Z"


def test_places_are_those_of_the_file() -> None:
    assert [place for place, _ in read_records('\n{"a": 1}\n\n{"a": 2}\n')] == [2, 4]


@pytest.mark.parametrize("indent", [None, 1], ids=["a line", "a list over several"])
def test_a_byte_order_mark_is_no_part_of_a_dump(
    indent: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = "\ufeff" + json.dumps([observation()] if indent else observation(), indent=indent)
    code, lines, captured = converted(tmp_path, capsys, dump, "observations")
    assert (code, [line["id"] for line in lines], captured) == (0, ["obs_7-x"], "")


def test_a_record_that_nests_without_end_stops_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = "\n".join([json.dumps(observation()), '{"document": ' + "[" * 50_000, json.dumps(observation(id="b"))])
    code, lines, captured = converted(tmp_path, capsys, dump, "observations")
    assert (code, [line["id"] for line in lines], captured) == (1, ["obs_7-x", "b"], "2: is not JSON\n")
    assert send_lines(cast("ApiClient", Service()), "ada", dump).imported == 3, "the service names the line"


def test_a_line_that_is_not_utf8_is_named_and_the_others_converted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [json.dumps(observation(id=name, content="Caf\xe9."), ensure_ascii=False) for name in "abc"]
    (tmp_path / "dump").write_bytes(
        b"\n".join(line.encode(code) for line, code in zip(lines, ("utf-8", "latin-1", "utf-8"), strict=True))
    )
    assert main(["observations", str(tmp_path / "dump")]) == 1
    captured = capsys.readouterr()
    assert [json.loads(line)["id"] for line in captured.out.splitlines()] == ["a", "c"]
    assert captured.err == "2: holds what is not UTF-8\n"


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in (tmp_path / "nothing", tmp_path):
        assert main(["observations", str(file)]) == 1
        captured = capsys.readouterr()
        assert (captured.out, len(captured.err.splitlines())) == ("", 1)
        assert str(file) in captured.err


def test_a_service_that_cannot_be_one_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lines").write_text('{"text": "a"}')
    with pytest.raises(SystemExit):
        main(["send", str(tmp_path / "lines"), "--user", "ada", "--url", "ftp://x"])
    assert "--url: must be http:// or https://" in capsys.readouterr().err


# --- sending ------------------------------------------------------------------------------------


class Service:
    """Answers as the two calls do; remembers what it was sent."""

    def __init__(self) -> None:
        self.memories: list[list[str]] = []
        self.documents: dict[str, Any] = {}

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> Reply:
        if method == "PUT":
            return self._document(body, more["query"]["path"])
        if method == "GET":
            return _reply(200, self.documents[more["query"]["path"]])
        lines = more["raw"].decode().split("\n")
        good = [line for line in lines if "bad" not in line]
        if not good:
            return _reply(422, {"detail": "lines[1]: bad"})
        self.memories.append(good)
        rejected = [{"line": n, "detail": "bad"} for n, line in enumerate(lines, start=1) if "bad" in line]
        return _reply(200, {"imported": good, "unchanged": [], "conflicting": [], "rejected": rejected, "skipped": {}})

    def _document(self, body: Any, path: str) -> Reply:
        if path in self.documents:
            return _reply(412, {"detail": "there"})
        self.documents[path] = body
        return _reply(201, {"path": path})


def _reply(status: int, body: Any) -> Reply:
    return Reply(status, {}, json.dumps(body).encode())


def test_lines_are_sent_in_pieces_and_refused_ones_named_by_their_place() -> None:
    service = Service()
    lines = ['{"text": "a"}', '{"text": "bad"}', "", '{"text": "b"}']
    sent = send_lines(cast("ApiClient", service), "ada", "\n".join(lines))
    assert (sent.imported, sent.rejected) == (2, {2: "bad"})
    assert send_lines(cast("ApiClient", service), "ada", '\n\n{"text": "bad"}').rejected == {3: "lines[1]: bad"}


def test_facts_that_another_memory_states_are_counted() -> None:
    class Knowing:
        def call(self, _: str, __: str, *, raw: bytes) -> Reply:
            answer: dict[str, Any] = {"imported": [], "unchanged": [], "conflicting": [], "rejected": [], "skipped": {}}
            return _reply(200, {**answer, "repeated": raw.decode().split("\n")})

    assert send_lines(cast("ApiClient", Knowing()), "ada", "a\nb").repeated == 2


def test_what_a_call_had_no_time_for_is_sent_in_the_next() -> None:
    class Slow:
        """Takes two lines a call."""

        def __init__(self) -> None:
            self.asked: list[list[str]] = []

        def call(self, _: str, __: str, *, raw: bytes) -> Reply:
            lines = raw.decode().split("\n")
            self.asked.append(lines)
            answer = {"imported": lines[:2], "unchanged": [], "conflicting": [], "rejected": [], "skipped": {}}
            return _reply(200, answer | ({"next_line": 3} if len(lines) > 2 else {}))

    service = Slow()
    assert send_lines(cast("ApiClient", service), "ada", "a\nb\n\nc\nd\ne").imported == 5
    assert service.asked == [["a", "b", "c", "d", "e"], ["c", "d", "e"], ["e"]]


@pytest.mark.parametrize(
    ("status", "code"),
    [(429, "throttled"), (500, "internal"), (502, ""), (503, "store_unavailable"), (504, ""), (409, "conflict")],
    ids=str,
)
def test_who_is_told_to_come_back_later_does(status: int, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import of many pieces is faster than a stage's throttling lets anybody be."""
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)

    class Busy(Service):
        refusals = 0

        def call(self, method: str, path: str, body: Any = None, **more: Any) -> Reply:
            self.refusals += 1
            if self.refusals % 3:
                return Reply(status, {"retry-after": "2"}, json.dumps({"code": code, "detail": "later"}).encode())
            return super().call(method, path, body, **more)

    document = {"type": "document", "path": "/notes/a", "text": "x"}
    sent = send_lines(cast("ApiClient", Busy()), "ada", '{"text": "a"}\n' + json.dumps(document))
    assert (sent.imported, sent.documents, sent.rejected, slept) == (1, 1, {}, [2.0] * 4)

    class Down(Service):
        def call(self, *_: Any, **__: Any) -> Reply:
            return _reply(status, {"code": code, "detail": "later"})

    slept.clear()
    with pytest.raises(NotTaken, match=f"lines 1 to 1: {status}"):
        send_lines(cast("ApiClient", Down()), "ada", "a")
    assert len(slept) == (0 if status == 409 else 5), "a conflict that says no time stays one"


class Front(Service):
    """One that takes bodies of so many bytes at most, and says so in its own page."""

    page: bytes = b"<html>413 Request Entity Too Large \xe9</html>"

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> Reply:
        if len(more.get("raw") or json.dumps(body)) > self.most:
            return Reply(413, {}, self.page)
        return super().call(method, path, body, **more)


@given(st.lists(st.integers(1, 90), min_size=1, max_size=40))
def test_each_line_is_sent_once_or_named_where_a_front_takes_less_than_a_piece(sizes: list[int]) -> None:
    lines = [f"{n:03}".ljust(3 + size, "x") for n, size in enumerate(sizes, start=1)]
    front = Front(64)
    sent = send_lines(cast("ApiClient", front), "ada", "\n".join(lines))
    arrived = [line for piece in front.memories for line in piece]
    assert arrived == [line for line in lines if len(line) <= 64]
    assert sent.imported == len(arrived)
    assert sent.rejected == {n: "HTTP 413" for n, line in enumerate(lines, start=1) if len(line) > 64}


def test_the_reason_of_a_line_that_is_too_long_is_that_of_the_service() -> None:
    front = Front(20)
    front.page = json.dumps({"code": "payload_too_large", "detail": "The body is larger."}).encode()
    sent = send_lines(cast("ApiClient", front), "ada", "\n".join(["a" * 15, "b" * 21, "c" * 15]))
    assert (sent.imported, sent.rejected) == (2, {2: "The body is larger."})


def test_a_document_that_a_front_does_not_take_keeps_no_other_from_it() -> None:
    documents = [{"type": "document", "path": f"/notes/{n}", "text": text} for n, text in enumerate(["x" * 99, "y"])]
    sent = send_lines(cast("ApiClient", Front(64)), "ada", "\n".join(map(json.dumps, documents)))
    assert (sent.documents, sent.rejected) == (1, {1: "HTTP 413"})


@pytest.mark.parametrize(
    "line", ["a", '{"type": "document", "path": "/notes/a", "text": "x"}'], ids=["memory", "document"]
)
@pytest.mark.parametrize(
    ("status", "body"),
    [(200, b"<html>"), (200, b"[]"), (200, b"{}"), (403, b"\xff<html>"), (409, b"<html>"), (412, b"<html>")],
    ids=str,
)
def test_a_page_of_another_server_is_said_in_a_line(
    status: int,
    body: bytes,
    line: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NEVE_KEY", "nv_x")
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr(ApiClient, "call", lambda *_, **__: Reply(status, {"retry-after": "1"}, body))
    (tmp_path / "lines").write_text(line)
    code = main(["send", str(tmp_path / "lines"), "--user", "ada"])
    captured = capsys.readouterr()
    assert (code, captured.out, captured.err.count("\n")) == (1, "", 1)
    assert captured.err.startswith("line")
    assert str(status) in captured.err


def test_a_line_whose_reason_has_no_room_is_a_rejected_one() -> None:
    class Full:
        def call(self, _: str, __: str, *, raw: bytes) -> Reply:
            answer = {"imported": ["a"], "unchanged": [], "conflicting": [], "rejected": [], "skipped": {}}
            return _reply(200, {**answer, "also_rejected": [raw.split(b"\n").index(b"bad") + 1]})

    assert send_lines(cast("ApiClient", Full()), "ada", '{"text": "a"}\n\nbad').rejected == {3: NO_ROOM}


@pytest.mark.parametrize("user", ["ada#2", "ada/sessions", "..", "", " a"])
def test_what_is_no_user_id_is_sent_nowhere(user: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lines").write_text('{"text": "a"}')
    with pytest.raises(SystemExit):
        main(["send", str(tmp_path / "lines"), "--user", user])
    assert "--user: must be 1 to 128 bytes of" in capsys.readouterr().err


def test_what_is_not_utf8_is_sent_as_it_is() -> None:
    asked: list[bytes] = []

    class Asked:
        def call(self, _: str, __: str, *, raw: bytes) -> Reply:
            asked.append(raw)
            return _reply(422, {"detail": "not UTF-8"})

    text = b'{"text": "\xe9"}'.decode(errors="surrogateescape")
    assert send_lines(cast("ApiClient", Asked()), "ada", text).rejected == {1: "not UTF-8"}
    assert asked == [b'{"text": "\xe9"}']


def test_events_of_an_export_are_counted_and_not_sent() -> None:
    """One with a photo is more than a call takes: it would be named as refused."""
    service = Service()
    content = [{"type": "image", "media_type": "image/png", "data": "x" * PIECE_BYTES}]
    event = {"type": "event", "session_id": "s1", "seq": 1, "content": content}
    export = "\n".join(map(json.dumps, (event, {"type": "memory", "text": "a"}, event)))
    sent = send_lines(cast("ApiClient", service), "ada", export)
    assert (sent.imported, sent.skipped, sent.rejected) == (1, {"event": 2}, {})
    assert service.memories == [[json.dumps({"type": "memory", "text": "a"})]]


def test_documents_of_an_export_are_written_once() -> None:
    service = Service()
    document = {"type": "document", "path": "/notes/a", "text": "x", "rev": 3, "id": "doc_1", "tags": ["t"]}
    artifact = {**document, "path": "/artifacts/s1/3"}
    export = "\n".join(map(json.dumps, ({"type": "memory", "text": "a"}, document, artifact)))
    sent = send_lines(cast("ApiClient", service), "ada", export)
    assert (sent.imported, sent.documents, sent.documents_there) == (2, 1, 0), "the artifact is left to the import"
    assert service.documents == {"/notes/a": {"text": "x", "tags": ["t"]}}
    assert send_lines(cast("ApiClient", service), "ada", export).documents_there == 1


def test_a_document_that_is_there_with_another_text_is_named() -> None:
    """As a memory is: the text that was sent is nowhere."""
    service = Service()
    service.documents["/profile/identity"] = {"text": "Lives in Oslo.", "rev": 2}
    document = {"type": "document", "path": "/profile/identity", "text": "Lives in Lisbon."}
    sent = send_lines(cast("ApiClient", service), "ada", json.dumps(document))
    assert (sent.documents, sent.documents_there, sent.conflicting) == (0, 0, ["/profile/identity"])


def test_a_document_that_was_put_away_or_superseded_does_not_hold_where_it_is_sent() -> None:
    service = Service()
    documents = [
        {"type": "document", "path": f"/notes/{status}", "text": "x", "status": status}
        for status in ("active", "resolved", "inbox", "archived", "superseded")
    ]
    sent = send_lines(cast("ApiClient", service), "ada", "\n".join(map(json.dumps, documents)))
    assert sent.documents == 5
    assert {path: body["status"] for path, body in service.documents.items()} == {
        "/notes/active": "active",
        "/notes/resolved": "resolved",
        "/notes/inbox": "inbox",
        "/notes/archived": "archived",
        "/notes/superseded": "archived",
    }


def test_a_document_that_was_refused_is_not_one_that_is_there() -> None:
    class Refusing(Service):
        def _document(self, body: Any, path: str) -> Reply:
            if body["text"] == "taken":
                return _reply(409, {"code": "conflict", "detail": "The source is that of '/notes/b'."})
            if body["text"] == "erased":
                return _reply(409, {"code": "erasing", "detail": "This user is being erased."})
            return super()._document(body, path)

    lines = [{"type": "document", "path": f"/notes/{text}", "text": text} for text in ("taken", "x", "erased")]
    service = Refusing()
    sent = send_lines(cast("ApiClient", service), "ada", "\n".join(map(json.dumps, lines[:2])))
    assert (sent.documents, sent.documents_there) == (1, 0)
    assert sent.rejected == {1: "The source is that of '/notes/b'."}
    with pytest.raises(NotTaken, match="line 1: 409"):
        send_lines(cast("ApiClient", service), "ada", json.dumps(lines[2]))


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_document_that_no_call_takes_keeps_no_other_from_it(status: int) -> None:
    class Refusing(Service):
        def _document(self, body: Any, path: str) -> Reply:
            return _reply(status, {"detail": "Not this."}) if path == "/notes/a" else super()._document(body, path)

    service = Refusing()
    lines = [{"type": "document", "path": f"/notes/{name}", "text": "x"} for name in "ab"]
    sent = send_lines(cast("ApiClient", service), "ada", "\n".join(map(json.dumps, lines)))
    assert (sent.documents, sent.rejected) == (1, {1: "Not this."})


def test_no_piece_is_more_than_a_call_takes() -> None:
    lines = [(n, "x" * 1_000) for n in range(1, 3_001)] + [(3_001, "y" * (PIECE_BYTES + 1))]
    made = list(pieces(lines))
    assert [pair for piece in made for pair in piece] == lines
    assert all(sum(len(line) + 1 for _, line in piece) <= PIECE_BYTES for piece in made[:-1])
    assert len(made[-1]) == 1
