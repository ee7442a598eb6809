"""A message that hands over the text that it is about asks for nothing that was said before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.recall.carried_text import hands_over_its_text

HANDED_OVER = """
Proofread: 'I goes to the market'|Translate this: the kettle is on|Please translate "good evening" into Danish
Could you shorten this paragraph:\\nThe harbour was built in 1890|Correct the spelling of 'recieve'
Turn this into a table: apples 3, pears 5|Fix this sentence: he go home|SUMMARIZE: it rained all week
rewrite the following in plain English: the party of the first part
"""
NOT_HANDED_OVER = """
Translate this into my language: good evening|Rewrite it as I like it: "Dear all"|Summarise what we decided: all of it
Make me a plan: three days in Rome|Change the meeting: it is on Thursday now|Turn off the lights at nine: it is late
Check whether Anna's flight is late|Summarise the trip to Oslo|Translate|I translate for a living: mostly Danish
Correct: I live in Porto|What did Tom's letter say: yes or no?
"""


def _listed(text: str) -> list[str]:
    return [one.replace("\\\\n", "\\n") for one in text.strip().replace("\n", "|").split("|")]


@pytest.mark.parametrize("message", _listed(HANDED_OVER))
def test_what_is_to_be_done_to_a_text_in_the_message(message: str) -> None:
    assert hands_over_its_text(message)


@pytest.mark.parametrize("message", _listed(NOT_HANDED_OVER))
def test_what_is_about_something_else_or_about_its_sender(message: str) -> None:
    assert not hands_over_its_text(message)


@given(st.text(max_size=20_000))
def test_the_text_itself_decides_nothing(text: str) -> None:
    assert hands_over_its_text(f"Proofread: '{'x' + text}'")
    assert not hands_over_its_text(f"x{text}")
