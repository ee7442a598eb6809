"""``neve`` where a job takes its time."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tests.unit.cli.shell import Shell

BEGIN = {
    "observe": ["session", "observe", "s1"],
    "compact": ["session", "compact", "s1"],
    "end": ["session", "end", "s1"],
    "reflect": ["memory", "reflect"],
    "export": ["export", "ann.jsonl"],
    "erase": ["erase", "--yes"],
}
OF_TENANT = ("reflect", "export", "erase")
LOOKS_BEFORE_DONE = 3


class Clock:
    """What stands for ``time`` where jobs are waited for."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Working:
    """Begins a job, which is done after so many looks, or never. ``asked``: with which bodies and queries."""

    def __init__(self, looks: int | None) -> None:
        self.looks, self.asked = looks, list[httpx2.Request]()

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        done = self.looks is not None and len(self.asked) > self.looks
        receipt = {"rows": {"deleted": 1, "verified_empty_at": "2026-03-10T09:50:00.000Z"}}
        result = {"receipt": receipt, "parts": [], "lines": {"export": 1}}
        job = {"id": "job_1", "user_id": "ann", "status": "done" if done else "running"}
        return httpx2.Response(200, json=job | ({"result": result} if done else {}))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Clock:
    clock = Clock()
    monkeypatch.setattr("neve_cli.api.time", clock)
    monkeypatch.chdir(tmp_path)
    return clock


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("command", BEGIN)
def test_which_job_is_waited_for_is_said_before_it_is(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    said_before: list[str] = []

    class Heard(Working):
        def __call__(self, request: httpx2.Request) -> httpx2.Response:
            if self.asked:
                said_before.append(capsys.readouterr().err)
            return super().__call__(request)

    service = Heard(LOOKS_BEFORE_DONE)
    assert Shell(capsys, httpx2.MockTransport(service)).run(*BEGIN[command]) == 0
    look = "neve job job_1" + (" --admin" if command in OF_TENANT else "")
    assert [said.strip().endswith(look) for said in said_before] == [True, False, False]
    assert service.asked[1].url.path.endswith("/admin/jobs/job_1" if command in OF_TENANT else "/users/ann/jobs/job_1")


@pytest.mark.parametrize("command", BEGIN)
@pytest.mark.parametrize("given", [None, 5, 120])
def test_a_job_that_does_not_end_is_left_to_go_on(
    command: str, given: int | None, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(capsys, httpx2.MockTransport(Working(None)))
    assert shell.run(*BEGIN[command], *(["--timeout", str(given)] if given else [])) == 1
    assert clock.now == (given or (3_600 if command == "erase" else 600))
    assert shell.out == ""
    look = "neve job job_1" + (" --admin" if command in OF_TENANT else "")
    assert shell.err.splitlines()[-1] == f"neve: not done after {clock.now:.0f} s; it goes on: {look}"
    assert not Path("ann.jsonl").exists()


@pytest.mark.parametrize("command", BEGIN)
def test_whoever_does_not_wait_has_the_job(command: str, clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    service = Working(None)
    shell = Shell(capsys, httpx2.MockTransport(service))
    assert shell.run(*BEGIN[command][: 1 if command == "export" else None], "--no-wait") == 0
    assert (len(service.asked), clock.now, shell.err) == (1, 0, "")
    assert ["id", "job_1"] in [line.split() for line in shell.out.splitlines()]
    assert b"wait" not in service.asked[0].content, "the service does not wait either"


def test_an_export_is_waited_for_exactly_where_there_is_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    service = Working(None)
    shell = Shell(capsys, httpx2.MockTransport(service))
    assert shell.run("export") == 64
    assert shell.run("export", "ann.jsonl", "--no-wait") == 64
    assert service.asked == []


@pytest.mark.usefixtures("clock")
def test_a_job_that_has_ended_is_not_announced(capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(capsys, httpx2.MockTransport(Working(0)))
    assert shell.run("session", "observe", "s1") == 0
    assert shell.err == ""
