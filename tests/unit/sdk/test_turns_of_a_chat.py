"""What a turn comes to where a part of it cannot be had."""

from __future__ import annotations

import pytest

from sdk.python.neve import NeveBadRequest
from tests.unit.sdk.fake_service import IMPOSSIBLE, REFUSED, TOO_LONG, FakeService, chat


def test_a_turn_is_one_call_with_the_answer_before_it() -> None:
    service = FakeService()
    s = chat(service)
    s.turn("one")
    s.append({"role": "assistant", "content": "two"})
    prompt = s.turn("three")
    assert [call.path.rpartition("/")[2] for call in service.calls] == ["turn", "messages", "turn"]
    assert (prompt.prompt_id, prompt.stale, service.texts()) == ("p3", False, ["one", "two", "three"])


def test_what_is_appended_and_not_compiled_is_said_and_not_appended_again() -> None:
    service = FakeService()
    s = chat(service)
    prompt = s.turn("one", instructions=[IMPOSSIBLE])
    assert (prompt.stale, prompt["messages"]) == (True, [{"role": "user", "content": "one"}])
    assert prompt.degraded == ["budget_infeasible", "compile:budget_infeasible"]
    assert (s.flush().kept, service.texts()) == (0, ["one"])


def test_strict_raises_what_cannot_be_compiled() -> None:
    s = chat(FakeService(), strict=True)
    with pytest.raises(NeveBadRequest, match="too much"):
        s.turn("one", instructions=[IMPOSSIBLE])


def test_a_message_that_is_refused_in_a_turn_takes_neither_the_others_nor_the_prompt_along() -> None:
    service = FakeService()
    s = chat(service)
    prompt = s.turn(["one", REFUSED, "two"])
    assert (prompt.stale, service.texts()) == (False, ["one", "two"])
    assert prompt.appended is not None
    assert (prompt.appended.appended, prompt.appended.refused, prompt.degraded) == (2, 1, ["pii_blocked"])


def test_metadata_opens_the_session_once_and_what_is_wrong_with_it_costs_nothing_of_what_is_said() -> None:
    service = FakeService()
    s = chat(service)._neve.user("ada").session("s1", metadata={"plan": "free"})
    s.append("one")
    s.turn("two")
    assert [call.path.rpartition("/")[2] for call in service.calls] == ["sessions", "messages", "turn"]
    s = chat(service)._neve.user("ada").session("s1", title=TOO_LONG, metadata={"plan": TOO_LONG})
    told = s.append("three")
    assert (told.appended, told.kept, service.texts()) == (1, 0, ["one", "two", "three"])


def test_one_message_is_asked_for_by_context() -> None:
    with pytest.raises(NeveBadRequest, match="turn takes several"):
        chat(FakeService()).context(["one", "two"])
