"""Row A23 of docs/features.md, for a store of many memories: what one call of an import has time for, and going on."""

from __future__ import annotations

import json

import pytest

from neve_cli.importing.sending import send_lines
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, new_memory_id

BATCH = 24
"""Rows of a transaction (docs/rules/memories.md#import)."""
SLOW = "slow:2000"
"""Each reading and each transaction: a batch is three of them, and a call, which writes for 15 s, has time for three
batches at most."""


def lines_of(count: int) -> list[str]:
    return [json.dumps({"id": new_memory_id(n), "text": f"User read the novel {n}."}) for n in range(count)]


def bring_in(user: Person, lines: list[str], key: str) -> Json:
    headers = {"Idempotency-Key": key}
    body = "\n".join(lines).encode()
    return dict(user.expect(200, "POST", "/memories/import", raw=body, headers=headers))


@pytest.mark.controls
def test_a23_an_import_ends_in_time_and_says_where_to_go_on(user: Person, controls: Controls) -> None:
    lines = ['{"type": "event"}', '{"wrong": 1}', *lines_of(100), "[]"]
    controls.fault("table", SLOW)
    first = bring_in(user, lines, "k1")
    controls.faults()
    done = len(first["imported"])
    assert 0 < done < 100 and done % BATCH == 0
    assert first["next_line"] == 2 + done + 1, "the first one that there was no time for"
    assert ([one["line"] for one in first["rejected"]], first["skipped"]) == ([2], {"event": 1})
    assert len(user.memories()) == done, "what is named as imported is there, and nothing else"

    assert bring_in(user, lines, "k1") == first, "the same call has the same answer"
    rest = bring_in(user, lines[first["next_line"] - 1 :], "k2")
    assert len(rest["imported"]) == 100 - done and "next_line" not in rest
    assert [one["line"] for one in rest["rejected"]] == [100 - done + 1]
    assert len(user.memories()) == 100
    again = dict(user.expect(200, "POST", "/memories/import", raw="\n".join(lines).encode()))
    assert (again["imported"], len(again["unchanged"])) == ([], 100)
    user.settle()
    assert user.recalled("the novel 99", mode="tool", limit=1) == [json.loads(lines[-2])["id"]]


@pytest.mark.controls
def test_a23_a_dump_is_sent_in_as_many_calls_as_it_takes(user: Person, controls: Controls) -> None:
    lines = [*lines_of(100), '{"wrong": 1}']
    controls.fault("table", SLOW)
    sent = send_lines(user.api, user.id, "\n".join(lines))
    controls.faults()
    assert (sent.imported, sent.unchanged, sent.conflicting, list(sent.rejected)) == (100, 0, [], [101])
    assert len(user.memories()) == 100


@pytest.mark.controls
def test_a23_an_import_that_takes_no_time_is_one_call(user: Person, controls: Controls) -> None:
    """The clock of the limit is not that of the rows: a day that passes is no time that was worked."""
    controls.advance(86_400)
    assert "next_line" not in bring_in(user, lines_of(100), "k1")


@pytest.mark.controls
def test_a23_an_import_whose_store_fails_can_be_repeated(user: Person, controls: Controls) -> None:
    lines = lines_of(60)
    controls.fault("table", "error", times=1)
    assert user.call("POST", "/memories/import", raw="\n".join(lines).encode()).status == 503
    controls.faults()
    assert len(bring_in(user, lines, "k1")["imported"]) == 60
    assert len(user.memories()) == 60


@pytest.mark.live
def test_a23_a_line_that_no_row_can_hold_is_named_and_the_others_go_in(user: Person) -> None:
    """A row has 400 KB, and holds a text's passages beside it; its numbers have 38 digits."""
    most = "\U0001f33f" * 64_000
    lines = [
        json.dumps({"id": "whole", "text": most}, ensure_ascii=False),
        json.dumps({"id": "twice", "text": most, "passages": [{"text": most}]}, ensure_ascii=False),
        json.dumps({"text": "x", "passages": [{"text": "x", "seq_from": 10**50}]}),
        json.dumps({"text": "x", "provenance": {"seq_to": 10**50}}),
    ]
    answer = dict(user.expect(200, "POST", "/memories/import", raw="\n".join(lines).encode()))
    assert answer["imported"] == ["whole"]
    found = {one["line"]: one["errors"] for one in answer["rejected"]}
    too_large = "make the line 512064 bytes long as it is kept, with its text; 262000 are accepted"
    beyond = "must be less than or equal to 1000000000"
    assert found == {
        2: [{"field": "lines[2].passages", "message": too_large}],
        3: [{"field": "lines[3].passages[0].seq_from", "message": beyond}],
        4: [{"field": "lines[4].provenance.seq_to", "message": beyond}],
    }
    assert user.memory("whole")["text"] == most
