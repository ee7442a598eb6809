"""``neve mcp`` as somebody starts it."""

from __future__ import annotations

import importlib.util

import pytest

from neve_cli.__main__ import run
from neve_mcp import stdio
from neve_mcp.stdio import Served
from tests.unit.mcp_server.host import token_of


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NEVE_URL", "NEVE_KEY", "NEVE_TOKEN", "NEVE_USER"):
        monkeypatch.delenv(name, raising=False)


def test_it_serves_the_user_of_a_token_or_the_one_who_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Served] = []
    monkeypatch.setattr(stdio, "serve", served.append)
    monkeypatch.setenv("NEVE_TOKEN", token_of("ada"))
    assert run(["--url", "https://neve.example/prod", "mcp", "--session", "s1"]) == 0
    monkeypatch.delenv("NEVE_TOKEN")
    assert run(["--key", "nv_abc_def", "--user", "bob", "mcp"]) == 0
    assert served == [
        Served("https://neve.example/prod", token_of("ada"), "ada", "s1"),
        Served("http://127.0.0.1:8787", "nv_abc_def", "bob", None),
    ]
    assert token_of("ada") not in repr(served)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mcp"], "Give a token of the user (--token, NEVE_TOKEN), or an API key and a user"),
        (["--key", "nv_abc_def", "mcp"], "Say whose memory it is: --user or NEVE_USER."),
        (["mcp", "--token", "nv_abc_def"], "POST /v1/users/{user_id}/tokens"),
    ],
)
def test_a_start_that_lacks_something_says_what(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 64
    assert said in capsys.readouterr().err


def test_without_the_package_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert run(["--key", "nv_abc_def", "--user", "ada", "mcp"]) == 1
    assert "pip install 'neve[mcp]'" in capsys.readouterr().err
