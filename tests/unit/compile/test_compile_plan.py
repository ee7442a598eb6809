"""What fits, and what gives way in which order (docs/rules/compile.md#pruning)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.compact.headings import FourHeadings, SummaryText
from neve.domain.compile.conversation import Block, Conversation, Image, Text, ToolResult, ToolUse
from neve.domain.compile.history import answered_to, is_hidden, message_of
from neve.domain.compile.last_turn import TaskState, ToolOutput, session_text
from neve.domain.compile.plan import Limits, PromptInput, PromptPlan, make_plan
from neve.domain.compile.shown_images import ANSWER_BYTES, bytes_of
from neve.domain.compile.updates import UPDATES_TOKENS, Update, fit_updates
from neve.domain.errors import NeveError
from neve.domain.records.epochs import HistoryCut
from neve.domain.records.sessions import Event, EventType
from neve.domain.tenants.budgets import Budget
from neve.domain.tokens import IMAGE_TOKENS, estimate
from tests.unit.compile.logs import answered, call, drawn_logs, event, result, turns, user_message

SESSION = "<neve-session>\nCurrent time: 2026-03-10T09:30:00+00:00\n</neve-session>"
GIVES_WAY = ["task_state", "history", "retrieved", "updates", "instructions"]


def budget(tokens: int) -> Budget:
    """One whose sections follow from what is needed."""
    return Budget("custom", tokens, 0, 0, 0, 0, 0)


def hits(count: int, tokens: int = 100) -> dict[str, Any]:
    line = "h" * (tokens * 16 // 5)
    return {"hits": [f"mem_{n}" for n in range(count)], "retrieved": lambda n: line * n}


def used(plan: PromptPlan) -> dict[str, int]:
    return {section.name: section.used for section in plan.sections}


FULL = PromptInput(
    static="s" * 320,
    instructions=("i" * 320, "j" * 320),
    pack="p" * 320,
    pack_tokens=100,
    events=turns(12),
    message=[Text("m" * 320)],
    task=TaskState(tool_outputs=(ToolOutput("search", "o" * 1_600), ToolOutput("open", "short")), goal="Find it."),
    updates=(Update("mem_u", "Changed."),),
    hits=[f"mem_{n}" for n in range(5)],
    retrieved=lambda n: "h" * (320 * n),
)


def pruned(tokens: int, prompt_input: PromptInput = FULL) -> list[str]:
    return [one.section for one in make_plan(prompt_input, Limits(budget(tokens))).pruned]


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


# --- updates --------------------------------------------------------------------------------------

LONG = "l" * 4_000
"""More than all updates together may have."""


def updates_of(plan: PromptPlan) -> tuple[list[str], tuple[int, int]]:
    """Lines without the frame, then need and use of the section."""
    text = "".join(block.text for block in plan.prompt.last if isinstance(block, Text))
    [section] = [one for one in plan.sections if one.name == "updates"]
    lines = text.partition("hold.\n")[2].partition("\n</neve-updates>")[0].splitlines()
    return lines, (section.need, section.used)


def test_an_update_without_room_is_named_and_counted() -> None:
    prompt_input = PromptInput(
        message=[Text("?")], updates=(Update("mem_1", "New."), Update("mem_2", LONG), Update("mem_3", "Old."))
    )
    plan = make_plan(prompt_input, Limits(budget(100_000)))
    lines, (need, used_) = updates_of(plan)
    assert lines == ["- New.", "- Old."]
    assert need > 1_250 and used_ < 60
    assert [(one.section, one.items, one.why) for one in plan.pruned] == [
        ("updates", ("mem_2",), f"{need} tokens, at most {UPDATES_TOKENS}")
    ]


def test_what_has_no_room_takes_none_from_the_history() -> None:
    prompt_input = replace(FULL, task=None, hits=(), retrieved=lambda _: "")
    whole = make_plan(prompt_input, Limits(budget(100_000)))
    more = replace(prompt_input, updates=(*prompt_input.updates, Update("mem_2", LONG)))
    plan = make_plan(more, Limits(budget(whole.used)))
    assert plan.cut is None
    assert plan.prompt == whole.prompt


def test_a_correction_without_room_says_that_the_pack_is_wrong() -> None:
    prompt_input = PromptInput(
        message=[Text("?")], updates=(Update("mem_1", LONG, "No longer holds: x"), Update("mem_2", "New."))
    )
    plan = make_plan(prompt_input, Limits(budget(100_000)))
    assert updates_of(plan)[0] == ["- No longer holds: x", "- New."]
    assert [one.items for one in plan.pruned] == [("mem_1",)]


def test_what_is_only_new_gives_way_to_a_correction() -> None:
    new = [Update(f"mem_{n}", f"{n} " + "n" * 200) for n in range(20)]
    corrected = Update("mem_c", "Now: " + "c" * 400, "No longer holds: c")
    fitted = fit_updates([*new, corrected])
    assert corrected.text is not None and corrected.text in fitted.text
    shown = 20 - len(fitted.left_out)
    assert 0 < shown < 20
    assert fitted.left_out == tuple(one.id for one in new[shown:]), "the newest stay"


def test_corrections_without_room_for_their_short_forms_are_counted() -> None:
    wrong = [Update(f"mem_{n}", LONG, f"No longer holds: {n} " + "x" * 150) for n in range(30)]
    fitted = fit_updates(wrong)
    shown = fitted.text.count("- No longer holds: ")
    assert 0 < shown < 30
    assert f"that no longer hold, beside these: {30 - shown}\n" in fitted.text
    assert len(fitted.left_out) == 30 and estimate(fitted.text) <= UPDATES_TOKENS


def test_a_small_budget_leaves_the_corrections_that_fit_it() -> None:
    prompt_input = replace(FULL, updates=(Update("mem_1", "n" * 800), Update("mem_2", "c" * 800, "No longer holds: c")))
    for tokens in range(make_plan(prompt_input, Limits(budget(100_000))).used, 300, -20):
        plan = make_plan(prompt_input, Limits(budget(tokens)))
        lines, (need, used_) = updates_of(plan)
        left_out = [item for one in plan.pruned if one.section == "updates" for item in one.items]
        assert need > 500 and used_ <= tokens
        assert ("- " + "n" * 800 in lines, "- " + "c" * 800 in lines) == (
            "mem_1" not in left_out,
            "mem_2" not in left_out,
        )
        if lines:
            assert "c" * 800 in lines[-1] or "- No longer holds: c" in lines


def test_what_was_not_looked_at_is_named() -> None:
    prompt_input = replace(FULL, updates=(Update("mem_1", "New."), Update("memories before mem_1", None)))
    plan = make_plan(prompt_input, Limits(budget(100_000)))
    assert [(one.section, one.items, one.why) for one in plan.pruned] == [
        ("updates", ("memories before mem_1",), "more than are looked at")
    ]
    same = make_plan(replace(prompt_input, updates=prompt_input.updates[:1]), Limits(budget(100_000)))
    assert plan.prompt == same.prompt


LAST_THREE = 3 * 100 + 100
"""Of ``turns``, with the least summary."""


def test_one_long_message_takes_from_what_was_retrieved_before_the_last_turns_go() -> None:
    """And the prompt behind it has all of them again, in the same epoch."""
    profile = Budget("custom", 2_000, 0, 0, 400, 1_000, 0)
    told = PromptInput(events=turns(9), **hits(4))
    before = make_plan(replace(told, message=[Text("short")]), Limits(profile))
    assert (before.cut, before.turns, len(before.shown_hits)) == (None, 9, 4)
    plan = make_plan(replace(told, message=[Text("m" * 4_960)]), Limits(profile))
    assert plan.for_message and plan.cut is not None and plan.kept_cut is None
    assert (plan.turns, plan.shown_hits) == (3, ()) and plan.summary is not None
    assert [one.section for one in plan.pruned] == ["history", "retrieved"]


def test_a_history_that_outgrew_its_own_room_is_cut_for_good() -> None:
    profile = Budget("custom", 1_000, 0, 0, 0, 1_000, 0)
    plan = make_plan(PromptInput(events=turns(12), message=[Text("m" * 1_600)]), Limits(profile))
    assert plan.cut is not None and plan.kept_cut == plan.cut


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 14),
    st.integers(0, 6),
    st.integers(1, 2_500),
    st.integers(0, 400),
    st.tuples(*[st.integers(0, 800)] * 3),
)
def test_nothing_else_is_shown_while_the_last_three_turns_would_have_its_room(
    count: int, hit_count: int, message: int, task: int, sections: tuple[int, int, int]
) -> None:
    profile = Budget("custom", 2_600, 0, 0, *sections)
    notes = TaskState("t" * (task * 3)) if task else None
    told = PromptInput(events=turns(count), message=[Text("m" * message * 3)], task=notes, **hits(hit_count))
    try:
        plan = make_plan(told, Limits(profile))
    except NeveError as refused:
        assert refused.code == "budget_infeasible"
        return
    assert plan.used <= profile.input
    taken = used(plan)
    if plan.turns < min(3, count):
        room = profile.input - taken["message"]
        assert room < LAST_THREE, (plan.turns, taken)


def test_the_round_that_is_open_and_its_message_are_never_cut() -> None:
    log = [*turns(6), user_message(13, "Look it up."), call(14, "a"), result(15, "a", "r" * 320)]
    plan = make_plan(PromptInput(events=log, session=SESSION), Limits(budget(200)))
    blocks = [b for m in plan.prompt.history for b in m.blocks] + list(plan.prompt.last)
    assert [type(b) for b in blocks] == [Text, ToolUse, ToolResult, Text]
    assert used(plan)["history"] == 0


def test_a_message_behind_an_open_round_leaves_the_one_that_it_goes_on_from() -> None:
    """The user speaks while tools run. What began the turn is still shown, so it counts, and is not cut."""
    log = [*turns(3), user_message(7, "q" * 1_600), call(8, "a"), result(9, "a"), user_message(10, "And hurry.")]
    for tokens in (700, 900):
        plan = make_plan(PromptInput(events=log, session=SESSION), Limits(budget(tokens)))
        blocks = [b for m in plan.prompt.history for b in m.blocks] + list(plan.prompt.last)
        assert Text("q" * 1_600) in blocks
        assert sum(estimate(b.text) for b in blocks if isinstance(b, Text)) <= plan.used <= tokens


@pytest.mark.parametrize("tokens", [330, 500, 2_000])
@pytest.mark.parametrize(
    "hidden",
    [HistoryCut(1, 6, 15), HistoryCut(1, 4, 15, keeps=5)],
    ids=["behind the message", "with the message"],
)
def test_the_message_that_a_turn_goes_on_from_stays_where_a_compaction_cut_inside(
    hidden: HistoryCut, tokens: int
) -> None:
    """Behind the hidden part, in a new cut, and in the prompt after that."""
    log = [
        *turns(2),
        user_message(5, "Write the forty files."),
        *(one for n in range(16, 20, 2) for one in (call(n, f"c{n}"), result(n + 1, f"c{n}", "r" * 320))),
    ]
    told = PromptInput(events=shown_of(log, hidden), hidden=hidden, summary=SummaryText(("They moved.",)))
    plan = make_plan(replace(told, session=SESSION), Limits(budget(tokens)))
    assert said_by_the_user(plan).count("Write the forty files.") == 1
    assert used(plan)["message"] >= estimate("Write the forty files.")
    if plan.cut is not None:
        again = replace(told, events=shown_of(log, plan.cut), hidden=plan.cut, summary=plan.summary)
        assert "Write the forty files." in said_by_the_user(make_plan(again, Limits(budget(100_000))))


def said_by_the_user(plan: PromptPlan) -> list[str]:
    blocks = [b for m in plan.prompt.history if m.role == "user" for b in m.blocks] + list(plan.prompt.last)
    return [block.text for block in blocks if isinstance(block, Text)]


@settings(max_examples=100, deadline=None)
@given(drawn_logs(most_turns=8), st.integers(50, 3_000), st.integers(0, 40), st.integers(0, 40))
def test_no_prompt_is_without_the_message_that_it_goes_on_from(
    log: list[Event], tokens: int, first: int, last: int
) -> None:
    """Whatever a compaction has covered of the log, and however little room there is."""
    log = [replace(e, content=f"u{e.seq}") if e.event_type is EventType.USER_MESSAGE else e for e in log]
    while log and log[-1].event_type is not EventType.TOOL_RESULT:
        log.pop()
    asked = message_of(log)
    if asked is None:
        return
    covers = HistoryCut(0, first + 1, first + last)
    keeps = asked.seq if covers.seq_from <= asked.seq <= covers.seq_to else None
    hidden = replace(covers, keeps=keeps) if last > 0 and covers.seq_to < log[-1].seq else None
    told = PromptInput(events=shown_of(log, hidden), hidden=hidden, session=SESSION)
    try:
        plan = make_plan(told, Limits(budget(tokens)))
    except NeveError as refused:
        assert refused.code == "budget_infeasible"
        return
    assert any(text.endswith(f"u{asked.seq}") for text in said_by_the_user(plan))
    assert plan.used <= tokens


def test_before_the_hidden_part_nothing_waits_for_an_answer() -> None:
    """Also where everything behind it was taken back: what stood before the summary stays there when the conversation
    goes on."""
    before = [*turns(1), user_message(3, "Look it up."), call(4, "a"), result(5, "a", "r")]
    then = [*before, user_message(10, "Where were we?"), answered(11, "You moved.")]
    now = PromptInput(
        hidden=HistoryCut(1, 6, 9), summary=SummaryText(("They moved.",)), message=[Text("?")], session=SESSION
    )
    first, second = (make_plan(replace(now, events=log), Limits(budget(10_000))) for log in (before, then))
    shown = [block for message in first.prompt.history for block in message.blocks] + list(first.prompt.last)
    assert shown[-4] == ToolResult("a", (Text("r"),))
    assert "They moved." in str(shown[-3])
    again = [block for message in second.prompt.history for block in message.blocks]
    assert again[: len(shown) - 2] == shown[:-2]


def test_an_image_beside_an_output_that_was_put_away_counts() -> None:
    """A compaction takes the text of a tool's result away, and not its screenshot."""
    shot = {"type": "image", "media_type": "image/png", "url": "https://example.com/shot.png"}
    content = [{"type": "text", "text": "[Tool output saved to /artifacts/01]"}, shot]
    seen = [replace(result(3 * n + 3, f"c{n}"), content=content, pruned=True) for n in range(4)]
    log = [one for n in range(4) for one in (user_message(3 * n + 1), call(3 * n + 2, f"c{n}"), seen[n])]
    plan = make_plan(PromptInput(events=[*log, answered(13)], message=[Text("?")]), Limits(budget(100_000)))
    shown_images = [b for m in plan.prompt.history for block in m.blocks for b in getattr(block, "content", ())]
    assert sum(isinstance(block, Image) for block in shown_images) == 4
    assert 4 * IMAGE_TOKENS < used(plan)["history"] < 4 * IMAGE_TOKENS + 200


