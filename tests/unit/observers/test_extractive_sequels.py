"""Statements that mean something only beside an earlier one, and speech that is not the user's own."""

from __future__ import annotations

import pytest

from neve.domain.records.sessions import Event, EventType
from neve.observers.extractive.english.person import about
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observers.extractive.sameness import content_of
from neve.observing import Observed, PassInput, PriorMemory


def observed(*messages: str, prior: tuple[PriorMemory, ...] = (), first: int = 1) -> Observed:
    """``said``: messages of the user, and of the assistant where they begin with ``A:``, from the seq ``first`` on."""
    events = [
        Event(
            seq=seq,
            event_type=EventType.ASSISTANT_RESPONSE if text.startswith("A:") else EventType.USER_MESSAGE,
            content=text.removeprefix("A:").strip(),
            original_tokens=1,
            created_at="2026-03-10T09:30:00.000Z",
        )
        for seq, text in enumerate(messages, start=first)
    ]
    return ExtractiveObserver().observe(PassInput("s1", events, prior, "UTC", 8_000))


def lines(*messages: str) -> list[str]:
    return [line.text for line in observed(*messages).lines]


# --- corrections --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            ("The budget is 12k.", "A: I'll plan with 12k.", "Actually it's 14k."),
            '🟡 User: "The budget is 12k" → User: "Actually it\'s 14k"',
        ),
        (
            ("My flight leaves at seven.", "A: So 7pm.", "No, 7am."),
            '🟡 User: "My flight leaves at seven" → User: "No, 7am"',
        ),
        (
            ("My username is wren_5.", "A: Thanks.", "oops, wren_6"),
            '🟡 User: "My username is wren_5" → User: "oops, wren_6"',
        ),
        (
            ("I'm allergic to peanut oil.", "A: No oil, then.", "No, peanut butter."),
            '🔴 User: "I\'m allergic to peanut oil" → User: "No, peanut butter"',
        ),
    ],
)
def test_a_bare_correction_takes_the_place_of_what_it_corrects(said: tuple[str, ...], kept: str) -> None:
    answer = observed(*said)
    assert [line.text for line in answer.lines] == [kept]
    assert (answer.lines[0].seq_from, answer.lines[0].seq_to) == (1, 3)


NOTED = PriorMemory("mem_1", '🟡 User: "My exam is on Monday (meaning 2026-03-16) at 9"', local=True, span=(1, 2))
"""Of the turn before."""


@pytest.mark.parametrize("said", ["No, Tuesday.", "oh wait, Tuesday", "sorry, I meant Tuesday", "I meant Tuesday"])
def test_a_correction_is_of_what_the_pass_before_noted(said: str) -> None:
    """Each turn is observed by itself."""
    [line] = observed(said, "A: Tuesday, then.", prior=(NOTED,), first=3).lines
    assert line.text.startswith(f'{NOTED.text} → User: "')
    assert line.text.endswith('Tuesday (meaning 2026-03-17)"')
    assert (line.seq_from, line.seq_to) == (3, 3)


def test_it_is_a_correction_where_it_says_hardly_more_than_what_it_corrects() -> None:
    known = PriorMemory("mem_1", '🔴 User: "My new blue bicycle is called Bertha Brown"', local=True, span=(1, 2))
    assert [line.text for line in observed("No, Bertha Black.", prior=(known,), first=3).lines] == [
        '🔴 User: "My new blue bicycle is called Bertha Brown" → User: "No, Bertha Black"'
    ]


@pytest.mark.parametrize(
    "prior",
    [
        PriorMemory("mem_1", NOTED.text, local=True, span=(1, 1)),
        PriorMemory("mem_1", NOTED.text, local=False),
        PriorMemory("mem_1", '✅ Assistant: "I have booked a table for Monday"', local=True, span=(1, 2)),
        PriorMemory("mem_1", '🟡 User: "I have a dog named Rex"', local=True, span=(1, 2)),
    ],
)
def test_what_was_not_said_just_before_is_not_corrected(prior: PriorMemory) -> None:
    assert observed("No, Tuesday.", prior=(prior,), first=3).lines == ()


def test_the_correction_of_a_long_statement_is_whole() -> None:
    long = "I have a meeting on Monday about " + "the budget and the plan " * 11
    [line] = lines(long, "No, Tuesday.")
    assert line.startswith('🟡 User: "I have a meeting on Monday')
    assert line.endswith('the plan" → User: "No, Tuesday (meaning 2026-03-17)"')


