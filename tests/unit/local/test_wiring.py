"""A process is prepared before its first call, and says once what that has cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from neve import wiring
from neve.aws_ports import AwsPorts
from neve.config import Settings, SettingsError, stage_of
from neve.ports.errors import EmbeddingUnavailable

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "_installed", [])
    monkeypatch.setattr(wiring, "_cold_start_ms", [])
    for name in ("AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "eu-central-1")


class Encoder:
    def __init__(self, *, broken: bool = False) -> None:
        self.loads, self._broken = 0, broken

    def load(self) -> bool:
        self.loads += 1
        if self._broken:
            raise EmbeddingUnavailable("not installed")
        return self.loads == 1


def prepared(monkeypatch: pytest.MonkeyPatch, encoder: Encoder, **environment: str) -> AwsPorts:
    monkeypatch.setenv(wiring.LAMBDA, "recall")
    for name, value in environment.items():
        monkeypatch.setenv(f"NEVE_{name.upper()}", value)
    monkeypatch.setattr(AwsPorts, "embedder", encoder)
    wiring.prepare()
    ports = wiring.ports()
    assert isinstance(ports, AwsPorts)
    return ports


def test_under_lambda_every_port_that_is_named_is_made_at_init(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder()
    ports = prepared(monkeypatch, encoder, table="t", bucket="b", embed_queue_url="https://q")
    assert {"table", "objects", "queue"} <= vars(ports).keys()
    assert encoder.loads == 1
    first = wiring.ready(ports.embedder)
    assert first is not None
    assert first > 0
    assert wiring.ready(ports.embedder) is None


def test_what_cannot_be_made_is_left_to_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    ports = prepared(monkeypatch, Encoder(broken=True), embedder="none")
    assert wiring.ready(ports.embedder) is None
    monkeypatch.setattr(wiring, "_installed", [])
    monkeypatch.setenv("NEVE_OBSERVER", "nobody")
    wiring.prepare()
    with pytest.raises(SettingsError, match="NEVE_OBSERVER"):
        wiring.ports()


def test_elsewhere_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(wiring.LAMBDA, raising=False)
    wiring.prepare()
    assert wiring._installed == []


def test_every_function_makes_its_clients_before_its_first_call() -> None:
    """But the check of a deployment and the server of MCP, which have none."""
    folders = {app.parent.name: app.read_text(encoding="utf-8") for app in (ROOT / "functions").glob("*/app.py")}
    assert {name for name, text in folders.items() if "wiring.prepare()" not in text} == {"mcp", "pre_traffic"}


@pytest.mark.parametrize("environ", [{}, {"NEVE_STAGE": ""}, {"NEVE_STAGE": "prod", "NEVE_TABLE": "t"}])
def test_the_stage_is_that_of_the_settings(environ: dict[str, str]) -> None:
    assert stage_of(environ) == Settings.from_environment(environ).stage
