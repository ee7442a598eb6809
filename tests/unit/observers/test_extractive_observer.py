"""The observer without a model: what it keeps of a chat, how it says it, and what it leaves out."""

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


# --- what is kept, in the third person, with its mark -------------------------------------------


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        # identity
        ("My name is Anna.", '🔴 User: "My name is Anna"'),
        ("Hi, I'm a nurse and I work night shifts.", '🔴 User: "I\'m a nurse and I work night shifts"'),
        ("I live in Bergen and work at the port.", '🔴 User: "I live in Bergen and work at the port"'),
        ("My sister's name is Mary.", '🔴 User: "My sister\'s name is Mary"'),
        ("my dog Biscuit is a beagle", '🟡 User: "my dog Biscuit is a beagle"'),
        ("I'm allergic to peanuts!", '🔴 User: "I\'m allergic to peanuts"'),
        ("I am 34 years old.", '🔴 User: "I am 34 years old"'),
        ("I have two daughters.", '🔴 User: "I have two daughters"'),
        # preference
        ("I love hiking in the rain.", '🔴 User: "I love hiking in the rain"'),
        ("I really can't stand cilantro.", '🔴 User: "I really can\'t stand cilantro"'),
        ("I don't eat meat.", '🔴 User: "I don\'t eat meat"'),
        ("My favourite band is Radiohead.", '🔴 User: "My favourite band is Radiohead"'),
        ("I'd rather take the train.", '🔴 User: "I\'d rather take the train"'),
        # standing wishes
        ("Please always answer in French.", '🔴 User: "Please always answer in French"'),
        ("Please don't use emojis.", '🔴 User: "Please don\'t use emojis"'),
        ("Call me Sam.", '🔴 User: "Call me Sam"'),
        (
            "From now on, whenever I say ship it, run the checklist.",
            '🔴 User: "From now on, whenever I say ship it, run the checklist"',
        ),
        (
            "Remember that my anniversary is on June 12.",
            '🔴 User: "Remember that my anniversary is on June 12"',
        ),
        (
            "Remind me to call my mom on Sunday.",
            '🟡 User: "Remind me to call my mom on Sunday (meaning 2026-03-15)"',
        ),
        # corrections
        ("Actually, I'm not in Berlin anymore.", '🟡 User: "Actually, I\'m not in Berlin anymore"'),
        ("I changed my mind about the sofa.", '🟡 User: "I changed my mind about the sofa"'),
        ("No, my flight is at seven.", '🟡 User: "No, my flight is at seven"'),
        # plans
        (
            "I have a dentist appointment tomorrow at 9.",
            '🟡 User: "I have a dentist appointment tomorrow (meaning 2026-03-11) at 9"',
        ),
        ("I'm flying to Oslo next Friday.", '🟡 User: "I\'m flying to Oslo next Friday (meaning 2026-03-20)"'),
        ("I want to learn the piano.", '🟡 User: "I want to learn the piano"'),
        ("The launch is on Friday.", '🟡 User: "The launch is on Friday (meaning 2026-03-13)"'),
        # decisions
        ("I decided to keep the old car.", '🟡 User: "I decided to keep the old car"'),
        (
            "We decided to use Postgres because of the reports.",
            '🟡 User: "We decided to use Postgres because of the reports"',
        ),
        # completed actions
        ("I just sold my motorcycle.", '✅ User: "I just sold my motorcycle"'),
        ("Finally finished the tax return!", '✅ User: "Finally finished the tax return"'),
        ("I quit smoking last year.", '✅ User: "I quit smoking last year (meaning 2025)"'),
        # blockers, tentative thoughts, events
        ("I'm stuck on the login page.", '🔴 User: "I\'m stuck on the login page"'),
        ("The build keeps failing on arm64.", '🔴 User: "The build keeps failing on arm64"'),
        ("I might sell the house.", '🟢 User: "I might sell the house"'),
        ("I made this stool in my class.", '🟡 User: "I made this stool in my class"'),
        ("Been studying law for two years.", '🟡 User: "Been studying law for two years"'),
        ("My wife and I adopted a cat.", '✅ User: "My wife and I adopted a cat"'),
        ("I think we should take option B.", '🟢 User: "I think we should take option B"'),
        (
            "Book me a table next Friday.",
            '🟡 User: "Book me a table next Friday (meaning 2026-03-20)"',
        ),
        ("I went to a pottery class yesterday.", '🟡 User: "I went to a pottery class yesterday (meaning 2026-03-09)"'),
        ("Budget is 18,000 euros.", '🟡 User: "Budget is 18,000 euros"'),
    ],
)
def test_a_statement_becomes_a_line(said: str, kept: str) -> None:
    assert of_user(said) == [kept]


