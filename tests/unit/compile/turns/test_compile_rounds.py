"""A loop of tool calls: every prompt of a turn shows what its first one did, byte by byte
(docs/rules/compile.md#rounds)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any, NoReturn

import pytest

from neve.domain.records.memories import Kind, MemoryPassage, Provenance, Status
from neve.domain.records.sessions import EventType
from neve.ports.errors import StoreUnavailable
from neve.store import rows
from neve.store.sessions.prompts import RETENTION
from neve.usecases.ask.compile import reads
from neve.usecases.ask.compile.compile_context import Compiled
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from tests.unit.compile.compile_world import compiled, session
from tests.unit.recall_world import RecallWorld

ASKED = "Is there any tea at home?"


@pytest.fixture
def tea(world: RecallWorld) -> RecallWorld:
    assert read_pack(world.user().of_session("s1")).state == "ready"
    world.remember("tea is at home in the blue tin")
    world.remember("tea at home is green")
    world.pump()
    return world


def round_of(world: RecallWorld, n: int, **more: Any) -> None:
    data = {"tool_use_id": f"t{n}", "name": "look"}
    events = [
        NewEvent(EventType.TOOL_CALL, "", event_data={**data, "args": {"n": n}}, **more),
        NewEvent(EventType.TOOL_RESULT, f"nothing in drawer {n}", event_data=data),
    ]
    append_events(session(world), events)


def messages(made: Compiled) -> list[Any]:
    assert made.request is not None
    key = next(key for key in ("messages", "input", "contents") if key in made.request)
    return list(_without_marks(made.request[key]))


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_marks(v) for k, v in value.items() if k not in ("cache_control", "providerOptions")}
    return [_without_marks(one) for one in value] if isinstance(value, list) else value


def test_the_next_message_ends_it(tea: RecallWorld) -> None:
    tea.say(ASKED)
    compiled(tea, message=None, retrieval="auto")
    round_of(tea, 1)
    compiled(tea, message=None, retrieval="auto")
    tea.say("And coffee at home?")
    made = compiled(tea, message=None, retrieval="none")
    assert "neve-session" in json.dumps(messages(made)[-1])
    assert json.dumps(messages(made)).count("neve-session") == 2  # opened and closed once


def test_a_turn_without_a_first_prompt_begins_with_the_one_in_its_round(tea: RecallWorld) -> None:
    """Whoever asks for the first time in a round gets what the message finds, in front of the message."""
    tea.say(ASKED)
    round_of(tea, 1)
    first = compiled(tea, message=None, retrieval="auto")
    assert len(first.plan.shown_hits) == 2
    asked, _, results = messages(first)
    assert "neve-retrieved" in asked["content"][0]["text"] and asked["content"][-1]["text"] == ASKED
    assert [block["type"] for block in results["content"]] == ["tool_result"]
    tea.clock.advance(timedelta(seconds=60))
    round_of(tea, 2)
    assert messages(compiled(tea, message=None, retrieval="auto"))[:3] == messages(first)


def test_another_turn_than_the_one_that_was_compiled_begins_anew(tea: RecallWorld) -> None:
    tea.say("Good morning.", "Hello.")
    first = compiled(tea, message="coffee?", retrieval="auto")
    assert first.plan.shown_hits == ()
    tea.say("coffee?", "None.", ASKED)
    round_of(tea, 1)
    assert len(compiled(tea, message=None, retrieval="auto").plan.shown_hits) == 2


def test_a_message_that_was_edited_is_another_turn(tea: RecallWorld) -> None:
    first = compiled(tea, message="coffee?", retrieval="auto")
    tea.say("coffee?")
    seq = first.material.session_state.session.last_seq + 1 if first.material.session_state else 0
    retract_events(session(tea), Retract(seq, None, "edited"))
    tea.say(ASKED)
    round_of(tea, 1)
    assert len(compiled(tea, message=None, retrieval="auto").plan.shown_hits) == 2


def test_a_prompt_of_more_than_seven_days_ago_is_not_known(tea: RecallWorld) -> None:
    tea.say(ASKED)
    before = messages(compiled(tea, message=None, retrieval="none"))
    round_of(tea, 1)
    tea.clock.advance(RETENTION + timedelta(seconds=1))
    assert messages(compiled(tea, message=None, retrieval="none"))[:1] != before


def test_no_words_are_kept_of_a_prompt(tea: RecallWorld) -> None:
    tea.say(ASKED)
    compiled(tea, message=None, retrieval="auto", task=None)
    page = tea.rows.query(session(tea).keys.ledger, prefix="PRM#", limit=10)
    text = json.dumps([dict(item) for item in page.items])
    assert len(page.items) == 1 and "tea" not in text and "tin" not in text


def test_a_dry_run_keeps_nothing(tea: RecallWorld) -> None:
    made = compiled(tea, dry_run=True)
    assert made.prompt_id is None
    assert tea.rows.query(session(tea).keys.ledger, prefix="PRM#", limit=10).items == []


def test_what_was_told_as_new_stands_as_it_was_told(tea: RecallWorld) -> None:
    tea.remember("The kettle is broken.", kind=Kind.NOTE)
    tea.pump()
    tea.say("Morning.")
    first = compiled(tea, message=None)
    assert "kettle is broken" in json.dumps(messages(first))
    round_of(tea, 1)
    tea.remember("The kettle was mended.", kind=Kind.NOTE)
    tea.pump()
    made = compiled(tea, message=None)
    assert messages(made)[: len(messages(first))] == messages(first)
    assert "mended" not in json.dumps(messages(made))


def test_what_was_just_said_elsewhere_stays_when_it_has_been_observed(tea: RecallWorld) -> None:
    """The observer takes it within seconds: the turn goes on with the words that it began with."""
    tea.open(session="s2")
    tea.say("I keep the tea at my sister's now.", "Noted.", session="s2")
    tea.say("Morning.")
    first = compiled(tea, message=None)
    assert "my sister's" in json.dumps(messages(first))
    keys = tea.user().of_session("s2").keys
    item = tea.rows.get(keys.marker)
    assert item is not None
    tea.rows.write([rows.put_marker(keys, replace(rows.read_marker(item), observed_seq=2))])
    round_of(tea, 1)
    assert messages(compiled(tea, message=None))[: len(messages(first))] == messages(first)
    assert "my sister's" not in json.dumps(messages(compiled(tea, message="And now?")))


def test_a_ledger_that_cannot_be_written_is_said_and_the_prompt_has_no_id(tea: RecallWorld) -> None:
    tea.broken("ledger=error")
    made = compiled(tea)
    assert made.prompt_id is None and made.degraded == ["ledger:error"]


def told_first(world: RecallWorld) -> Compiled:
    """The first prompt of a turn, which tells a note."""
    world.remember("The kettle is broken.", kind=Kind.NOTE)
    world.pump()
    world.say(ASKED)
    first = compiled(world, message=None, retrieval="auto")
    assert "kettle is broken" in json.dumps(messages(first)) and len(first.plan.shown_hits) == 2
    round_of(world, 1)
    return first


def test_a_round_waits_for_what_changed_as_long_as_for_its_log(tea: RecallWorld) -> None:
    first = told_first(tea)
    tea.with_policy(session_start_budget_ms=1)
    tea.broken("table=slow:200")
    made = compiled(tea, message=None, retrieval="auto")
    assert messages(made)[: len(messages(first))] == messages(first) and made.degraded == []


def test_what_changed_and_was_not_read_in_one_round_is_shown_in_the_next(
    tea: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that takes the words of the pack is made of what is read with it, and a memory's stands by itself."""
    first = told_first(tea)

    def unread(*_: object) -> NoReturn:
        raise StoreUnavailable("table", "no answer")

    with monkeypatch.context() as broken:
        broken.setattr(reads, "updates_since", unread)
        made = compiled(tea, message=None, retrieval="auto")
        assert made.degraded == ["updates:error"] and "kettle is broken" in json.dumps(messages(made))
    round_of(tea, 2)
    assert messages(compiled(tea, message=None, retrieval="auto"))[: len(messages(first))] == messages(first)


