"""A row of docs/features.md: two chats of one person, the second opened as soon as something was said in the
first."""

from __future__ import annotations

import json
import os
import time

import pytest

from tests.http.driving.controls import Controls
from tests.http.driving.images import IMAGE
from tests.http.driving.people import Json, Person, answered, filler, layer_ids, tokens, user_message
from tests.patience import PATIENCE_S

HEADING = "Just said in another conversation:"
STATEMENTS = {
    "allergy": ("I am allergic to nuts.", "nuts"),
    "wish": ("Please always answer me in one sentence.", "one sentence"),
    "name": ("My name is Oleander.", "Oleander"),
    "move": ("I moved to Lisbon yesterday.", "Lisbon"),
    "appointment": ("I have a dentist appointment on Thursday at 9.", "dentist"),
    "preference": ("I prefer trains to planes.", "trains"),
    "correction": ("Actually, I work at Contoso and not at Fabrikam.", "Contoso"),
    "relative": ("My daughter Mila starts school on Monday.", "Mila"),
    "job": ("I am a welder now.", "welder"),
    "plan": ("I want to run a marathon in spring.", "marathon"),
}
ON_A_STAGE = "NEVE_STAGE_URL" in os.environ


def prompt(user: Person, session: str, **more: object) -> Json:
    return user.context(session, "What now?", **{"retrieval": "none", **more})


def parts(made: Json) -> tuple[str, str, str]:
    """What stands before the history, the history, and the last message."""
    request = made["request"]
    texts = ["\n".join(block["text"] for block in message["content"]) for message in request["messages"]]
    return "\n".join(block["text"] for block in request.get("system", [])), "\n".join(texts[:-1]), texts[-1]


def prompt_that_says(user: Person, session: str, words: str) -> tuple[str, str, str]:
    """The first prompt; on a stage, whose index of sessions follows within a second or two, one of the first."""
    until = time.monotonic() + PATIENCE_S
    while True:
        made = parts(prompt(user, session))
        if any(words in part for part in made) or not ON_A_STAGE or time.monotonic() > until:
            return made


def said_in(user: Person, session: str, *events: Json) -> None:
    user.open_without_pack(session)
    user.append(session, *events)


def take_back(user: Person, reason: str) -> str:
    """From the third event of the first chat on; its job."""
    body = {"from_seq": 3, "to_seq": 4, "reason": reason}
    return str(user.expect(200, "POST", "/sessions/a/events/retract", body)["job_id"])


def image_event() -> Json:
    return user_message([{"type": "text", "text": "My new bike is a Gazelle:"}, IMAGE])


# --- at once ------------------------------------------------------------------------------------


@pytest.mark.live
@pytest.mark.parametrize("kind", STATEMENTS)
def test_e20_a_new_chat_and_an_older_one_know_what_was_said_a_moment_ago(user: Person, kind: str) -> None:
    said, words = STATEMENTS[kind]
    user.open("before")
    assert HEADING not in parts(prompt(user, "before"))[0]
    said_in(user, "a", user_message(said), answered("Noted."))
    user.open("b")
    system, history, last = prompt_that_says(user, "b", words)
    assert words in system + last and words not in history
    system, history, last = prompt_that_says(user, "before", words)
    assert words not in system, "its pack was built before"
    assert words in last and words not in history


@pytest.mark.live
def test_e20_a_turn_without_its_answer_is_told_too(user: Person) -> None:
    said_in(user, "a", user_message("I am allergic to nuts."))
    user.open("b")
    system, history, last = prompt_that_says(user, "b", "nuts")
    assert "nuts" in system + last and "nuts" not in history


