"""What may be told elsewhere of a log that nobody has observed, and what there is room for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neve.domain.pack.render import JUST_SAID, PackLayers, render
from neve.domain.records.markers import Scene
from neve.domain.records.sessions import Event, EventType
from neve.domain.tails.fit import just_said
from neve.domain.tails.told import Told, told_of
from neve.domain.tokens import estimate

AT = "2026-03-10T02:30:00.000Z"
ROLES = {"user": EventType.USER_MESSAGE, "assistant": EventType.ASSISTANT_RESPONSE}


def events(*said: tuple[str, str]) -> list[Event]:
    return [Event(n, ROLES[who], text, 1, AT) for n, (who, text) in enumerate(said, 1)]


def lines(*said: tuple[str, str], scene: Scene | None = None, timezone: str = "UTC") -> list[str]:
    return [one.line for one in told_of("a", events(*said), scene, timezone)]


def test_an_utterance_has_its_speaker_and_the_day_of_the_user() -> None:
    said = ("user", "I keep bees."), ("assistant", "Lovely.")
    assert lines(*said) == ["2026-03-10 user: I keep bees.", "2026-03-10 assistant: Lovely."]
    assert lines(*said, timezone="America/New_York")[0] == "2026-03-09 user: I keep bees."
    [named] = told_of("a", [Event(1, EventType.USER_MESSAGE, "Hi.", 1, AT, name="Ana #3: x")], None, "UTC")
    assert named.line == "2026-03-10 Ana 3: x (user): Hi."


def test_a_sentence_that_is_not_to_be_remembered_goes_with_the_answers_to_it() -> None:
    said = lines(
        ("user", "I keep bees. Don't remember this: I am pregnant."),
        ("assistant", "I will not remember that you are pregnant."),
        ("user", "And I keep hens."),
        ("assistant", "Fine."),
    )
    assert said == ["2026-03-10 user: I keep bees.", "2026-03-10 user: And I keep hens.", "2026-03-10 assistant: Fine."]


def test_a_scene_from_before_goes_on() -> None:
    scene = Scene(AT, both=True)
    assert lines(("user", "I broke my arm."), ("assistant", "Poor arm."), scene=scene) == []
    assert lines(("user", "I broke my arm."), scene=Scene(AT, both=False)) == ["2026-03-10 user: I broke my arm."]
    assert lines(("user", "Act as my German teacher. I live in Bergen.")) != []


def test_what_neve_rendered_is_not_told() -> None:
    assert lines(("user", "<neve-memory>User keeps bees.</neve-memory>")) == []


def test_code_that_the_user_shows_is_told_as_it_was_said() -> None:
    text = "It fails:\n```\nraise ValueError('no')\n```"
    assert lines(("user", text)) == [f"2026-03-10 user: {text}"]


TEXTS = st.text(alphabet="ab <neve-memory>/&\n", min_size=1, max_size=200)
SAID = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), TEXTS), max_size=8)


def told(session: str, said: list[tuple[str, str]]) -> list[Told]:
    return told_of(session, events(*said), None, "UTC")


@given(st.lists(SAID, max_size=3), st.integers(0, 400))
def test_what_is_told_keeps_to_its_room_and_leaves_out_none_that_has_some(
    logs: list[list[tuple[str, str]]], room: int
) -> None:
    conversations = [told(f"s{n}", said) for n, said in enumerate(logs)]
    fitted = just_said(conversations, room)
    assert fitted.tokens <= room
    text = render(PackLayers(just_said=fitted.lines))
    assert text.count(JUST_SAID) == len(fitted.conversations)
    assert estimate(text) <= fitted.tokens + estimate(render(PackLayers(just_said=[["x"]])))
    assert text.count("<neve-memory") == (1 if fitted.lines else 0), "no tag of a text"
    shown = {one.id for conversation in fitted.conversations for one in conversation}
    for conversation in conversations:
        places = [one.event.seq for one in conversation if one.id in shown]
        assert places == sorted(places)
    if just_said(conversations, 10_000).tokens <= room:
        assert fitted == just_said(conversations, 10_000)


@given(SAID, st.integers(0, 100))
def test_a_whole_utterance_of_the_user_comes_before_any_answer(said: list[tuple[str, str]], room: int) -> None:
    conversation = told("a", said)
    kept = {one.id for shown in just_said([conversation], room).conversations for one in shown}
    of_user = [one for one in conversation if one.of_user]
    if any(not one.of_user for one in conversation if one.id in kept) and not kept & {one.id for one in of_user}:
        alone = just_said([of_user], room)
        assert not alone.conversations, "none of the user's has room"
