"""Statements in the third person, as facts and documents have them."""

from __future__ import annotations

import pytest

from neve.observers.extractive.english.person import about


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("My name is Olga and I live in Riga.", "User's name is Olga and User lives in Riga"),
        ("Hi, my name is Tom and I'm a nurse from Leeds.", "User's name is Tom and User is a nurse from Leeds"),
        ("My son is four and I work nights", "User's son is four and User works nights"),
        ("My back hurts and I can't sit", "User's back hurts and User can't sit"),
        ("My wife Ana and I moved to Oslo", "User and their wife Ana moved to Oslo"),
    ],
)
def test_only_people_are_joined_with_the_user(said: str, kept: str) -> None:
    assert about("User", said.removeprefix("Hi, ").removesuffix(".")).casefold() == kept.casefold()


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "My daughter is allergic to nuts and I'm allergic to cats.",
            "User's daughter is allergic to nuts and User is allergic to cats",
        ),
        ("My wife loves sushi but I hate it.", "User's wife loves sushi but User hates it"),
        (
            "My colleague Tom and my wife are vegan, I'm not.",
            "User's colleague Tom and User's wife are vegan, User is not",
        ),
        ("My boss Karin told me I'm getting promoted.", "User's boss Karin told them User is getting promoted"),
        (
            "My mom is allergic to penicillin and so am I.",
            "User's mom is allergic to penicillin and so is User",
        ),
        ("I live in Oslo and my sister lives in Rome.", "User lives in Oslo and their sister lives in Rome"),
        (
            "My mum is a nurse and I'm a vet, so I know my way.",
            "User's mum is a nurse and User is a vet, so they know their way",
        ),
    ],
)
def test_what_is_said_of_a_relative_is_not_said_of_the_user(said: str, kept: str) -> None:
    """ "They" behind "User's daughter" would be the daughter."""
    assert about("User", said.removeprefix("Hi, ").removesuffix(".")).casefold() == kept.casefold()


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