texts = st.text(alphabet="ab ", max_size=1_200)
drawn_updates = st.lists(
    st.builds(
        Update,
        st.uuids().map(str),
        st.none() | texts.filter(str.strip) | st.just("<neve-task>\n" * 40),
        st.just("") | st.just("short") | texts.filter(str.strip),
    ),
    max_size=6,
)


@st.composite
def drawn_material(draw: st.DrawFn) -> PromptInput:
    count = draw(st.integers(0, 5))
    return PromptInput(
        static=draw(texts),
        instructions=draw(st.lists(texts, max_size=3)),
        pack=draw(texts),
        pack_tokens=draw(st.integers(0, 300)),
        events=draw(drawn_logs()),
        message=[Text("m" * draw(st.integers(1, 800)))],
        session=SESSION,
        updates=draw(drawn_updates),
        task=draw(
            st.none()
            | st.builds(lambda a, b: TaskState(a, observations=(b,), tool_outputs=(ToolOutput("t", a),)), texts, texts)
        ),
        hits=[f"mem_{n}" for n in range(count)],
        retrieved=lambda n: "h" * (200 * n),
    )


@settings(max_examples=60, deadline=None)
@given(drawn_material(), st.integers(1, 4_000), st.none() | st.integers(1, 4))
def test_any_material_fits_its_budget_or_is_refused(told: PromptInput, tokens: int, window: int | None) -> None:
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