@pytest.mark.parametrize(
    "said",
    [
        "Hi there!",
        "Thanks, that's perfect!",
        "Good morning, how are you?",
        "What's the weather tomorrow?",
        "Is Lisbon nice in May?",
        "How do I reverse a list in Python?",
        "Do you like hiking?",
        "I see, that makes sense.",
        "I love it!",
        "I don't know.",
        "I'd love to hear more about that.",
        "See you tomorrow!",
        "You're amazing.",
        "If I were rich, I would buy an island.",
        "Write a poem about spring",
        "```\nI live in a code block\n```",
        "> I live in a quotation",
        "ok",
        "🙂",
        "",
    ],
)
def test_small_talk_questions_and_quotations_leave_nothing(said: str) -> None:
    assert of_user(said) == []


@pytest.mark.parametrize("thing", ["apples", "jazz", "skiing", "my garden", "dates", "Bach", "horror films"])
@pytest.mark.parametrize("verb", ["love", "like", "enjoy", "hate", "prefer", "really like", "can't stand"])
def test_a_taste_is_kept_in_whatever_few_words(verb: str, thing: str) -> None:
    [line] = of_user(f"I {verb} {thing}.")
    assert thing.removeprefix("my ") in line


@pytest.mark.parametrize(
    "said",
    [
        "I love this.",
        "I like your idea.",
        "I enjoy talking to you.",
        "I love it here.",
        "I like that one.",
        "I love when it rains.",
        "I hate how that sounds.",
        "I love the second version.",
    ],
)
def test_what_was_just_shown_is_no_taste(said: str) -> None:
    assert of_user(said) == []


def test_where_and_when_somebody_was_born_is_kept() -> None:
    assert [of_user(f"I was born in {what}.") for what in ("1988", "a village", "the Alps")] == [
        [f'🔴 User: "I was born in {what}"'] for what in ("1988", "a village", "the Alps")
    ]


def test_nothing_worth_keeping_is_said_so() -> None:
    answer = observed(event(1, USER, "Hello!"), event(2, ASSISTANT, "Hello, how can I help?"))
    assert not answer.has_memory
    assert answer.lines == ()
    assert answer.model == "extractive"
    assert answer.usage == {}


def test_the_statement_in_front_of_a_question_is_kept() -> None:
    assert of_user("I just moved to Berlin last month, any tips for restaurants?") == [
        '✅ User: "I just moved to Berlin last month (meaning 2026-02), any tips for restaurants?"'
    ]


# --- time ---------------------------------------------------------------------------------------


def test_tomorrow_is_a_date() -> None:
    lines_left = of_user("My exam is tomorrow.")
    assert lines_left == ['🟡 User: "My exam is tomorrow (meaning 2026-03-11)"']
    assert referenced_date(lines_left[0]) == "2026-03-11"


def test_dates_count_from_the_event_in_the_users_time_zone() -> None:
    late = event(1, USER, "I see the dentist tomorrow at nine.", at="2026-03-10T23:30:00.000Z")
    assert "(meaning 2026-03-11)" in observed(late, timezone="UTC").lines[0].text
    assert "(meaning 2026-03-12)" in observed(late, timezone="Europe/Berlin").lines[0].text
    assert "(meaning 2026-03-11)" in observed(late, timezone="Not/AZone").lines[0].text


# --- ranges and limits --------------------------------------------------------------------------


def test_each_line_has_the_seq_of_its_event() -> None:
    answer = observed(
        event(7, USER, "I live in Bergen."),
        event(8, ASSISTANT, "Nice."),
        event(9, USER, "I love herring."),
    )
    assert [(line.seq_from, line.seq_to) for line in answer.lines] == [(7, 7), (9, 9)]


