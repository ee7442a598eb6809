"""The operator's command says in a sentence what it lacks, instead of botocore's traceback."""

from __future__ import annotations

import sys

import boto3
import pytest

from infra.operate import __main__ as operate
from infra.operate.stages import NoAccount, settings_of


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
    assert operate.main() == 1
    captured = capsys.readouterr().err
    assert captured.startswith("NoAccount: no region")
    assert captured.count("\n") == 1
