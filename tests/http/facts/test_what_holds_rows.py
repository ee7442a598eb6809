"""Rows of docs/features.md about what no longer holds: B39; and what a person has not confirmed: E05, C08."""

from __future__ import annotations

import pytest

from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, user_message

MARK = "[no longer holds since "


def said(user: Person, *texts: str, reply: str = "Okay.") -> None:
    """Each in a conversation of its own, one after the other; what is behind may be found then."""
    for number, text in enumerate(texts):
        session = f"said{number}"
        user.open(session)
        user.append(session, user_message(text), answered(reply))
        user.observe(session)
    user.settle()


def shown(user: Person, query: str, **more: object) -> list[str]:
    return [hit["text"] for hit in user.recall(query, **more)["hits"]]


def pack_of_a_new_conversation(user: Person) -> str:
    user.open("new")
    return user.pack_text("new")


@pytest.mark.live
@pytest.mark.parametrize(
    ("old", "new", "question", "gone", "holds"),
    [
        ("I live in Lyon.", "I moved to Nice.", "Where do I live?", "Lyon", "Nice"),
        ("I work at Acme.", "I now work at Globex.", "Where do I work?", "Acme", "Globex"),
        (
            "My favourite colour is blue.",
            "My favourite colour is green now.",
            "What is my favourite colour?",
            "blue",
            "green",
        ),
    ],
)
def test_b39_what_holds_now_is_said_first(
    user: Person, old: str, new: str, question: str, gone: str, holds: str
) -> None:
    said(user, old, new)
    [active] = user.memories(kind="fact", status="active")
    [superseded] = user.memories(kind="fact", status="superseded")
    assert (superseded["superseded_by"], gone in superseded["text"]) == (active["id"], True)
    found = shown(user, question)
    assert holds in found[0] and not any(gone in text for text in found)
    by_a_tool = shown(user, question, mode="tool")
    assert holds in by_a_tool[0]
    [marked] = [text for text in by_a_tool if gone in text]
    assert marked.startswith(MARK) and holds in marked
    assert gone not in user.recall(question)["injection_text"]
    packed = pack_of_a_new_conversation(user)
    assert holds in packed and gone not in packed
    user.append("new", user_message("Hello again"), answered("Hello."))
    prompt = str(user.expect(200, "POST", "/context", {"session_id": "new", "message": question})["request"])
    assert gone not in prompt and holds in prompt


@pytest.mark.live
def test_b39_of_three_moves_the_last_one_holds_and_the_past_can_be_asked_for(user: Person) -> None:
    said(user, "I live in Lyon.", "I moved to Nice.", "I moved to Oslo.")
    [only] = shown(user, "Where do I live?", k=3)
    assert "Oslo" in only
    before = shown(user, "Where did I live before Nice?", mode="tool")
    assert [text.startswith(MARK) for text in before if "Lyon" in text] == [True]
    packed = pack_of_a_new_conversation(user)
    assert [place in packed for place in ("Lyon", "Nice", "Oslo")] == [False, False, True]


@pytest.mark.live
def test_b39_what_a_person_corrects_by_a_call_is_not_said_by_the_log_either(user: Person) -> None:
    said(user, "I live in Lyon.", reply="So you live in Lyon!")
    [fact] = user.memories(kind="fact")
    body = {"text": "User lives in Nice.", "reason": "moved"}
    user.expect(201, "POST", f"/memories/{fact['id']}/evolve", body)
    user.settle()
    assert [text for text in shown(user, "Where do I live?") if "Lyon" in text] == []
    assert shown(user, "Where do I live?")[0] == "User lives in Nice."
    assert "Lyon" not in pack_of_a_new_conversation(user)
    assert "Nice" not in str(shown(user, "Where do I live?", session_id="new")), "the pack says so already"


@pytest.mark.live
def test_b39_what_is_taken_back_makes_the_old_one_hold_again(user: Person) -> None:
    said(user, "I live in Lyon.", "I moved to Nice.")
    user.expect(200, "POST", "/sessions/said1/events/retract", {"from_seq": 1, "to_seq": None, "reason": "edited"})
    user.settle()
    [found] = [text for text in shown(user, "Where do I live?", mode="tool") if "Lyon" in text]
    assert found == "I live in Lyon."
    packed = pack_of_a_new_conversation(user)
    assert "Lyon" in packed and "Nice" not in packed


@pytest.mark.live
def test_b39_what_is_said_beside_it_still_holds(user: Person) -> None:
    said(user, "I live in Lyon. My favourite colour is blue.", "I moved to Nice.")
    assert shown(user, "Where do I live?")[0] == "I moved to Nice."
    assert shown(user, "What is my favourite colour?")[0] == "My favourite colour is blue."
    packed = pack_of_a_new_conversation(user)
    assert "blue" in packed and "Lyon" not in packed


def interactive(user: Person, controls: Controls, *facts: Json, line: str, message: str) -> None:
    """Facts that an observer doubts, with their line."""
    controls.script(
        {"has_memory": True, "observations": [{"text": line, "seq_from": 1, "seq_to": 1}], "facts": list(facts)},
        purpose="observe",
    )
    user.open("s1")
    user.append("s1", user_message(message), answered("Noted."))
    user.observe("s1")
    user.settle()


@pytest.mark.controls
def test_e05_what_a_person_rejected_is_said_by_no_other_row(user: Person, controls: Controls) -> None:
    old = user.expect(
        201, "POST", "/memories", {"kind": "fact", "text": "User is not pregnant.", "category": "BIOGRAPHY"}
    )
    fact = {"text": "User is pregnant.", "category": "BIOGRAPHY", "importance": 4, "by": "user_stated", "seq_from": 1}
    fact |= {"relation": "contradicts", "target_id": old["id"]}
    interactive(user, controls, fact, line="🔴 User is pregnant", message="I'm pregnant.")
    [waiting] = user.expect(200, "GET", "/inbox")["items"]
    question = "Am I pregnant?"

    def told(**more: object) -> list[str]:
        return [text for text in shown(user, question, **more) if "not" not in text or "not confirmed" in text]

    assert told() == told(mode="tool") == []
    assert any("I'm pregnant" in text for text in told(include_inbox=True))
    assert "🔴 User is pregnant" not in pack_of_a_new_conversation(user)
    user.expect(200, "POST", f"/inbox/{waiting['id']}/reject", {})
    user.settle()
    for mode in ("prompt", "tool"):
        assert told(mode=mode, include_inbox=True, include_superseded=True) == []
    user.open("later")
    assert "🔴 User is pregnant" not in user.pack_text("later")


@pytest.mark.live
@pytest.mark.parametrize(
    "message", ["Do I work Mon -Fri or on weekends too?", 'Who said "not on weekends" about my work Mon -Fri?']
)
def test_c08_nothing_that_a_person_types_excludes_or_requires(user: Person, message: str) -> None:
    user.remember("User works Mon-Fri at the city library.")
    user.settle()
    answer = user.recall(message, threshold=0)
    assert ["library" in hit["text"] for hit in answer["hits"]] == [True]
    assert len(answer["transparency"]) == 1


@pytest.mark.live
def test_c08_what_a_tools_operators_leave_nothing_of_is_searched_as_words_and_this_is_said(user: Person) -> None:
    memory_id = user.remember("User works at the city library.")["id"]
    answer = user.recall('works "public library" -city', mode="tool", threshold=0)
    assert [hit["id"] for hit in answer["hits"]] == [memory_id]
    assert answer["transparency"][1].startswith("Nothing has what the message quotes")