def test_a_round_that_could_not_read_how_its_turn_began_is_not_taken_for_its_beginning(tea: RecallWorld) -> None:
    first = told_first(tea)
    tea.faults.replace([{"target": "table", "fault": "error", "match": session(tea).keys.ledger}])
    made = compiled(tea, message=None, retrieval="auto")
    assert made.degraded == ["turn:error"] and made.prompt_id is None
    tea.broken()
    round_of(tea, 2)
    assert messages(compiled(tea, message=None, retrieval="auto"))[: len(messages(first))] == messages(first)


@pytest.mark.parametrize("kind", [Kind.NOTE, Kind.FACT, Kind.MANUAL, Kind.OBSERVATION])
def test_what_was_told_stays_also_when_it_was_replaced(tea: RecallWorld, kind: Kind) -> None:
    """What holds now is told to the next turn."""
    text = "🔴 User has a blue kettle."
    told = tea.remember(text, kind=Kind.NOTE if kind is Kind.OBSERVATION else kind)
    if kind is Kind.OBSERVATION:
        said = (MemoryPassage(text, 1, 1, "user"), MemoryPassage("🔴 User has a cup.", 2, 2, "user"))
        words = "\n".join(passage.text for passage in said)
        tea.change(told, kind=kind, text=words, passages=said, provenance=Provenance("assistant", "s0", 1, 2))
    tea.pump()
    tea.say("Morning.")
    first = compiled(tea, message=None)
    assert "blue kettle" in json.dumps(messages(first))
    round_of(tea, 1)
    other = tea.remember("User has a red kettle.", kind=Kind.NOTE)
    tea.change(told, status=Status.SUPERSEDED, superseded_by=other)
    made = compiled(tea, message=None)
    assert messages(made)[: len(messages(first))] == messages(first)
    assert "red kettle" not in json.dumps(messages(made))
