"""Documents, the inbox, the ledger, an export, the policy and keys on the command line."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest

from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.memories import Provenance
from neve.store.keys import tenant_row
from neve.store.tenants.tenant_rows import TenantRow, read_tenant
from neve.usecases.tell.memories.store_fact import store_fact
from neve_cli.__main__ import run
from tests.unit.cli.in_process import BASE_URL, InProcess
from tests.unit.cli.shell import Shell
from tests.unit.recall_world import RecallWorld

SARAH = "/profile/people/sarah"


def test_a_document_is_written_read_moved_and_deleted(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "sarah"
    file.write_text("# Sarah\n\nNurse in Århus.\n")
    assert shell.run("document", "put", SARAH, str(file), "--new") == 0
    assert shell.run("document", "put", SARAH, str(file), "--new") == 1
    assert shell.err.startswith("neve: precondition_failed (412)")
    file.write_text("# Sarah\n\nPilot.\n")
    assert shell.run("document", "put", SARAH, str(file), "--if-rev", "7") == 1
    assert shell.run("document", "put", SARAH, str(file), "--if-rev", "1") == 0

    assert shell.run("document", "show", SARAH) == 0
    assert shell.out == "# Sarah\n\nPilot.\n"
    assert shell.run("document", "show", SARAH, "--rev", "1") == 0
    assert "Århus" in shell.out
    assert shell.run("document", "versions", SARAH) == 0
    assert [line.split()[0] for line in shell.out.splitlines()] == ["REV", "2", "1"]

    assert shell.run("document", "mv", SARAH, "/profile/people/sara") == 0
    assert shell.run("document", "list", "/profile/") == 0
    assert [line.split()[0] for line in shell.out.splitlines()] == ["PATH", "/profile/people/sara"]
    assert shell.run("document", "rm", "/profile/people/sara", "--yes") == 0
    assert shell.json("document", "list") == {"documents": []}


def test_a_document_that_is_not_utf8_is_64_and_sent_nowhere(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "latin"
    file.write_bytes(b"Caf\xe9")
    assert shell.run("document", "put", SARAH, str(file)) == 64
    assert shell.run("document", "put", SARAH, str(tmp_path / "nothing")) == 64
    assert shell.json("document", "list") == {"documents": []}


def test_a_file_may_say_how_it_is_encoded(shell: Shell, tmp_path: Path) -> None:
    """As editors on Windows have it."""
    file = tmp_path / "file"
    file.write_text("# Bees\n", encoding="utf-8-sig")
    assert shell.json("document", "put", "/a", str(file))["text"] == "# Bees\n"
    file.write_text('{"recall_limit": 7}', encoding="utf-8-sig")
    assert shell.run("policy", "set", str(file)) == 0


def test_what_waits_is_decided(shell: Shell, world: RecallWorld) -> None:
    world.open()
    for text in ("User likes jazz.", "User likes chess.", "User likes tea."):
        candidate = FactCandidate(text, "PREFERENCE", Provenance("assistant", "s1"))
        store_fact(world.user(), candidate, via="librarian")
    assert shell.run("inbox", "list") == 0
    jazz, chess, tea = (line.split()[0] for line in shell.out.splitlines()[1:])
    assert "User likes jazz." in shell.out
    assert shell.run("inbox", "approve", jazz) == 0
    assert "approved" in shell.out
    assert shell.run("inbox", "reject", chess) == 0
    assert shell.run("inbox", "edit", tea) == 64
    assert shell.run("inbox", "edit", tea, "--text", "User likes coffee.") == 0
    assert shell.json("inbox", "list") == {"items": []}
    active = [one["text"] for one in shell.json("memory", "list")["memories"]]  # type: ignore[attr-defined]
    assert sorted(active) == ["User likes coffee.", "User likes jazz."]


def test_the_ledger_says_what_a_recall_considered(shell: Shell) -> None:
    shell.json("memory", "add", "Keeps bees in Oslo.")
    recall = shell.json("memory", "recall", "bees")["recall_id"]
    assert shell.run("ledger", "list") == 0
    assert shell.out.splitlines()[1].split()[0] == recall
    assert shell.run("ledger", "show", str(recall)) == 0
    assert shell.out.splitlines()[1].split()[-1] == "returned"


def test_an_export_is_loaded_part_by_part_without_the_key(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object store refuses an address that is signed and a key beside it, and the key is none of its business."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    lost: list[str] = []

    def service(request: httpx2.Request) -> httpx2.Response:
        if request.url.host == "objects.test":
            assert "Authorization" not in request.headers
            if request.url.path not in lost:
                lost.append(request.url.path)
                return httpx2.Response(503)
            return httpx2.Response(200, content=f"{request.url.path}\n".encode())
        parts = [{"part": n, "url": f"http://objects.test/{n}"} for n in range(2)]
        result = {"parts": parts, "lines": {"export": 1, "memory": 3}}
        return httpx2.Response(200, json={"id": "job_1", "status": "done", "result": result})

    shell, file = Shell(capsys, httpx2.MockTransport(service)), tmp_path / "ann.jsonl"
    assert shell.run("export", str(file)) == 0
    assert file.read_text() == "/0\n/1\n"
    assert shell.err.startswith("1 export, 3 memory.")


def test_an_export_that_cannot_be_loaded_is_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)

    def service(request: httpx2.Request) -> httpx2.Response:
        if request.url.host == "objects.test":
            return httpx2.Response(404)
        result = {"parts": [{"part": 0, "url": "http://objects.test/0"}], "lines": {"export": 1}}
        return httpx2.Response(200, json={"id": "job_1", "status": "done", "result": result})

    shell = Shell(capsys, httpx2.MockTransport(service))
    assert shell.run("export", str(tmp_path / "ann.jsonl")) == 1
    assert shell.err == "neve: the export cannot be loaded: HTTP 404\n"


def test_a_file_is_kept_until_there_is_something_to_write(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "ann.jsonl"
    file.write_text("of last week")
    refused = httpx2.Response(403, json={"code": "forbidden", "detail": "No."})
    shell = Shell(capsys, httpx2.MockTransport(lambda _: refused))
    assert shell.run("export", str(file)) == 1
    assert file.read_text() == "of last week"


def test_a_disk_that_is_full_is_1_in_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("neve_cli.output.show", full)
    shell = Shell(capsys, httpx2.MockTransport(lambda _: httpx2.Response(200, json={"memories": []})))
    assert shell.run("memory", "list") == 1
    assert shell.err == f"neve: {os.strerror(errno.ENOSPC)}\n"


def test_the_policy_is_shown_as_it_is_set(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text('{"recall_limit": 7}')
    assert shell.run("policy", "set", str(file), "--if-rev", "9") == 1
    assert shell.run("policy", "set", str(file), "--if-rev", "1") == 0
    assert shell.run("policy", "show") == 0
    assert json.loads(shell.out) == {"recall_limit": 7}
    assert shell.err == "rev 2\n"
    assert shell.run("policy", "show", "--in-force") == 0
    assert json.loads(shell.out)["window"] == 200_000
    file.write_text('{"recall_limit": 700}')
    assert shell.run("policy", "set", str(file)) == 1
    assert "recall_limit: must be less than or equal to 50" in shell.err
    file.write_text("{")
    assert shell.run("policy", "set", str(file)) == 64


def test_keys_need_no_user(
    world: RecallWorld, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEVE_USER", raising=False)

    def live() -> TenantRow:
        item = world.rows.get(tenant_row(world.tenant.id))
        assert item is not None
        return read_tenant(item)

    command = ["--url", BASE_URL, "--key", "nv_x", "--json", "key"]
    backend = ["--scope", "chat", "--scope", "records", "--label", "backend"]
    for scopes in (["--scope", "admin"], *[["--scope", "documents"]] * 8, backend):
        assert run([*command, "create", *scopes], InProcess.of_all()) == 0
        made = json.loads(capsys.readouterr().out)
    assert made["key"].startswith(f"nv_{made['key_id']}_")
    assert made["scopes"] == ["chat", "records"]
    assert run([*command, "create", "--scope", "chat"], InProcess.of_all()) == 1
    assert run([*command, "revoke", made["key_id"]], InProcess.of_all()) == 0
    assert [key.scopes for key in live().live_keys] == [("admin",), *[("documents",)] * 8]


def test_a_token_is_printed_alone_for_a_shell_to_take(
    world: RecallWorld, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEVE_USER", raising=False)
    command = ["--url", BASE_URL, "--key", "nv_x"]
    assert run([*command, "token", "Ada L", "--scopes", "chat, records,chat", "--ttl", "60"], InProcess.of_all()) == 0
    said = capsys.readouterr()
    claims = jwt.decode(said.out.strip(), options={"verify_signature": False})
    assert (claims["sub"], claims["scopes"], claims["exp"] - claims["nbf"]) == ("Ada L", "chat records", 60)
    assert "for Ada L: chat, records" in said.err
    assert run([*command, "--json", "token", "--console", "--scopes", "admin"], InProcess.of_all()) == 0
    made = json.loads(capsys.readouterr().out)
    assert "sub" not in jwt.decode(made["token"], options={"verify_signature": False})
    for wrong in (["--scopes", "chat"], ["ada", "--console", "--scopes", "chat"], ["ada"], ["ada", "--scopes", ","]):
        assert run([*command, "token", *wrong], InProcess.of_all()) == 64, wrong
    assert run([*command, "token", "ada", "--scopes", "chat", "--ttl", "30"], InProcess.of_all()) == 64
    assert run([*command, "token", "ada", "--scopes", "root"], InProcess.of_all()) == 1
    assert "scopes[0]" in capsys.readouterr().err


def test_the_consoles_address_is_printed_alone_with_its_token_behind_the_hash(
    world: RecallWorld, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEVE_USER", raising=False)
    command = ["--url", BASE_URL + "/", "--key", "nv_x"]

    def claims(printed: str) -> dict[str, Any]:
        page, token = printed.split("#token=")
        assert page == f"{BASE_URL}/console/"
        read: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
        return read

    assert run([*command, "console"], InProcess.of_all()) == 0
    every_user = claims(capsys.readouterr().out.strip())
    assert ("sub" in every_user, every_user["scopes"]) == (False, "chat records admin")
    opened: list[str] = []

    def opens(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr("webbrowser.open", opens)
    assert run([*command, "console", "Ada L", "--ttl", "60", "--open"], InProcess.of_all()) == 0
    printed = capsys.readouterr().out.strip()
    one = claims(printed)
    assert opened == [printed]
    assert (one["sub"], one["scopes"], one["exp"] - one["nbf"]) == ("Ada L", "chat records self", 60)
    assert run([*command, "--json", "console", "--scopes", "admin"], InProcess.of_all()) == 0
    assert claims(json.loads(capsys.readouterr().out)["address"])["scopes"] == "admin"
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    assert run([*command, "console", "--open"], InProcess.of_all()) == 1


def test_a_key_whose_text_got_lost_is_said_to_be(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repeat of the call names the key without it."""
    named = {"key_id": "k1", "scopes": ["chat"], "created_at": "2026-03-10T09:30:00.000Z"}
    shell = Shell(capsys, httpx2.MockTransport(lambda _: httpx2.Response(201, json=named)))
    assert shell.run("key", "create", "--scope", "chat") == 1
    assert "k1" in shell.out
    assert "revoke it" in shell.err


def test_what_there_is_and_what_it_cost(shell: Shell) -> None:
    shell.json("memory", "add", "Keeps bees.")
    shell.json("session", "open", "s1")
    shell.json("session", "say", "s1", "I moved to Lisbon.")
    assert shell.run("stats") == 0
    counted = dict(line.split() for line in shell.out.splitlines())
    wanted = ("short_term.sessions", "short_term.events", "memories.total")
    assert [counted[name] for name in wanted] == ["1", "1", "1"]
    assert shell.run("usage") == 0
    assert "usage.model_calls" in shell.out
    assert "prompt_cache" in shell.json("usage")
