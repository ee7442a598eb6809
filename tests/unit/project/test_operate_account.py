"""The operator's command says in a sentence what it lacks, instead of botocore's traceback."""

from __future__ import annotations

import sys
from pathlib import Path

import boto3
import pytest

from infra.operate import __main__ as operate
from infra.operate.stages import NoAccount, settings_of
from neve.usecases.tell.requests.request_erasure import request_erasure
from tests.unit.recall_world import RecallWorld


def test_a_missing_region_is_named() -> None:
    session = boto3.Session(aws_access_key_id="a", aws_secret_access_key="b")
    session._session.set_config_variable("region", None)
    with pytest.raises(NoAccount, match="AWS_DEFAULT_REGION"):
        settings_of("dev", session)


def test_missing_credentials_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    session = boto3.Session(region_name="eu-central-1")
    monkeypatch.setattr(session, "get_credentials", lambda: None)
    with pytest.raises(NoAccount, match="credentials"):
        settings_of("dev", session)


def test_it_is_one_line_on_stderr(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for variable in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setattr(sys, "argv", ["infra.operate", "--stage", "dev", "tenants"])
    monkeypatch.setattr(operate, "log_to_stderr", lambda: None)  # it would stay there, when the test's own is closed
    assert operate.main() == 1
    captured = capsys.readouterr().err
    assert captured.startswith("NoAccount: no region")
    assert captured.count("\n") == 1


def test_an_erasure_that_the_tenant_asked_for_is_one_line_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = RecallWorld.make(tmp_path)
    job = request_erasure(world.user("ann"), close=False)
    monkeypatch.setattr(operate, "settings_of", lambda *_, **__: None)
    monkeypatch.setattr(operate, "AwsPorts", lambda *_: world)
    monkeypatch.setattr(operate, "log_to_stderr", lambda: None)
    monkeypatch.setattr(sys, "argv", ["infra.operate", "erase-user", world.tenant.id, "ann", "--yes"])
    try:
        assert operate.main() == 1
    finally:
        world.close()
    assert capsys.readouterr().err == f"ErasureUnderWay: {job.id}\n"
