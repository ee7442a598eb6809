"""What a message only carries, and what is the user's own: notes under a heading of theirs."""

from __future__ import annotations

import pytest

from neve.domain.records.sessions import Event, EventType
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observing import PassInput


def lines(text: str) -> list[str]:
    event = Event(1, EventType.USER_MESSAGE, text, original_tokens=1, created_at="2026-03-10T09:30:00.000Z")
    observed = ExtractiveObserver().observe(PassInput("s", [event], (), "UTC", 8000))
    assert observed.lines or not observed.facts
    return [line.text for line in observed.lines]


@pytest.mark.parametrize(
    "pasted",
    [
        "12/03/2026, 10:02 - John: I live in Oslo\n12/03/2026, 10:03 - Mary: I'm allergic to nuts",
        "[12/03/26, 10:02:11] John: I'm a nurse\n[12/03/26, 10:03:00] Mary: my dog is called Rex",
        "John, 10:02: I live in Oslo\nMary (10:03 AM): I'm allergic to nuts",
        "10:02 <john> I live in Oslo\n10:03 Mary: I'm allergic to nuts",
        "Subject: Re: meeting\nFrom: bob@example.org\n\nI live in Oslo now and I'm allergic to nuts.",
    ],
)
def test_a_pasted_chat_or_mail_leaves_nothing(pasted: str) -> None:
    assert lines(pasted) == []
    assert lines(f"I live in Rome.\n{pasted}") == ['🔴 User: "I live in Rome"']


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("At 10:30: I took my insulin", '🟡 User: "At 10:30: I took my insulin"'),
        ("10:30 - I took my insulin", '🟡 User: "10:30 - I took my insulin"'),
        ("10:30 - For the record: I'm diabetic", '🔴 User: "10:30 - For the record: I\'m diabetic"'),
    ],
)
def test_a_note_with_a_time_in_front_is_kept(said: str, kept: str) -> None:
    assert lines(said) == [kept]


@pytest.mark.parametrize(
    "pasted",
    [
        "diff --git a/app.py b/app.py\n@@ -1,4 +1,5 @@\n-# I hate it\n+# my favorite color is teal\n import re",
        "def greet():\n    # I live in Paris\n    // I never use semicolons\n    return name",
        "/* I hate this API */",
        '$ git commit -m "I moved to Rust"',
        "SELECT * FROM users WHERE name = 'I am Bob';",
        "<p>I am a vegan chef from Rome</p>",
        "| Name | Note |\n| --- | --- |\n| Ann | I am allergic to nuts |",
    ],
)
def test_source_code_without_a_fence_leaves_nothing(pasted: str) -> None:
    assert lines(pasted) == []
    assert lines(f"I live in Bern.\n{pasted}\nI'm a nurse.") == ['🔴 User: "I live in Bern"', '🔴 User: "I\'m a nurse"']


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("- I live in Bern\n- I'm a nurse", ['🔴 User: "I live in Bern"', '🔴 User: "I\'m a nurse"']),
        ("# About me\nI live in Bern", ['🔴 User: "I live in Bern"']),
        ("$ 500 is my budget for rent", ['🟡 User: "$ 500 is my budget for rent"']),
    ],
)
def test_lists_headings_and_prices_are_no_source_code(said: str, kept: list[str]) -> None:
    assert lines(said) == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "Monday: I have physio at 9\nOn Thursday: I see my mum",
            [
                '🟡 User: "Monday (meaning 2026-03-16): I have physio at 9"',
                '🟡 User: "On Thursday (meaning 2026-03-12): I see my mum"',
            ],
        ),
        ("- 8am: I took my pills", ['🟡 User: "8am: I took my pills"']),
        ("June 3: I had a migraine", ['🟡 User: "June 3 (meaning 2025-06-03): I had a migraine"']),
        ("**Allergies**: I can't eat peanuts", ['🔴 User: "Allergies: I can\'t eat peanuts"']),
        ("- **Allergies:** I can't eat peanuts", ['🔴 User: "Allergies: I can\'t eat peanuts"']),
        ("About me: I live in Oslo", ['🔴 User: "About me: I live in Oslo"']),
        ("Work: I'm a nurse at Charité", ['🔴 User: "Work: I\'m a nurse at Charité"']),
    ],
)
def test_what_stands_under_a_heading_is_kept(said: str, kept: list[str]) -> None:
    assert lines(said) == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("By the way: I'm a type 1 diabetic", '🔴 User: "I\'m a type 1 diabetic"'),
        ("Change of plan: I'm flying to Kyoto with Wim", '🟡 User: "Change of plan: I\'m flying to Kyoto with Wim"'),
        ("Long story short: I'm allergic to latex", '🔴 User: "Long story short: I\'m allergic to latex"'),
        ("Quick update: I'm allergic to latex", '🔴 User: "Quick update: I\'m allergic to latex"'),
        ("- Other things to know: I'm vegan", '🔴 User: "Other things to know: I\'m vegan"'),
        (
            "bad news from the clinic: i'm allergic to latex",
            '🔴 User: "bad news from the clinic: i\'m allergic to latex"',
        ),
    ],
)
def test_what_leads_to_a_statement_is_no_speaker(said: str, kept: str) -> None:
    assert lines(said) == [kept]


@pytest.mark.parametrize(
    "said",
    [
        "Dan: I live in Oslo",
        "Dan Miller: I live in Oslo",
        "dan miller: i live in oslo",
        "Work colleague: I'm a nurse",
        "Family doctor: I'm allergic to nuts",
        "The man behind me in the line said: I live in Oslo",
        "Sentence 3: I live in Oslo",
        "The first line of the poem: I live in Oslo",
        "can you make this sound nicer: i hate my job and i live in oslo",
        "Give me synonyms for: I live in Oslo",
    ],
)
def test_a_speaker_is_no_heading(said: str) -> None:
    assert lines(said) == []
