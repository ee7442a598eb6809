"""Row E22 of docs/features.md: the request of the open turn is never lost."""

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
@pytest.mark.parametrize("before", [1, 4], ids=["in front of what is covered", "covered"])
def test_e22_the_request_of_the_open_turn_is_in_every_prompt(user: Person, before: int) -> None:
    """Seven large rounds, a compaction inside the turn, one more round, and a small budget: in every prompt that is
    answered, then and later, as a message of the user's."""
    user.open("s1")
    for n in range(before):
        user.append("s1", user_message(f"Refactor module {n}."), answered("Starting."))
    user.append("s1", user_message(ASKED))
    for n in range(7):
        answer = user.append("s1", *round_of(f"t{n}", 56_000))
        if answer["compaction"] == "queued":
            user.ended(answer["compaction_job_id"])
    user.compact("s1")
    covered = [event["seq"] for event in user.events("s1") if event["archived"]]
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
