"""How many port calls a compile makes, and how many of them one after the other: no more than its recall."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import count

import pytest

from local.controls.virtual_time import spend
from neve.domain.compile.plan import Limits, PromptInput, PromptPlan, make_plan
from neve.domain.compile.prompt import Tool
from neve.domain.errors import NeveError
from neve.domain.records.sessions import EventType
from neve.usecases.ask.compile import compile_context as compile_context_module
from neve.usecases.ask.compile.command import CompileCommand
from neve.usecases.ask.compile.compile_context import Compiled, compile_context
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.ask.recall.record_recall import get_recall
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from tests.unit.compile.compile_world import session
from tests.unit.recall_world import RecallWorld

STEP_MS = 10
SLOW = [f"{port}=slow:{STEP_MS}" for port in ("table", "vector", "lexical", "embed")]


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    new_recall_world.remember("tea in the pack")
    new_recall_world.open()
    for n in range(12):
        new_recall_world.say(f"tea with milk {n}", "Noted.")
    assert read_pack(new_recall_world.user().of_session("s1")).state == "ready"
    new_recall_world.remember("tea at home")
    new_recall_world.pump()
    # the session's first prompt notes its prefix and its cut
    compiled(new_recall_world, message="hello", history_window=2)
    compiled(new_recall_world, message="any tea?")  # the process knows the tenant's ledger secret
    new_recall_world.rows.calls.clear()
    new_recall_world.broken(*SLOW)
    return new_recall_world


def compiled(world: RecallWorld, **given: object) -> Compiled:
    command = CompileCommand(**given)  # type: ignore[arg-type]
    return compile_context(world.user().of_session("s1"), command)


def test_three_steps_its_recall_included(world: RecallWorld) -> None:
    made = compiled(world, message="is there any tea left?")
    assert made.degraded == [] and made.plan.shown_hits != ()
    # three of reading and the ledger row of the recall
    assert made.elapsed_ms == (3 + 1) * STEP_MS
    calls = dict(world.rows.calls)
    # recall: rows, recent rows, sessions behind, the candidates, ledger;
    # own: both heads, the session's state, summary and stand-in, three parts of the log and the events before, other
    # sessions that are behind, new memories, stated rows
    # and the row of the prompt
    assert calls == {"get_many": 5, "query": 8, "write": 2}


def test_without_a_recall_two_steps_a_comparison_and_the_prompts_row(world: RecallWorld) -> None:
    made = compiled(world, message="some tea?", retrieval="none")
    assert made.elapsed_ms == (3 + 1) * STEP_MS
    assert dict(world.rows.calls) == {"get_many": 3, "query": 6, "write": 1}


def test_a_longer_log_costs_no_more_calls(world: RecallWorld) -> None:
    world.broken()
    for n in range(40):
        world.say(f"more tea {n}", "Noted.")
    world.pump()
    world.broken(*SLOW)
    world.rows.calls.clear()
    made = compiled(world, message="some tea?", retrieval="none")
    assert made.elapsed_ms == (3 + 1) * STEP_MS
    assert dict(world.rows.calls) == {"get_many": 3, "query": 6, "write": 1}


def test_a_cut_is_kept_beside_the_prompts_row(world: RecallWorld) -> None:
    for n in range(3):
        world.say(f"again {n}", "Noted.")
    world.rows.calls.clear()
    made = compiled(world, message="some tea?", retrieval="none", history_window=2)
    assert made.plan.cut is not None
    assert made.elapsed_ms == (3 + 1) * STEP_MS
    assert world.rows.calls["write"] == 2


def test_a_message_that_is_only_in_the_log_is_recalled_behind_the_reading(world: RecallWorld) -> None:
    world.say("is there any tea left?")
    world.rows.calls.clear()
    made = compiled(world)
    assert made.plan.shown_hits != ()
    assert made.elapsed_ms <= (3 + 3 + 1) * STEP_MS


def test_a_round_of_tool_calls_reads_what_its_turn_began_with_beside_the_rest(world: RecallWorld) -> None:
    world.broken()
    world.say("is there any tea left?")
    tools = (Tool(("look",), {"name": "look"}),)
    first = compiled(world, tools=tools)
    assert first.plan.shown_hits != ()
    data = {"tool_use_id": "t1", "name": "look"}
    events = [
        NewEvent(EventType.TOOL_CALL, "", event_data=data),
        NewEvent(EventType.TOOL_RESULT, "no", event_data=data),
    ]
    append_events(world.user().of_session("s1"), events)
    world.broken(*SLOW)
    world.rows.calls.clear()
    made = compiled(world, tools=tools)
    assert made.plan.shown_hits == first.plan.shown_hits
    # no recall: the newest prompt of the session, and its hits
    assert made.elapsed_ms == (3 + 1) * STEP_MS
    assert dict(world.rows.calls) == {"get_many": 4, "query": 7, "write": 1}


def test_a_round_shows_the_time_of_its_turns_first_prompt_however_late_that_is_kept(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, seconds = world.clock.now, count()
    monkeypatch.setattr(world.clock, "now", lambda: now() + timedelta(seconds=next(seconds)))
    world.say("is there any tea left?")
    first = compiled(world)
    data = {"tool_use_id": "t1", "name": "look"}
    call, result = EventType.TOOL_CALL, EventType.TOOL_RESULT
    append_events(session(world), [NewEvent(call, "", event_data=data), NewEvent(result, "no", event_data=data)])
    assert _time(first) == _time(compiled(world))


def _time(made: Compiled) -> str:
    found = re.search(r"Current time: \S+", str(made.request))
    assert found
    return found[0]


# --- the ledger row of the recall -----------------------------------------------------------------


def test_the_ledger_row_is_written_beside_a_cut(world: RecallWorld) -> None:
    for n in range(3):
        world.say(f"again {n}", "Noted.")
    made = compiled(world, message="is there any tea left?", history_window=2)
    assert made.plan.cut is not None and made.degraded == []
    assert made.elapsed_ms == (3 + 1) * STEP_MS
    assert made.recalled is not None
    assert get_recall(world.user(), str(made.recalled.recall_id)).result_state == "found"


def test_the_prompt_is_planned_while_the_ledger_row_is_written(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(prompt_input: PromptInput, limits: Limits) -> PromptPlan:
        spend(STEP_MS / 2)
        return make_plan(prompt_input, limits)

    monkeypatch.setattr(compile_context_module, "make_plan", slow)
    made = compiled(world, message="is there any tea left?")
    assert made.recalled is not None and made.recalled.recall_id is not None
    # the prompt's own row says what was planned
    assert made.elapsed_ms == (3 + 1) * STEP_MS + STEP_MS / 2


@pytest.mark.parametrize("fault", ["ledger=error", "ledger=slow:900"])
def test_a_ledger_that_fails_behind_the_recall_is_told(world: RecallWorld, fault: str) -> None:
    world.broken(fault)
    made = compiled(world, message="is there any tea left?")
    assert made.plan.shown_hits != () and made.recalled is not None
    assert (made.recalled.recall_id, made.degraded) == (None, ["ledger:error"])
    assert made.transparency[-1].startswith("ledger:error")
    assert made.recalled.metrics()["RecallDegraded"] and made.metrics()["CompileDegraded"]


def test_a_prompt_that_is_refused_behind_its_recall_waits_for_the_ledger_row(world: RecallWorld) -> None:
    began = world.clock.monotonic_ms()
    with pytest.raises(NeveError) as refused:
        compiled(world, message="is there any tea left? " * 9_000, profile="compact_8k")
    assert refused.value.code == "budget_infeasible"
    assert world.clock.monotonic_ms() - began == (3 + 1) * STEP_MS
    assert world.rows.calls["write"] == 1
