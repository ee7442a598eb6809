"""What an observer model is shown, and how its answer is read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from neve.domain.observe.answer import observation_schema, read_answer
from neve.domain.observe.prompt import SYSTEM, over_budget_remark, pass_content
from neve.domain.records.sessions import Event, EventType
from neve.domain.reflect.condense_prompt import read_condensed
from neve.domain.reflect.prompt import read_rows, reflection_content, reflection_schema
from neve.domain.sessions.transcript import render_event
from neve.http.json_body import refused_text
from neve.observing import PriorMemory, ReflectGroup


def event(seq: int, kind: EventType, content: Any, **given: Any) -> Event:
    at = given.pop("at", f"2026-03-10T09:{seq:02d}:00.000Z")
    return Event(seq=seq, event_type=kind, content=content, original_tokens=1, created_at=at, **given)


USER_EVENT = event(3, EventType.USER_MESSAGE, "I fly to Oslo tomorrow.")
ANSWERED = event(4, EventType.ASSISTANT_RESPONSE, "Safe travels!")
PRIOR = (PriorMemory("mem_1", "🔴 User lives in Bergen", True), PriorMemory("mem_2", "🟡 User owns a boat", False))


def shown(*events: Event, prior: tuple[PriorMemory, ...] = (), timezone: str = "UTC") -> str:
    (block,) = pass_content(events, prior, timezone)
    assert block["type"] == "text"
    return str(block["text"])


# --- the request --------------------------------------------------------------------------------


def test_prior_memories_come_first_each_behind_its_id() -> None:
    text = shown(USER_EVENT, ANSWERED, prior=PRIOR)
    first, second = (
        text.index("[memory id: mem_1]\n🔴 User lives in Bergen"),
        text.index("[memory id: mem_2]\n🟡 User owns"),
    )
    assert first < second < text.index("I fly to Oslo")


def test_events_are_shown_in_order_exactly_as_they_are_measured() -> None:
    text = shown(USER_EVENT, ANSWERED)
    assert f"{render_event(USER_EVENT)}\n\n{render_event(ANSWERED)}" in text
    assert "--- 2026-03-10T09:03:00.000Z ---\nuser #3: I fly to Oslo tomorrow." in text


def test_tool_events_are_context() -> None:
    text = shown(
        event(1, EventType.TOOL_CALL, "", event_data={"name": "search", "args": {"q": "x" * 2_000}}),
        event(2, EventType.TOOL_RESULT, "y" * 2_000, event_data={"name": "search", "is_error": True}),
    )
    assert '[tool_call search({"q":"xxx' in text
    assert "[tool_result search (error)] yyy" in text
    assert "x" * 1_500 not in text
    assert "y" * 1_501 not in text


def test_an_image_stands_directly_after_its_event() -> None:
    image = {"type": "image", "media_type": "image/png", "data": "aGVsbG8="}
    linked = {"type": "image", "url": "https://example.com/cat.jpg"}
    looked = event(1, EventType.USER_MESSAGE, [{"type": "text", "text": "Look at my garden"}, image, linked])
    blocks = pass_content((looked, ANSWERED), (), "UTC")
    assert [block["type"] for block in blocks] == ["text", "image", "image", "text"]
    assert blocks[0]["text"].endswith("Look at my garden")
    assert blocks[1:3] == (image, linked)
    assert blocks[3]["text"].startswith(render_event(ANSWERED))
    assert "aGVsbG8" not in "".join(str(block["text"]) for block in blocks if block["type"] == "text")


def test_thinking_is_dropped() -> None:
    content = [{"type": "thinking", "thinking": "hidden plan"}, {"type": "text", "text": "Here you go"}]
    text = shown(event(1, EventType.ASSISTANT_RESPONSE, content))
    assert "hidden plan" not in text
    assert "Here you go" in text


def test_weekday_and_local_time_are_given_for_relative_dates() -> None:
    late = event(1, EventType.USER_MESSAGE, "See you tomorrow", at="2026-03-10T23:30:00.000Z")
    assert "time zone is Europe/Berlin" in shown(late, timezone="Europe/Berlin")
    assert "Wednesday 2026-03-11 at 00:30" in shown(late, timezone="Europe/Berlin")
    assert "Tuesday 2026-03-10 at 23:30" in shown(late, timezone="Nowhere/Land")


def test_times_at_the_edge_of_the_calendar_are_shown() -> None:
    first = event(1, EventType.USER_MESSAGE, "hello", at="0001-01-01T00:00:00.000Z")
    assert "0001-01-01T00:00:00.000Z" in shown(first, timezone="America/New_York")


def test_a_remark_comes_last_and_names_both_sizes() -> None:
    (block,) = pass_content((USER_EVENT,), (), "UTC", over_budget_remark(32, 10))
    last = str(block["text"]).rsplit("\n\n", 1)[1]
    assert "32 tokens" in last
    assert "10 tokens" in last


def test_the_system_prompt_never_changes_with_the_pass() -> None:
    assert "{" not in SYSTEM
    for rule in ("🔴", "🟡", "🟢", "✅", "(meaning 2026-03-11)", "has_memory", "used_memory_ids", "[memory id: …]"):
        assert rule in SYSTEM


# --- the answer ---------------------------------------------------------------------------------


def read(**given: Any) -> Any:
    return read_answer({"has_memory": True, **given}, first=3, last=9, shown={"mem_1", "mem_2"})


def entry(text: str, seq_from: int = 3, seq_to: int = 9) -> dict[str, Any]:
    return {"text": text, "seq_from": seq_from, "seq_to": seq_to}


FACT = {"text": "User lives in Bergen", "category": "PLACE", "importance": 4, "by": "user_stated"}


def test_a_full_answer() -> None:
    answer = read(
        observations=[entry("🔴 User lives in Bergen", 3, 4)],
        used_memory_ids=["mem_2"],
        current_task=" Move \n the boat ",
        suggested_continuation="Ask about the boat.",
        thread_title="Bergen",
        facts=[{**FACT, "relation": "updates", "target_id": "mem_1"}],
    )
    assert [(line.text, line.seq_from, line.seq_to) for line in answer.observations] == [
        ("🔴 User lives in Bergen", 3, 4)
    ]
    assert answer.used_memory_ids == ["mem_2"]
    assert answer.current_task == "Move the boat"
    assert answer.facts[0].relation == "updates"
    assert answer.facts[0].target_id == "mem_1"


@pytest.mark.parametrize(
    ("given", "clipped"), [((1, 99), (3, 9)), ((7, 5), (5, 7)), ((-4, 1), (3, 3)), ((12, 40), (9, 9)), ((4, 6), (4, 6))]
)
def test_ranges_are_clipped_into_the_pass(given: tuple[int, int], clipped: tuple[int, int]) -> None:
    (line,) = read(observations=[entry("🟡 something", *given)]).observations
    assert (line.seq_from, line.seq_to) == clipped


def test_blank_lines_are_no_memory() -> None:
    assert read(observations=[entry(" \n "), entry("")]).observations == []


def test_a_mark_alone_is_no_memory() -> None:
    """Priority high, and nothing said."""
    assert read(observations=[entry("🔴"), entry("✅ "), entry("- …")]).observations == []


def test_no_memory_has_no_lines() -> None:
    answer = read_answer({"has_memory": False, "observations": [entry("🟡 chat")]}, first=1, last=2, shown=())
    assert answer.observations == []


def test_half_a_surrogate_pair_is_replaced() -> None:
    answer = read(observations=[entry("🟡 half \ud83d"), entry("🟡 both \ud83d\ude00")], thread_title="\ude00")
    assert [line.text for line in answer.observations] == ["🟡 half \ufffd", "🟡 both 😀"]
    assert answer.thread_title == "\ufffd"


def test_control_characters_are_replaced() -> None:
    answer = read(observations=[entry("🟡 a\x00b\x1b[31m\tc")], thread_title="\x9b")
    assert [line.text for line in answer.observations] == ["🟡 a\ufffdb\ufffd[31m\tc"]
    assert answer.thread_title == "\ufffd"
    assert refused_text(answer.observations[0].text) is None, "an import takes it"


def test_lines_are_capped() -> None:
    (line,) = read(observations=[entry("🟡 " + "x" * 20_000)]).observations
    assert len(line.text) == 10_000
    assert line.text.endswith("…")


def test_lines_beyond_the_room_join_the_last() -> None:
    answer = read(observations=[entry(f"🟡 line {n}", n, n) for n in range(3, 10)])
    assert len(answer.observations) == 5
    last = answer.observations[-1]
    assert (last.text, last.seq_from, last.seq_to) == ("🟡 line 7\n🟡 line 8\n🟡 line 9", 7, 9)


def test_a_line_that_is_repeated_stands_once_and_takes_no_room() -> None:
    again = [entry("🔴 User sails", 3, 4), entry(" 🔴 User sails", 5, 5), entry("🔴 User sails", 3, 9)]
    answer = read(observations=[*again, *(entry(f"🟡 line {n}", n, n) for n in range(6, 10))])
    assert [(line.text, line.seq_from, line.seq_to) for line in answer.observations] == [
        ("🔴 User sails", 3, 4),
        *((f"🟡 line {n}", n, n) for n in range(6, 10)),
    ]


def test_a_row_that_is_repeated_stands_once_with_all_that_it_names() -> None:
    rows: list[dict[str, Any]] = [
        {"text": "🔴 a", "group_ids": ["mem_1"]},
        {"text": "🔴 b"},
        {"text": "🔴 a ", "group_ids": ["mem_2"]},
    ]
    assert [(row.text, row.group_ids) for row in read_rows({"rows": rows}, {"mem_1", "mem_2"})] == [
        ("🔴 a", ["mem_1", "mem_2"]),
        ("🔴 b", []),
    ]
    of_all = [*rows, {"text": "🔴 a"}]
    assert read_rows({"rows": of_all}, {"mem_1", "mem_2"})[0].group_ids == []
    night = [{"content": row["text"], "group_ids": row.get("group_ids")} for row in rows]
    assert [(row.content, row.group_ids) for row in read_condensed({"rows": night}, {"mem_1", "mem_2"})] == [
        ("🔴 a", ["mem_1", "mem_2"]),
        ("🔴 b", []),
    ]


def test_only_shown_ids_are_cited_and_each_once() -> None:
    assert read(used_memory_ids=["mem_2", "mem_9", "mem_2", "mem_1"]).used_memory_ids == ["mem_2", "mem_1"]


def test_a_relation_to_an_unknown_memory_is_none() -> None:
    (fact,) = read(facts=[{**FACT, "relation": "contradicts", "target_id": "mem_9"}]).facts
    assert (fact.relation, fact.target_id) == ("new", None)


@pytest.mark.parametrize(
    "bad", [{"importance": 9}, {"category": "HOBBY"}, {"by": "rumour"}, {"text": ""}, {"relation": "is"}, {"text": 3}]
)
def test_a_fact_out_of_form_is_left_out_alone(bad: dict[str, Any]) -> None:
    answer = read(facts=[{**FACT, **bad}, FACT, "no fact"])
    assert ([fact.text for fact in answer.facts], answer.facts_not_read) == (["User lives in Bergen"], 2)


@pytest.mark.parametrize(
    ("told", "not_read"), [(None, 0), ([], 0), ([FACT], 0), ([FACT] * 50, 0), ("none", 1), ({}, 1)]
)
def test_facts_that_no_list_holds_are_not_read(told: Any, not_read: int) -> None:
    assert read(facts=told).facts_not_read == not_read
    assert read(facts=told, facts_not_read=7).facts_not_read == not_read, "the answer does not count them itself"


BAD_LINES = [
    "User lives in Rome",
    {"text": "🟡 no range"},
    {**entry("🟡 elsewhere"), "seq_from": "the third"},
    {**entry("🟡 two"), "seq_to": "#3-4"},
    {**entry("🟡"), "text": 3},
    None,
]


@pytest.mark.parametrize("bad", BAD_LINES)
def test_a_line_out_of_form_is_left_out_alone(bad: Any) -> None:
    answer = read(observations=[bad, entry("🔴 User lives in Bergen"), bad])
    assert ([line.text for line in answer.observations], answer.lines_not_read) == (["🔴 User lives in Bergen"], 2)
    assert read(observations=[entry("🟡 a")], lines_not_read=7).lines_not_read == 0, "the answer does not count them"


@given(st.lists(st.sampled_from([*BAD_LINES, *(entry(f"🟡 line {n}") for n in range(5))]), max_size=8))
def test_whatever_is_among_them_every_line_of_the_form_is_kept(lines: list[Any]) -> None:
    good = [line for line in lines if line not in BAD_LINES]
    if lines and not good:
        with pytest.raises(ValueError, match="none of its lines"):
            read(observations=lines)
        return
    answer = read(observations=lines)
    assert [line.text for line in answer.observations] == list(dict.fromkeys(line["text"] for line in good))
    assert answer.lines_not_read == len(lines) - len(good)


def test_lines_of_an_answer_that_holds_nothing_need_no_form() -> None:
    answer = read_answer({"has_memory": False, "observations": ["nothing"]}, first=3, last=9, shown=())
    assert (answer.observations, answer.lines_not_read) == ([], 1)


def test_the_number_of_an_event_may_stand_as_it_was_shown() -> None:
    answer = read(
        covered_to="#8",
        observations=[{"text": "🟡 a", "seq_from": "#4", "seq_to": " # 5 "}],
        facts=[{**FACT, "seq_from": "#4", "seq_to": "#5"}],
    )
    [line], [fact] = answer.observations, answer.facts
    assert (line.seq_from, line.seq_to, fact.seq_from, fact.seq_to, answer.covered_to) == (4, 5, 4, 5, 8)


def test_more_facts_are_read_than_there_is_room_for() -> None:
    assert len(read(facts=[FACT] * 50).facts) == 50
    assert observation_schema()["properties"]["facts"]["maxItems"] == 10


def test_nulls_for_what_is_not_there() -> None:
    answer = read(observations=None, used_memory_ids=None, facts=None, current_task=None, thread_title="  ")
    assert (answer.observations, answer.used_memory_ids, answer.facts) == ([], [], [])
    assert (answer.current_task, answer.thread_title) == (None, None)


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"has_memory": "perhaps"},
        {"has_memory": True, "observations": "a line"},
        {"has_memory": True, "observations": [{"text": "no range"}]},
        {"has_memory": True, "used_memory_ids": [1]},
    ],
)
def test_an_answer_out_of_form_is_no_answer(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        read_answer(bad, first=1, last=2, shown=())


def test_the_schema_states_the_limits() -> None:
    properties = observation_schema()["properties"]
    assert properties["observations"]["maxItems"] == 60
    assert properties["facts"]["maxItems"] == 10
    assert observation_schema()["required"] == ["has_memory"]


# --- reflection ---------------------------------------------------------------------------------

GROUPS = (
    ReflectGroup("mem_1", "🔴 User lives in Bergen", 1, 4, "2026-03-10T09:00:00.000Z"),
    ReflectGroup("mem_2", "🟡 User owns a boat", None, None, "2026-03-11T09:00:00.000Z"),
)


def test_groups_are_shown_with_id_time_and_range() -> None:
    (block,) = reflection_content(GROUPS, 325)
    assert "325 tokens" in block["text"]
    assert "[group id: mem_1] 2026-03-10T09:00:00.000Z, events 1-4\n🔴 User lives in Bergen" in block["text"]
    assert "[group id: mem_2] 2026-03-11T09:00:00.000Z\n🟡 User owns a boat" in block["text"]


def test_reflected_rows_name_known_groups_once() -> None:
    given = {"rows": [{"text": " a row ", "group_ids": ["mem_2", "x", "mem_2"]}, {"text": "  "}, {"text": "another"}]}
    rows = read_rows(given, {"mem_1", "mem_2"})
    assert [(row.text, row.group_ids) for row in rows] == [("a row", ["mem_2"]), ("another", [])]
    assert reflection_schema()["required"] == ["rows"]
    with pytest.raises(ValidationError):
        read_rows({"rows": "text"}, ())
