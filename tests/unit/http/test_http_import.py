"""Bytes of an import that are not text: the line is named, the others go in."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from functions.records.app import router
from neve.adapters.table_rules import MAX_ITEM_BYTES, item_size
from neve.domain.privacy.screen import screen
from neve.http import accept
from neve.http.json_body import parse_json
from neve.http.schemas.memories.import_line import BESIDE_A_PASSAGE, MAX_LINE_BYTES
from neve.http.schemas.memories.imports import MAX_LINES
from neve.ports.table import WriteOp
from tests.unit.api_world import Api, Reply, installed, proxy_event
from tests.unit.world import World

INBOX = "/v1/users/{user_id}/inbox"
IMPORT = "/v1/users/{user_id}/memories/import"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.make(tmp_path)


@pytest.fixture
def api(world: World) -> Iterator[Api]:
    for _ in installed(world):
        yield Api(router)


def sent(api: Api, raw: bytes, key: str | None = None) -> Reply:
    headers = {"Idempotency-Key": key} if key else {}
    event = proxy_event(api, "POST", IMPORT, "", "", headers, user_id="ann")
    return api.send(event | {"body": base64.b64encode(raw).decode(), "isBase64Encoded": True})


def test_a_line_that_is_not_utf8_is_named_and_the_others_go_in(api: Api) -> None:
    raw = b'{"id": "a", "text": "Keeps bees."}\n{"id": "b", "text": "Caf\xe9"}\n{"id": "c", "text": "Caf\xc3\xa9"}'
    first = sent(api, raw, "k1")
    assert first.status == 200
    assert first.json["imported"] == ["a", "c"]
    assert first.json["rejected"] == [{"line": 2, "detail": "lines[2]: This is not UTF-8 at byte 24."}]
    assert sent(api, raw, "k1").json == first.json, "the same call is known by its bytes"
    assert sent(api, raw).json["unchanged"] == ["a", "c"]


def test_when_no_line_is_utf8_the_first_is_the_answer(api: Api) -> None:
    refused = sent(api, b'\n"\xff"\n{"text": "\xfe"}')
    assert (refused.status, refused.json["code"]) == (400, "malformed_json")
    assert refused.json["detail"] == "lines[2]: This is not UTF-8 at byte 1."


def test_a_byte_order_mark_is_named_and_the_other_lines_go_in(api: Api) -> None:
    """An editor puts it in front of a file."""
    answer = sent(api, b"\xef\xbb\xbf" + numbered("Keeps bees.", "Keeps hens.")).json
    detail = "lines[1]: This begins with a byte order mark (U+FEFF), which is no part of JSON."
    assert (len(answer["imported"]), answer["rejected"]) == (1, [{"line": 1, "detail": detail}])


@pytest.mark.parametrize("given", ["_odd", "-odd"])
def test_what_waits_can_be_decided_whatever_its_id_begins_with(api: Api, given: str) -> None:
    fact = {"id": given, "text": "User lives in Rome.", "kind": "fact", "category": "PLACE", "status": "inbox"}
    assert sent(api, json.dumps(fact).encode()).json["imported"] == [given]
    assert [item["id"] for item in api.call("GET", INBOX, user_id="ann").json["items"]] == [given]
    approved = api.call("POST", f"{INBOX}/{{item_id}}/approve", {}, user_id="ann", item_id=given)
    assert (approved.status, approved.json["status"]) == (200, "approved")


MANY = 4_999


@pytest.mark.parametrize("fields", [1, 18])
def test_reasons_that_have_no_room_are_told_by_their_lines(api: Api, fields: int) -> None:
    """An answer may have 6 MB, and the record of an Idempotency-Key 400 KB."""
    wrong = json.dumps({f"f{n}": 1 for n in range(fields)})
    raw = "\n".join([f'{{"id": "{"a" * 64}", "text": "Keeps bees."}}', *[wrong] * MANY]).encode()
    first = sent(api, raw, "k1")
    assert first.status == 200, first.json
    assert first.json["imported"] == ["a" * 64]
    named = [one["line"] for one in first.json["rejected"]]
    assert len(named) > 10
    assert named + first.json["also_rejected"] == list(range(2, MANY + 2))
    assert sent(api, raw, "k1").json == first.json
    again = sent(api, raw)
    assert (again.json["unchanged"], again.json["also_rejected"]) == (["a" * 64], first.json["also_rejected"])


def test_few_reasons_have_room(api: Api) -> None:
    raw = "\n".join(['{"text": "Keeps bees."}', *['{"txt": "Keeps bees."}'] * 50]).encode()
    answer = sent(api, raw).json
    assert ([one["line"] for one in answer["rejected"]], "also_rejected" in answer) == (list(range(2, 52)), False)


def test_the_longest_ids_of_the_most_lines_fit_the_record(api: Api) -> None:
    good = [f'{{"id": "{n:064d}", "text": "t{n}"}}' for n in range(MAX_LINES - 500)]
    raw = "\n".join([*good, *['{"txt": 1}'] * 500]).encode()
    first = sent(api, raw, "k1")
    assert (first.status, len(first.json["imported"])) == (200, MAX_LINES - 500)
    assert sent(api, raw, "k1").json == first.json


def test_an_import_that_there_is_no_time_for_says_where_to_go_on(
    api: Api, world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each batch of 24 rows takes eight seconds."""
    lines = [b'{"type": "event"}', b'{"wrong": 1}', *(b'{"text": "Keeps bee %d."}' % n for n in range(60)), b"[]"]
    write = world.table.write

    def slow(ops: Sequence[WriteOp]) -> None:
        world.clock.move(seconds=8 if len(ops) > 2 else 0)
        write(ops)

    monkeypatch.setattr(world.table, "write", slow)
    first = sent(api, b"\n".join(lines), "k1")
    assert first.status == 200 and len(first.json["imported"]) == 48
    assert first.json["next_line"] == 51 and '"ImportLinesDeferred":[13.0]' in capsys.readouterr().out
    assert ([one["line"] for one in first.json["rejected"]], first.json["skipped"]) == ([2], {"event": 1})
    assert sent(api, b"\n".join(lines), "k1").json == first.json, "the same call has the same answer"
    rest = sent(api, b"\n".join(lines[first.json["next_line"] - 1 :]), "k2").json
    assert len(rest["imported"]) == 12 and "next_line" not in rest
    assert [one["line"] for one in rest["rejected"]] == [13]
    again = sent(api, b"\n".join(lines)).json
    assert (again["imported"], len(again["unchanged"])) == ([], 60), "a repeat adds nothing"


