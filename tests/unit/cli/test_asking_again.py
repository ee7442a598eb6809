"""``neve`` where answers are lost, late, or somebody else's."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from neve_cli.__main__ import run
from tests.unit.cli.in_process import BASE_URL

ADD = ["memory", "add", "Keeps bees."]
KEPT = httpx2.Response(201, json={"id": "mem_1", "rev": 1, "text": "Keeps bees."})
LIST = httpx2.Response(200, json={"memories": []})
Step = httpx2.Response | type[httpx2.RequestError] | type[KeyboardInterrupt]


def refused(status: int, code: str, **headers: str) -> httpx2.Response:
    problem = {"code": code, "detail": "Not now."}
    return httpx2.Response(
        status, json=problem, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    return slept


@pytest.fixture
def answered() -> Callable[..., tuple[int, list[httpx2.Request]]]:
    """Runs a command against a service that takes these steps; its exit code, and what was asked."""

    def run_against(arguments: list[str], *steps: Step) -> tuple[int, list[httpx2.Request]]:
        asked: list[httpx2.Request] = []
        left = iter(steps)

        def service(request: httpx2.Request) -> httpx2.Response:
            asked.append(request)
            step = next(left)
            if isinstance(step, httpx2.Response):
                return step
            raise step("no")

        options = ["--url", BASE_URL, "--key", "nv_x", "--user", "ann"]
        return run([*options, *arguments], httpx2.MockTransport(service)), asked

    return run_against


Answered = Callable[..., tuple[int, list[httpx2.Request]]]


def test_a_write_whose_answer_was_lost_is_asked_about_until_the_first_attempt_is_over(
    answered: Answered, slept: list[float]
) -> None:
    running = refused(409, "idempotency_in_progress", Retry_After="60")
    code, asked = answered(ADD, httpx2.ReadError, *[running] * 13, KEPT)
    assert code == 0
    assert len({request.headers["Idempotency-Key"] for request in asked}) == 1
    assert sum(slept) > 60


def test_whoever_is_told_when_to_come_back_does(answered: Answered, slept: list[float]) -> None:
    assert answered(["memory", "list"], refused(429, "throttled", Retry_After="1"), LIST)[0] == 0
    assert answered(ADD, refused(409, "conflict", Retry_After="2"), KEPT)[0] == 0
    assert answered(ADD, refused(503, "store_unavailable", Retry_After="90"), KEPT)[0] == 0
    assert slept == [1, 2, 5]
    code, asked = answered(ADD, *[refused(429, "throttled", Retry_After="1")] * 3)
    assert (code, len(asked)) == (1, 3)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_write_of_which_a_gateway_knows_nothing_is_done_once(
    status: int, answered: Answered, slept: list[float]
) -> None:
    page = httpx2.Response(status, text="<html>Gateway Time-out</html>")
    running = refused(409, "idempotency_in_progress", Retry_After="1")
    code, asked = answered(ADD, page, running, running, running, KEPT)
    assert (code, slept) == (0, [1, 1, 1, 1])
    assert len({request.headers["Idempotency-Key"] for request in asked}) == 1
    code, asked = answered(["memory", "list"], page, page, LIST)
    assert (code, len(asked)) == (0, 3)
    assert "Idempotency-Key" not in asked[0].headers


@pytest.mark.parametrize(
    "steps",
    [
        [httpx2.Response(504, text="<html>")] * 3,
        [refused(503, "store_unavailable")] * 3,
        [httpx2.ReadTimeout] * 3,
        [httpx2.ReadError, httpx2.ConnectError, httpx2.ConnectError],
        [httpx2.Response(502), refused(404, "memory_not_found")],
        [refused(409, "idempotency_in_progress", Retry_After="60")] * 15,
        [httpx2.DecodingError],
    ],
    ids=["a gateway", "a store", "a timeout", "broken off", "gone behind it", "still running", "no gzip"],
)
@pytest.mark.usefixtures("slept")
def test_a_write_that_is_given_up_may_be_repeated_as_the_same(
    steps: list[Step], answered: Answered, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a new key an event would be in the log twice."""
    code, asked = answered(ADD, *steps)
    assert (code, len(asked)) == (1, len(steps))
    first, told = capsys.readouterr().err.splitlines()
    assert first.startswith("neve: ")
    assert told.startswith("It may have been done.")
    given = ["--idempotency-key", asked[0].headers["Idempotency-Key"]]
    assert " ".join(given) in told
    code, again = answered([*given, *ADD], KEPT)
    assert code == 0
    assert again[0].headers["Idempotency-Key"] == asked[0].headers["Idempotency-Key"]


