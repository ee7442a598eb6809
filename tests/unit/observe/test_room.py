"""A pass keeps everything that is worth keeping: what has no room is the next pass's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.observe.lines import LineRoom, ObservedLine, room_for, up_to, within_tokens
from neve.domain.observe.time_limits import LEASE_S
from neve.domain.records.memories import Kind
from neve.domain.records.sessions import Event, EventType
from neve.domain.tokens import estimate
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observers.prompted import PromptedObserver
from neve.observing import Observed, PassInput, ProposedFact
from neve.ports.errors import ModelRefused
from neve.ports.models import ModelAnswer, ModelRequest
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.core.lag.memory_lag import user_lag
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from tests.unit.world import NOTHING, World, time_for

USER, ASSISTANT, TOOL = EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE, EventType.TOOL_RESULT
FACTS = (
    "I'm allergic to penicillin.",
    "My sister Mary lives in Leeds.",
    "I work as a nurse.",
    "I have two cats.",
    "I love herring.",
    "I drive a blue Honda.",
    "I bought a boat yesterday.",
    "I play the cello.",
    "I can't stand coriander.",
)
_FOODS = """
apricots beetroot cherries damsons eggplant fennel garlic hazelnuts ice-cream jackfruit kale lentils mangoes nectarines
olives parsnips quinoa radishes spinach turnips unagi venison walnuts xigua yams zucchini artichokes blueberries celery
dumplings
"""
FOODS = _FOODS.split()


def tell(world: World, *texts: str) -> None:
    """All in one append."""
    append_events(world.user().of_session("s1"), [NewEvent(USER, text) for text in texts])


def observe(world: World, **more: Any) -> ObservationReport:
    return observe_session(world.user().of_session("s1"), 1, **more)


def marker_of(world: World) -> tuple[int, int]:
    marker = get_session(world.user().of_session("s1")).marker
    return marker.observed_seq, marker.offered_seq


def lines_of(world: World) -> list[str]:
    observed_rows = (memory for memory in world.memories() if memory.kind is Kind.OBSERVATION)
    return [line for memory in observed_rows for line in memory.text.splitlines()]


def observed(*ranges: tuple[int, int], covered_to: int | None = None) -> Observed:
    lines = tuple(ObservedLine(f"🟡 {low}-{high}", low, high) for low, high in ranges)
    return Observed(bool(lines), lines, "scripted", covered_to=covered_to)


# --- the extractive observer ------------------------------------------------------------------------


def test_one_long_message_may_fill_the_whole_answer(world: World) -> None:
    world.observer = ExtractiveObserver()  # type: ignore[assignment]
    tell(world, " ".join(f"I love {food}." for food in FOODS))
    observe(world)
    assert [food for food in FOODS if food not in "\n".join(lines_of(world))] == []


def test_an_output_cap_in_tokens_splits_a_burst_into_passes(world: World) -> None:
    world.observer = ExtractiveObserver()  # type: ignore[assignment]
    world.with_policy(observer_output_cap=30)
    tell(world, *FACTS)
    report = observe(world)
    assert len(lines_of(world)) == 9
    assert report.passes > 1
    assert all(estimate(memory.text) <= 30 for memory in world.memories())
    assert marker_of(world) == (9, 9)


@given(
    facts=st.lists(st.integers(0, 4), min_size=1, max_size=24).filter(any),
    room=st.integers(1, 9),
    cap=st.integers(60, 400),
)
def test_passes_one_behind_the_other_say_everything_once(facts: list[int], room: int, cap: int) -> None:
    """Messages of some facts each, and as many passes as it takes."""
    foods = iter(_many_foods())
    texts = [" ".join(f"I love {next(foods)}." for _ in range(count)) or "Hello!" for count in facts]
    at = "2026-03-10T09:00:00.000Z"
    left = [Event(seq, USER, text, 1, at) for seq, text in enumerate(texts, start=1)]
    stored: list[str] = []
    while left:
        observed = ExtractiveObserver().observe(PassInput("s1", left, (), "UTC", cap, room))
        end = left[-1].seq if observed.covered_to is None else observed.covered_to
        assert end >= left[0].seq
        stored += [line.text for line in up_to(observed.lines, end)]
        left = [event for event in left if event.seq > end]
    everything = "\n".join(stored)
    assert [everything.count(food) for food in list(_many_foods())[: sum(facts)]] == [1] * sum(facts)


def _many_foods() -> list[str]:
    """Words of which none is in another."""
    return [
        f"{first}{last}ato" for first in "bdfgklmnprstvz" for last in ("am", "ek", "il", "op", "ur", "az", "eb", "ox")
    ]


def test_a_long_tail_is_read_once_however_many_passes_it_takes(world: World) -> None:
    world.observer = ExtractiveObserver()  # type: ignore[assignment]
    for start in range(0, 400, 40):
        tell(world, *(f"My cousin Nr{n}x lives in Town{n}x." for n in range(start, start + 40)))
    world.table.calls.clear()
    report = observe(world)
    assert (report.passes, len(lines_of(world))) == (7, 400)
    assert world.table.calls["query"] <= 400 // 200 + report.passes + 2, "the log in pages, its end after each pass"


# --- where a pass ends ------------------------------------------------------------------------------


def test_the_room_grows_with_the_messages_of_the_user() -> None:
    def pass_of(*kinds: EventType) -> list[Event]:
        return [Event(n, kind, "x", 1, "2026-03-10T09:00:00.000Z") for n, kind in enumerate(kinds, start=1)]

    assert room_for(pass_of(USER)) == 60
    assert room_for(pass_of(USER, ASSISTANT)) == 5
    assert room_for(pass_of(*[USER] * 9)) == 9
    assert room_for(pass_of(*[USER, ASSISTANT] * 9)) == 9
    assert room_for(pass_of(*[USER] * 61)) == 60


def test_the_observer_is_told_how_much_room_there_is(world: World) -> None:
    tell(world, *FACTS)
    observe(world)
    assert [given.max_lines for given in world.observer.passes] == [9]


def test_the_next_pass_begins_behind_the_last_event_that_was_done_justice_to(world: World) -> None:
    tell(world, *FACTS)
    world.observer.answers = [observed((1, 2), (3, 6), (5, 5), covered_to=4), observed((5, 5), (6, 9))]
    report = observe(world)
    assert [[event.seq for event in given.events] for given in world.observer.passes] == [
        [*range(1, 10)],
        [*range(5, 10)],
    ]
    first, second = world.memories()
    assert [(line.text, line.seq_from, line.seq_to) for line in first.passages] == [("🟡 1-2", 1, 2), ("🟡 3-6", 3, 4)]
    assert (first.provenance.seq_from, first.provenance.seq_to) == (1, 4)
    assert (second.provenance.seq_from, second.provenance.seq_to) == (5, 9)
    assert first.text.count("5-5") == 0
    assert marker_of(world) == (9, 9)
    assert report.passes == 2


@pytest.mark.parametrize(("covered_to", "marker"), [(0, 1), (-3, 1), (1, 1), (99, 9), (9, 9)])
def test_a_pass_covers_its_first_event_and_not_more_than_it_read(world: World, covered_to: int, marker: int) -> None:
    tell(world, *FACTS)
    world.observer.answers = [observed((1, 9), covered_to=covered_to)]
    stop = observe(world, seconds_left=time_for(1))
    assert marker_of(world) == (marker, marker)
    assert (stop.left_off_at is None) == (marker == 9)


def test_an_empty_answer_that_stops_early_is_offered_again_and_gives_up_on_all_of_it(world: World) -> None:
    tell(world, *FACTS)
    world.observer.answers = [replace(NOTHING, covered_to=3)] * 3
    report = observe(world)
    assert [given.events[0].seq for given in world.observer.passes] == [1, 1, 1]
    assert marker_of(world) == (9, 9)
    assert report.reason == "the observer found nothing worth keeping"


def test_a_compaction_does_not_move_over_what_an_empty_answer_did_not_cover(world: World) -> None:
    tell(world, *FACTS)
    world.observer.answers = [replace(NOTHING, covered_to=3), observed((4, 9))]
    observe(world, closing=True)
    assert [given.events[0].seq for given in world.observer.passes] == [1, 4]


def test_what_was_offered_before_stays_so_behind_a_pass_that_covers_less_of_it(world: World) -> None:
    """Its session has left the index of those that are behind: if the rest could not be observed then, nobody came back
    to it."""
    tell(world, *FACTS)
    world.observer.answers = [NOTHING]
    observe(world)
    world.observer.answers = [observed((1, 4), covered_to=4), ModelRefused("status 401")]
    with pytest.raises(ModelRefused):
        observe(world, closing=True)
    assert marker_of(world) == (4, 9)
    assert user_lag(world.user()).unobserved == 0
    world.observer.answers = [observed((5, 9))]
    observe(world, closing=True)
    assert world.observer.passes[-1].events[0].seq == 5 and marker_of(world) == (9, 9)


def test_a_commit_holds_at_most_a_hundred_actions(world: World) -> None:
    ids = [create_memory(world.user(), NewMemory(f"note {n}", session_id="s1")).id for n in range(120)]
    tell(world, *FACTS)
    world.observer.answers = [replace(observed((1, 9)), used_memory_ids=tuple(ids), usage={"input": 1})]
    report = observe(world)
    assert len(report.reinforced) == 100 - len(("user", "marker", "memory", "usage"))
    assert sum(memory.kind is Kind.OBSERVATION for memory in world.memories()) == 1


# --- a worker without time --------------------------------------------------------------------------


def test_a_worker_without_time_for_one_more_answer_says_where_it_left_off(world: World) -> None:
    tell(world, *FACTS)
    world.observer.answers = [observed((1, 4), covered_to=4), observed((5, 6), covered_to=6), observed((7, 9))]
    left = iter([60.0, world.observer.longest_s, world.observer.longest_s - 0.1])
    first = observe(world, seconds_left=lambda: next(left))
    assert (first.passes, first.left_off_at, marker_of(world)) == (2, "6", (6, 6))
    going_on = ObservationReport.going_on(first.result())
    second = observe(world, report=going_on, seconds_left=lambda: 60.0)
    assert (second.passes, second.left_off_at, marker_of(world)) == (3, None, (9, 9))
    assert second.written == [memory.id for memory in world.memories()]


def test_a_worker_without_time_for_an_answer_does_not_begin(world: World) -> None:
    tell(world, *FACTS)
    late = observe(world, seconds_left=lambda: world.observer.longest_s - 0.1)
    assert (late.passes, late.left_off_at, marker_of(world)) == (0, "0", (0, 0))
    assert world.observer.passes == []
    assert observe(world).passes == 1, "the lease was given back"


def test_the_observer_is_told_how_much_time_its_worker_has(world: World) -> None:
    tell(world, *FACTS)
    observe(world, seconds_left=lambda: 31.5)
    [given] = world.observer.passes
    assert given.seconds_left() == 31.5


def test_without_a_model_passes_end_with_their_lease(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker may run for five minutes, and whoever waits for its session if it dies waits for the lease."""
    longest_s = ExtractiveObserver().longest_s
    monkeypatch.setattr(world.observer, "longest_s", longest_s)
    tell(world, *FACTS)
    world.observer.answers = [observed((n, n), covered_to=n) for n in range(1, 9)]
    slow_s, passes = 25.0, 0

    def slowly() -> None:
        nonlocal passes
        passes += 1
        world.clock.move(seconds=slow_s)
        world.observer.meanwhile = slowly

    world.observer.meanwhile = slowly
    first = observe(world, seconds_left=lambda: 300.0)
    assert passes * slow_s <= LEASE_S - longest_s + slow_s < 300.0
    assert (first.passes, first.left_off_at is not None) == (passes, True)
    assert observe(world).passes > 0, "the lease was given back"


