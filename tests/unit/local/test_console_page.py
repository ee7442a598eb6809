"""The local server's part of the console: files of the build and nothing else, with headers that let nothing in."""

from __future__ import annotations

from pathlib import Path

import jwt
import pytest

from local.console import address, page
from local.console.page import CSP, console_page, is_console
from local.http.message import Request, Response
from tests.unit.local.test_local_main import FreshServer


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    for name in ("index.html", "app-1a.js", "app-2b.css", "icon-3c.svg"):
        (tmp_path / name).write_text(f"this is {name}")
    return tmp_path


def asked(dist: Path, path: str, method: str = "GET", **headers: str) -> Response:
    return console_page(Request(method, path, "", [*headers.items()], b""), dist)


def header(response: Response, name: str) -> str | None:
    return dict(response.headers).get(name)


def test_the_page_is_asked_for_anew_and_what_it_names_is_kept(dist: Path) -> None:
    index, script = asked(dist, "/console/"), asked(dist, "/console/app-1a.js")
    assert (index.status, index.body) == (200, b"this is index.html")
    assert header(index, "Cache-Control") == "no-cache"
    assert (header(script, "Content-Type"), script.status) == ("text/javascript; charset=utf-8", 200)
    assert "immutable" in (header(script, "Cache-Control") or "")
    tag = header(index, "ETag") or ""
    again = console_page(Request("GET", "/console/", "", [("if-none-match", tag)], b""), dist)
    assert (again.status, again.body) == (304, b"")
    assert asked(dist, "/console/", "HEAD").body == b""


@pytest.mark.parametrize("path", ["/console", "/console/", "/console/app-1a.js", "/console/no"])
def test_every_answer_has_the_guards(dist: Path, path: str) -> None:
    answer = asked(dist, path)
    assert header(answer, "Content-Security-Policy") == CSP
    assert "unsafe" not in CSP and "default-src 'none'" in CSP
    assert (header(answer, "X-Content-Type-Options"), header(answer, "Referrer-Policy")) == ("nosniff", "no-referrer")


def test_an_address_without_its_slash_is_led_to_the_one_with_it(dist: Path) -> None:
    assert (asked(dist, "/console").status, header(asked(dist, "/console"), "Location")) == (308, "/console/")


@pytest.mark.parametrize(
    "name", ["../secret", "..%2fsecret", "%2e%2e/secret", "sub/file.js", "notes.txt", "app.js", "/"]
)
def test_nothing_but_a_file_of_the_build_can_be_named(dist: Path, name: str) -> None:
    (dist.parent / "secret").write_text("x")
    (dist / "notes.txt").write_text("x")
    (dist / "sub").mkdir()
    (dist / "sub" / "file.js").write_text("x")
    assert asked(dist, f"/console/{name}").status == 404


def test_only_its_own_paths_are_the_consoles() -> None:
    assert [is_console(path) for path in ("/console", "/console/x", "/consoles", "/v1/console")] == [
        True,
        True,
        False,
        False,
    ]


def test_what_is_not_built_says_what_builds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = asked(tmp_path, "/console/")
    assert (answer.status, b"make console" in answer.body) == (503, True)
    assert asked(tmp_path, "/console/", "POST").status == 405
    monkeypatch.setattr(address, "is_built", lambda: False)
    [line] = address.console_lines("http://127.0.0.1:1/console/#token=x")
    assert "make console" in line and "token=" not in line


def test_the_start_prints_an_address_whose_token_opens_the_tenant(tmp_path: Path) -> None:
    server = FreshServer(tmp_path)
    output = server.stop()
    if not page.is_built():
        assert "make console" in output
        return
    [line] = [line for line in output.splitlines() if "/console/#token=" in line]
    claims = jwt.decode(line.split("#token=")[1], options={"verify_signature": False})
    assert ("sub" in claims, claims["scopes"], claims["exp"] - claims["nbf"]) == (False, "chat records admin", 3600)