MUCH = (
    "My name is Anna. I live in Bergen. I work as a teacher. I have two cats. I love herring. I play the cello."
    " I drive a blue Honda. I bought a boat yesterday. I might sell it again. I went to the market."
)


def test_neighbours_of_one_mark_are_joined_where_there_are_many() -> None:
    lines_left = of_user(MUCH)
    assert '🔴 User: "My name is Anna. I live in Bergen. I work as a teacher"' in lines_left
    text = "\n".join(lines_left)
    for important in ("Anna", "Bergen", "teacher", "two cats", "herring", "boat"):
        assert important in text


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


def test_only_neighbours_of_one_event_are_joined() -> None:
    events = [event(n, USER, f"I visited place number {n} yesterday with Tom.") for n in range(1, 9)]
    answer = observed(*events)
    assert len(answer.lines) == 5
    assert all(line.seq_from == line.seq_to for line in answer.lines)


def test_marks_written_by_the_user_do_not_set_the_priority() -> None:
    (lines_left,) = of_user("🔴🔴 I went to the market yesterday ✅")
    assert priority_of(lines_left) is Priority.MEDIUM


# --- who speaks ---------------------------------------------------------------------------------


def test_named_speakers_are_people() -> None:
    lines_left = lines(
        event(1, USER, "Hey Vera! I went to a chess club yesterday.", "Astrid"),
        event(2, ASSISTANT, "Wow, Astrid! I built a kayak last year. Who won?", "Vera"),
    )
    assert lines_left == [
        '🟡 Astrid: "I went to a chess club yesterday (meaning 2026-03-09)"',
        '🟡 Vera: "I built a kayak last year (meaning 2025)"',
    ]


def test_advice_between_people_is_not_an_order() -> None:
    assert lines(
        event(1, USER, "Remember to take breaks. Never give up! Don't forget I'm here for you.", "Emil"),
        event(2, ASSISTANT, "Always! My mom says so, too.", "Rosa"),
    ) == ['🟡 Rosa: "My mom says so, too"']


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


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Please keep your answers short.", '🔴 Mira: "Please keep your answers short"'),
        ("Keep your replies short!", '🔴 Mira: "Keep your replies short"'),
        ("Please don't call before nine.", '🔴 Mira: "Please don\'t call before nine"'),
        ("From now on, ship it means deploy.", '🔴 Mira: "From now on, ship it means deploy"'),
        ("Call me Sam.", '🔴 Mira: "Call me Sam"'),
        ("Remember that I'm allergic to nuts.", '🔴 Mira: "Remember that I\'m allergic to nuts"'),
        ("No, my flight is at seven.", '🟡 Mira: "No, my flight is at seven"'),
        (
            "Correction: the workshop starts at two, not at ten.",
            '🟡 Mira: "Correction: the workshop starts at two, not at ten"',
        ),
    ],
)
def test_wishes_and_corrections_are_kept_between_people_as_well(said: str, kept: str) -> None:
    answer = event(2, ASSISTANT, "Sure! I went hiking with my brother yesterday.", "Tom")
    hiked = '🟡 Tom: "I went hiking with my brother yesterday (meaning 2026-03-09)"'
    assert lines(event(1, USER, said, "Mira"), answer) == [kept, hiked]


def test_who_uses_tools_is_an_assistant() -> None:
    assert lines(
        event(1, USER, "Always run the linter before you commit.", "Mira"),
        event(2, EventType.TOOL_CALL, "", "Aria"),
        event(3, ASSISTANT, "I went through the log with my brother.", "Aria"),
    ) == ['🔴 Mira: "Always run the linter before you commit"']


def test_what_only_the_assistant_said_is_no_memory() -> None:
    booked = event(2, ASSISTANT, "Sure! I've booked your table for two next Friday at 7pm. I love Italian food.")
    assert lines(event(1, USER, "Can you book a table at Luigi's?"), booked) == []


@pytest.mark.parametrize(
    "said",
    [
        "I live in the cloud. You should try the lake. I recommend a walk.",
        "I can book a table for you.",
        "I've created an example below.",
        "Your idea is great.",
    ],
)
def test_an_assistants_advice_is_not_memory(said: str) -> None:
    assert lines(event(1, USER, "Hello"), event(2, ASSISTANT, said)) == []


