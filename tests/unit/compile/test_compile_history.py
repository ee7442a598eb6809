"""Where a history is cut (docs/rules/compile.md#cut)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.compile.history import ShownHistory, answered_to, floor_of, is_hidden, plan_cut, summary_room, units_of
from neve.domain.compile.plan import Limits, PromptInput, make_plan
from neve.domain.records.epochs import HistoryCut
from neve.domain.records.sessions import Event, EventType
from neve.domain.tenants.budgets import Budget
from tests.unit.compile.logs import answered, call, drawn_logs, event, result, seqs, turns, user_message


def shown(events: list[Event]) -> ShownHistory:
    return ShownHistory((), units_of(events))


def left(events: list[Event], cut: HistoryCut | None) -> list[int]:
    return [event.seq for event in events if not is_hidden(event.seq, cut)]


def turns_left(events: list[Event], cut: HistoryCut | None) -> list[int]:
    """Numbers of the turns, which have two events each, from 1."""
    return sorted({(seq + 1) // 2 for seq in left(events, cut)})


def test_twelve_turns_are_cut_to_the_first_two_and_the_last_three() -> None:
    """docs/rules/values.md#history-kept."""
    log = turns(12)
    cut = plan_cut(shown(log), 700, target=700)
    assert turns_left(log, cut) == [1, 2, 10, 11, 12]
    assert cut == HistoryCut(0, 5, 18)


def test_five_turns_stay_as_they_are_at_the_floor() -> None:
    """docs/rules/values.md#history-kept."""
    log = turns(5)
    assert floor_of(shown(log)) == shown(log).tokens
    assert plan_cut(shown(log), shown(log).tokens, target=700) is None


def test_a_cut_leaves_room_to_spare() -> None:
    log = turns(40)
    cut = plan_cut(shown(log), 3_000, target=700)
    left_turns = turns_left(log, cut)
    assert left_turns[:2] == [1, 2]
    assert left_turns[-1] == 40
    # the newest take half of what the first two and a summary of 700 leave
    assert len(left_turns) - 2 == (3_000 - 700 - 200) // 2 // 100


def test_the_next_cut_is_not_due_with_the_next_turn() -> None:
    log = turns(40)
    cut = plan_cut(shown(log), 3_000, target=700)
    assert cut is not None
    made = 0
    for count in range(41, 61):
        longer = turns(count)
        head = units_of([e for e in longer if e.seq < cut.seq_from])
        tail = units_of([e for e in longer if e.seq > cut.seq_to], first_turn=1_000)
        again = plan_cut(ShownHistory(head, tail, 700, None, cut), 3_000, target=700)
        if again is not None:
            made += 1
            cut = again
    assert made == 1


def test_a_cut_compares_each_turn_a_few_times() -> None:
    """However many there are: a chat of short turns has thousands, and a prompt waits for its cut."""
    compared = 0

    class Number(int):
        def __lt__(self, other: int) -> bool:
            nonlocal compared
            compared += 1
            return int(self) < int(other)

        def __ge__(self, other: int) -> bool:
            nonlocal compared
            compared += 1
            return int(self) >= int(other)

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return isinstance(other, int) and int(self) == int(other)

        __hash__ = int.__hash__

    long = shown(turns(300, 60))
    numbered = replace(long, tail=tuple(replace(unit, turn=Number(unit.turn)) for unit in long.tail))
    assert plan_cut(numbered, 10_000, target=700) == plan_cut(long, 10_000, target=700)
    assert 0 < compared < 50 * len(long.tail)


def test_a_window_keeps_n_turns_and_shows_at_most_twice_as_many() -> None:
    cut: HistoryCut | None = None
    moved = 0
    for count in range(1, 30):
        log = turns(count)
        head = [] if cut is None else [e for e in log if e.seq < cut.seq_from]
        tail = log if cut is None else [e for e in log if e.seq > cut.seq_to]
        state = ShownHistory(units_of(head), units_of(tail, first_turn=1_000), 0, None, cut)
        new = plan_cut(state, 100_000, target=700, window=4)
        moved, cut = (moved + 1, new) if new else (moved, cut)
        left_turns = turns_left(log, cut)
        assert min(4, count) <= len(left_turns) <= 8
        assert left_turns[-1] == count
    assert moved == 5, "with every fifth turn"


