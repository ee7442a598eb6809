"""The row of docs/features.md that the request of the open turn is never lost, and what is shown of late results."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.http.driving.people import Json, Person, answered, user_message

ASKED = "Write the forty files with the prefix zebra."


def round_of(identifier: str, size: int, name: str = "write_file") -> list[Json]:
    data = {"tool_use_id": identifier, "name": name}
    return [
        {"event_type": "tool_call", "content": "", "event_data": {**data, "args": {"path": f"{identifier}.py"}}},
        {"event_type": "tool_result", "content": "ok " + "y" * size, "event_data": data},
    ]


def said_by_the_user(request: Json) -> str:
    """In either format, without results of tools."""
    content: list[Any] = [one.get("content") for one in request["messages"] if one["role"] == "user"]
    texts = [block for parts in content for block in parts if block["type"] == "text"]
    return json.dumps([block["text"] for block in texts if not block["text"].startswith("<neve-summary")])


@pytest.mark.live
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
@pytest.mark.parametrize("asked_meanwhile", [False, True], ids=["nobody was shown it", "shown as pending"])
def test_e22_a_result_that_waits_for_an_approval_is_told_once(
    user: Person, provider: str, asked_meanwhile: bool
) -> None:
    """The prompt never says of the call that it failed, nor that it is not there; and keeps what it has shown."""
    user.open("s1")
    call, result = round_of("t1", 0, "transfer")
    result = {**result, "content": "sent, id 991"}
    user.append("s1", user_message("Send 20 euros to Rui."), call, answered("Shall I?"), user_message("Yes."))
    before = user.context("s1", format=provider)["request"]["messages"][:-1] if asked_meanwhile else []
    assert ("pending" in json.dumps(before)) is asked_meanwhile
    user.append("s1", result)
    made = user.context("s1", format=provider)["request"]["messages"]
    assert without_marks(made)[: len(before)] == without_marks(before)
    text = json.dumps(made)
    assert text.count("991") == 1 and "not here" not in text and "is_error" not in text
    assert ("which has come for the pending call t1" in text) is asked_meanwhile
    user.append("s1", answered("Sent."))
    later = user.context("s1", "Thanks.", format=provider)["request"]["messages"]
    assert without_marks(later)[: len(before) or 4] == without_marks(made)[: len(before) or 4]
    assert json.dumps(later).count("991") == 1


def without_marks(messages: list[Json]) -> list[Json]:
    return list(json.loads(json.dumps(messages).replace(', "cache_control": {"type": "ephemeral"}', "")))


@pytest.mark.live
def test_e22_two_tools_with_long_names_stay_two(user: Person) -> None:
    names = [
        f"mcp__company_wiki_and_tickets_server_of_the_headquarters__pages_by_{what}" for what in ("title", "owner")
    ]
    user.open("s1")
    rounds = [event for n, name in enumerate(names) for event in round_of(f"t{n}", 10, name)]
    user.append("s1", user_message("Find it."), *rounds)
    ours = user.context("s1")
    used = [b["name"] for m in ours["request"]["messages"] for b in m["content"] if b["type"] == "tool_use"]
    assert used == names and "tool_names" not in ours
    theirs = user.context("s1", format="openai")
    calls = [one["function"]["name"] for m in theirs["request"]["messages"] for one in m.get("tool_calls", ())]
    assert len(set(calls)) == 2 and all(len(name) <= 64 for name in calls)
    assert [theirs["tool_names"][name] for name in calls] == names


@pytest.mark.live
@pytest.mark.parametrize("message", ["x" * 263_000, [{"type": "text", "text": "y" * 263_000}]], ids=["text", "blocks"])
def test_e22_a_message_that_no_append_takes_is_no_prompt_either(user: Person, message: Any) -> None:
    user.open("s1")
    append = user.call("POST", "/sessions/s1/events", {"events": [user_message(message)]})
    compiled = user.call("POST", "/context", {"session_id": "s1", "message": message})
    assert (append.status, append.json()["code"]) == (compiled.status, compiled.json()["code"])
    assert compiled.json()["code"] == "event_too_large"


def covered_behind_large_rounds(user: Person) -> list[int]:
    """Have seven large rounds said and compacted, and give the seqs that are covered then."""
    for n in range(7):
        answer = user.append("s1", *round_of(f"t{n}", 56_000))
        if answer["compaction"] == "queued":
            user.ended(answer["compaction_job_id"])
    user.compact("s1")
    return [event["seq"] for event in user.events("s1") if event["archived"]]


@pytest.mark.live
@pytest.mark.parametrize("before", [1, 4], ids=["in front of what is covered", "covered"])
def test_e22_the_request_of_the_open_turn_is_in_every_prompt(user: Person, before: int) -> None:
    """Seven large rounds, a compaction inside the turn, one more round, and a small budget: in every prompt that is
    answered, then and later, as a message of the user's."""
    user.open("s1")
    for n in range(before):
        user.append("s1", user_message(f"Refactor module {n}."), answered("Starting."))
    user.append("s1", user_message(ASKED))
    covered = covered_behind_large_rounds(user)
    assert covered and (2 * before + 1 in covered) is (before > 1)
    for size in (100, 18_000, 21_000):
        user.append("s1", *round_of(f"last-{size}", size))
        for more in ({"budget_profile": "compact_8k"}, {}, {"format": "openai"}, {"history_window": 1}):
            body = {"session_id": "s1", **more}
            reply = user.call("POST", "/context", body)
            if reply.status == 422:
                assert reply.json()["code"] == "budget_infeasible"
                continue
            made = reply.json()
            assert "zebra" in said_by_the_user(made["request"]), more
            assert made["report"]["used"] <= made["report"]["limit"]
    user.append("s1", answered("Done."), user_message("Now the tests."), *round_of("next", 100))
    assert "Now the tests." in said_by_the_user(user.context("s1")["request"])


@pytest.mark.live
@pytest.mark.parametrize("taken_back", ["the answer", "the answer and what came behind it"])
def test_e22_a_covered_answer_that_is_taken_back_leaves_the_request(user: Person, taken_back: str) -> None:
    """To have an answer written again, whose turn a compaction has covered: a prompt goes on from its message."""
    user.open("s1")
    for n in range(3):
        user.append("s1", user_message(f"Refactor module {n}."), answered("Starting."))
    user.append("s1", user_message(ASKED), *round_of("first", 100), answered("Done."), user_message("Thanks."))
    assert {7, 10} <= set(covered_behind_large_rounds(user))
    end = 10 if taken_back == "the answer" else None
    last = {"to_seq": end} if end else {}
    user.expect(200, "POST", "/sessions/s1/events/retract", {"from_seq": 10, **last, "reason": "edited"})
    said = said_by_the_user(user.context("s1")["request"])
    assert ("zebra" in said) is (end is None)
    assert ("Thanks." in said) is (end is not None)