@pytest.mark.parametrize("said", ["and it's 8pm, not 7", "It is at 8pm, not 7.", "But that's 8pm, not 7"])
def test_what_names_the_old_value_takes_its_place(said: str) -> None:
    [line] = lines("The party is on Saturday at 7.", said)
    assert line.startswith('🟡 User: "The party is on Saturday')
    assert "8pm, not 7" in line


def test_what_names_its_own_subject_takes_nobodys_place() -> None:
    texts = ("I fly to Oslo on Friday.", "The meeting is on Monday, not Tuesday.")
    assert [line[:20] for line in lines(*texts)] == ['🟡 User: "I fly to Os', '🟡 User: "The meeting is'[:20]]


def test_a_whole_correction_takes_the_place_of_the_statement_it_contradicts() -> None:
    assert lines("I live in Oslo.", "A: Nice.", "Actually I live in Bergen.") == [
        '🔴 User: "Actually I live in Bergen"'
    ]


def test_a_denial_corrects_nothing_that_it_has_nothing_in_common_with() -> None:
    assert lines("I have a dog named Rex.", "A: Shall I paint it blue?", "No, green.") == [
        '🟡 User: "I have a dog named Rex"'
    ]


def test_a_day_is_no_name() -> None:
    assert lines("I have a dog named Rex.", "A: Shall I call on Thursday?", "No, Friday.") == [
        '🟡 User: "I have a dog named Rex"'
    ]


@pytest.mark.parametrize("said", ["It got moved to thursday.", "moved to tomorrow"])
def test_a_day_written_small_takes_the_place_of_a_day(said: str) -> None:
    [line] = lines("I have a call with Ana on Monday.", "A: Noted.", said)
    assert line.startswith('🟡 User: "I have a call with Ana on Monday (meaning 2026-03-16)" → User: "')


@pytest.mark.parametrize("first", [1, 3])
def test_of_several_lines_the_one_with_such_a_value_is_corrected(first: int) -> None:
    """Also where they are those of the pass before."""
    plans = "I see Dr. Lee at 3pm on Tuesday.\nI hand in my thesis on Friday."
    noted = PriorMemory("mem_1", "\n".join(lines(plans)), local=True, span=(1, 2))
    answer = observed(plans, "no, 4pm") if first == 1 else observed("no, 4pm", prior=(noted,), first=first)
    assert '🟡 User: "I see Dr. Lee at 3pm on Tuesday (meaning 2026-03-17)" → User: "no, 4pm"' in [
        line.text for line in answer.lines
    ]


def test_may_is_a_month_where_a_month_stands() -> None:
    for said in ("sorry, I meant June", "No, in July"):
        [line] = lines("I'm flying to Porto with my sister in May.", said)
        assert line.startswith(
            f'🟡 User: "I\'m flying to Porto with my sister in May (meaning 2026-05)" → User: "{said}'
        )


def test_it_is_the_new_not_the_old() -> None:
    assert lines("We meet at the bridge, and it's 8pm, not 7.") == [
        '🟡 User: "We meet at the bridge, and it\'s 8pm, not 7"'
    ]


# --- problems that are over ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "Fixed it.",
        "That worked, thanks!",
        "It works now.",
        "We finally solved the problem!",
        "Clearing the cache fixed the build",
        "the arm64 build is okay again",
        "The build no longer fails.",
    ],
)
def test_what_is_solved_is_no_blocker_any_more(said: str) -> None:
    (line,) = observed("The build keeps failing on arm64.", "A: Try a clean build.", said).lines
    assert line.text.startswith('✅ User: "The build keeps failing on arm64" → User: "')
    assert (line.seq_from, line.seq_to) == (1, 3)


def test_a_problem_of_an_earlier_pass_is_closed_too() -> None:
    known = PriorMemory("mem_1", '🔴 User: "I love tea"\n🔴 User: "I\'m stuck on the login page"', local=True)
    (line,) = observed("Solved it!", prior=(known,)).lines
    assert line.text == '✅ User: "I\'m stuck on the login page" → User: "Solved it"'


@pytest.mark.parametrize(
    "said",
    [
        "Clearing the cache didn't fix the build.",
        "The build still fails.",
        "The oven works again.",
        "I hope it works now.",
    ],
)
def test_what_is_not_solved_or_is_another_thing_closes_nothing(said: str) -> None:
    answer = observed("The build keeps failing on arm64.", "A: Try a clean build.", said)
    assert '🔴 User: "The build keeps failing on arm64"' in [line.text for line in answer.lines]
    assert not any("→" in line.text for line in answer.lines)


def test_without_a_problem_nothing_is_solved() -> None:
    assert lines("I love herring.", "A: Shall I shorten it?", "That worked, thanks!") == ['🔴 User: "I love herring"']


