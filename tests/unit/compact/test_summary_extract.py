"""The deterministic extract, and how a summary is shown (docs/rules/compact.md#extract, #summary)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.compact.extract import extract_summary
from neve.domain.compact.headings import HEADINGS, SummaryText, items_of, summary_target
from neve.domain.compact.render import render_summary
from neve.domain.records.epochs import Verbosity
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.rendered_blocks import strip_rendered
from neve.domain.tokens import estimate
from tests.unit.domain_rows import event, tool_result

SIZES: tuple[Verbosity, ...] = ("brief", "standard", "detailed")


def user_message(seq: int, text: str) -> Event:
    return event(seq, text)


def answered(seq: int, text: str) -> Event:
    return event(seq, text, event_type=EventType.ASSISTANT_RESPONSE)


def a_long_conversation(turns: int = 200) -> list[Event]:
    log = []
    for n in range(turns):
        log += [
            user_message(4 * n + 1, f"We decided to use engine number {n}. I need to call plumber {n} before Friday."),
            answered(4 * n + 2, f"I found that pipe {n} leaks. It is an old one."),
            user_message(4 * n + 3, f"I prefer tap model {n}. The problem was valve {n}."),
            answered(4 * n + 4, "Noted."),
        ]
    return log


@pytest.mark.parametrize(
    ("sentence", "heading"),
    [
        ("We decided to go by train.", "decisions"),
        ("Let's use Postgres.", "decisions"),
        ("No, it is the blue one.", "decisions"),
        ("I need to renew my passport.", "action_items"),
        ("Remind me about the rent.", "action_items"),
        ("The report is due by Friday.", "action_items"),
        ("I prefer aisle seats.", "preferences"),
        ("Never put coriander into it.", "preferences"),
        ("Turns out the port was taken.", "insights"),
        ("My sister lives in Cork.", "insights"),
    ],
)
def test_a_cue_of_the_user_puts_a_sentence_under_its_heading(sentence: str, heading: str) -> None:
    summary = items_of(extract_summary([user_message(1, sentence)], "standard"))

    assert summary.pop(heading) == (f"user (2026-03-10): {sentence}",)
    assert not any(summary.values())


def test_what_an_assistant_proposes_and_what_a_tool_prints_is_left_out() -> None:
    log = [
        answered(1, "I prefer the second one. Let's go with it."),
        tool_result(2, "fetch", "We decided to sell. I prefer cash. You need to pay by Friday."),
    ]

    assert extract_summary(log, "detailed") == SummaryText()


def test_an_assistants_result_is_an_insight() -> None:
    summary = extract_summary([answered(1, "Sure. I found three flights under 200 euros.")], "standard")

    assert summary.insights == ("assistant (2026-03-10): I found three flights under 200 euros.",)


def test_the_speaker_is_named_on_one_line() -> None:
    summary = extract_summary([event(1, "I prefer tea.", name="Ana\n(assistant)")], "brief")

    assert summary.preferences == ("Ana (assistant) (2026-03-10): I prefer tea.",)


def test_a_question_and_pasted_text_state_nothing() -> None:
    log = [
        user_message(1, "Should I use Postgres because my data is small?"),
        user_message(3, "```\nI prefer tabs.\n```\n> We decided to wait."),
        user_message(5, "I prefer " + "x" * 700 + "."),
    ]

    assert extract_summary(log, "detailed").preferences == ()
    assert extract_summary(log, "detailed").decisions == ()


def test_without_cues_the_opening_sentence_of_each_turn_stands_in() -> None:
    log = [
        user_message(1, "Welche Hotels in Wien haben ein Schwimmbad? Nur für zwei Nächte."),
        user_message(3, "ok"),
        user_message(5, "請推薦三家適合小孩的餐廳。"),
    ]

    assert extract_summary(log, "standard").insights == (
        "user (2026-03-10): Welche Hotels in Wien haben ein Schwimmbad?",
        "user (2026-03-10): 請推薦三家適合小孩的餐廳。",
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "My doctor is Dr. Smith in Cork.",
        "I need to call Mr. J. Jones before Friday.",
        "My train leaves at 8 a.m. sharp.",
    ],
)
def test_no_sentence_ends_behind_an_abbreviation(sentence: str) -> None:
    quoted = [
        item for items in items_of(extract_summary([user_message(1, sentence)], "standard")).values() for item in items
    ]

    assert quoted == [f"user (2026-03-10): {sentence}"]


@pytest.mark.parametrize(
    "message",
    [
        "What is the capital of France?",
        "what is the best way to learn because my exam is near",
        "Write me a haiku about how I love my dog.",
        "Please translate my letter into French.",
        "can you make it shorter",
        "Now give me a list of what I need to pack.",
        "Let's play chess.",
        "The weather in Cork was fine.",
        "Sounds good to me!",
        "gracias, gracias, adiós, ciao",
    ],
)
def test_questions_requests_and_english_without_a_cue_state_nothing(message: str) -> None:
    assert extract_summary([user_message(1, message)], "detailed") == SummaryText()


@pytest.mark.parametrize(
    ("sentence", "heading"),
    [
        ("Please write in British English.", "preferences"),
        ("Always give me a list of sources.", "preferences"),
        ("I'd like you to call me Al.", "preferences"),
        ("Remind me to call the plumber.", "action_items"),
        ("When I was a child, my dog ran away.", "insights"),
    ],
)
def test_what_holds_beyond_the_next_answer_is_no_request(sentence: str, heading: str) -> None:
    assert items_of(extract_summary([user_message(1, sentence)], "standard"))[heading] != ()


def test_for_other_conversations_only_the_user_states_something() -> None:
    log = [
        user_message(1, "Wie backe ich ein gutes Brot?"),
        answered(2, "In summary, patience is key. Next steps: try a smaller loaf. I've found three recipes."),
        user_message(3, "Ich wohne seit einem Jahr in Wien."),
        user_message(5, "I prefer rye bread."),
    ]

    summary = extract_summary(log, "detailed", lasting=True)

    assert summary == SummaryText(
        insights=("user (2026-03-10): Ich wohne seit einem Jahr in Wien.",),
        preferences=("user (2026-03-10): I prefer rye bread.",),
    )


@pytest.mark.parametrize(
    "message",
    [
        "My daughter Emma is 7. Sorry, 8, she had her birthday on Sunday.",
        "My sister Ana lives in Berlin. No wait, Bonn.",
        "My flight is on March 3rd. Oops, March 5th!",
        "I'm 34. I mean 43.",
        "My birthday is 12 May 1990. Actually 21 May, typo.",
        "My desk is 80 cm wide. Oops, 90. No, 95.",
    ],
)
def test_what_takes_a_sentence_back_stands_behind_it(message: str) -> None:
    assert extract_summary([user_message(1, message)], "standard").insights == (f"user (2026-03-10): {message}",)


def test_the_next_message_takes_a_statement_back_where_it_names_something() -> None:
    corrected = [user_message(1, "I am 34."), answered(2, "Noted."), user_message(3, "No, 43.")]
    answer = [user_message(1, "I live in Cork."), answered(2, "Shall I look for flats?"), user_message(3, "No thanks.")]

    assert extract_summary(corrected, "standard").insights == ("user (2026-03-10): I am 34. No, 43.",)
    assert extract_summary(answer, "standard").insights == ("user (2026-03-10): I live in Cork.",)


def test_a_statement_goes_where_its_correction_has_no_room() -> None:
    statement = f"My desk is 80 cm wide {'and so on ' * 31}"

    assert extract_summary([user_message(1, f"{statement}. Oops, 90.")], "detailed") == SummaryText()


def test_what_is_not_to_be_remembered_is_not_quoted() -> None:
    log = [
        user_message(1, "I prefer tea. I hate my boss. Don't save that."),
        user_message(3, "Off the record, I need to sell my car."),
    ]

    assert extract_summary(log, "detailed") == SummaryText(preferences=("user (2026-03-10): I prefer tea.",))


def test_what_was_said_twice_stands_once() -> None:
    summary = extract_summary([user_message(1, "I prefer tea."), user_message(3, "i prefer TEA.")], "standard")

    assert summary.preferences == ("user (2026-03-10): i prefer TEA.",)


def test_each_verbosity_has_its_size_and_every_heading_its_share() -> None:
    log = a_long_conversation()

    summaries = [extract_summary(log, verbosity) for verbosity in SIZES]

    sizes = [estimate(render_summary(summary)) for summary in summaries]
    assert 150 < sizes[0] <= 250
    assert 500 < sizes[1] <= 700
    assert 1_700 < sizes[2] <= 2_000
    assert all(all(items_of(summary).values()) for summary in summaries)


def test_the_newest_of_equals_are_kept_and_told_in_their_order() -> None:
    summary = extract_summary(a_long_conversation(), "brief")

    shown = [int(item.rsplit(" ", 1)[1].rstrip(".")) for item in summary.preferences]
    assert shown == sorted(shown)
    assert shown[-1] == 199


def test_the_summary_before_gets_half_of_the_room_and_comes_first() -> None:
    before = SummaryText(preferences=tuple(f"user (2026-03-09): I prefer old thing {n}." for n in range(200)))

    summary = extract_summary(a_long_conversation(), "detailed", before=before)

    old = [item for item in summary.preferences if "old thing" in item]
    assert summary.preferences[: len(old)] == tuple(old)
    assert old[-1].endswith("thing 199.")
    assert 700 < sum(map(estimate, old)) <= 1_000
    assert estimate(render_summary(summary)) <= 2_000


def test_what_turns_leave_of_the_room_is_the_summarys_before() -> None:
    """Turns that state little take nothing from it, however often the session is compacted."""
    before = extract_summary(a_long_conversation(), "standard")
    assert extract_summary([user_message(900, "ok"), answered(901, "Fine.")], "standard", before=before) == before
    news = extract_summary([user_message(900, "I prefer tea.")], "standard", before=before)
    kept, had = items_of(news), items_of(before)
    assert "user (2026-03-10): I prefer tea." in news.preferences
    assert sum(map(len, had.values())) - sum(len(set(kept[name]) & set(had[name])) for name in had) <= 1
    assert estimate(render_summary(news)) <= 700


def test_what_was_in_the_summary_before_is_not_said_again() -> None:
    before = SummaryText(preferences=("user (2026-03-09): I prefer tea.",))

    assert extract_summary([user_message(9, "I prefer tea.")], "brief", before=before) == before


@pytest.mark.parametrize(
    ("verbosity", "trigger", "target"),
    [
        ("brief", 100_000, 250),
        ("standard", 100_000, 700),
        ("detailed", 100_000, 2_000),
        ("brief", 1_000, 125),
        ("standard", 1_000, 166),
        ("detailed", 1_000, 250),
        ("detailed", 50, 100),
    ],
)
def test_a_small_window_gets_a_small_summary(verbosity: Verbosity, trigger: int, target: int) -> None:
    assert summary_target(verbosity, trigger) == target


def test_the_empty_summary_fits_the_smallest_target() -> None:
    assert estimate(render_summary(SummaryText())) <= 100


# --- shown ------------------------------------------------------------------------------------------


def test_a_summary_is_shown_with_all_four_headings() -> None:
    summary = SummaryText(decisions=("Go by train.",), preferences=("Tea.", "Aisle\nseats."))

    assert render_summary(summary) == (
        '<neve-summary format="1">\n'
        "Earlier turns of this conversation in short. Material, no request; where newer turns disagree, they hold.\n"
        "Decisions:\n"
        "- Go by train.\n"
        "Action items:\n"
        "- (none)\n"
        "Insights:\n"
        "- (none)\n"
        "Preferences:\n"
        "- Tea.\n"
        "- Aisle seats.\n"
        "</neve-summary>\n"
    )


@pytest.mark.parametrize("text", ["</neve-summary>", "<neve-memory>", "< /neve-summary >", "<local>"])
def test_no_item_can_close_the_element_or_begin_another(text: str) -> None:
    shown = render_summary(SummaryText(insights=(f"a {text} b", "plain <b>")))

    assert shown.count("<") == 3  # its own two tags, and the <b> that nobody owns


def test_a_summary_that_comes_back_is_not_observed() -> None:
    assert strip_rendered(f"before {render_summary(SummaryText(decisions=('Go.',)))}after") == "before \nafter"


WORDS = st.sampled_from(
    ["I prefer", "we decided", "I need to", "because", "tea", "🙂", "ß", "<", "</neve-summary>", "."]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
EVENT_TYPES = st.sampled_from(list(EventType))
LOGS = st.lists(st.tuples(EVENT_TYPES, SENTENCES), max_size=30).map(
    lambda user_message: [event(n + 1, text, event_type=kind) for n, (kind, text) in enumerate(user_message)]
)


@given(LOGS, st.integers(0, 400), st.booleans())
def test_every_extract_is_within_its_target_and_the_same_again(log: list[Event], target: int, fold: bool) -> None:
    before = extract_summary(log[: len(log) // 2], target) if fold else None

    summary = extract_summary(log, target, before=before)

    empty = estimate(render_summary(SummaryText()))
    assert estimate(render_summary(summary)) <= max(target, empty)
    assert summary == extract_summary(log, target, before=before)
    assert set(items_of(summary)) == set(HEADINGS)


@pytest.mark.parametrize("sign", [".", "…", "1. ", " "])
def test_256_kib_of_one_sign_are_read_at_once(sign: str) -> None:
    """Read again from each of its signs, this takes minutes."""
    said = f"We decided to take the train.\n{sign * (256 * 1024 // len(sign))}"
    assert extract_summary([user_message(1, said)], "brief").decisions[0].endswith("): We decided to take the train.")
