"""Lambda's own runtime client on our stand-in for the Runtime API: results, errors and a function that cannot start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from infra.lambda_runtime.process import LambdaProcess, Sandbox
from infra.lambda_runtime.runtime_api import NoOutcome
from infra.packaging.functions import DeployedFunction, deployed_functions

PROGRAM = """
import os
from neve.ports.errors import StoreUnavailable

def handler(event, context):
    if event == "end":
        os._exit(1)
    if event == "fail":
        raise StoreUnavailable("table", "throttled")
    seen = {"function": context.function_name, "request": context.aws_request_id}
    return {"event": event, "left": context.get_remaining_time_in_millis() > 1000, **seen}
"""


@pytest.fixture
def sandbox(sandbox_of: Callable[[DeployedFunction], Sandbox], tmp_path: Path) -> Sandbox:
    """Some program of a function on the core layer."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "app.py").write_text(PROGRAM)
    return replace(sandbox_of(deployed_functions()["authorizer"]), code=tmp_path / "code")


def test_one_process_answers_event_after_event(sandbox: Sandbox, tmp_path: Path) -> None:
    with LambdaProcess("probe", sandbox, "app.handler", {}, tmp_path / "log") as process:
        first, second = process.invoke({"text": "ü 🔭"}), process.invoke([1])
    assert first.result == {"event": {"text": "ü 🔭"}, "left": True, "function": "probe", "request": first.request_id}
    assert second.result["event"] == [1]
    assert second.request_id != first.request_id


def test_an_unhandled_error_is_reported_and_the_process_goes_on(sandbox: Sandbox, tmp_path: Path) -> None:
    with LambdaProcess("probe", sandbox, "app.handler", {}, tmp_path / "log") as process:
        failed, fine = process.invoke("fail"), process.invoke("go on")
    assert failed.result is None
    assert failed.error is not None
    assert failed.error["errorType"] == "StoreUnavailable"
    assert failed.error["errorMessage"] == "table: throttled"
    assert "app.py" in "".join(failed.error["stackTrace"])
    assert failed.request_id
    assert fine.result["event"] == "go on"


def test_a_function_that_cannot_be_imported_is_an_error_of_the_start(sandbox: Sandbox, tmp_path: Path) -> None:
    (sandbox.code / "app.py").write_text("import numpy\n")
    with LambdaProcess("probe", sandbox, "app.handler", {}, tmp_path / "log") as process:
        outcome = process.invoke({})
    assert outcome.request_id is None
    assert outcome.error is not None
    assert outcome.error["errorType"] == "Runtime.ImportModuleError"
    assert "No module named 'numpy'" in outcome.error["errorMessage"]


def test_a_process_that_ends_is_noticed(sandbox: Sandbox, tmp_path: Path) -> None:
    with (
        LambdaProcess("probe", sandbox, "app.handler", {}, tmp_path / "log") as process,
        pytest.raises(NoOutcome, match="ended without an answer"),
    ):
        process.invoke("end")
