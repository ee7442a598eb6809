"""Recognises headings: the words before a colon in a person's notes about themselves, which name no speaker:
``Allergies: I can't eat nuts``, ``Monday: I have physio`` (docs/rules/observe.md#extractive)."""

from __future__ import annotations

import re

from neve.observers.extractive.english.days import DAY_NAME, MONTH_DAY
from neve.observers.extractive.english.vocabulary import FIRST_PERSON, any_of

_TOPIC = any_of(
    "allergy allergies diet food health medication medications medicine meds sleep mood pain symptom symptoms exercise",
    "work job hobby hobbies family home studies travel result results news first second third finally",
    "breakfast lunch dinner snack",
    r"about me|(?:good|bad|big|great) news|fun fact|tl;?dr|(?:day|week|month) \d+",
)
_CLOCK = r"\d{1,2}(?:[:.]\d\d)?\s?[ap]m"
_HEADING = any_of(
    _TOPIC,
    "today|tomorrow|yesterday|tonight",
    rf"(?:on )?(?:{DAY_NAME}|{MONTH_DAY})|(?:at )?{_CLOCK}|(?:in the )?(?:morning|afternoon|evening)",
)
_WHOLE = re.compile(rf"\W*{_HEADING}\W*", re.IGNORECASE)
_OF_SELF = rf"(?={FIRST_PERSON}\b)"
_COLON = r"\*{0,2}:\*{0,2}\s+"
"""A colon, also in Markdown: ``**Work:** I'm a nurse``"""
_HEADING_FIRST = re.compile(rf"^{_HEADING}{_COLON}{_OF_SELF}", re.IGNORECASE)


def is_heading(head: str) -> bool:
    """Say whether the words before the colon of a line are a heading: "Work", not "Work colleague"."""
    return _WHOLE.fullmatch(head) is not None


def without_heading(text: str) -> str:
    """Cut off the heading of a line: ``Work: I'm a nurse`` -> ``I'm a nurse``."""
    return _HEADING_FIRST.sub("", text)
