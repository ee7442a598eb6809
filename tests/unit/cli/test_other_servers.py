"""``neve`` at an address where something else than Neve answers, and is content with whatever it is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import httpx2
import pytest

from neve_cli.__main__ import cli, run
from neve_cli.api import ANSWERS
from tests.unit.cli.in_process import BASE_URL

OPENAPI = Path(__file__).parents[3] / "docs/openapi.json"
COMMANDS = {
    "console": [],
    "document list": [],
    "document mv": ["/notes/a", "/notes/b"],
    "document put": ["/notes/a"],
    "document rm": ["/notes/a", "--yes"],
    "document show": ["/notes/a"],
    "document versions": ["/notes/a"],
    "erase": ["--yes", "--no-wait"],
    "export": ["--no-wait"],
    "import": ["lines"],
    "inbox approve": ["mem_1"],
    "inbox edit": ["mem_1", "--text", "x"],
    "inbox list": [],
    "inbox reject": ["mem_1"],
    "job": ["job_1"],
    "key create": ["--scope", "chat"],
    "key revoke": ["k1"],
    "ledger list": [],
    "ledger show": ["r1"],
    "memory add": ["Keeps bees."],
    "memory edit": ["mem_1", "--text", "x"],
    "memory forget": ["--query", "x"],
    "memory list": [],
    "memory recall": ["bees"],
    "memory reflect": ["--no-wait"],
    "memory rm": ["mem_1", "--yes"],
    "memory trace": ["mem_1"],
    "pack diff": ["1", "2", "--session", "s1"],
    "pack show": [],
    "pack versions": ["--session", "s1"],
    "policy set": [],
    "policy show": [],
    "session compact": ["s1", "--no-wait"],
    "session end": ["s1", "--no-wait"],
    "session events": ["s1"],
    "session list": [],
    "session observe": ["s1", "--no-wait"],
    "session open": ["s1"],
    "session say": ["s1", "Hello?"],
    "session show": ["s1"],
    "stats": [],
    "token": ["--scopes", "chat"],
    "usage": [],
}
"""Each with what it has to be given, and without waiting for a job."""


def leaves(command: click.Command, *names: str) -> Iterator[str]:
    if not isinstance(command, click.Group):
        yield " ".join(names)
        return
    for name, below in command.commands.items():
        yield from leaves(below, *names, name)


def test_every_command_is_tried() -> None:
    """But the one that serves: it tells a model (``tests/unit/mcp_server/``)."""
    assert sorted({*leaves(cli)} - {"mcp"}) == sorted(COMMANDS)


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["table", "json"])
@pytest.mark.parametrize(
    "page",
    [
        httpx2.Response(200, json={"ok": True}, headers={"X-Request-Id": "r-1"}),
        httpx2.Response(200, json={"status": "ok", "id": None, "message": "created"}),
        httpx2.Response(200, html="<html>Welcome to nginx!</html>"),
        httpx2.Response(204),
    ],
    ids=["ok", "created", "a page", "nothing"],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_not_neves_is_1_in_a_line(
    command: str,
    page: httpx2.Response,
    form: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    given = tmp_path / "given"
    given.write_text("{}")
    more = [str(given)] if command in ("document put", "import", "policy set") else []
    who = ["--url", BASE_URL, "--key", "nv_x", "--user", "ann", *form]
    arguments = [*who, *command.split(), *COMMANDS[command], *more]
    monkeypatch.setattr("time.sleep", lambda _: None)
    assert run(arguments, httpx2.MockTransport(lambda _: page)) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"neve: {BASE_URL} does not answer as Neve does: ")


@pytest.mark.parametrize("call", ANSWERS)
def test_what_an_answer_is_known_by_is_in_the_description(call: str) -> None:
    """As required: an answer of Neve's that lacked one of these would be taken for another server's."""
    described = json.loads(OPENAPI.read_bytes())
    method, _, path = call.partition(" ")
    [found] = [
        given[method.lower()]
        for template, given in described["paths"].items()
        if _stars(template) == f"/v1{path}" and method.lower() in given
    ]
    forms = [form for status, given in found["responses"].items() if status[0] == "2" for form in _forms(given)]
    schemas = [set(described["components"]["schemas"][name].get("required", ())) for name in _names(forms, described)]
    assert schemas
    for required in schemas:
        assert any(set(members) <= required for members in ANSWERS[call]), required


def _stars(template: str) -> str:
    return "/".join("*" if part.startswith("{") else part for part in template.split("/"))


def _forms(response: dict[str, dict[str, dict[str, object]]]) -> list[object]:
    media = response.get("content", {}).get("application/json")
    return [media["schema"]] if media else []


def _names(forms: list[object], described: dict[str, dict[str, dict[str, object]]]) -> Iterator[str]:
    for form in forms:
        assert isinstance(form, dict)
        name = str(form["$ref"]).rpartition("/")[2]
        of_many = described["components"]["schemas"][name]
        if isinstance(of_many, dict) and "anyOf" in of_many:
            yield from _names(of_many["anyOf"], described)
        else:
            yield name