# --- the hard trim ----------------------------------------------------------------------------------

EVENTS = [
    Event(seq, kind, "x", 1, "2026-03-10T09:00:00.000Z")
    for seq, kind in ((3, USER), (4, TOOL), (5, ASSISTANT), (6, USER), (8, USER), (9, ASSISTANT))
]


def line(seq_from: int, seq_to: int, characters: int) -> ObservedLine:
    return ObservedLine("x" * characters, seq_from, seq_to)


def test_a_trim_ends_the_pass_before_the_first_line_that_has_no_room() -> None:
    lines = (line(3, 5, 32), line(5, 8, 32), line(8, 9, 320))
    assert within_tokens(lines, 30, EVENTS) == LineRoom((*lines[:1], line(5, 7, 32)), 7)
    assert within_tokens(lines, 500, EVENTS) == LineRoom(lines)


def test_a_trim_covers_the_first_turn_whatever_its_length() -> None:
    assert within_tokens((line(3, 3, 320), line(4, 5, 32), line(6, 6, 32)), 10, EVENTS) == LineRoom(
        (ObservedLine("x" * 31 + "…", 3, 3),), 5, left_out=(3, 4)
    )


@given(
    st.lists(st.tuples(st.integers(3, 9), st.integers(3, 9), st.integers(1, 400)), min_size=1, max_size=12),
    st.integers(1, 200),
)
def test_what_a_trim_leaves_out_lies_behind_the_marker(given_: list[tuple[int, int, int]], cap: int) -> None:
    lines = [line(min(a, b), max(a, b), size) for a, b, size in given_]
    room = within_tokens(lines, cap, EVENTS)
    fitting, covered_to = room.lines, room.covered_to
    assert estimate("\n".join(one.text for one in fitting)) <= cap
    if covered_to is None:
        assert (list(fitting), room.left_out) == (lines, ())
        return
    assert covered_to >= 5, "the first turn is always covered"
    assert all(one.seq_to <= covered_to for one in fitting)
    behind_the_first_turn = [one for one in lines if 5 < one.seq_from <= covered_to]
    texts = [one.text for one in fitting]
    assert all(one.text in texts for one in behind_the_first_turn)
    whole = sum(not one.text.endswith("…") for one in fitting)
    assert whole + len(room.left_out) == sum(one.seq_from <= covered_to for one in lines), "each is kept or counted"