def test_a_turn_that_goes_on_is_cut_between_rounds_and_keeps_its_message() -> None:
    log = [
        user_message(1, "Do it all."),
        *(e for n in range(30) for e in (call(2 + 2 * n, f"c{n}"), result(3 + 2 * n, f"c{n}", "r" * 320))),
    ]
    plan = make_plan(PromptInput(events=log), Limits(Budget("custom", 1_200, 0, 0, 0, 1_200, 0)))
    assert plan.cut is not None and plan.cut.keeps == 1
    left_turns = left(log, plan.cut)
    assert left_turns[0] == 1 and left_turns[-1] == log[-1].seq
    assert left_turns[1] % 2 == 0, "behind the message comes a call"
    assert left_turns[1:] == list(range(left_turns[1], log[-1].seq + 1))


def test_a_summary_needs_room() -> None:
    assert [summary_room(grant, 700) for grant in (0, 99, 100, 400, 1_000, 10_000)] == [0, 0, 100, 100, 250, 700]
    assert [summary_room(1_000, 700, kept) for kept in (750, 800, 900, 901)] == [250, 200, 100, 0]


@pytest.mark.parametrize("count", [6, 7, 12])
def test_at_its_floor_a_history_keeps_the_first_two_and_the_last_three(count: int) -> None:
    """docs/rules/values.md#history-kept: what gives way is the summary, down to its least."""
    log = turns(count)
    for grant in range(floor_of(shown(log)), shown(log).tokens, 25):
        assert {1, 2, *range(count - 2, count + 1)} <= set(turns_left(log, plan_cut(shown(log), grant, target=700)))
    assert floor_of(shown(log)) == 600


@settings(max_examples=60, deadline=None)
@given(drawn_logs(most_turns=14), st.integers(0, 3_000), st.one_of(st.none(), st.integers(1, 5)))
def test_a_cut_fits_and_never_parts_a_call_from_its_result(log: list[Event], grant: int, window: int | None) -> None:
    past = log[: answered_to(log, None)]
    state = ShownHistory((), units_of(past))
    cut = plan_cut(state, grant, target=700, window=window)
    if cut is None:
        assert state.tokens <= grant
        return
    rest = left(past, cut)
    assert cut.seq_to >= cut.seq_from - 1
    units = units_of(past)
    for unit in units:
        inside = [seq for seq in range(unit.first, unit.last + 1) if seq in seqs(past)]
        assert all(seq in rest for seq in inside) or not any(seq in rest for seq in inside)
    tokens_left = sum(unit.tokens for unit in units if unit.first in rest)
    assert tokens_left + summary_room(grant, 700, tokens_left) <= grant


def test_what_waits_for_an_answer_is_not_history() -> None:
    assert answered_to([user_message(1), answered(2), user_message(3)], None) == 2
    assert answered_to([user_message(1), call(2), result(3)], None) == 1
    assert answered_to([user_message(1), answered(2)], None) == 2
    assert answered_to([user_message(1), call(2, "a"), call(3, "b"), result(4, "a")], None) == 1


@pytest.mark.parametrize(
    "between",
    [
        event(3, EventType.TASK_BOUNDARY, "", {"kind": "task"}),
        answered(3, " "),
        answered(3, "<neve-task>x</neve-task>"),
        user_message(3, "<neve-session>x</neve-session>"),
        result(3, "gone"),
    ],
)
def test_what_closes_no_round_parts_none(between: Event) -> None:
    """Two calls that stand in one message are answered, shown and hidden together."""
    log = [user_message(1), call(2, "a"), between, call(4, "b"), result(5, "a"), result(6, "b")]
    assert answered_to(log, None) == 1
    assert answered_to([*log[:5], answered(6, " "), result(7, "b")], None) == 1
    later = [call(7, "c"), result(8, "c")]
    if between.event_type is not EventType.USER_MESSAGE:
        assert [(unit.first, unit.last) for unit in units_of([*log, *later], goes_on=True)] == [(2, 6), (7, 8)]


def test_a_round_begins_where_the_one_before_has_results() -> None:
    log = [user_message(1), call(2, "a"), call(3, "b"), result(4, "a"), call(5, "c"), result(6, "c")]
    assert answered_to(log, None) == 4
    assert answered_to([user_message(1), call(2, "a"), answered(3), result(4, "a")], None) == 3
    assert answered_to([user_message(1), call(2, "a"), call(3, "a"), result(4, "a")], None) == 2
