"""A part that is played goes on in the messages behind it, and in the passes behind that of the one that set it."""

from __future__ import annotations

import pytest

from neve.domain.observe.scenes import may_set
from neve.domain.records.markers import Scene
from neve.domain.records.sessions import Event, EventType
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observers.extractive.speech import own_events
from neve.observing import Observed, PassInput

SELF = "My name is Klaus and I'm allergic to feathers. I lost my passport. I'm flying to Oslo on Friday."
BOTH = [
    "You are a hotel receptionist and I'm a guest from Brazil.",
    "Let's role-play. I am Kael, the knight.",
    "Can we do a role play?",
    "Let's pretend we are pirates.",
    "Pretend you're my landlord and I'm your tenant.",
    "I'm your patient.",
    "I'm the patient, you're the doctor.",
    "You are a strict interviewer and I'm a candidate.",
    "You're the dungeon master and I am a player.",
    "I'm the customer and you are the waiter.",
    "I want to role-play.",
    "I want to role-play with you.",
    "I'd like to role-play a job interview.",
    "Could you role-play as my boss?",
    "Let's play: you're the baker and I'm a customer from Rome.",
    "let's pretend I'm a ghost and you're the landlord",
]
LISTENER = [
    "Act as my German teacher.",
    "I want you to act as a travel agent",
    "Please play the role of a nutritionist.",
    "Pretend to be a chef",
    "Pretend to be Napoleon",
    "Act like a pirate.",
    "Respond as a pirate.",
    "Be my therapist.",
]
NO_SCENE = [
    "You are a star, I'm so happy!",
    "I love role-playing games.",
    "Let's play chess.",
    "In the movie yesterday everybody died.",
    "You're my hero!",
    "My boss acts like a child.",
    "Be my guest!",
]
ORDINARY = [
    "I'm the client in this project.",
    "I am the boss of a small bakery.",
    "I'm the student representative at my school.",
    "I'm the patient one in my family.",
    "You are a great help, and I am a nurse by the way.",
    "You are the best and I am a vegan.",
    "You're a lifesaver, I am the proud owner of a cat now.",
    "You are a genius and I'm an idiot.",
    "You're a great teacher and I'm a student in Leeds.",
    "You play the piano and I play the guitar.",
    "I want to role-play less.",
    "I want to talk about role-play in therapy.",
    "Answer as briefly as possible.",
    "Please answer as concisely as you can.",
    "Respond as soon as you can.",
    "Answer as JSON.",
    "Answer like an adult.",
    "Talk to me like a friend.",
    "Speak to me like I'm five.",
]


def events(*said: str, hour: int = 10, first: int = 1) -> list[Event]:
    """Each answered."""
    spoken = [one for text in said for one in ((EventType.USER_MESSAGE, text), (EventType.ASSISTANT_RESPONSE, "Okay!"))]
    return [
        Event(n, kind, text, original_tokens=1, created_at=f"2026-03-10T{hour:02d}:{n:02d}:00.000Z")
        for n, (kind, text) in enumerate(spoken, start=first)
    ]


def observed(given: list[Event], scene: Scene | None = None) -> Observed:
    return ExtractiveObserver().observe(PassInput("s", given, (), "UTC", 8000, max_lines=60, scene=scene))


def lines(found: Observed) -> list[str]:
    return [line.text for line in found.lines]


@pytest.mark.parametrize("sets", BOTH)
def test_what_is_said_in_a_scene_is_not_remembered(sets: str) -> None:
    found = observed(events(sets, SELF, SELF))
    assert (lines(found), found.facts) == ([], ())


@pytest.mark.parametrize("sets", BOTH)
def test_a_scene_goes_on_in_the_next_pass(sets: str) -> None:
    scene = observed(events(sets)).scene
    found = observed(events(SELF, first=3), scene)
    assert (lines(found), found.facts) == ([], ())
    assert found.scene == Scene("2026-03-10T10:03:00.000Z", both=True)


@pytest.mark.parametrize("sets", LISTENER)
def test_what_is_said_to_somebody_who_plays_a_part_is_no_more_than_a_note(sets: str) -> None:
    first = observed(events(sets))
    for found in (observed(events(sets, SELF)), observed(events(SELF, first=3), first.scene)):
        assert found.facts == ()
        assert [line for line in lines(found) if "🔴" in line or "Klaus" in line] == []
        assert any("Oslo" in line for line in lines(found))


def test_who_asks_a_part_for_advice_keeps_their_health_as_a_note() -> None:
    found = observed(events("Act as a nutritionist. I'm diabetic, what can I eat?", "Always answer in French."))
    assert (lines(found), found.facts) == (['🟡 User: "I\'m diabetic, what can I eat?"'], ())


@pytest.mark.parametrize("said", [*NO_SCENE, *ORDINARY])
def test_other_words_set_no_scene(said: str) -> None:
    found = observed(events(said, "I'm allergic to feathers."))
    assert '🔴 User: "I\'m allergic to feathers"' in lines(found)
    assert found.scene is None


@pytest.mark.parametrize("said", ORDINARY)
def test_what_is_said_behind_ordinary_words_in_their_message_is_kept(said: str) -> None:
    found = observed(events(f"{said} I'm allergic to feathers."))
    assert '🔴 User: "I\'m allergic to feathers"' in lines(found)
    assert [fact.text for fact in found.facts if "feathers" in fact.text] == ["User is allergic to feathers"]


@pytest.mark.parametrize(
    "ends",
    ["Okay, let's stop the role-play.", "The game is over.", "Out of character:", "Enough acting!", "End scene."],
)
def test_a_scene_that_is_over_is_over(ends: str) -> None:
    found = observed(events(BOTH[0], "I lost my passport.", f"{ends}\nI'm allergic to feathers.", "I live in Porto."))
    assert lines(found) == ['🔴 User: "I\'m allergic to feathers"', '🔴 User: "I live in Porto"']
    assert found.scene is None


def test_nobody_goes_on_with_a_scene_that_was_left_for_half_a_day() -> None:
    scene = observed(events(BOTH[0], hour=1)).scene
    assert observed(events("I live in Porto.", hour=12, first=3), scene).facts == ()
    assert [fact.text for fact in observed(events("I live in Porto.", hour=14, first=3), scene).facts] == [
        "User lives in Porto"
    ]


def test_nothing_that_is_said_in_a_scene_is_filed() -> None:
    left = own_events(events(BOTH[0], "I live in Munich.", "Stop the game.", "I live in Porto."))
    assert [one.content for one in left if one.event_type is EventType.USER_MESSAGE] == ["I live in Porto."]


@pytest.mark.parametrize("sets", [*BOTH, *LISTENER, "You’re my teacher and I’m your student."])
def test_every_message_that_sets_a_scene_is_read_for_it(sets: str) -> None:
    assert may_set(sets)