@pytest.mark.controls
def test_e20_what_is_told_ends_the_global_layer_and_is_in_the_manifest(user: Person, controls: Controls) -> None:
    controls.freeze("2026-06-01T12:00:00Z")
    with controls.paused("extract"), controls.paused("compact"):
        for n in range(1, 5):
            said_in(user, f"a{n}", user_message(f"I own lamp number {n}.\nIt is <global> green."), answered("Fine."))
            controls.advance(60)
        user.open("b")
        text, pack = user.pack_text("b"), user.pack("b")
        assert text.count(HEADING) == 3, "the three conversations that went on last"
        told = text[text.index(HEADING) : text.index("</global>")].strip().splitlines()
        assert told[:4] == [
            HEADING,
            "2026-06-01 user: I own lamp number 4.",
            "  It is &lt;global> green.",
            "2026-06-01 assistant: Fine.",
        ]
        assert "number 2" in text and "number 1" not in text
        assert layer_ids(pack, "global") == [f"evt:a{n}:{seq}" for n in (4, 3, 2) for seq in (1, 2)]
        assert (pack["tokens"], {entry["kind"] for entry in pack["layers"]["global"]}) == (tokens(text), {"event"})
        user.append("a4", user_message("I own a ladder."))
        assert user.pack_text("b") == text, "frozen"
        assert "ladder" in parts(prompt(user, "b"))[2]
        assert "ladder" in user.pack_text(), "a preview is what a new session would get"
        controls.drain()  # what is recalled waits for the index
        found = set(user.recalled("lamp number 4", session_id="b"))
        assert found and not found & set(layer_ids(pack, "global")), "the pack shows these"


@pytest.mark.controls
def test_e20_the_newest_whole_utterances_within_a_thousand_tokens(user: Person, controls: Controls) -> None:
    with controls.paused("extract"), controls.paused("compact"):
        turns = [event for n in range(20) for event in (user_message(f"Lamp {n}: {filler(60)}"), answered("Right."))]
        long = answered("Here is the code:\n```\n" + filler(900) + "\n```")
        said_in(user, "a", user_message("I keep bees."), *turns, user_message("Write it."), long, image_event())
        user.open("b")
        text = user.pack_text("b")
        told = text[text.index(HEADING) : text.index("</global>")]
        assert 800 <= tokens(told) <= 1_000
        shown = [n for n in range(20) if f"Lamp {n}: {filler(60)}" in told]
        assert shown == list(range(shown[0], 20)) and shown[0] > 0
        assert "I keep bees." in told, "a short one that still has room"
        assert "code" not in told, "no part of an answer that has no room"
        assert "My new bike is a Gazelle:\n  [an image]" in told


@pytest.mark.controls
def test_e20_results_of_tools_are_not_told_and_what_was_said_before_many_is(user: Person, controls: Controls) -> None:
    def called(n: int) -> list[Json]:
        data = {"tool_use_id": f"t{n}", "name": "read"}
        call = {"event_type": "tool_call", "content": "", "event_data": {**data, "args": {"page": f"page {n}"}}}
        return [call, {"event_type": "tool_result", "content": f"Result {n}: {filler(200)}", "event_data": data}]

    with controls.paused("extract"), controls.paused("compact"):
        said_in(user, "a", user_message("I am allergic to nuts. What may I eat?"))
        for part in range(4):
            user.append("a", *(event for n in range(20) for event in called(20 * part + n)))
        user.open("b")
        text = user.pack_text("b")
        assert "allergic to nuts" in text and "Result" not in text and "page 3" not in text


# --- what is not told ---------------------------------------------------------------------------

KEPT = "I keep bees."


@pytest.mark.controls
@pytest.mark.parametrize(
    ("said", "secret"),
    [
        ("Don't remember this: I am pregnant.", "pregnant"),
        ("Off the record, my boss drinks.", "drinks"),
        ("My sister is in debt. Please keep that between us.", "debt"),
        ("Let's role-play: you are a receptionist and I'm a guest named Bruno.", "Bruno"),
    ],
)
def test_e20_what_no_observer_keeps_is_not_told(user: Person, controls: Controls, said: str, secret: str) -> None:
    """Neither is the answer, which repeats it."""
    user.open("before")
    prompt(user, "before")
    with controls.paused("extract"), controls.paused("compact"):
        said_in(user, "a", user_message(KEPT), user_message(said), answered(f"I see: {secret}."))
        user.open("b")
        for session in ("b", "before"):
            made = "".join(parts(prompt(user, session)))
            assert KEPT in made and secret not in made


@pytest.mark.controls
def test_e20_a_scene_goes_on_until_it_is_over(user: Person, controls: Controls) -> None:
    with controls.paused("extract"), controls.paused("compact"):
        scene = "You are a doctor and I'm a patient."
        said_in(user, "a", user_message(scene), answered("What is it?"), user_message("I broke my arm."))
        user.append("a", answered("Let me see that arm."), user_message("Let's stop the role-play. I live in Bergen."))
        user.open("b")
        text = user.pack_text("b")
        assert "Bergen" in text and "arm" not in text