@settings(max_examples=60, deadline=None)
@given(drawn_updates, st.integers(0, 1_500))
def test_any_updates_fit_their_room_and_those_left_out_are_named(updates: list[Update], limit: int) -> None:
    fitted = fit_updates(updates, limit)
    assert estimate(fitted.text) <= limit
    assert fit_updates(updates, limit) == fitted
    roomy = fit_updates(updates, 100_000)
    assert roomy.left_out == tuple(one.id for one in updates if one.text is None)
    assert fitted.need == roomy.need
    if not fitted.left_out:
        assert fitted.text == roomy.text


def shown_of(events: list[Event], hidden: HistoryCut | None) -> list[Event]:
    return [event for event in events if not is_hidden(event.seq, hidden)]


def results_of(plan: PromptPlan) -> set[tuple[Text | Image, ...]]:
    """What stands behind calls. That each has exactly one is another property."""
    blocks = [*(block for message in plan.prompt.history for block in message.blocks), *plan.prompt.last]
    return {block.content for block in blocks if isinstance(block, ToolResult)}


def asked_now(log: list[Event]) -> tuple[list[Event], Sequence[Text | Image] | None]:
    """As a call that follows this log is answered: a message at its end is taken out, a result goes on by itself."""
    if log[-1].event_type is EventType.TOOL_RESULT:
        return log, None
    return (log[:-1] if log[-1].event_type is EventType.USER_MESSAGE else log), [Text("?")]