def test_tool_events_are_context_not_subject() -> None:
    assert lines(event(1, EventType.TOOL_RESULT, "I live in Bergen."), event(2, EventType.TOOL_CALL, "I moved.")) == []


def test_a_bare_answer_keeps_its_question() -> None:
    answer = observed(
        event(3, ASSISTANT, "Lovely. What's your sister's name?"),
        event(4, USER, "Mary!"),
    )
    assert [line.text for line in answer.lines] == ['🟡 Assistant: "What\'s your sister\'s name?" → User: "Mary"']
    assert (answer.lines[0].seq_from, answer.lines[0].seq_to) == (3, 4)


def test_a_correction_of_it_keeps_what_it_corrects() -> None:
    answer = observed(
        event(3, ASSISTANT, "Your meeting is on Thursday."),
        event(4, USER, "No, it's on Wednesday at ten."),
    )
    (line,) = answer.lines
    assert line.text == (
        '🟡 Assistant: "Your meeting is on Thursday (meaning 2026-03-12)"'
        ' → User: "No, it\'s on Wednesday (meaning 2026-03-11) at ten"'
    )
    assert (line.seq_from, line.seq_to) == (3, 4)


def test_a_name_keeps_what_it_names() -> None:
    answer = observed(event(1, ASSISTANT, "A new puppy!", "Emil"), event(2, USER, "Her name is Pebble!", "Ines"))
    assert [(line.text, line.seq_from, line.seq_to) for line in answer.lines] == [
        ('🟡 Assistant: "A new puppy" → Ines: "Her name is Pebble"', 1, 2)
    ]


def test_text_blocks_are_read_and_images_are_not() -> None:
    content = [{"type": "text", "text": "I live in Bergen."}, {"type": "image", "media_type": "image/png", "data": "x"}]
    message = Event(seq=1, event_type=USER, content=content, original_tokens=1, created_at=TUESDAY)
    assert lines(message) == ['🔴 User: "I live in Bergen"']


# --- prior memories -----------------------------------------------------------------------------

KNOWN = (
    PriorMemory("mem_1", "🔴 User is vegetarian\n🔴 User loves hiking in the Alps", local=True),
    PriorMemory("mem_2", "🟡 User ran 10 km last Sunday (meaning 2026-03-08)", local=False),
)


def test_what_is_known_is_cited_and_not_repeated() -> None:
    answer = observed(event(1, USER, "I'm vegetarian. I really love hiking in the Alps."), prior=KNOWN)
    assert answer.lines == ()
    assert answer.used_memory_ids == ("mem_1",)


@pytest.mark.parametrize(
    "said",
    ["I'm not vegetarian any more.", "I ran 12 km on Sunday.", "I ran 10 km yesterday.", "I love hiking in Norway."],
)
def test_a_denial_another_figure_or_date_is_new(said: str) -> None:
    answer = observed(event(1, USER, said), prior=KNOWN)
    assert len(answer.lines) == 1
    assert answer.used_memory_ids == ()


def test_what_is_said_twice_is_kept_once() -> None:
    assert len(lines(event(1, USER, "I love herring."), event(2, USER, "I love herring!"))) == 1


# --- thread -------------------------------------------------------------------------------------


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


# --- whatever comes in --------------------------------------------------------------------------


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


# --- time ----------------------------------------------------------------------------------------


def test_a_pass_without_time_ends_where_it_has_read() -> None:
    """The first event is always read; what is not begins the next pass."""
    events = [event(seq, USER, f"I am allergic to {food}.") for seq, food in enumerate(("nuts", "milk", "eggs"), 1)]
    left = iter([30.0, 30.0, 1.0])
    found = ExtractiveObserver().observe(PassInput("s1", events, (), "UTC", 8_000, seconds_left=lambda: next(left)))
    assert [line.seq_to for line in found.lines] == [1, 2]
    assert found.covered_to == 2
    late = PassInput("s1", events, (), "UTC", 8_000, seconds_left=lambda: 0.0)
    assert ExtractiveObserver().observe(late).covered_to == 1