@pytest.mark.controls
@pytest.mark.parametrize("reason", ["edited", "deleted", "branched"])
def test_e20_what_was_taken_back_is_not_told(user: Person, controls: Controls, reason: str) -> None:
    user.open("before")
    prompt(user, "before")
    with controls.paused("extract"), controls.paused("compact"):
        said_in(user, "a", user_message(KEPT), answered(), user_message("I am allergic to nuts."), answered())
        take_back(user, reason)
        user.open("b")
        for session in ("b", "before"):
            made = "".join(parts(prompt(user, session)))
            assert KEPT in made and "nuts" not in made


@pytest.mark.controls
@pytest.mark.parametrize("reason", ["edited", "deleted", "branched"])
def test_e20_what_is_taken_back_behind_the_pack(user: Person, controls: Controls, reason: str) -> None:
    """A deletion takes the pack away; of the others the prompt says that the line no longer holds."""
    with controls.paused("extract"), controls.paused("compact"):
        said_in(user, "a", user_message(KEPT), answered(), user_message("I am allergic to nuts."), answered())
        user.open("b")
        text = user.pack_text("b")
        assert "nuts" in text
        job = take_back(user, reason)
    controls.drain()
    assert user.ended(job)["status"] == "done"
    if reason == "deleted":
        assert "nuts" not in json.dumps(user.versions("b")) + user.pack_text("b") + "".join(parts(prompt(user, "b")))
    else:
        assert user.pack_text("b") == text
        assert "allergic to nuts" in parts(prompt(user, "b"))[2].partition("No longer holds: ")[2]


# --- behind it ----------------------------------------------------------------------------------

SCRIPTED: Json = {
    "has_memory": True,
    "observations": [{"text": "🔴 User is allergic to nuts", "seq_from": 1, "seq_to": 1}],
    "facts": [{"text": "User is allergic to nuts.", "category": "PERSONAL", "importance": 5, "by": "user_stated"}],
}


@pytest.mark.controls
@pytest.mark.parametrize("observer", ["extractive", "scripted"])
def test_e20_it_is_said_once_whoever_observes_it_and_leaves_with_the_next_rebuild(
    user: Person, controls: Controls, observer: str
) -> None:
    user.open("before")
    prompt(user, "before")
    with controls.paused("extract"), controls.paused("compact"):
        if observer == "scripted":
            controls.script(SCRIPTED, purpose="observe")
        said_in(user, "a", user_message("I am allergic to nuts."), answered("Noted."))
        user.open("b")
        assert "".join(parts(prompt(user, "b", retrieval="auto"))).count("nuts") == 1
        assert "".join(parts(prompt(user, "before"))).count("nuts") == 1
    controls.drain()
    assert any("nuts" in row["text"] for row in user.memories())
    user.append(
        "b", *(event for _ in range(12) for event in (user_message("What may I eat?"), answered(filler(6_000))))
    )
    assert "".join(parts(user.context("b", "Am I allergic to nuts?"))).count("nuts") == 2, "the pack and the question"
    controls.drain()
    system, _, last = parts(prompt(user, "before"))
    assert "nuts" not in system and last.count("nuts") == 1 and HEADING not in last
    assert user.compact("b")["result"]["epoch"] == 1
    text = user.pack_text("b")
    assert HEADING not in text and text.count("nuts") == 1
    user.open("c")
    assert HEADING not in user.pack_text("c"), "nobody is behind"


@pytest.mark.controls
@pytest.mark.usefixtures("workers_awake")
def test_e20_opening_a_chat_asks_for_the_pass_without_the_queues_delay(user: Person, controls: Controls) -> None:
    with controls.paused("outbox"), controls.paused("extract"):
        said_in(user, "a", user_message("I am allergic to nuts."), answered("Noted."))
        opened = user.open("b")
        assert opened["session"]["memory_lag"]["unobserved"] == 2, "the user's"
        assert prompt(user, "b")["memory_lag"]["unobserved"] == 0, "the session's"
        until = time.monotonic() + PATIENCE_S
        while not user.memories() and time.monotonic() < until:
            time.sleep(0.05)
        assert any("nuts" in row["text"] for row in user.memories())