@settings(max_examples=100, deadline=None)
@given(
    drawn_logs(most_turns=8),
    st.integers(200, 3_000) | st.just(100_000),
    st.none() | st.integers(1, 4),
    st.none() | st.integers(1, 12),
)
def test_within_an_epoch_a_prompt_begins_with_the_one_before(
    log: list[Event], tokens: int, window: int | None, covered_at: int | None
) -> None:
    """However the log grows, and whatever else is in the prompt: until a cut. And a cut makes no orphan of a
    result: what is shown of it stands behind its call, as it does where nothing is cut. ``covered_at``: how many events
    stand before a part that is covered, all of which behind was taken back when the epoch began."""
    log = [replace(e, content=f"r{e.seq}") if e.event_type is EventType.TOOL_RESULT else e for e in log]
    hidden: HistoryCut | None = None
    summary: FourHeadings | None = None
    before = None
    pending: tuple[int, ...] = ()
    if covered_at is not None and covered_at < len(log):
        hidden, summary = HistoryCut(0, covered_at + 1, covered_at + 9), SummaryText(("They moved.",))
        log = [*log[:covered_at], *(replace(event, seq=event.seq + 9) for event in log[covered_at:])]
    first = covered_at if hidden and covered_at else 1
    ends = [n for n in range(first, len(log) + 1) if log[n - 1].event_type is not EventType.TASK_BOUNDARY]
    for end in ends:
        events, message = asked_now(log[:end])
        prompt_input = PromptInput(
            events=shown_of(events, hidden),
            hidden=hidden,
            summary=summary,
            message=message,
            session=SESSION,
            shown_pending=pending,
        )
        whole = results_of(make_plan(prompt_input, Limits(budget(1_000_000))))
        try:
            plan = make_plan(prompt_input, Limits(budget(tokens), window))
        except NeveError:
            return
        pending = plan.shown_pending
        if plan.for_message:  # less in the same epoch, once
            continue
        blocks = [(m.role, b) for m in plan.prompt.history for b in m.blocks]
        if plan.cut is not None:
            hidden, summary = plan.cut, plan.summary
        elif before is not None:
            assert blocks[: len(before)] == before
        before = blocks
        late = {one.seq for one in conversation_of(prompt_input.events).came_late.values()}
        late |= {one.seq for one in conversation_of(shown_of(events, hidden)).came_late.values()}
        still_shown = {(Text(f"r{one.seq}"),) for one in shown_of(events, hidden) if one.seq not in late}
        assert results_of(plan) >= whole & still_shown