@pytest.mark.parametrize(
    ("arguments", "steps"),
    [
        (ADD, [httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ConnectError]),
        (ADD, [refused(422, "pii_blocked")]),
        (ADD, [refused(429, "throttled")] * 3),
        (["memory", "list"], [httpx2.Response(504)] * 3),
        (["memory", "recall", "bees"], [httpx2.Response(504)] * 3),
    ],
    ids=["never sent", "refused", "too fast", "a list", "a recall"],
)
@pytest.mark.usefixtures("slept")
def test_what_was_not_done_for_certain_is_not_said_to_be(
    arguments: list[str], steps: list[Step], answered: Answered, capsys: pytest.CaptureFixture[str]
) -> None:
    code, asked = answered(arguments, *steps)
    assert (code, len(asked)) == (1, len(steps))
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("key", ["", "a b", "ä", "x" * 256])
def test_what_is_no_idempotency_key_is_sent_nowhere(
    key: str, answered: Answered, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answered(["--idempotency-key", key, *ADD]) == (64, [])
    assert "--idempotency-key" in capsys.readouterr().err


def test_a_conflict_that_stays_one_is_not_asked_about_again(answered: Answered, slept: list[float]) -> None:
    for stays in (refused(409, "conflict"), refused(409, "erasing", Retry_After="30")):
        code, asked = answered(ADD, stays)
        assert (code, len(asked), slept) == (1, 1, [])


def test_a_time_of_day_to_come_back_at_is_no_reason_to_break_off(answered: Answered, slept: list[float]) -> None:
    busy = refused(503, "store_unavailable", Retry_After="Wed, 21 Oct 2026 07:28:00 GMT")
    assert answered(["memory", "list"], busy, LIST)[0] == 0
    assert slept == [1]


def test_a_service_that_starts_anew_has_the_time_to(answered: Answered, slept: list[float]) -> None:
    assert answered(["memory", "list"], httpx2.ConnectError, httpx2.ConnectError, LIST)[0] == 0
    assert slept == [1, 2]


@pytest.mark.parametrize(
    "step",
    [
        httpx2.Response(200, text="<html>"),
        httpx2.Response(200, json=[]),
        httpx2.Response(200),
        httpx2.DecodingError,
    ],
    ids=["a page", "a list", "nothing", "no gzip"],
)
def test_another_server_at_the_address_is_1_in_a_line(
    step: Step, answered: Answered, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answered(["memory", "list"], step)[0] == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"neve: {BASE_URL} does not answer as Neve does")


@pytest.mark.parametrize("command", [["memory", "list"], ADD], ids=["read", "write"])
@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (httpx2.Response(403, json={"message": "Missing Authentication Token"}), "(403): Missing Authentication Token"),
        (httpx2.Response(301, headers={"Location": "https://neve.test/prod"}), "HTTP 301 to https://neve.test/prod"),
        (httpx2.Response(304), "304"),
    ],
    ids=["a gateway", "another address", "no address"],
)
def test_what_stands_before_the_service_says_why(
    step: Step, reason: str, command: list[str], answered: Answered, capsys: pytest.CaptureFixture[str]
) -> None:
    code, asked = answered(command, step)
    out, err = capsys.readouterr()
    assert (code, len(asked), out, err.count("\n")) == (1, 1, "", 1)
    assert reason in err


PLAIN = {"Content-Type": "text/plain; charset=utf-8", "X-Request-Id": "r-1"}


@pytest.mark.parametrize(
    "page",
    [
        httpx2.Response(200, html="<html>Welcome to nginx!</html>", headers={"X-Request-Id": "r-1"}),
        httpx2.Response(200, text="ok"),
        httpx2.Response(200, headers=PLAIN | {"Content-Type": "text/plainer"}, content=b"ok"),
        httpx2.Response(204, headers=PLAIN),
        httpx2.Response(200, json=["ok"]),
        httpx2.Response(200),
    ],
    ids=["a page", "a text", "another type", "nothing", "a list", "no type"],
)
def test_a_page_of_another_server_is_no_pack(
    page: httpx2.Response, answered: Answered, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answered(["pack", "show"], page)[0] == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"neve: {BASE_URL} does not answer as Neve does")


def test_a_pack_that_is_not_to_be_had_is_not_an_empty_one(
    answered: Answered, capsys: pytest.CaptureFixture[str]
) -> None:
    """While the row store is down the answer is JSON in either format, and has no text."""
    nothing = httpx2.Response(200, json={"state": "unavailable", "degraded": ["pack:unavailable"]})
    assert answered(["pack", "show"], nothing)[0] == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "neve: there is no pack to be had just now (unavailable): the last one stays good\n")


