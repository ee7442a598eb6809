"""``neve`` against the functions in this process: tables, JSON, exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from urllib.parse import quote

import httpx2
import pytest

from neve.domain.records.memories import Kind
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve_cli.__main__ import run
from neve_cli.api import Api
from neve_cli.ids import path_of
from tests.unit.cli.in_process import BASE_URL
from tests.unit.cli.shell import Shell
from tests.unit.recall_world import RecallWorld


def test_memories_are_added_listed_changed_and_deleted(shell: Shell) -> None:
    assert shell.run("memory", "list") == 0
    assert shell.out.split() == ["ID", "KIND", "STATUS", "PRIORITY", "OBSERVED", "TEXT"]
    added = shell.json("memory", "add", "Keeps bees  in Oslo 🐝", "--tag", "a", "--tag", "b", "--priority", "low")
    memory = str(added["id"])
    assert (added["text"], added["tags"], added["priority"]) == ("Keeps bees  in Oslo 🐝", ["a", "b"], "low")

    assert shell.run("memory", "list", "--tag", "b") == 0
    heading, row = shell.out.splitlines()
    assert row.startswith(memory)
    assert row.index("low") == heading.index("PRIORITY")
    assert row.endswith("Keeps bees in Oslo 🐝")

    assert shell.run("memory", "edit", memory, "--text", "Keeps geese.", "--if-rev", "1") == 0
    assert "Keeps geese." in shell.out
    assert shell.run("memory", "edit", memory, "--text", "Keeps ducks.", "--if-rev", "1") == 1
    assert shell.err.startswith("neve: precondition_failed (412)")
    assert shell.json("memory", "list")["memories"][0]["text"] == "Keeps geese."  # type: ignore[index]

    assert shell.run("memory", "rm", memory, "--yes") == 0
    assert memory in shell.out
    assert shell.run("memory", "rm", memory, "--yes") == 1
    assert "memory_not_found (404)" in shell.err


def test_what_is_to_be_forgotten_is_listed_and_then_confirmed(shell: Shell) -> None:
    for text, tag in (("Coffee.", "coffee"), ("Tea.", "tea")):
        shell.json("memory", "add", text, "--kind", "note", "--tag", tag)
    assert shell.run("memory", "forget", "--filter", "tag=coffee", "--filter", "never_recall=false") == 0
    assert "Coffee." in shell.out and "Tea." not in shell.out
    assert "1 memories and 0 conversations would be forgotten" in shell.err and "--confirm forget_" in shell.err
    confirm = str(shell.json("memory", "forget", "--filter", "tag=coffee")["confirm"])
    assert shell.json("memory", "forget", "--confirm", confirm, "--no-wait")["kind"] == "forget"
    assert shell.run("memory", "forget", "--confirm", "nope") == 1 and "confirm" in shell.err
    for wrong in ((), ("--filter", "tag"), ("--confirm", confirm, "--query", "tea"), ("--purge-packs",)):
        assert shell.run("memory", "forget", *wrong) == 64


def test_what_was_deleted_is_said_although_the_next_could_not_be(shell: Shell) -> None:
    memory = str(shell.json("memory", "add", "Keeps bees.")["id"])
    assert shell.run("memory", "rm", memory, "mem_nobody", "mem_after", "--yes") == 1
    assert [line.split()[0] for line in shell.out.splitlines()] == ["DELETED", memory]
    assert shell.err == "neve: memory_not_found (404): Memory 'mem_nobody' not found.\n"
    assert shell.run("memory", "rm", "mem_nobody", "--yes") == 1
    assert shell.out == ""


def test_a_list_is_read_page_by_page_up_to_its_limit(shell: Shell, world: RecallWorld) -> None:
    for n in range(230):
        create_memory(world.user(), NewMemory(text=f"Bee number {n}", kind=Kind.NOTE))
    assert len(shell.json("memory", "list", "--limit", "225")["memories"]) == 225  # type: ignore[arg-type]
    assert shell.run("memory", "list", "--limit", "1000") == 0
    assert len(shell.out.splitlines()) == 231


def test_recall_shows_hits_and_says_when_there_are_none(shell: Shell) -> None:
    assert shell.run("memory", "recall", "bees") == 0
    assert "result: " in shell.err
    shell.json("memory", "add", "Keeps bees in Oslo.")
    assert shell.run("memory", "recall", "bees", "--limit", "3") == 0
    assert "Keeps bees in Oslo." in shell.out
    found = shell.json("memory", "recall", "bees", "--source", "memory")
    hit = found["hits"][0]["id"]  # type: ignore[index]
    assert shell.run("memory", "trace", hit) == 0
    assert hit in shell.out


def test_recall_shows_what_else_a_memory_says(shell: Shell) -> None:
    shell.json("memory", "add", "Keeps bees in Oslo.\n\nPaints boats.\n\nBees hum.")
    assert shell.run("memory", "recall", "bees Oslo") == 0
    _, found, further = shell.out.splitlines()
    assert found.startswith("1 ") and "Keeps bees in Oslo." in found
    assert further.strip() == "also: Bees hum."


def test_what_a_night_would_condense(shell: Shell, world: RecallWorld) -> None:
    for n in range(3):
        create_memory(world.user(), NewMemory(text=f"🟡 User saw bee {n}.", kind=Kind.OBSERVATION))
    assert shell.run("memory", "reflect", "--dry-run") == 0
    assert shell.out.splitlines() == ["TOKENS  CONDENSED TOGETHER"]
    assert shell.run("memory", "reflect", "--dry-run", "--min-age-days", "0") == 0
    assert shell.out.splitlines()[1].count("mem_") > 1
    planned = shell.json("memory", "reflect", "--dry-run", "--min-age-days", "0")
    assert len(planned["eligible"]) == 3  # type: ignore[arg-type]


def test_sessions_and_packs(shell: Shell) -> None:
    opened = shell.json("session", "open", "s1", "--title", "Bees")
    assert opened["created"] is True
    assert shell.run("session", "say", "s1", "My card is 4111 1111 1111 1111.") == 0
    assert '{"card_number": 1}' in shell.out
    assert shell.run("session", "say", "s1", "Noted.", "--as", "assistant") == 0
    assert shell.run("session", "events", "s1") == 0
    assert [line.split()[:2] for line in shell.out.splitlines()[1:]] == [
        ["1", "user_message"],
        ["2", "assistant_response"],
    ]
    assert "My card is [removed]." in shell.out
    assert shell.run("session", "list") == 0
    assert shell.out.splitlines()[1].split()[:3] == ["s1", "open", "2"]
    assert shell.run("session", "show", "s1") == 0
    assert "Bees" in shell.out

    shell.json("memory", "add", "Keeps bees in Oslo.")
    assert shell.run("pack", "show") == 0
    assert "Keeps bees in Oslo." in shell.out
    assert shell.run("pack", "show", "--session", "s1") == 0
    assert shell.run("pack", "versions", "--session", "s1") == 0
    assert shell.out.splitlines()[1].split()[:2] == ["1", "initial"]
    assert shell.run("pack", "diff", "1", "1", "--session", "s1") == 0
    assert shell.out == "The two texts are the same.\n"
    assert shell.json("pack", "show", "--session", "s1")["pack_version"] == 1


def nobody(_: httpx2.Request) -> httpx2.Response:
    raise AssertionError("asked")


@pytest.mark.parametrize(
    "arguments",
    [
        ["memory", "list", "--limit", "0"],
        ["memory", "add"],
        ["memory", "edit", "mem_x"],
        ["memory", "remember", "x"],
        ["pack", "diff", "1", "2"],
        ["--no-such-option"],
        [],
    ],
)
def test_a_wrong_command_line_is_64_and_asks_nobody(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(capsys, httpx2.MockTransport(nobody))
    assert shell.run(*arguments) == 64
    assert shell.err != ""


def test_nothing_that_unix_alone_has_is_needed() -> None:
    """Windows has none of sysexits.h."""
    program = (
        "import os\n"
        "for name in [name for name in dir(os) if name.startswith('EX_')]: delattr(os, name)\n"
        "import neve_cli.__main__ as main\n"
        "raise SystemExit(main.run(['no-such-command']))"
    )
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", program], env=os.environ | path, capture_output=True, text=True)
    assert (ran.returncode, "Traceback" in ran.stderr) == (64, False), ran.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--url", "ftp://x", "memory", "list"],
        ["--url", "neve.test", "memory", "list"],
        ["--url", "http://", "memory", "list"],
        ["--url", "http://x:y", "memory", "list"],
        ["--url", "http://[x", "memory", "list"],
        ["--url", "http://x/prod#v1", "memory", "list"],
        ["--url", "http://x/prod?a=", "memory", "list"],
        ["--url", "http://x y", "memory", "list"],
        ["--url", "https://ann:secret@x/prod", "memory", "list"],
        ["export", "/no/such/folder/ann.jsonl"],
        ["export", os.curdir],
        ["--key", "nv_x\n", "memory", "list"],
        ["--key", "nv_ä", "memory", "list"],
        ["memory", "add", "a\udcffb"],
        ["session", "say", "s1", "\udcff"],
    ],
)
def test_what_cannot_be_sent_is_64_in_a_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(capsys, httpx2.MockTransport(nobody))
    assert shell.run(*arguments) == 64
    assert shell.err.splitlines()[-1].startswith("Error: ")
    assert "nv_" not in shell.err.splitlines()[-1], "a key is never printed"


HARMFUL = [
    "mem_x#junk",
    "mem_x?purge_packs=true",
    "mem_x/trace",
    "../sessions",
    "..",
    ".",
    "",
    " a",
    "a~b",
    "mem_x%2F..",
]


@pytest.mark.parametrize("given", HARMFUL)
@pytest.mark.parametrize(
    "arguments",
    [
        ["--user", "{}", "erase", "--yes"],
        ["memory", "rm", "mem_x", "{}", "--yes"],
        ["memory", "edit", "{}", "--text", "x"],
        ["memory", "trace", "{}"],
        ["session", "end", "{}"],
        ["memory", "list", "--session", "{}"],
        ["pack", "versions", "--session", "{}"],
    ],
)
def test_what_is_no_id_reaches_nothing(
    arguments: list[str], given: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = Shell(capsys, httpx2.MockTransport(nobody))
    assert shell.run(*(part.format(given) for part in arguments)) == 64
    assert "is no id" in shell.err
    monkeypatch.setenv("NEVE_USER", given or "#")
    assert run(["--url", BASE_URL, "--key", "nv_x", "erase", "--yes"], httpx2.MockTransport(nobody)) == 64


@pytest.mark.parametrize("part", ["ann#2", "a/b", "a?b", "a%23", "ä b", "...", "a@b:c"])
def test_a_part_of_a_path_stays_one_part(part: str) -> None:
    asked: list[bytes] = []

    def service(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url.raw_path)
        return httpx2.Response(200, json={"id": "mem_1", "in_packs": [], "derived": []})

    Api(BASE_URL, "nv_x", part, httpx2.MockTransport(service)).json("DELETE", path_of("memories", part))
    quoted = quote(part, safe="").encode()
    assert asked == [b"/prod/v1/users/" + quoted + b"/memories/" + quoted]
    for dots in (".", "..", ""):
        with pytest.raises(ValueError, match="cannot be a part of a path"):
            path_of("memories", dots)


def test_without_a_key_or_a_user_it_is_64(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("NEVE_KEY", "NEVE_USER", "NEVE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert run(["memory", "list"]) == 64
    assert "NEVE_KEY" in capsys.readouterr().err
    monkeypatch.setenv("NEVE_KEY", "nv_x")
    assert run(["memory", "list"]) == 64
    assert "NEVE_USER" in capsys.readouterr().err
    assert run(["--help"]) == 0


def test_what_the_service_refuses_is_1_and_names_the_field(shell: Shell) -> None:
    assert shell.run("memory", "add", "My password is hunter2.") == 1
    assert shell.err == "neve: pii_blocked (422): text: contains data that the policy blocks: password\n"
    assert shell.out == ""


def test_a_service_that_does_not_answer_is_1_and_a_busy_one_is_asked_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    asked: list[httpx2.Request] = []

    def gone(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        raise httpx2.ConnectError("no")

    def busy(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return (
            httpx2.Response(503, json={"code": "store_unavailable"})
            if len(asked) < 3
            else httpx2.Response(201, json={"seqs": [1], "observation": "none"})
        )

    assert Shell(capsys, httpx2.MockTransport(gone)).run("session", "say", "s1", "x") == 1
    assert len(asked) == 3
    asked.clear()
    assert Shell(capsys, httpx2.MockTransport(busy)).run("session", "say", "s1", "x") == 0
    assert len({request.headers["Idempotency-Key"] for request in asked}) == 1
    assert str(asked[0].url) == f"{BASE_URL}/v1/users/ann/sessions/s1/events"


@pytest.mark.parametrize(("name", "value"), [("SSL_CERT_FILE", "/no/such/file"), ("ALL_PROXY", "ftp://proxy.test")])
def test_an_environment_that_allows_no_connection_is_1_in_a_line(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, value)
    assert run(["--url", "https://neve.test", "--key", "nv_x", "--user", "ann", "memory", "list"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("neve: no connection can be made")


def test_nothing_is_deleted_without_a_yes(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = str(shell.json("memory", "add", "Keeps bees.")["id"])
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "n")
    assert shell.run("memory", "rm", memory) == 1
    assert "Nothing was done." in shell.err
    assert shell.run("erase") == 1
    assert len(shell.json("memory", "list")["memories"]) == 1  # type: ignore[arg-type]


def test_an_erasure_is_waited_for_and_its_receipt_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    states = iter(["running", "running", "done", "failed"])
    asked: list[str] = []

    def service(request: httpx2.Request) -> httpx2.Response:
        asked.append(f"{request.method} {request.url.raw_path.decode()}")
        if request.method == "DELETE":
            return httpx2.Response(202, json={"id": "job_1", "user_id": "ann", "status": "queued"})
        receipt = {"table": {"deleted": 41, "verified_empty_at": "2026-03-10T09:50:00.000Z"}}
        result = {"receipt": receipt, "backups_expire_at": "2026-04-14T09:50:00.000Z", "closed": True}
        job = {"id": "job_1", "user_id": "ann", "status": next(states), "result": result}
        return httpx2.Response(200, json=job)

    shell = Shell(capsys, httpx2.MockTransport(service))
    assert shell.run("erase", "--close", "--yes") == 0
    assert asked == ["DELETE /prod/v1/users/ann?close=true", *["GET /prod/v1/admin/jobs/job_1"] * 3]
    assert [line.split() for line in shell.out.splitlines()[:2]] == [
        ["STORE", "DELETED", "VERIFIED", "EMPTY", "AT"],
        ["table", "41", "2026-03-10T09:50:00.000Z"],
    ]
    assert "2026-04-14" in shell.out
    assert ["user_id", "ann"] in [line.split() for line in shell.out.splitlines()]
    assert "neve job job_1" in shell.err, "whoever does not wait reads the receipt later"
    assert shell.run("erase", "--yes") == 1
    assert "job job_1 failed" in shell.err