def test_a_result_stays_with_its_call_when_a_later_one_is_shown_as_pending() -> None:
    late = [user_message(1), call(2, "a"), answered(3, "Shall I?"), user_message(4, "Yes."), result(5, "a", "sent")]
    first = make_plan(PromptInput(events=late, session=SESSION), Limits(budget(10_000)))
    log = [*late, answered(6), call(7, "b"), answered(8), user_message(9, "And?")]
    told = PromptInput(events=log, session=SESSION, shown_pending=first.shown_pending)
    then = make_plan(told, Limits(budget(10_000)))
    again = make_plan(replace(told, shown_pending=then.shown_pending), Limits(budget(10_000)))
    assert (first.shown_pending, then.shown_pending) == ((), (7,))
    assert again.prompt == then.prompt and then.prompt.history[:3] == first.prompt.history[:3]


def conversation_of(log: Sequence[Event], late: Mapping[int, Event] | None = None) -> Conversation:
    made = Conversation(late=late or {})
    for one in log:
        made.add(one)
    made.close_round()
    return made


@settings(max_examples=100, deadline=None)
@given(drawn_logs(most_turns=1))
def test_where_nothing_is_hidden_the_log_is_shown_as_one(log: list[Event]) -> None:
    """Wherever what waits for an answer begins: every result that a call got stands behind it."""
    plan = make_plan(PromptInput(events=log, message=[Text("?")]), Limits(budget(1_000_000)))
    whole = conversation_of(log)
    history, last = conversation_of(log, whole.came_late).parts()
    assert (plan.prompt.history, plan.prompt.last) == (history, (*last, Text("?")))


