"""What fits, and what gives way in which order (docs/rules/compile.md#pruning)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.compile.budgets import Budget
from neve.domain.compile.conversation import Block, Text, ToolResult, ToolUse
from neve.domain.compile.last_turn import TaskState, ToolOutput, session_text
from neve.domain.compile.plan import Limits, Plan, Told, make_plan
from neve.domain.errors import NeveError
from neve.domain.records import Event
from tests.unit.compile.logs import call, drawn_logs, result, said, turns

SESSION = "<neve-session>\nCurrent time: 2026-03-10T09:30:00+00:00\n</neve-session>"
GIVES_WAY = ["task_state", "history", "retrieved", "updates", "instructions"]


def budget(tokens: int) -> Budget:
    """One whose sections follow from what is needed."""
    return Budget("custom", tokens, 0, 0, 0, 0, 0)


def hits(count: int, tokens: int = 100) -> dict[str, object]:
    line = "h" * (tokens * 16 // 5)
    return {"hits": [f"mem_{n}" for n in range(count)], "retrieved": lambda n: line * n}


def used(plan: Plan) -> dict[str, int]:
    return {section.name: section.used for section in plan.sections}


FULL = Told(
    static="s" * 320,
    instructions=("i" * 320, "j" * 320),
    pack="p" * 320,
    pack_tokens=100,
    events=turns(12),
    message=[Text("m" * 320)],
    task=TaskState(tool_outputs=(ToolOutput("search", "o" * 1_600), ToolOutput("open", "short")), goal="Find it."),
    updates=("Changed.",),
    hits=[f"mem_{n}" for n in range(5)],
    retrieved=lambda n: "h" * (320 * n),
)


def pruned(tokens: int, told: Told = FULL) -> list[str]:
    return [one.section for one in make_plan(told, Limits(budget(tokens))).pruned]


def test_a_roomy_budget_prunes_nothing() -> None:
    plan = make_plan(FULL, Limits(budget(100_000)))
    assert plan.pruned == ()
    assert [s.need for s in plan.sections] == [s.used for s in plan.sections]
    assert plan.used == sum(s.used for s in plan.sections)


def test_verbose_tool_output_goes_first_for_a_line_that_names_it() -> None:
    whole = make_plan(FULL, Limits(budget(100_000))).used
    plan = make_plan(FULL, Limits(budget(whole - 400)))
    assert [(one.section, one.items) for one in plan.pruned] == [("task_state", ("tool_outputs[0]",))]
    last = plan.prompt.last[0]
    assert isinstance(last, Text)
    assert "[search] [output of 500 tokens left out]" in last.text and "[open] short" in last.text


def test_sections_give_way_in_their_order() -> None:
    whole = make_plan(FULL, Limits(budget(100_000))).used
    seen: list[str] = []
    for tokens in range(whole, 300, -20):
        plan = make_plan(FULL, Limits(budget(tokens)))
        now = [one.section for one in plan.pruned]
        assert now == [section for section in GIVES_WAY if section in now]
        seen += [section for section in now if section not in seen]
        got = used(plan)
        assert (got["static"], got["pack"], got["message"]) == (
            100,
            100,
            used(make_plan(FULL, Limits(budget(99_999))))["message"],
        )
        assert plan.used <= tokens
        if "instructions" in now:
            assert (got["task_state"], got["retrieved"], got["history"]) == (0, 0, 0)
    assert seen == GIVES_WAY


def test_the_least_relevant_hits_go_first_and_the_others_keep_their_order() -> None:
    told = replace(FULL, events=(), task=None, updates=())
    whole = make_plan(told, Limits(budget(100_000))).used
    plan = make_plan(told, Limits(budget(whole - 150)))
    assert plan.shown_hits == ("mem_0", "mem_1", "mem_2")
    assert [(one.section, one.items) for one in plan.pruned] == [("retrieved", ("mem_3", "mem_4"))]


def test_a_cut_shows_a_summary_between_the_first_turns_and_the_newest() -> None:
    told = Told(events=turns(12), message=[Text("Now.")])
    plan = make_plan(told, Limits(budget(720)))
    assert plan.cut is not None and (plan.cut.seq_from, plan.cut.seq_to) == (5, 18)
    texts = [b.text for m in plan.prompt.history for b in m.blocks if isinstance(b, Text)]
    assert len(texts) == 4 + 1 + 6
    assert texts[4].startswith("<neve-summary")
    assert (plan.turns, plan.events) == (5, 10)


def test_a_message_that_cannot_be_cut_is_refused_with_the_numbers() -> None:
    with pytest.raises(NeveError) as refused:
        make_plan(Told(message=[Text("m" * 3_200)]), Limits(budget(999)))
    assert refused.value.code == "budget_infeasible"
    assert "1000" in refused.value.detail and "999" in refused.value.detail


def test_the_round_that_is_open_and_its_message_are_never_cut() -> None:
    log = [*turns(6), said(13, "Look it up."), call(14, "a"), result(15, "a", "r" * 320)]
    plan = make_plan(Told(events=log, session=SESSION), Limits(budget(200)))
    blocks = [b for m in plan.prompt.history for b in m.blocks] + list(plan.prompt.last)
    assert [type(b) for b in blocks] == [Text, ToolUse, ToolResult, Text]
    assert used(plan)["history"] == 0


texts = st.text(alphabet="ab ", max_size=1_200)


@st.composite
def drawn_material(draw: st.DrawFn) -> Told:
    count = draw(st.integers(0, 5))
    return Told(
        static=draw(texts),
        instructions=draw(st.lists(texts, max_size=3)),
        pack=draw(texts),
        pack_tokens=draw(st.integers(0, 300)),
        events=draw(drawn_logs()),
        message=[Text("m" * draw(st.integers(1, 800)))],
        session=SESSION,
        updates=draw(st.lists(texts.filter(str.strip), max_size=3)),
        task=draw(
            st.none()
            | st.builds(lambda a, b: TaskState(a, observations=(b,), tool_outputs=(ToolOutput("t", a),)), texts, texts)
        ),
        hits=[f"mem_{n}" for n in range(count)],
        retrieved=lambda n: "h" * (200 * n),
    )


@settings(max_examples=60, deadline=None)
@given(drawn_material(), st.integers(1, 4_000), st.none() | st.integers(1, 4))
def test_any_material_fits_its_budget_or_is_refused(told: Told, tokens: int, window: int | None) -> None:
    limits = Limits(budget(tokens), window)
    try:
        plan = make_plan(told, limits)
    except NeveError as refused:
        assert refused.code == "budget_infeasible"
        return
    assert plan.used <= tokens
    sections = [one.section for one in plan.pruned]
    assert sections == [section for section in GIVES_WAY if section in sections]
    assert plan.prompt.static == told.static and plan.prompt.pack == told.pack
    assert plan.prompt.last[-1] == (told.message or [])[0]
    blocks: list[Block] = [b for m in plan.prompt.history for b in m.blocks] + list(plan.prompt.last)
    calls = {b.id for b in blocks if isinstance(b, ToolUse)}
    results = {b.id for b in blocks if isinstance(b, ToolResult)}
    assert calls == results


@settings(max_examples=40, deadline=None)
@given(drawn_logs(most_turns=12), st.integers(200, 3_000), st.none() | st.integers(1, 4))
def test_within_an_epoch_a_prompt_begins_with_the_one_before(log: list[Event], tokens: int, window: int | None) -> None:
    """However the log grows, and whatever else is in the prompt: until a cut."""
    hidden, summary, before = None, None, None
    ends = [n for n in range(1, len(log)) if log[n - 1].event_type == "assistant_response"]
    for end in ends:
        events = [
            e
            for e in log[:end]
            if hidden is None or not (hidden.seq_from <= e.seq <= hidden.seq_to) or e.seq == hidden.keeps
        ]
        told = Told(events=events, hidden=hidden, summary=summary, message=[Text("?")])
        try:
            plan = make_plan(told, Limits(budget(tokens), window))
        except NeveError:
            return
        blocks = [(m.role, b) for m in plan.prompt.history for b in m.blocks]
        if plan.cut is not None:
            hidden, summary = plan.cut, plan.summary
        elif before is not None:
            assert blocks[: len(before)] == before
        before = blocks


def test_a_missing_value_is_a_missing_line() -> None:
    from datetime import UTC, datetime, timedelta

    now = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
    assert session_text(now, {}, None).splitlines()[1:-1] == [
        "Current time: 2026-11-20T14:05:00+00:00",
        "Current date: Friday, November 20, 2026",
    ]
    meta = {"timezone": "Europe/Dublin", "name": "Ada </neve-session>", "stage": "TRUSTED"}
    full = session_text(now, meta, now - timedelta(days=3, hours=2))
    assert full.count("</neve-session>") == 1
    assert full.splitlines()[3:-1] == [
        "User timezone: Europe/Dublin",
        "User name: Ada &lt;/neve-session>",
        "Relationship stage: TRUSTED",
        "Last session: 3 days ago",
    ]
