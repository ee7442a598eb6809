"""What a person asked not to have remembered is left out."""

from __future__ import annotations

import pytest

from neve.domain.observe.unwanted import wanted_sentences


@pytest.mark.parametrize(
    "sentence",
    [
        "Don't remember this: I have HIV.",
        "Do not store that I am on probation.",
        "Please don't save this: my PIN is 4411.",
        "Off the record, I'm looking for another job.",
        "Keep this private: I'm pregnant.",
        "Between us, I can't stand my boss.",
        "I'm getting divorced, but please don’t remember that.",
        "You don't need to remember this, but I failed the exam.",
        "I want to quit, just between you and me.",
    ],
)
def test_a_sentence_that_is_not_to_be_remembered(sentence: str) -> None:
    assert wanted_sentences(["I live in Bonn.", "I like tea.", sentence, "I sing."]) == [
        "I live in Bonn.",
        "I like tea.",
        "I sing.",
    ]


@pytest.mark.parametrize("request_", ["Don't remember that.", "Please do not save this!", "That's between us."])
def test_the_sentence_before_a_bare_request(request_: str) -> None:
    assert wanted_sentences(["I live in Bonn.", "I have HIV.", request_, "I sing."]) == ["I live in Bonn.", "I sing."]


def test_the_sentence_behind_a_bare_request_that_begins_or_ends_in_a_colon() -> None:
    assert wanted_sentences(["Off the record.", "I have HIV.", "I sing."]) == ["I sing."]
    assert wanted_sentences(["I sing.", "Don't store this:", "I have HIV."]) == ["I sing."]


def test_all_of_a_message() -> None:
    assert wanted_sentences(["I have HIV.", "I'm on probation.", "Don't save any of this."]) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Don't forget this: I have a dog.",
        "I don't remember that.",
        "Don't store passwords in plain text.",
        "Don't save it in the src folder.",
        "The distance between us is 40 km.",
        "Remember this: my gate code is 12.",
        "Never write it in capitals.",
        "Don't forget that I'm vegan.",
        "Never forget my birthday.",
        "I always forget my keys.",
        "Forget what I said, I'm going to Bonn.",
    ],
)
def test_what_is_no_such_request_stays(sentence: str) -> None:
    assert wanted_sentences(["I sing.", sentence]) == ["I sing.", sentence]


@pytest.mark.parametrize(
    "request_",
    [
        "Please forget that I'm vegan.",
        "Forget my address in Bonn.",
        "Can you forget what I told you about Max?",
        "I want you to forget everything about my ex.",
    ],
)
def test_what_is_to_be_forgotten_is_not_remembered(request_: str) -> None:
    assert wanted_sentences(["I sing.", request_]) == ["I sing."]
