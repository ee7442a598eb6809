"""The observer without a model: passes, ranges, room, speakers. What it makes of a sentence: ``test_sentences.py``."""

from __future__ import annotations

import pytest

from neve.domain.memories.text import priority_of, referenced_date
from neve.domain.records.memories import Priority
from neve.domain.records.sessions import Event, EventType
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observing import Observed, PassInput, PriorMemory

TUESDAY = "2026-03-10T09:30:00.000Z"
USER, ASSISTANT = EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE


def event(seq: int, kind: EventType, text: str, name: str | None = None, at: str = TUESDAY) -> Event:
    return Event(seq=seq, event_type=kind, content=text, original_tokens=1, created_at=at, name=name)


def observed(*events: Event, prior: tuple[PriorMemory, ...] = (), timezone: str = "UTC") -> Observed:
    return ExtractiveObserver().observe(PassInput("s1", events, prior, timezone, 8_000))


def lines(*events: Event, prior: tuple[PriorMemory, ...] = ()) -> list[str]:
    return [line.text for line in observed(*events, prior=prior).lines]


def of_user(text: str) -> list[str]:
    return lines(event(1, USER, text), event(2, ASSISTANT, "I see."))


def test_nothing_worth_keeping_is_said_so() -> None:
    answer = observed(event(1, USER, "Hello!"), event(2, ASSISTANT, "Hello, how can I help?"))
    assert not answer.has_memory
    assert answer.lines == ()
    assert answer.model == "extractive"
    assert answer.usage == {}


def test_tomorrow_is_a_date() -> None:
    lines_left = of_user("My exam is tomorrow.")
    assert lines_left == ['🟡 User: "My exam is tomorrow (meaning 2026-03-11)"']
    assert referenced_date(lines_left[0]) == "2026-03-11"


def test_dates_count_from_the_event_in_the_users_time_zone() -> None:
    late = event(1, USER, "I see the dentist tomorrow at nine.", at="2026-03-10T23:30:00.000Z")
    assert "(meaning 2026-03-11)" in observed(late, timezone="UTC").lines[0].text
    assert "(meaning 2026-03-12)" in observed(late, timezone="Europe/Berlin").lines[0].text
    assert "(meaning 2026-03-11)" in observed(late, timezone="Not/AZone").lines[0].text


def passed(*messages: str, max_lines: int) -> Observed:
    events = [event(n, USER, text) for n, text in enumerate(messages, start=4)]
    return ExtractiveObserver().observe(PassInput("s1", events, (), "UTC", 8_000, max_lines))


FACTS = ("I live in Bergen.", "Hello!", "I love herring. I bought a boat.", "I'm allergic to nuts.", "I have two cats.")


@pytest.mark.parametrize(
    ("max_lines", "seqs", "covered_to"),
    [(9, [4, 6, 6, 7, 8], None), (4, [4, 6, 6, 7], 7), (3, [4, 6, 6], 6), (2, [4], 5), (1, [4], 5)],
)
def test_a_pass_ends_before_what_has_no_room(max_lines: int, seqs: list[int], covered_to: int) -> None:
    answer = passed(*FACTS, max_lines=max_lines)
    assert [line.seq_to for line in answer.lines] == seqs
    assert answer.covered_to == covered_to


def test_a_pass_covers_its_first_event_even_where_that_has_more_than_fits() -> None:
    answer = passed("I love herring. I bought a boat. I might move.", "I have a cat.", max_lines=2)
    assert [line.text for line in answer.lines] == [
        '🔴 User: "I love herring"',
        '✅ User: "I bought a boat"',
        '🟢 User: "I might move"',
    ]
    assert answer.covered_to == 4


def test_lines_of_one_event_beyond_its_room_are_counted() -> None:
    friend = "old" * 30  # lines too long to be joined
    said = (f"I visited place number {n} yesterday with my {friend} friend number {n}." for n in range(80))
    answer = passed(" ".join(said), max_lines=1)
    assert len(answer.lines) == 60
    assert answer.lines_left_out == (4,) * 20


def test_marks_written_by_the_user_do_not_set_the_priority() -> None:
    (lines_left,) = of_user("🔴🔴 I went to the market yesterday ✅")
    assert priority_of(lines_left) is Priority.MEDIUM