# --- speech that is not the user's own ----------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "Translate: I am allergic to nuts",
        "Translate this into French:\nI live in Rome.\nI have two dogs.",
        "Can you proofread the following?\nI am writing to apply for the job.",
        'The leaflet says "I have read the risks".',
        "She said: I love sailing.",
        "The lease reads: I will not keep pets.",
        "Let's play a game. I'm a pirate. I love gold.",
        "Role play: you are my bank and I want to close my account.",
        "In my novel the hero says: my brother never came home.",
        'print("I live in Berlin")',
        "Imagine I'm a king. I have ten castles.",
    ],
)
def test_translated_quoted_and_played_speech_leaves_nothing(said: str) -> None:
    assert lines(said) == []


def test_a_quotation_stays_as_it_was_said() -> None:
    assert lines('My teacher says "I never sleep" every Monday.') == [
        "🟡 User: \"My teacher says 'I never sleep' every Monday\""
    ]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Remember: no mushrooms.", '🔴 User: "Remember: no mushrooms"'),
        ("FYI: I'm deaf in one ear.", '🔴 User: "FYI: I\'m deaf in one ear"'),
        ("You're amazing! I live in Rome.", '🔴 User: "I live in Rome"'),
        ("As a vegan, where should I eat in Rome?", '🔴 User: "As a vegan, where should I eat in Rome?"'),
        ("I have two cats, please remember that.", '🟡 User: "I have two cats, please remember that"'),
        ("Since I'm diabetic, can I eat dates?", '🔴 User: "Since I\'m diabetic, can I eat dates?"'),
        (
            "Since I'm lactose intolerant, what can I put in my coffee?",
            '🔴 User: "Since I\'m lactose intolerant, what can I put in my coffee?"',
        ),
        ("As a vegan of ten years, what should I cook?", '🔴 User: "As a vegan of ten years, what should I cook?"'),
        (
            "I'm lactose intolerant, so what can I put in my coffee?",
            '🔴 User: "I\'m lactose intolerant, so what can I put in my coffee?"',
        ),
        ("I'm vegan, what can I eat?", '🔴 User: "I\'m vegan, what can I eat?"'),
        ("My wife is pregnant, can she eat sushi?", '🔴 User: "My wife is pregnant, can she eat sushi?"'),
    ],
)
def test_own_statements_around_a_head_or_in_a_question_are_kept(said: str, kept: str) -> None:
    assert lines(said) == [kept]


@pytest.mark.parametrize(
    "said",
    [
        "I'm bored, what can we do?",
        "My bad, what did you say?",
        "I have a question, can you help?",
        "I'm fine, and you?",
        "As a child I loved horses, do you know why?",
    ],
)
def test_few_words_before_a_question_may_say_nothing(said: str) -> None:
    assert lines(said) == []


# --- health, and verbs --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I take metformin.", "🔴"),
        ("I'm pregnant.", "🔴"),
        ("I can't have gluten.", "🔴"),
        ("I rely on my brother.", "🟡"),
        ("I no longer fly to work.", "🟡"),
        ("I and my wife moved to Bonn.", "✅"),
    ],
)
def test_health_is_kept_as_what_must_not_be_missed(said: str, kept: str) -> None:
    assert lines(said) == [f'{kept} User: "{said.removesuffix(".")}"']


def test_a_mark_is_no_word_of_a_statement() -> None:
    known = PriorMemory("mem_1", "🔴 User is allergic to peanuts.", local=True)
    assert content_of("🔴 User is allergic to peanuts 🥜.") == content_of("User is allergic to peanuts.")
    assert observed("I am allergic to peanuts 🥜.", prior=(known,)).lines == ()


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I neither smoke nor drink.", "User neither smokes nor drinks"),
        ("I fix bikes, teach yoga and sing.", "User fixes bikes, teaches yoga and sings"),
        ("I have a cat and feed the neighbour's dog.", "User has a cat and feeds the neighbour's dog"),
        ("I've been vegan since 2015 and don't drink.", "User has been vegan since 2015 and doesn't drink"),
        ("I'm 34, live in Ghent and wear glasses.", "User is 34, lives in Ghent and wears glasses"),
        ("I prefer tea, hate coffee and never drink wine.", "User prefers tea, hates coffee and never drinks wine"),
        ("I have to work and go home late.", "User has to work and go home late"),
        ("I work with people who live and work abroad.", "User works with people who live and work abroad"),
    ],
)
def test_every_verb_of_the_speaker_is_in_the_third_person_and_no_other(said: str, kept: str) -> None:
    assert about("User", said.removesuffix(".")) == kept
