"""What no longer holds at its source is left out, and said; so is what a file says that it does not hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from local.importers.__main__ import main


def converted(tmp_path: Path, capsys: pytest.CaptureFixture[str], dump: Any) -> tuple[int, list[str], list[str]]:
    (tmp_path / "dump").write_text(json.dumps(dump))
    code = main(["mem0", str(tmp_path / "dump")])
    captured = capsys.readouterr()
    return code, [json.loads(line)["text"] for line in captured.out.splitlines()], captured.err.splitlines()


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ({"expiration_date": "2025-03-31"}, "have expired (expiration_date)"),
        ({"expiresAt": 1_735_689_600}, "have expired (expires_at)"),
        ({"valid_until": "2025-03-31T00:00:00Z"}, "have expired (valid_until)"),
        ({"invalid_at": "2025-03-31T00:00:00+02:00"}, "have expired (invalid_at)"),
        ({"deleted_at": "2025-03-31"}, "have expired (deleted_at)"),
        ({"is_deleted": True}, "no longer hold there (is_deleted)"),
        ({"archived": 1}, "no longer hold there (archived)"),
        ({"isActive": False}, "no longer hold there (is_active: false)"),
        ({"state": "paused"}, "no longer hold there (state: paused)"),
        ({"status": "superseded"}, "no longer hold there (status: superseded)"),
        ({"superseded_by": "x2"}, "something else took the place of (superseded_by)"),
    ],
    ids=str,
)
def test_a_memory_that_no_longer_holds_is_left_out(
    field: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = {"results": [{"id": "a", "memory": "The permit is number 77.", **field}, {"id": "b", "memory": "Plays."}]}
    assert converted(tmp_path, capsys, dump) == (2, ["Plays."], [f"left out: 1 memories that {said}"])


@pytest.mark.parametrize(
    "field",
    [
        {"expiration_date": None},
        {"is_deleted": False},
        {"deleted_at": ""},
        {"expired": False},
        {"is_active": True},
        {"state": "active"},
        {"status": "SUCCEEDED"},
        {"superseded_by": []},
    ],
    ids=str,
)
def test_what_says_that_it_holds_is_taken(
    field: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert converted(tmp_path, capsys, [{"id": "a", "memory": "Plays.", **field}]) == (0, ["Plays."], [])


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ({"immutable": True}, "1 terms of memories (immutable); they are taken without"),
        ({"metadata": {"source": "crm", "type": "work"}}, "1 metadata of memories (source)"),
    ],
    ids=str,
)
def test_what_a_line_cannot_say_is_counted(
    field: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert converted(tmp_path, capsys, [{"id": "a", "memory": "Plays.", **field}]) == (
        2,
        ["Plays."],
        [f"left out: {said}"],
    )


@pytest.mark.parametrize(
    ("field", "until"),
    [
        ({"expiration_date": "2100-01-01"}, "2100-01-02T00:00:00.000Z"),
        ({"expiresAt": "2100-01-01T10:00:00+02:00", "valid_until": "2101-01-01"}, "2100-01-01T08:00:00.000Z"),
        ({"expiration_date": "9999-12-30"}, None),
        ({"expires_at": None}, None),
    ],
    ids=str,
)
def test_an_end_that_lies_ahead_is_in_the_line(
    field: dict[str, Any], until: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dump").write_text(json.dumps([{"id": "a", "memory": "Plays.", **field}]))
    assert main(["mem0", str(tmp_path / "dump")]) == 0
    assert json.loads(capsys.readouterr().out).get("valid_until") == until


@pytest.mark.parametrize(
    ("around", "said"),
    [
        ({"count": 120, "next": "https://example.com/?page=2"}, "119 records on other pages"),
        ({"next": "https://example.com/?page=2"}, "1 further pages"),
        ({"has_more": True}, "1 further pages"),
        ({"relations": [{}, {}]}, "2 relations (a list beside results)"),
    ],
    ids=str,
)
def test_what_a_page_says_of_others_is_counted(
    around: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = {"results": [{"id": "a", "memory": "Plays."}], **around}
    assert converted(tmp_path, capsys, dump) == (2, ["Plays."], [f"left out: {said}"])


@pytest.mark.parametrize("around", [{"count": 1, "next": None}, {"has_more": False}, {"total": 1}], ids=str)
def test_a_page_that_is_all_leaves_nothing_out(
    around: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert converted(tmp_path, capsys, {"results": [{"id": "a", "memory": "Plays."}], **around})[0] == 0


def test_an_end_that_is_no_time_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, texts, said = converted(tmp_path, capsys, [{"id": "a", "memory": "x", "expires_at": "soon"}])
    assert (code, texts, said) == (1, [], ["1: expires_at is not a time"])


def test_a_wrong_command_line_is_not_what_left_something_out(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["mem0"])
    assert ended.value.code == 64
    assert "the following arguments are required: file" in capsys.readouterr().err