def test_lines_are_clipped_to_what_is_covered() -> None:
    assert up_to((line(3, 9, 1), line(6, 6, 2), line(7, 7, 3)), 6) == (line(3, 6, 1), line(6, 6, 2))


def test_lines_of_one_event_that_have_no_room_are_counted(world: World) -> None:
    world.with_policy(observer_output_cap=80)
    lines = [{"text": f"🟡 {n} " + "x" * 60, "seq_from": 1, "seq_to": 1} for n in range(10)]
    too_much = {"has_memory": True, "observations": lines}
    world.observer = PromptedObserver(Model(too_much, too_much), "m")  # type: ignore[assignment]
    tell(world, FACTS[0])
    report = observe(world)
    [memory] = world.memories()
    assert [line.text[:3] for line in memory.passages] == ["🟡 0", "🟡 1", "🟡 2", "🟡 3"]
    assert memory.passages[-1].text.endswith("…")
    assert report.result()["lines_left_out"] == 7, "six have no room, and one is cut"
    going_on = ObservationReport.going_on(report.result())
    told = [one.unreported_lines()["left_out"] for one in (report, going_on)]
    assert (told, going_on.lines_left_out) == ([7, 0], 7)


def test_the_rules_count_lines_that_have_no_room(world: World) -> None:
    world.with_policy(observer_output_cap=30)
    world.observer = ExtractiveObserver()  # type: ignore[assignment]
    tell(world, " ".join(FACTS))
    report = observe(world)
    whole = [line for line in lines_of(world) if not line.endswith("…")]
    assert len(whole) + report.lines_left_out == len(FACTS)
    assert report.lines_left_out > 0


