"""Row E16 of docs/features.md: several people in one conversation, whose words stay in it unless they share them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.http.driving.people import LOOK_S, Json, Person, answered, events_of, new_user, user_message
from tests.patience import PATIENCE_S

ADA, BEN = {"id": "ada", "name": "Ada"}, {"id": "ben", "name": "Ben"}


def both(user: Person, **of_ben: Any) -> list[Json]:
    return [{**ADA, "user_id": user.id}, {**BEN, **of_ben}]


def says(who: str, text: str, **more: Any) -> Json:
    return user_message(text, participant=who, **more)


REPEATED = "Green for Ada, and no shellfish for Ben in Turku."


def a_chat_of_two(user: Person, session: str = "group", last: str = REPEATED, **of_ben: Any) -> None:
    """Ada and Ben each say where they live and what they cannot eat; the assistant repeats it."""
    user.open(session, participants=both(user, **of_ben), budget_ms=0)
    user.append(
        session,
        says("ada", "I live in Porto and I am allergic to peanuts."),
        answered("Noted, Ada."),
        says("ben", "I live in Turku and I am allergic to shellfish."),
        answered("Noted: Ben lives in Turku and is allergic to shellfish."),
        says("ada", "My favourite colour is green."),
        answered(last),
    )
    user.observe(session)
    user.settle()


def told(answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False)


def statements(user: Person, **query: Any) -> list[str]:
    return [memory["text"] for memory in user.memories(**query)]


@pytest.mark.live
def test_e16_observations_and_facts_are_about_who_said_them(user: Person) -> None:
    a_chat_of_two(user)
    of_ben, of_ada = user.memories(about="ben"), user.memories(about="ada")
    assert {memory["kind"] for memory in of_ben} == {memory["kind"] for memory in of_ada} == {"observation", "fact"}
    assert all(memory["about"] == ["ben"] and memory["audience"] == "session" for memory in of_ben)
    assert all(memory["about"] == ["ada"] and "audience" not in memory for memory in of_ada)
    assert any('Ben: "I live in Turku' in memory["text"] for memory in of_ben)
    assert "Ben lives in Turku" in statements(user, about="ben", kind="fact")
    assert "User lives in Porto" in statements(user, about="ada", kind="fact")
    assert "Turku" not in told(of_ada) and "Porto" not in told(of_ben)


@pytest.mark.live
def test_e16_what_another_said_is_in_no_other_session(user: Person) -> None:
    a_chat_of_two(user)
    user.open("alone")
    for text in (
        user.pack_text("alone"),
        told(user.recall("Who lives where and is allergic to what?", mode="tool", limit=50)["hits"]),
        told(user.recall("Turku shellfish", mode="tool", session_id="alone", limit=50)["hits"]),
        told(user.context("alone", "Where do we all live, and what is everybody allergic to?")),
    ):
        assert "Turku" not in text and "shellfish" not in text
    assert "Porto" in user.pack_text("alone"), "the user's own statements go on as always"


@pytest.mark.live
def test_e16_the_session_itself_knows_all_of_them_by_name(user: Person) -> None:
    a_chat_of_two(user)
    found = user.recall("Who lives in Turku?", mode="tool", session_id="group", limit=50)
    assert "Turku" in told(found)
    of_ben = user.recall(
        "Where do we live?", mode="tool", session_id="group", filters={"about": ["ben"]}, limit=50, legs=["vector"]
    )
    assert of_ben["hits"] and all(hit["about"] == ["ben"] for hit in of_ben["hits"])
    prompt = told(user.context("group", "What may we cook?", retrieval="none"))
    assert "Ben: I live in Turku" in prompt and "Ada: I live in Porto" in prompt
    assert "Turku" in user.pack_text("group") and 'Ben: "I live in Turku' in user.pack_text("group")


@pytest.mark.live
def test_e16_a_stranger_and_what_does_not_go_together_are_refused_by_name(user: Person) -> None:
    user.open("group", participants=both(user))
    for path, body, field in (
        ("/sessions/group/events", {"events": [says("ada", "Hi."), says("cai", "Hi.")]}, "events[1].participant"),
        (
            "/sessions/group/messages",
            {"messages": [{"role": "user", "content": "Hi.", "participant": "cai"}]},
            "messages[0].participant",
        ),
        (
            "/sessions/group/messages",
            {"messages": [{"role": "assistant", "content": "Hi.", "participant": "ada"}]},
            "messages[0].participant",
        ),
        ("/sessions/group/turn", {"events": [says("cai", "Hi.")]}, "events[0].participant"),
        ("/sessions", {"session_id": "group", "room": True}, "room"),
        ("/sessions", {"participants": [ADA, ADA]}, "participants"),
        ("/sessions", {"participants": [{**BEN, "share": True}]}, "participants[0]"),
        (
            "/sessions",
            {"session_id": "group", "participants": both(user)[:1] * 0 + [{**ADA, "user_id": "x"}]},
            "participants[0].user_id",
        ),
        ("/sessions", {"participants": [{"id": f"p{n}", "name": "P"} for n in range(51)]}, "participants"),
    ):
        problem = user.expect(422, "POST", path, body)
        assert [error["field"] for error in problem["errors"]] == [field], problem
    assert user.events("group") == []


@pytest.mark.live
def test_e16_messages_and_turns_carry_the_participant(user: Person) -> None:
    people = both(user)
    user.expect(
        201,
        "POST",
        "/sessions/group/messages",
        {"participants": people, "messages": [{"role": "user", "content": "I live in Turku.", "participant": "ben"}]},
    )
    turn = user.expect(
        200,
        "POST",
        "/sessions/group/turn",
        {
            "messages": [{"role": "user", "content": "I live in Porto.", "participant": "ada", "id": "m2"}],
            "compile": {"retrieval": "none"},
        },
    )
    assert "Ben: I live in Turku" in told(turn["prompt"]) and "Ada: I live in Porto" in told(turn["prompt"])
    log = user.events("group")
    assert [(event["participant"], event.get("audience")) for event in log] == [("ben", "session"), ("ada", None)]
    assert [one["id"] for one in user.session("group")["participants"]] == ["ada", "ben"]
    repeated = user.expect(
        200,
        "POST",
        "/sessions/group/messages",
        {"messages": [{"role": "user", "content": "I live in Porto.", "participant": "ada", "id": "m2"}]},
    )
    assert repeated["messages"][0]["state"] == "known"


@pytest.mark.live
def test_e16_in_a_room_what_everybody_says_is_the_rooms(user: Person) -> None:
    user.open("monday", room=True, participants=[ADA, BEN])
    user.append(
        "monday",
        says("ada", "I live in Porto."),
        answered(),
        says("ben", "I am allergic to shellfish."),
        answered(),
        *events_of(("The projector is broken.", "Noted.")),
    )
    user.observe("monday")
    user.settle()
    user.open("tuesday", room=True, participants=[ADA, BEN])
    pack = user.pack_text("tuesday")
    assert "Ada lives in Porto" in pack or 'Ada: "I live in Porto' in pack
    assert "Ben" in pack and "shellfish" in pack
    assert {tuple(memory.get("about", ())) for memory in user.memories()} >= {("ada",), ("ben",)}
    assert all("audience" not in memory for memory in user.memories())


@pytest.mark.live
def test_e16_an_import_keeps_what_an_export_marks(user: Person) -> None:
    user.open("group")
    line = {"text": "Ben lives in Turku", "kind": "fact", "category": "PLACE", "session_id": "group"}
    (memory,) = user.bring_in({**line, "about": ["ben"], "audience": "session"})
    user.settle()
    assert (user.memory(memory)["about"], user.memory(memory)["audience"]) == (["ben"], "session")
    assert user.recalled("Who lives in Turku?", mode="tool") == []
    assert user.recalled("Who lives in Turku?", mode="tool", session_id="group") == [memory]
    raw = json.dumps({"text": "Ben lives in Turku", "audience": "session"}).encode()
    problem = user.expect(422, "POST", "/memories/import", raw=raw)
    assert problem["errors"][0]["field"].endswith("session_id")


@pytest.mark.live
def test_e16_memories_of_one_speaker_are_forgotten_by_the_filter(user: Person) -> None:
    a_chat_of_two(user)
    listed = user.expect(200, "POST", "/memories/forget", {"filters": {"about": ["ben"]}})
    assert listed["count"] == len(user.memories(about="ben")) > 0
    user.ended(user.expect(202, "POST", "/memories/forget", {"confirm": listed["confirm"]})["id"])
    assert user.memories(about="ben") == [] and user.memories(about="ada")


# --- sharing ------------------------------------------------------------------------------------


def shared_with(user: Person) -> Person:
    """Ben, with a memory of his own."""
    return replace(user, id=new_user())


def until(user: Person, holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        user.settle()
        time.sleep(LOOK_S)


def ben_knows(ben: Person) -> bool:
    return any("Turku" in memory["text"] for memory in ben.memories(kind="fact"))


@pytest.mark.live
def test_e16_what_is_shared_is_in_their_own_memory_once(user: Person) -> None:
    ben = shared_with(user)
    a_chat_of_two(user, user_id=ben.id, share=True)
    until(user, lambda: ben_knows(ben))
    user.observe("group")
    ben.settle()
    facts = [memory for memory in ben.memories(kind="fact") if "Turku" in memory["text"]]
    assert [(fact["text"], fact["occurrences"]) for fact in facts] == [("User lives in Turku", 1)]
    assert facts[0]["provenance"]["by"] == "user_stated" and "about" not in facts[0] and "audience" not in facts[0]
    assert "Porto" not in told(ben.memories()), "the others' words are not theirs"
    ben.open("own")
    assert "Turku" in ben.pack_text("own")
    user.open("alone")
    assert "Turku" not in user.pack_text("alone") and "Turku" not in told(user.recall("Turku", mode="tool")["hits"])


@pytest.mark.live
def test_e16_a_message_that_is_deleted_leaves_their_memory_too(user: Person) -> None:
    ben = shared_with(user)
    a_chat_of_two(user, last="Green it is.", user_id=ben.id, share=True)
    until(user, lambda: ben_knows(ben))
    job = user.expect(200, "POST", "/sessions/group/events/retract", {"from_seq": 3, "to_seq": 4, "reason": "deleted"})[
        "job_id"
    ]
    user.ended(job)
    until(user, lambda: not ben_knows(ben))
    assert "Turku" not in told(user.memories())


@pytest.mark.live
def test_e16_erasing_who_shares_takes_them_everywhere(user: Person) -> None:
    ben = shared_with(user)
    a_chat_of_two(user, last="Green it is.", user_id=ben.id, share=True)
    until(user, lambda: ben_knows(ben))
    ben.expect(202, "DELETE", "")
    until(user, lambda: "Turku" not in told([user.memories(), user.events("group")]))
    assert "Porto" in told(user.memories()) and "Porto" in told(user.events("group"))
    erased = [event["seq"] for event in user.events("group") if event.get("erased")]
    assert erased == [3, 4], "his message, and what answered it"
