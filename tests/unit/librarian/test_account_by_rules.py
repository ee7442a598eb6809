"""What is left of a session without a model (docs/rules/librarian.md#extractive)."""

from __future__ import annotations

import pytest

from neve.domain.compact.headings import SummaryText
from neve.domain.librarian.account import as_memory
from neve.domain.librarian.extract import account_of
from neve.domain.librarian.filing import Account
from neve.domain.records.sessions import Event, EventType
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observing import FilingInput
from tests.unit.domain_rows import event


def chat(*messages: str, answer: str = "In summary, patience is key. Next steps: try a smaller loaf.") -> list[Event]:
    log: list[Event] = []
    for message in messages:
        log.append(event(len(log) + 1, message))
        log.append(event(len(log) + 1, answer, event_type=EventType.ASSISTANT_RESPONSE))
    return log


def account(*messages: str) -> Account:
    filed = ExtractiveObserver().file_away(FilingInput("s1", tuple(chat(*messages)), (), "UTC"))
    assert filed.account is not None
    return filed.account


def test_a_session_of_questions_and_requests_leaves_a_title_and_topics() -> None:
    of = account("What is the capital of France?", "Write me a haiku about rain.", "can you make it shorter?")

    assert (of.text, of.outcome) == (SummaryText(), "SUCCESS")
    assert as_memory(of, "2026-03-10") == (
        'Session of 2026-03-10, "Write a haiku about rain" (SUCCESS, neutral;'
        " about france, capital, write, haiku, rain)."
    )


def test_nothing_of_a_scene_or_of_a_text_that_is_handed_over_is_told() -> None:
    of = account(
        "Let's role-play. I am Kael, a blind swordsman.",
        "I am Kael. I have never lost a duel!",
        "Translate this: I live in Bergen and I prefer tea.",
        "Stop the role-play.",
        "I prefer short stories.",
    )

    assert of.text == SummaryText(preferences=("user (2026-03-10): I prefer short stories.",))


@pytest.mark.parametrize(
    "message",
    [
        "Don't remember this: I lost 5000 at the casino last week.",
        "I lost 5000 at the casino last week. Please don't save that.",
        "Don't store this. Write my wife a letter because I lost 5000 at the casino last week.",
        "Off the record, I lost 5000 at the casino last week.",
    ],
)
def test_what_is_not_to_be_remembered_is_told_nowhere(message: str) -> None:
    of = account(message, "I prefer tea.")

    assert of.text == SummaryText(preferences=("user (2026-03-10): I prefer tea.",))
    assert "casino" not in as_memory(of, "2026-03-10") and "letter" not in of.title
    assert account_of(chat(message), None, None).text == SummaryText()


@pytest.mark.parametrize(
    ("message", "topics"),
    [
        ("My pin is [removed], the IBAN DE89 [removed] is of the bank in Graz.", ("graz", "iban", "pin", "bank")),
        ("We bought 3 chairs and a 4k screen for Ana.", ("ana", "bought", "chairs", "screen")),
    ],
)
def test_no_topic_is_a_figure_or_stands_for_what_was_removed(message: str, topics: tuple[str, ...]) -> None:
    of = account_of(chat(message), None, None)

    assert sorted(of.key_topics) == sorted(topics)
    assert "removed" not in of.title.lower()


def test_what_nobody_says_is_no_topic() -> None:
    of = account_of(chat(f"{'a' * 60} or {'b' * 61} of Graz."), None, None)

    assert sorted(of.key_topics) == ["a" * 60, "graz"]


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Save my IBAN DE89 3704 [removed] for Ana", "Save my IBAN for Ana"),
        ("Card [*] 4242 of Ana", "Card of Ana"),
        ("Ten days in Oslo, 2026", "Ten days in Oslo, 2026"),
        ("[removed]", "Oslo trip"),
    ],
)
def test_a_title_has_nothing_of_what_was_removed(title: str, shown: str) -> None:
    assert account_of(chat("A trip to Oslo is a trip."), title, None).title == shown