def test_lines_that_the_next_pass_says_are_not_counted(world: World) -> None:
    """The facts end the pass before the lines do."""
    tell(world, FACTS[0], FACTS[1])
    facts = tuple(
        ProposedFact(f"User ate {food}.", "PREFERENCE", 3, "user_stated", "new", None, 1, 1) for food in FOODS[:11]
    )
    answer = replace(observed((1, 1), (2, 2)), facts=facts, lines_left_out=(1, 2, 2))
    world.observer.answers = [answer, replace(observed((2, 2)), lines_left_out=(2,))]
    assert observe(world).lines_left_out == 2


# --- the prompted observer --------------------------------------------------------------------------


class Model:
    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        return ModelAnswer(self.answers.pop(0), "model-1")


def model_answer(ranges: Sequence[tuple[int, int]], **more: Any) -> dict[str, Any]:
    entries = [{"text": f"🟡 {low}-{high}", "seq_from": low, "seq_to": high} for low, high in ranges]
    return {"has_memory": True, "observations": entries, **more}


def test_a_model_that_stops_early_is_shown_the_rest_and_says_nothing_twice(world: World) -> None:
    model = Model(
        model_answer([(1, 1), (2, 2), (3, 3), (5, 5)], covered_to=4),
        model_answer([(n, n) for n in range(5, 10)]),
    )
    world.observer = PromptedObserver(model, "m")  # type: ignore[assignment]
    tell(world, *FACTS)
    observe(world)
    assert lines_of(world) == [f"🟡 {n}-{n}" for n in (1, 2, 3, 5, 6, 7, 8, 9)]
    assert "There is room for 9 observations" in str(model.requests[0].content[-1]["text"])
    assert "There is room for 5 observations" in str(model.requests[1].content[-1]["text"])
    assert model.requests[0].tool_schema == model.requests[1].tool_schema
    assert marker_of(world) == (9, 9)


