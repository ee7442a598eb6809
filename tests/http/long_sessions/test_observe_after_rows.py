"""Row A01 of docs/features.md: what waits for a pass is read when somebody could need it, and told until then."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, user_message

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
IDLE_S = 120


@pytest.fixture
def waiting(tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person]) -> Person:
    """Whose turns wait for 500 tokens, or for two minutes of silence."""
    user = person(tenant_with(observe_after={"tokens": 500, "idle_s": IDLE_S}))
    user.open_without_pack("s1")
    return user


def turn(words: str) -> list[Json]:
    return [user_message(words), answered("Noted.")]


def observed(user: Person, session: str = "s1") -> tuple[int, int]:
    """How far a session is observed, and what of it waits."""
    found = user.session(session)
    return found["observed_seq"], found["memory_lag"]["unobserved"]


@pytest.mark.controls
def test_a01_turns_wait_for_tokens_and_are_read_together(waiting: Person, controls: Controls) -> None:
    assert waiting.append("s1", *turn("I live in Lisbon."))["observation"] == "waiting"
    controls.drain()
    assert waiting.append("s1", *turn("I work as a nurse."))["observation"] == "waiting"
    controls.drain()
    assert (waiting.memories(), observed(waiting)) == ([], (0, 4)), "it waits, and says so"
    assert waiting.recalled("Lisbon", sources=["event"])[0] == "evt:s1:1", "and is found by its words"
    work = waiting.api.expect(200, "GET", "/v1/admin/work")["waiting"]
    assert {"user_id": waiting.id, "session_id": "s1"} in work
    long = "I am allergic to nuts. " + "The train was late again today. " * 80
    assert waiting.append("s1", *turn(long))["observation"] == "queued"
    controls.drain()
    assert observed(waiting) == (6, 0)
    [row] = waiting.memories(kind="observation")
    assert (row["provenance"]["seq_from"], row["provenance"]["seq_to"]) == (1, 6), "one pass"


@pytest.mark.controls
def test_a01_a_session_that_falls_silent_is_read_by_the_sweep(waiting: Person, controls: Controls) -> None:
    controls.freeze(NOW)
    waiting.append("s1", *turn("I live in Lisbon."))
    controls.drain()
    controls.advance(IDLE_S - 1)
    controls.run("sweep")
    controls.drain()
    assert observed(waiting) == (0, 2)
    controls.advance(1)
    controls.run("sweep")
    controls.drain()
    assert observed(waiting) == (2, 0)


@pytest.mark.controls
def test_a01_another_session_that_is_opened_finds_what_waited(waiting: Person, controls: Controls) -> None:
    for session in ("s1", "s2", "s3", "s4", "s5"):
        waiting.open_without_pack(session)
    controls.drain()
    for session in ("s1", "s2", "s3", "s4", "s5"):
        waiting.append(session, *turn(f"I live in Lisbon, in house {session[1:]}."))
    controls.drain()
    assert {observed(waiting, session) for session in ("s1", "s5")} == {(0, 2)}
    waiting.open("next")
    controls.drain()
    assert {observed(waiting, f"s{n}") for n in range(1, 6)} == {(2, 0)}, "more than a first pack tells"


@pytest.mark.controls
def test_a01_a_session_that_comes_with_its_messages_finds_it_too(waiting: Person, controls: Controls) -> None:
    waiting.append("s1", *turn("I live in Lisbon."))
    controls.drain()
    message = {"role": "user", "content": "Hello again."}
    waiting.expect(201, "POST", "/sessions/s9/messages", {"messages": [message]})
    controls.drain()
    assert observed(waiting) == (2, 0)


@pytest.mark.controls
@pytest.mark.parametrize("call", ["end", "compact", "observe"])
def test_a01_end_compaction_and_observe_do_not_wait(waiting: Person, controls: Controls, call: str) -> None:
    waiting.append("s1", *turn("I live in Lisbon."))
    told = waiting.expect(200, "POST", "/sessions/s1/observe", {"dry_run": True})
    assert [one["text"] for one in told["observations"]], "a dry run reads what waits"
    waiting.expect(202, "POST", f"/sessions/s1/{call}", {})
    controls.drain()
    assert observed(waiting) == (2, 0)


@pytest.mark.controls
def test_a01_the_policy_says_when_and_refuses_what_cannot_be(tenant_with: Callable[..., ApiClient]) -> None:
    client = tenant_with()
    found = client.expect(200, "GET", "/v1/policy")
    assert (found["policy"], found["in_force"]["observe_after"]) == ({}, {"tokens": 0, "idle_s": 600}), "with rules"
    found = client.expect(200, "PATCH", "/v1/policy", {"observe_after": {"tokens": 2_000}})
    assert found["in_force"]["observe_after"] == {"tokens": 2_000, "idle_s": 600}
    for after, field, cure in (
        ({"tokens": 40_000}, "observe_after.tokens", "at most observer_transcript_cap = 35000"),
        ({"idle_s": 5}, "observe_after.idle_s", "from 60 to 3600"),
    ):
        problem = client.expect(422, "PATCH", "/v1/policy", {"observe_after": after})
        assert problem["code"] == "invalid_policy"
        assert field in problem["detail"] and cure in problem["detail"]
    problem = client.expect(422, "PATCH", "/v1/policy", {"observe_after": {"tokens": -1}})
    assert "observe_after.tokens" in problem["detail"]