FOR_AN_ASSISTANT = (
    "Please keep your answers short.",
    "Call me Sam.",
    "From now on I want the summary first.",
    "Always run the linter before you commit.",
    "Remember that my anniversary is on June 12.",
    "Remind me to call my mom on Sunday.",
    "No, it is on the 14th.",
    "Correction: the workshop starts at two, not at ten.",
    "I'm no longer vegetarian.",
    "The server runs on port 8443.",
    "Book me a table next Friday.",
)


REPLIES = (
    "Noted. I've added that to your calendar for the 13th, let me know if anything changes.",
    "Short it is. I hope it is only the thermocouple. I love that idea!",
    "I found three options and compared them. I'd take the second one, it is the cheapest.",
    "I'm an AI, so I have no birthday, but I ran the numbers twice. My suggestion: wait a week.",
)


@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("name", ["Neve", "Aria", "Support bot"])
def test_the_name_of_an_assistant_changes_nothing(name: str, reply: str) -> None:
    for text in FOR_AN_ASSISTANT:
        without = observed(event(1, ASSISTANT, reply), event(2, USER, text, "Mira"), event(3, ASSISTANT, reply))
        assert (
            observed(event(1, ASSISTANT, reply, name), event(2, USER, text, "Mira"), event(3, ASSISTANT, reply, name))
            == without
        )
        assert [line for line in without.lines if line.seq_to == 2]


def test_who_uses_tools_is_an_assistant() -> None:
    assert lines(
        event(1, USER, "Always run the linter before you commit.", "Mira"),
        event(2, EventType.TOOL_CALL, "", "Aria"),
        event(3, ASSISTANT, "I went through the log with my brother.", "Aria"),
    ) == ['🔴 Mira: "Always run the linter before you commit"']


def test_tool_events_are_context_not_subject() -> None:
    assert lines(event(1, EventType.TOOL_RESULT, "I live in Bergen."), event(2, EventType.TOOL_CALL, "I moved.")) == []


def test_text_blocks_are_read_and_images_are_not() -> None:
    content = [{"type": "text", "text": "I live in Bergen."}, {"type": "image", "media_type": "image/png", "data": "x"}]
    message = Event(seq=1, event_type=USER, content=content, original_tokens=1, created_at=TUESDAY)
    assert lines(message) == ['🔴 User: "I live in Bergen"']


def test_the_first_request_gives_a_title_and_the_last_the_task() -> None:
    answer = observed(
        event(1, USER, "Can you help me plan a trip to Japan in May?"),
        event(2, ASSISTANT, "Gladly."),
        event(3, USER, "Please find me a hotel in Kyoto for my parents."),
    )
    assert answer.thread_title == "Plan a trip to Japan in May"
    assert answer.current_task == "find a hotel in Kyoto for my parents"


def test_a_later_pass_gives_no_title_and_chat_no_task() -> None:
    assert observed(event(5, USER, "Can you translate this letter?")).thread_title is None
    assert observed(event(1, USER, "I live in Bergen.")).current_task is None
    between = observed(event(1, USER, "Can you show me a photo?", "A"), event(2, ASSISTANT, "My sister took one", "B"))
    assert between.current_task is None


@pytest.mark.parametrize(
    "said",
    [
        "I " * 5_000,
        "(" * 5_000,
        "[" * 5_000,
        "`" * 5_000,
        '"' * 5_000,
        "I moved\x00 to Oslo",
        "I live in \ud800",
        "?" * 999,
    ],
)
def test_odd_text_does_no_harm(said: str) -> None:
    assert len(of_user(said)) <= 5


def test_a_pass_without_time_ends_where_it_has_read() -> None:
    """The first event is always read; what is not begins the next pass."""
    events = [event(seq, USER, f"I am allergic to {food}.") for seq, food in enumerate(("nuts", "milk", "eggs"), 1)]
    left = iter([30.0, 30.0, 1.0])
    found = ExtractiveObserver().observe(PassInput("s1", events, (), "UTC", 8_000, seconds_left=lambda: next(left)))
    assert [line.seq_to for line in found.lines] == [1, 2]
    assert found.covered_to == 2
    late = PassInput("s1", events, (), "UTC", 8_000, seconds_left=lambda: 0.0)
    assert ExtractiveObserver().observe(late).covered_to == 1


@pytest.mark.parametrize("sign", [".", "!", "…", ";", "1. "])
def test_a_message_of_one_sign_holds_up_no_worker(sign: str) -> None:
    """Read again from each of its signs, this takes minutes, in which nothing else of the session is observed."""
    assert of_user(f"I live in Lyon\n{sign * (110_000 // len(sign))}") == ['🔴 User: "I live in Lyon"']