def test_a_boundary_between_two_calls_takes_no_result_away() -> None:
    log = [
        user_message(1, "Compare."),
        call(2, "a"),
        event(3, EventType.TASK_BOUNDARY, "", {"kind": "task"}),
        call(4, "b"),
        result(5, "a", "42 EUR"),
        result(6, "b", "7 left"),
    ]
    roomy = Limits(budget(10_000))
    first = make_plan(PromptInput(events=log, session=SESSION), roomy).prompt
    assert first.last[:2] == (ToolResult("a", (Text("42 EUR"),)), ToolResult("b", (Text("7 left"),)))
    later = make_plan(PromptInput(events=[*log, answered(7)], message=[Text("Thanks.")], session=SESSION), roomy).prompt
    assert later.history[: len(first.history)] == first.history


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


def shown_bytes(plan: PromptPlan, events: Sequence[Event]) -> int:
    return bytes_of(one for one in events if not is_hidden(one.seq, plan.cut))


def of_a_log(events: Sequence[Event], message: str | None = "And now?") -> PromptInput:
    return PromptInput(events=events, message=None if message is None else [Text(message)])


def test_a_history_of_more_bytes_than_an_answer_may_have_is_cut() -> None:
    chinese = [replace(one, content="漢字" * 40_000) for one in turns(30)]
    plan = make_plan(of_a_log(chinese), Limits(budget(4_000_000)))
    assert bytes_of(chinese) > ANSWER_BYTES
    assert ANSWER_BYTES / 3 < shown_bytes(plan, chinese) <= ANSWER_BYTES
    assert [(one.section, one.why) for one in plan.pruned] == [("history", "more bytes than an answer may have")]


@given(drawn_logs(), st.integers(0, 20_000))
def test_no_history_has_more_bytes_than_there_is_room_for(events: list[Event], room: int) -> None:
    plan = make_plan(of_a_log(events), Limits(budget(1_000_000), log_bytes=room))
    at = answered_to(events, None)
    asked = message_of(events[:at])
    always = bytes_of([*([asked] if asked else []), *events[at:]])
    assert shown_bytes(plan, events) <= max(room, always)
