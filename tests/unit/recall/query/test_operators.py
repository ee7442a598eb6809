"""A tool's phrases and exclusions hold whatever leg found a row, and in rows that are too new for the index. What a
person types is no query."""

from __future__ import annotations

from typing import Any

from neve.usecases.ask.recall.record_recall import get_recall
from tests.unit.recall_world import RecallWorld

KID, DAUGHTER, SON = (
    "User's kid paints kites.",
    "User's daughter paints red kites.",
    "User's son paints kites, red ones.",
)
"""Their words for a child are one meaning."""


def searched(world: RecallWorld, query: str, **given: Any) -> list[str]:
    """What a tool finds."""
    return world.found(query, mode="tool", **given)


def outcomes(world: RecallWorld, query: str, **given: Any) -> dict[str, str]:
    """The outcome of each candidate of a tool's query, as the ledger tells it."""
    answer = world.ask(query, mode="tool", **given)
    return {hit["id"]: hit["outcome"] for hit in get_recall(world.user("ann"), str(answer.recall_id)).hits}


def test_what_the_question_says_does_not_lift_the_operators_of_the_query(world: RecallWorld) -> None:
    kid, daughter = world.remember(KID), world.remember(DAUGHTER)
    world.pump()
    assert searched(world, "paints -daughter", question="what does my child paint?", threshold=0) == [kid]
    assert daughter in searched(world, "paints", question="what does my child paint?", threshold=0)


def test_rows_that_are_too_new_for_the_index_obey_too(world: RecallWorld) -> None:
    kid, daughter, son = (world.remember(text) for text in (KID, DAUGHTER, SON))
    assert set(searched(world, "paints kites")) == {kid, daughter, son}
    assert searched(world, "paints -red") == [kid]
    assert searched(world, 'paints "red kites"') == [daughter]


def test_what_the_vector_leg_found_in_vain_makes_room(world: RecallWorld) -> None:
    """More rows of the excluded word than a leg is deep, all nearer than the one that is left."""
    for n in range(80):
        world.remember(f"child kite {n} wine")
    memory = world.remember("child kite sky bird house")
    world.pump()
    assert searched(world, "child kite -wine", legs=("vector",), threshold=0) == [memory]


def test_a_row_of_two_passages_is_judged_by_the_one_that_was_found(world: RecallWorld) -> None:
    """Its second passage holds the phrase; the vector leg found the first."""
    long = world.remember("kayak " * 400 + "\n\n" + "tent " * 380 + "red bicycle")
    world.pump()
    other = world.remember("A red bicycle is a kayak.")
    world.pump()
    assert set(searched(world, 'tent "red bicycle"', threshold=0)) == {long, other}
    asked = {"question": "kayak", "legs": ("vector",), "threshold": 0}
    assert outcomes(world, 'kayak "red bicycle"', **asked) == {long: "lacks_phrase", other: "returned"}


def test_the_answer_says_by_which_operators_it_was_narrowed(world: RecallWorld) -> None:
    world.remember(DAUGHTER)
    world.pump()
    [_, phrase, excluded] = world.ask('who said "Red kites" paints -son', mode="tool").transparency
    assert phrase == 'Searched only for what holds "red kites", which the message quotes.'
    assert excluded == "Left out what holds son, which the message excludes by a minus."
    assert len(world.ask("who paints kites?").transparency) == 1


def test_what_a_person_quotes_is_the_likelier_answer(world: RecallWorld) -> None:
    """Both have all words of the message."""
    scattered = world.remember("User paints red walls and likes kites.")
    quoted = world.remember("User likes walls and paints red kites.")
    world.pump()
    for message in ('who likes "red kites" and walls', "who likes “red kites” and walls"):
        first, second = world.ask(message, legs=("lexical",)).hits
        assert (first.id, second.id) == (quoted, scattered)
        assert first.components["quoted"] > 1 and "quoted" not in second.components
        assert first.components["prior"] > second.components["prior"]


def test_a_message_that_quotes_finds_nothing_off_topic(world: RecallWorld) -> None:
    world.remember(KID)
    world.pump()
    for quoted in ("medieval cannons", "kites"):
        answer = world.ask(f'explain how "{quoted}" changed the walls of medieval castles')
        assert (answer.hits, answer.transparency) == ([], ["Loaded 0 relevant entries: (none)"])


def test_a_dash_at_the_beginning_of_a_line_is_that_of_a_list(world: RecallWorld) -> None:
    kid, daughter = world.remember(KID), world.remember(DAUGHTER)
    world.pump()
    assert set(searched(world, "what is painted?\n-kites\n- red\n  -more kites", threshold=0)) == {kid, daughter}
    assert searched(world, "what is painted? -red\n-kites", threshold=0) == [kid]
    assert set(searched(world, "-kites\n-red\n-paints", threshold=0)) == {kid, daughter}
