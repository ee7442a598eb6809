"""A short reply among the hits of a prompt stands with what it replies to, where that may be seen
(docs/rules/compile.md#retrieved)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neve.usecases.ask.compile.compile_context import Compiled
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from tests.unit.compile.compile_world import compiled, session
from tests.unit.compile.turns.test_compile_rounds import messages, round_of
from tests.unit.recall_world import RecallWorld

ASKED = "Steel strings?"
QUESTION = "Which of them did your aunt from Bergen put on the old cello, the ones that the shop had on sale last week?"
REPLY, ITS_ID = "Steel strings.", "evt:other:2"


@pytest.fixture
def strings(world: RecallWorld) -> RecallWorld:
    """What was said in another conversation since the pack was built. Its question is behind the first five hits."""
    assert read_pack(world.user().of_session("s1")).state == "ready"
    world.open("other")
    world.say(QUESTION, REPLY, session="other")
    for n in range(6):
        world.remember(f"steel strings of number {n}")
    world.pump()
    return world


def found(world: RecallWorld, **given: Any) -> Compiled:
    return compiled(world, **{"message": ASKED, "retrieval": "auto", **given})


def shown(made: Compiled) -> str:
    """The text that was retrieved, nothing where nothing was."""
    text = made.plan.prompt.last[0].text if made.plan.prompt.last else ""  # type: ignore[union-attr]
    return text.partition("</neve-retrieved>")[0] if "<neve-retrieved>" in text else ""


def take_back(world: RecallWorld, seq: int, reason: Any = "deleted") -> None:
    retract_events(world.user().of_session("other"), Retract(seq, seq, reason))


def test_without_another_call_of_the_table(strings: RecallWorld) -> None:
    found(strings)
    strings.rows.calls.clear()
    strings.ask(ASKED, session_id="s1", beside="history")
    plain = dict(strings.rows.calls)
    strings.rows.calls.clear()
    answer = strings.ask(ASKED, session_id="s1", beside="history", fills=True)
    assert any(hit.reply_to for hit in answer.hits)
    assert dict(strings.rows.calls) == plain


@pytest.mark.parametrize("reason", ["deleted", "edited"])
def test_a_question_that_was_taken_back_is_not_shown(strings: RecallWorld, reason: str) -> None:
    take_back(strings, 1, reason)
    assert "Bergen" not in shown(found(strings))


def test_the_rounds_of_a_turn_show_the_same_until_the_question_is_taken_back(strings: RecallWorld) -> None:
    strings.say(ASKED)
    before = messages(found(strings, message=None))
    assert "Bergen" in json.dumps(before)
    for n in range(2):
        round_of(strings, n)
        now = messages(found(strings, message=None))
        assert now[: len(before)] == before
        before = now
    take_back(strings, 1)
    round_of(strings, 3)
    made = found(strings, message=None)
    assert "Bergen" not in json.dumps(messages(made))
    assert any(ITS_ID in one.items for one in made.plan.pruned)


def test_a_recall_that_is_no_prompts_has_its_five_hits_alone(strings: RecallWorld) -> None:
    assert len(found(strings).plan.shown_hits) > 5
    answer = strings.ask(ASKED)
    assert len(answer.hits) == 5 and not any(hit.reply_to for hit in answer.hits)


def test_what_the_history_shows_is_not_repeated_before_a_reply(world: RecallWorld) -> None:
    """Of the session itself nothing is recalled, neither a reply nor what is before it."""
    world.say(QUESTION, REPLY)
    world.pump()
    assert session(world).session == "s1" and shown(found(world)) == ""