CARD = "4111 1111 1111 1111"


def numbered(*texts: str) -> bytes:
    return "\n".join(json.dumps({"text": text}) for text in texts).encode()


@pytest.fixture
def slow(world: World, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """A line takes a second to be read, and one to be screened. How often each text was screened."""
    times: Counter[str] = Counter()

    def slow_parse(text: str, at: str = "") -> Any:
        world.clock.move(seconds=1)
        return parse_json(text, at)

    def slow_screen(text: str, *rest: Any) -> Any:
        world.clock.move(seconds=1)
        times[text] += 1
        return screen(text, *rest)

    monkeypatch.setattr("neve.http.schemas.memories.imports.parse_json", slow_parse)
    monkeypatch.setattr("neve.usecases.core.privacy.admit.screen", slow_screen)
    return times


def test_an_import_that_takes_long_to_be_read_says_where_to_go_on(api: Api, slow: Counter[str]) -> None:
    """The gateway does not wait for what comes before the first row is written either."""
    texts = [f"Keeps bee {n}." for n in range(1, 31)]
    first = sent(api, numbered(*texts), "k1")
    assert (first.status, len(first.json["imported"]), first.json["next_line"]) == (200, 8, 9)
    assert slow == dict.fromkeys(texts[:8], 1), "each once, and no other"
    assert sent(api, numbered(*texts), "k1").json == first.json, "the same call has the same answer"
    left, calls = texts[8:], 1
    while left:
        answer, calls = sent(api, numbered(*left)).json, calls + 1
        left = left[answer["next_line"] - 1 :] if "next_line" in answer else []
    assert (calls, slow) == (4, dict.fromkeys(texts, 1))


def test_what_comes_before_the_reading_counts_too(
    api: Api, world: World, slow: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    body_sha = accept._body_sha

    def slow_sha(*given: Any) -> str:
        world.clock.move(seconds=14)
        return body_sha(*given)

    monkeypatch.setattr(accept, "_body_sha", slow_sha)
    answer = sent(api, numbered("Keeps bees.", "Keeps hens."), "k1").json
    assert (len(answer["imported"]), answer["next_line"]) == (1, 2), "it gets on, whatever time it has"


def test_lines_that_were_refused_until_the_time_was_up_are_named(api: Api, slow: Counter[str]) -> None:
    texts = [f"Pays with {CARD}, {n} times" for n in range(1, 31)]
    answer = sent(api, numbered(*texts), "k1")
    assert (answer.status, answer.json["imported"], answer.json["next_line"]) == (200, [], 9)
    assert [one["line"] for one in answer.json["rejected"]] == list(range(1, 9))


def test_when_the_gate_refuses_every_line_the_first_refusal_is_the_answer(api: Api) -> None:
    refused = sent(api, b'\n{"text": "Pays with %s"}\n{"txt": 1}\n{"text": "%s"}' % ((CARD.encode(),) * 2), "k1")
    assert (refused.status, refused.json["code"], refused.fields) == (422, "pii_blocked", ["lines[2].text"])
    assert sent(api, numbered("Keeps bees."), "k1").status == 200, "the key is free"


def test_the_largest_line_that_is_taken_fits_a_row(api: Api, world: World) -> None:
    """Whatever else it has; one byte more in its passages is refused."""
    sign = "\U0001f33f"
    labels = [f"{n:02}" + sign * 126 for n in range(32)]
    line: dict[str, Any] = {
        "text": sign * 64_000,
        "id": "i" * 64,
        "kind": "session_summary",
        "outcome": "INTERRUPTED",
        "emotional_tone": sign * 200,
        "key_topics": labels,
        "tags": labels,
        "label": sign * 128,
        "group": sign * 128,
        "session_id": "s" * 128,
        "supersedes": [f"{n:064}" for n in range(1_000)],
        "superseded_by": "i" * 64,
        "superseded_at": "2026-03-10T09:30:00Z",
        "superseded_reason": sign * 2_000,
        "status": "superseded",
        "provenance": {"model": sign * 128, "session_id": "s" * 128, "seq_from": 10**9, "seq_to": 10**9},
    }
    passage = {"text": "x", "seq_from": 10**9, "seq_to": 10**9, "trust": "assistant"}
    room = MAX_LINE_BYTES - 4 * 64_000
    for text, count in (("x" * (room - BESIDE_A_PASSAGE), 1), ("x", room // (BESIDE_A_PASSAGE + 1))):
        given = {**line, "id": f"{count:064}", "passages": [{**passage, "text": text}] * count}
        assert sent(api, json.dumps(given, ensure_ascii=False).encode()).json["imported"] == [given["id"]]
        row = world.table.get(world.user().keys.memory(str(given["id"])))
        assert row is not None and 0.8 * MAX_ITEM_BYTES < item_size(row) < MAX_ITEM_BYTES
    more = {**line, "passages": [{**passage, "text": "x" * (room - BESIDE_A_PASSAGE + 1)}]}
    refused = sent(api, json.dumps(more, ensure_ascii=False).encode())
    assert refused.status == 422
    assert refused.json["detail"].startswith("lines[1].passages: make the line 262001 bytes long")
