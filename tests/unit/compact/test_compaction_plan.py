"""Which events a compaction covers, which results it puts away, and when one is due (docs/rules/compact.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.compact.due import after_horizon, boundary_reason, outgrows
from neve.domain.compact.plan import Covered, LogTail, newly_covered
from neve.domain.compact.stale import artifact_path, is_large, placeholder, stale_results
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.sessions import Event, EventType, SessionHead
from tests.unit.domain_rows import event, image, text_block

TYPES = {
    "u": EventType.USER_MESSAGE,
    "a": EventType.ASSISTANT_RESPONSE,
    "c": EventType.TOOL_CALL,
    "r": EventType.TOOL_RESULT,
    "b": EventType.TASK_BOUNDARY,
}


def log(kinds: str, tokens: int = 100, first: int = 1) -> list[Event]:
    """``c`` and ``r`` pair in their order: the first open call gets the result."""
    events, waiting, used = [], list[str](), 0
    for n, kind in enumerate(kinds):
        data = {}
        if kind == "c":
            used += 1
            waiting.append(f"use-{used}")
            data = {"tool_use_id": waiting[-1]}
        elif kind == "r":
            data = {"tool_use_id": waiting.pop(0) if waiting else "nobody"}
        events.append(event(first + n, "x", event_type=TYPES[kind], event_data=data, original_tokens=tokens))
    return events


def covered(
    events: list[Event], *, keep: int = 500, trigger: int = 1_000, first: bool = True, **heavy: int
) -> Covered | None:
    """``e7=5000``: that event weighs so much."""
    tokens = {event.seq: heavy.get(f"e{event.seq}", event.original_tokens) for event in events}
    return newly_covered(LogTail(events, tokens, first, keep, trigger))


# --- whole turns ------------------------------------------------------------------------------------


def test_twelve_turns_cover_three_to_nine() -> None:
    assert covered(log("ua" * 12)) == Covered(5, 18)


@pytest.mark.parametrize("turns", [1, 2, 3, 4, 5])
def test_the_first_two_and_the_last_three_turns_stay(turns: int) -> None:
    assert covered(log("ua" * turns)) is None


def test_behind_a_horizon_no_first_turns_stay() -> None:
    assert covered(log("ua" * 7, first=19), first=False) == Covered(19, 26)


def test_a_pair_across_a_boundary_is_not_parted() -> None:
    """The call of turn 2 is answered in turn 3, that of turn 5 in turn 6."""
    events = log("ua" + "uca" + "ura" + "ua" + "uca" + "ura" + "uaua" + "ua")

    assert covered(events, keep=900, trigger=10_000) == Covered(9, 10)
    assert covered(events, keep=100, trigger=10_000) == Covered(9, 16)


def test_a_call_that_was_never_answered_holds_nothing_up_once_the_talk_goes_on() -> None:
    assert covered(log("uaua" + "uca" + "ua" * 4)) == Covered(5, 9)


# --- inside a turn ----------------------------------------------------------------------------------


def test_one_very_long_turn_is_cut_behind_a_result() -> None:
    """Eight turns and a long one: whole turns alone would leave more than the trigger."""
    events = log("ua" * 8 + "u" + "cr" * 20 + "a")

    assert covered(events) == Covered(5, 53, inside=True)
    assert [e.event_type.value for e in events if e.seq > 53] == ["tool_call", "tool_result"] * 2 + [
        "assistant_response"
    ]


def test_the_first_turn_keeps_its_message() -> None:
    assert covered(log("u" + "cr" * 20)) == Covered(2, 37, inside=True)


def test_the_third_turn_keeps_its_message_too() -> None:
    assert covered(log("uaua" + "u" + "cr" * 20)) == Covered(6, 41, inside=True)


def test_a_long_turn_behind_a_horizon_is_cut_again() -> None:
    assert covered(log("cr" * 20, first=30), first=False) == Covered(30, 65, inside=True)


def test_parallel_calls_stay_with_all_of_their_results() -> None:
    found = covered(log("u" + "cccrrr" * 6))

    assert found == Covered(2, 37 - 6, inside=True)


def test_a_running_call_stays() -> None:
    """The newest call has no result yet."""
    assert covered(log("u" + "cr" * 12 + "c"), keep=150) == Covered(2, 25, inside=True)


def test_long_talk_without_tools_is_not_cut() -> None:
    assert covered(log("uaua", tokens=2_000)) is None


def test_a_turn_is_not_cut_while_whole_turns_do() -> None:
    assert covered(log("ua" * 8 + "u" + "cr" * 3 + "a"), keep=700, trigger=1_500) == Covered(5, 12)


def test_a_long_turn_before_the_last_ones_is_cut() -> None:
    events = log("ua" + "u" + "cr" * 10 + "a" + "uaua")

    found = covered(events)

    assert found is not None
    assert found.inside
    assert (found.first, found.last) == (4, 23)


KINDS = st.text("uacrb", min_size=1, max_size=60)


@given(KINDS, st.integers(50, 1_500), st.integers(0, 1_500), st.booleans(), st.data())
def test_what_is_covered_parts_no_pair_and_leaves_the_newest(
    kinds: str, keep: int, more: int, first: bool, data: st.DataObject
) -> None:
    events = log(kinds)
    weights = data.draw(st.lists(st.sampled_from([0, 10, 100, 600]), min_size=len(events), max_size=len(events)))
    tokens = {event.seq: weight for event, weight in zip(events, weights, strict=True)}

    found = newly_covered(LogTail(events, tokens, first, keep, keep + more))

    if found is None:
        return
    assert 1 <= found.first <= found.last < events[-1].seq
    assert first or found.first == 1
    inside = range(found.first, found.last + 1)
    calls = {e.event_data["tool_use_id"]: e.seq for e in events if e.event_type is EventType.TOOL_CALL}
    for one in events:
        if one.event_type is EventType.TOOL_RESULT and one.event_data["tool_use_id"] in calls:
            assert (one.seq in inside) == (calls[one.event_data["tool_use_id"]] in inside)
    if not found.inside:
        assert events[found.last].event_type is EventType.USER_MESSAGE


# --- stage 1 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "characters", "pruned"),
    [(900, 6_000, False), (1_200, 4_800, False), (1_200, 6_000, True), (1_000, 5_000, False), (5_000, 20_000, True)],
)
def test_a_result_is_large_above_both_limits(tokens: int, characters: int, pruned: bool) -> None:
    assert is_large(tokens, characters) is pruned


def result(seq: int, content: Any = "x" * 6_000, tokens: int = 1_875, **more: Any) -> Event:
    kind = {"event_type": EventType.TOOL_RESULT, "original_tokens": tokens}
    return event(seq, content, **{**kind, **more})


def test_results_of_the_last_two_turns_stay() -> None:
    events = [event(1), result(2), event(3), result(4), event(5), result(6)]

    assert [one.seq for one in stale_results(events)] == [2]
    assert stale_results(events[:4]) == []


def test_only_results_that_are_still_there_are_put_away() -> None:
    events = [
        result(1),
        result(2, pruned=True),
        result(3, event_type=EventType.TOOL_CALL),
        result(4, event_type=EventType.ASSISTANT_RESPONSE),
        result(5, "x" * 4_800),
        *[event(seq) for seq in (6, 7, 8)],
    ]

    assert [one.seq for one in stale_results(events)] == [1]


def test_images_do_not_count() -> None:
    """6,000 characters that are 900 tokens by the tenant's counter, and two images."""
    blocks = [text_block("x" * 6_000), image("a"), image("b")]
    later = [event(seq) for seq in (2, 3, 4)]

    assert stale_results([result(1, blocks, 900 + 3_200), *later]) == []
    assert len(stale_results([result(1, blocks, 1_001 + 3_200), *later])) == 1