@pytest.mark.parametrize("text", ["", "<neve-memory>\n"], ids=["empty", "some"])
def test_a_pack_without_a_version_is_one(text: str, answered: Answered, capsys: pytest.CaptureFixture[str]) -> None:
    """A preview, and what is left of a pack while a store is down, have no ETag."""
    left = httpx2.Response(200, content=text.encode(), headers=PLAIN | {"X-Neve-Degraded": "pack:partial"})
    assert answered(["pack", "show"], left)[0] == 0
    out, err = capsys.readouterr()
    assert (out, err) == (text or "\n", "degraded: pack:partial\n")


def test_an_interrupt_does_not_take_back_what_was_asked_for(
    answered: Answered, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", interrupted)
    erasing = httpx2.Response(202, json={"id": "job_1", "user_id": "ann", "status": "queued"})
    code, asked = answered(["erase", "--yes"], erasing)
    assert (code, [request.method for request in asked]) == (1, ["DELETE"])
    err = capsys.readouterr().err
    assert "Nothing was done" not in err
    assert "goes on" in err


@pytest.mark.parametrize("steps", [[KeyboardInterrupt], [httpx2.Response(504), KeyboardInterrupt]], ids=len)
@pytest.mark.usefixtures("slept")
def test_a_write_that_was_interrupted_may_be_repeated_as_the_same(
    steps: list[Step], answered: Answered, capsys: pytest.CaptureFixture[str]
) -> None:
    code, asked = answered(ADD, *steps)
    assert (code, len(asked)) == (1, len(steps))
    assert f"--idempotency-key {asked[0].headers['Idempotency-Key']}" in capsys.readouterr().err
    assert answered(["memory", "list"], KeyboardInterrupt)[0] == 1
    assert "--idempotency-key" not in capsys.readouterr().err


def test_an_interrupt_at_the_question_does_nothing(
    answered: Answered, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("click.termui.visible_prompt_func", interrupted)
    assert answered(["erase"]) == (1, [])
    assert "Nothing was done." in capsys.readouterr().err


def test_the_receipt_is_there_for_who_did_not_wait(answered: Answered, capsys: pytest.CaptureFixture[str]) -> None:
    receipt = {"rows": {"deleted": 41, "verified_empty_at": "2026-03-10T09:50:00.000Z"}}
    result = {"receipt": receipt, "backups_expire_at": "2026-04-14T09:50:00.000Z", "closed": False}
    done = {"id": "job_1", "kind": "erase", "user_id": "ann", "status": "done", "result": result}
    code, asked = answered(["job", "job_1"], httpx2.Response(200, json=done))
    assert (code, asked[0].url.path) == (0, "/prod/v1/users/ann/jobs/job_1")
    assert ["rows", "41", "2026-03-10T09:50:00.000Z"] in [line.split() for line in capsys.readouterr().out.splitlines()]
    code, asked = answered(["job", "job_1", "--admin"], httpx2.Response(200, json={**done, "result": {"done": 3}}))
    assert (code, asked[0].url.path) == (0, "/prod/v1/admin/jobs/job_1")
    assert '{"done": 3}' in capsys.readouterr().out


def test_what_keeps_a_job_from_ending_is_said_before_it_is_waited_for(
    answered: Answered, slept: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = {"id": "job_1", "status": "running", "degraded": ["extract:queued"]}
    steps = (httpx2.Response(202, json=waiting), httpx2.Response(200, json={"id": "job_1", "status": "done"}))
    assert answered(["session", "observe", "s1"], *steps)[0] == 0
    assert "degraded: extract:queued" in capsys.readouterr().err


def test_a_trace_shows_what_any_of_its_statements_has(answered: Answered, capsys: pytest.CaptureFixture[str]) -> None:
    """Of what has no value there is no member: the first statement does not say what the others have."""
    first = {"id": "mem_1", "text": "Keeps bees. " * 20, "status": "active"}
    second = {"id": "mem_2", "text": "Keeps geese.", "status": "superseded", "superseded_reason": "Sold them."}
    trace = {"memory_id": "mem_1", "history": [first, second], "surfaced": []}
    assert answered(["memory", "trace", "mem_1"], httpx2.Response(200, json=trace))[0] == 0
    heading, one, two = capsys.readouterr().out.splitlines()[-3:]
    assert heading.split() == ["ID", "STATUS", "SUPERSEDED_REASON", "TEXT"]
    assert "Sold them." in two
    assert one.index("Keeps") == two.index("Keeps") == heading.index("TEXT")


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["memory", "list"], httpx2.Response(200, json={"ok": True})),
        (["session", "end", "s1"], httpx2.Response(200, json={"ok": True})),
        (["session", "open", "s1"], httpx2.Response(200, json={"ok": True})),
        (["memory", "recall", "bees"], httpx2.Response(200, json={"ok": True})),
        (["session", "observe", "s1"], httpx2.Response(204)),
        (["memory", "add", "Keeps bees."], httpx2.Response(204)),
        (["key", "revoke", "k1"], httpx2.Response(200, text="<html>")),
        (["memory", "list"], httpx2.Response(404, json={"errors": ["no such page"]})),
        (["memory", "list"], httpx2.Response(404, json={"errors": None, "detail": "No such page."})),
        (["memory", "list"], httpx2.Response(422, json={"errors": [{"loc": ["limit"]}]})),
    ],
)
def test_json_of_another_server_is_1_in_a_line(
    arguments: list[str], answer: httpx2.Response, answered: Answered, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answered(arguments, answer)[0] == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("neve: ")


WRONG: tuple[Any, ...] = (None, 7, True, "bees", [], [7], [None], {}, {"a": 7}, {"a": None})


@pytest.mark.parametrize("wrong", WRONG, ids=str)
@pytest.mark.parametrize(
    ("arguments", "right", "member"),
    [
        (["memory", "list"], {"memories": []}, "memories"),
        (["memory", "recall", "bees"], {"hits": [], "result_state": "found"}, "hits"),
        (["memory", "recall", "bees"], {"hits": [{"id": "m", "also": []}], "result_state": "found"}, "hits.0.also"),
        (["memory", "recall", "bees"], {"hits": [], "result_state": "found", "degraded": []}, "degraded"),
        (["memory", "edit", "mem_1", "--text", "x"], {"id": "mem_1", "rev": 2, "also_in": []}, "also_in"),
        (["memory", "reflect", "--dry-run"], {"eligible": 0, "batches": []}, "batches"),
        (["memory", "trace", "mem_1"], {"memory_id": "mem_1", "history": []}, "history"),
        (["session", "open"], {"session": {"id": "s1"}, "pack": {}, "created": True}, "session"),
        (["session", "observe", "s1"], {"id": "job_1", "status": "done"}, "id"),
        (["session", "observe", "s1"], {"id": "job_1", "status": "failed", "result": {"reason": "x"}}, "result"),
        (["job", "job_1"], {"id": "job_1", "status": "done", "result": {}}, "result"),
        (
            ["job", "job_1"],
            {"id": "j", "status": "done", "user_id": "ann", "result": {"receipt": {}}},
            "result.receipt",
        ),
        (["job", "job_1"], {"id": "job_1", "status": "done", "stages": []}, "stages"),
        (["export", "-"], {"id": "j", "status": "done", "result": {"parts": [], "lines": {}}}, "result"),
        (["export", "-"], {"id": "j", "status": "done", "result": {"parts": [], "lines": {}}}, "result.parts"),
        (["export", "-"], {"id": "j", "status": "done", "result": {"parts": [], "lines": {}}}, "result.lines"),
        (["inbox", "list"], {"items": [{"id": "i", "memory": {"text": "x"}}]}, "items.0.memory"),
        (["inbox", "list"], {"items": [{"id": "i", "document": {"text": "x"}}]}, "items.0.document"),
        (["document", "show", "/notes/a"], {"path": "/notes/a", "rev": 1, "text": "x"}, "text"),
        (["pack", "diff", "1", "2", "--session", "s1"], {"added": [], "removed": [], "unified": "x"}, "unified"),
        (["ledger", "show", "r1"], {"id": "r1", "hits": []}, "hits"),
        (["policy", "show"], {"policy": {}, "in_force": {}, "rev": 1}, "policy"),
        (["usage"], {"users": 0, "usage": {}, "complete": True}, "complete"),
    ],
    ids=lambda given: given if isinstance(given, str) else None,
)
@pytest.mark.usefixtures("slept")
def test_a_member_of_another_type_ends_in_no_traceback(
    arguments: list[str],
    right: dict[str, Any],
    member: str,
    wrong: Any,
    answered: Answered,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = copy.deepcopy(right)
    *path, last = member.split(".")
    inner: Any = answer
    for name in path:
        inner = inner[int(name)] if isinstance(inner, list) else inner[name]
    inner[last] = wrong
    code, _ = answered(arguments, *[httpx2.Response(200, json=answer)] * 3)
    err = capsys.readouterr().err
    assert code in (0, 1)
    if code == 1:
        assert err.splitlines()[-1].startswith("neve: ")
        assert "no answer of Neve" in err or "does not answer as Neve does" in err or "failed" in err, err


@pytest.mark.parametrize("member", ["", "..", "a/b", "job?1"])
def test_what_is_no_id_of_a_job_is_not_asked_for(
    member: str, answered: Answered, capsys: pytest.CaptureFixture[str]
) -> None:
    code, asked = answered(["session", "observe", "s1"], httpx2.Response(200, json={"id": member, "status": "queued"}))
    assert (code, len(asked)) == (1, 1)
    assert "'id'" in capsys.readouterr().err
