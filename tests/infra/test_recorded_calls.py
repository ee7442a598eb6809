"""A recording is compared with the committed one: what is new is named, and what is made no more."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from infra import recorded_calls
from infra.recorded_calls import COMMITTED, NOT_IN_EVERY_RECORDING, differences, main, read
from local.aws.call_recorder import CallRecorder
from local.functions import current_function

READ, SEARCHED = ("dynamodb:GetItem", "table"), ("es:ESHttpPost", "search")


def test_what_is_new_or_gone_is_named() -> None:
    seen = {"recall": {READ}, "embed": {SEARCHED}}
    assert list(differences(seen, seen)) == []
    assert list(differences({"recall": {READ, SEARCHED}, "embed": {SEARCHED}}, seen)) == [
        "Gone: the function recall is recorded with es:ESHttpPost on search, and no test made it call that."
    ]
    assert list(differences({"recall": {READ}}, seen)) == [
        "New: the function embed calls es:ESHttpPost on search, which recorded_calls.json does not know."
    ]


def test_a_call_that_is_not_in_every_recording_may_be_there_or_not() -> None:
    function, grants = next(iter(NOT_IN_EVERY_RECORDING.items()))
    committed = read(COMMITTED)
    assert list(differences(committed, committed)) == []
    assert list(differences(committed, committed | {function: committed[function] | set(grants)})) == []


def record(folder: Path, function: str, *calls: str) -> None:
    """As a service of the tests does when it stops."""
    recorder = CallRecorder()
    running = current_function.set(function)
    for call in calls:
        recorder._note(call, "table")
    current_function.reset(running)
    recorder.write(folder)


def test_the_files_of_many_services_are_one_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    committed, folder = tmp_path / "recorded_calls.json", tmp_path / "recordings"
    monkeypatch.setattr(recorded_calls, "COMMITTED", committed)
    record(folder, "recall", "dynamodb:GetItem", "dynamodb:Query")
    record(folder, "recall", "dynamodb:Query", "dynamodb:PutItem")
    record(folder, "embed", "dynamodb:GetItem")

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["recorded_calls", str(folder), *arguments])
        return main()

    assert run("--write") == 0
    assert json.loads(committed.read_bytes()) == {
        "embed": {"dynamodb:GetItem": ["table"]},
        "recall": {"dynamodb:GetItem": ["table"], "dynamodb:PutItem": ["table"], "dynamodb:Query": ["table"]},
    }
    assert run() == 0
    record(folder, "embed", "dynamodb:UpdateItem")
    assert run() == 1
    assert "New: the function embed calls dynamodb:UpdateItem on table" in capsys.readouterr().out


def test_no_recording_is_not_a_good_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["recorded_calls", str(tmp_path)])
    assert main() == 1
    assert "holds no recording" in capsys.readouterr().out