def test_an_artifact_has_the_same_path_whenever_it_is_written() -> None:
    path = artifact_path("acme", "ann", "s1", 1, 7)

    assert path == artifact_path("acme", "ann", "s1", 1, 7) == "/artifacts/1XS5QHW0RM93RN47BAP5XC6N77"
    others = {artifact_path("acme", "ann", "s1", 2, 7), artifact_path("acme", "ann", "s1", 1, 8)}
    assert len(others | {path}) == 3
    assert placeholder(path) == f"[Tool output saved to {path}]"


# --- when -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "due"),
    [
        (0, 999, False),
        (0, 1_000, True),
        (999, 1_000, True),
        (1_000, 1_249, False),
        (1_200, 1_250, True),
        (1_250, 1_499, False),
        (1_250, 3_000, True),
        (0, 5_000, True),
    ],
)
def test_a_log_is_looked_at_at_the_trigger_and_each_quarter_above(before: int, after: int, due: bool) -> None:
    assert outgrows(before, after, 1_000) is due


@given(st.lists(st.integers(1, 400), max_size=60), st.integers(1, 2_000))
def test_one_compaction_a_quarter(grown: list[int], trigger: int) -> None:
    tokens = asked = 0
    for n in grown:
        asked += outgrows(tokens, tokens + n, trigger)
        tokens += n
    most = 0 if tokens < trigger else 1 + 4 * (tokens - trigger) // trigger
    assert asked <= most
    assert bool(asked) is (tokens >= trigger)


def test_tokens_behind_the_horizon_are_those_that_are_not_settled() -> None:
    head = SessionHead("s1", "open", "2026-03-10T09:30:00.000Z", total_tokens=1_700)

    assert after_horizon(head, SessionEpoch("s1", settled_tokens=700)) == 1_000
    assert after_horizon(replace(head, total_tokens=600), SessionEpoch("s1", settled_tokens=700)) == 0


def test_a_boundary_says_why() -> None:
    topic = event(2, "", event_type=EventType.TASK_BOUNDARY, event_data={"kind": "topic"})
    task = event(3, "", event_type=EventType.TASK_BOUNDARY)

    assert boundary_reason([event(1)]) is None
    assert boundary_reason([event(1), topic]) == "topic"
    assert boundary_reason([topic, task]) == "task"