def test_lines_for_which_there_is_no_room_join_the_last_one(world: World) -> None:
    model = Model(model_answer([(1, 1), (2, 2), (3, 3), (4, 4), (1, 2), (5, 5), (6, 6)]))
    world.observer = PromptedObserver(model, "m")  # type: ignore[assignment]
    tell(world, *FACTS[:6])
    observe(world)
    [memory] = world.memories()
    assert [(p.seq_from, p.seq_to) for p in memory.passages] == [(1, 1), (2, 2), (3, 3), (4, 4), (1, 2), (5, 6)]


def test_a_trim_does_not_move_over_what_the_model_left_to_the_next_pass(world: World) -> None:
    world.with_policy(observer_output_cap=10)
    long = {"text": "x" * 100, "seq_from": 1, "seq_to": 1}
    too_much = {"has_memory": True, "observations": [long], "covered_to": 1}
    model = Model(too_much, too_much, model_answer([(2, 2)]))
    world.observer = PromptedObserver(model, "m")  # type: ignore[assignment]
    world.say("one", "two")
    observe(world)
    assert [memory.provenance.seq_to for memory in world.memories()] == [1, 2]


def test_the_first_event_may_have_as_many_lines_as_it_takes(world: World) -> None:
    first = [{"text": f"🟡 line {n}", "seq_from": 1, "seq_to": 1} for n in range(12)]
    model = Model(model_answer((), covered_to=1) | {"observations": first}, model_answer([(2, 9)]))
    world.observer = PromptedObserver(model, "m")  # type: ignore[assignment]
    tell(world, *FACTS)
    observe(world)
    assert [len(memory.passages) for memory in world.memories()] == [12, 1]
