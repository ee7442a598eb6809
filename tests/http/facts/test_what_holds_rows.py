"""Rows of docs/features.md about what no longer holds: B39; and what a person has not confirmed: E05, C08."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from local.api_client import ApiClient
from tests.http.driving.people import Person, answered, user_message

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


CHANGES = [
    ("I work at Acme as a nurse.", "I started a new job at Globex.", "Where do I work?", "Globex"),
    (
        "I work at Acme as a nurse.",
        "I left Acme, I'm a teacher at the Nordschule now.",
        "Where do I work?",
        "Nordschule",
    ),
    ("I work at Acme as a nurse.", "I quit my job.", "Where do I work?", "quit"),
    ("I work at Acme.", "I don't work at Acme anymore.", "Where do I work?", "anymore"),
    ("I'm a nurse.", "I became a teacher.", "Am I a nurse or a teacher?", "teacher"),
    (
        "My favourite colour is blue.",
        "I've changed my mind, green is my favourite colour.",
        "What's my favourite colour?",
        "green",
    ),
    ("My favourite colour is blue.", "Green is my favourite colour now.", "What's my favourite colour?", "Green"),
    ("I'm vegetarian.", "I'm not vegetarian anymore, I eat fish again.", "Am I vegetarian?", "fish"),
    ("I'm vegetarian.", "I eat meat again.", "Am I vegetarian?", "meat"),
    ("I'm vegan.", "I'm not vegan anymore.", "Am I vegan?", "anymore"),
    ("I live in Lyon.", "We relocated to Nice last month.", "Where do I live?", "Nice"),
    ("I live in Lyon.", "I'm living in Nice now.", "Where do I live?", "Nice"),
    ("I live in Lyon.", "Nice is home now.", "Where do I live?", "Nice"),
    ("I live in Lyon.", "I just moved from Lyon to Nice.", "Where do I live?", "Nice"),
    ("My boyfriend is called Tom.", "Tom and I broke up.", "Who is my boyfriend?", "broke up"),
    ("I'm dating Tom.", "Tom and I broke up.", "Who am I dating?", "broke up"),
    ("I'm married.", "I got divorced.", "Am I married?", "divorced"),
    ("I drive a Golf.", "I sold the Golf and bought a Zoe.", "Which car do I drive?", "Zoe"),
    ("My phone is an iPhone.", "I got a new phone, a Pixel.", "Which phone do I have?", "Pixel"),
    ("My name is Anna.", "I changed my name to Lea.", "What is my name?", "Lea"),
    (
        "My birthday is on the 3rd of May.",
        "Actually my birthday is on the 4th, not the 3rd.",
        "When is my birthday?",
        "4th",
    ),
]
BESIDE = [
    ("I work at Acme.", "I also work at Globex."),
    ("I work at Acme.", "I work at Globex, too."),
    ("I work at Acme.", "I have a second job at Globex."),
    ("I work at Acme.", "My wife quit her job."),
    ("I work at Acme.", "I want to quit my job."),
    ("I live in Lyon.", "My sister moved to Nice."),
    ("I live in Lyon.", "I'm visiting Nice."),
    ("I live in Lyon.", "I left Lyon for the weekend."),
    ("My favourite colour is blue.", "I love both blue and green."),
    ("I'm vegetarian.", "My brother isn't vegetarian anymore."),
    ("I'm married.", "My parents got divorced."),
    ("I'm dating Tom.", "Ben and Sue broke up."),
    ("I drive a Golf.", "I sold my bike."),
]


@pytest.mark.live
@pytest.mark.parametrize(("old", "new", "question", "holds"), CHANGES, ids=[row[1] for row in CHANGES])
def test_b39_what_a_life_changes_is_said_as_it_is_now(
    user: Person, old: str, new: str, question: str, holds: str
) -> None:
    said(user, old, new)
    [superseded] = user.memories(kind="fact", status="superseded")
    successor = user.memory(str(superseded["superseded_by"]))
    assert (successor["status"], holds in successor["text"]) == ("active", True)
    stated = {old, str(superseded["text"])}

    def holding(text: str) -> list[str]:
        return [one for one in stated if one.rstrip(".") in text]

    found = shown(user, question)
    assert holds in found[0] and not any(holding(text) for text in found)
    marked = [text for text in shown(user, question, mode="tool") if holding(text)]
    assert marked and all(text.startswith(MARK) for text in marked)
    packed = pack_of_a_new_conversation(user)
    assert holds in packed and not holding(packed)
    user.append("new", user_message("Hello again"), answered("Hello."))
    prompt = str(user.expect(200, "POST", "/context", {"session_id": "new", "message": question})["request"])
    assert holds in prompt and not holding(prompt)


@pytest.mark.live
@pytest.mark.parametrize(("old", "new"), BESIDE, ids=[row[1] for row in BESIDE])
def test_b39_what_is_said_beside_it_or_of_somebody_else_supersedes_nothing(user: Person, old: str, new: str) -> None:
    said(user, old, new)
    assert user.memories(kind="fact", status="superseded") == []
    assert any(old.rstrip(".") in text and not text.startswith(MARK) for text in shown(user, old, mode="tool"))
    held = str(user.memories(kind="fact", status="active")[-1]["text"])
    assert held.split()[-1] in pack_of_a_new_conversation(user)


@pytest.mark.live
def test_b39_what_ends_two_facts_supersedes_both_and_gives_both_back(user: Person) -> None:
    said(user, "I'm married. My wife is called Ana.", "My wife and I got divorced.")
    [active] = user.memories(kind="fact", status="active")
    superseded = user.memories(kind="fact", status="superseded")
    assert [one["superseded_by"] for one in superseded] == [active["id"]] * 2
    assert set(active["supersedes"]) == {one["id"] for one in superseded}
    packed = pack_of_a_new_conversation(user)
    assert "divorced" in packed and "is married" not in packed and "Ana" not in packed
    user.expect(200, "POST", "/sessions/said1/events/retract", {"from_seq": 1, "reason": "edited"})
    user.settle()
    texts = {one["text"] for one in user.memories(kind="fact", status="active")}
    assert texts == {"User is married", "User's wife is called Ana"}


@pytest.mark.live
def test_b39_of_three_moves_the_last_one_holds_and_the_past_can_be_asked_for(user: Person) -> None:
    said(user, "I live in Lyon.", "I moved to Nice.", "I moved to Oslo.")
    [only] = shown(user, "Where do I live?", limit=3)
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
    user.expect(200, "POST", "/sessions/said1/events/retract", {"from_seq": 1, "reason": "edited"})
    user.settle()
    [found] = [text for text in shown(user, "Where do I live?", mode="tool") if "Lyon" in text]
    assert found == "I live in Lyon."
    packed = pack_of_a_new_conversation(user)
    assert "Lyon" in packed and "Nice" not in packed


@pytest.mark.live
def test_b39_what_is_said_beside_it_still_holds(user: Person) -> None:
    said(user, "I live in Lyon. My favourite colour is blue.", "I moved to Nice.")
    assert shown(user, "What is my favourite colour?")[0] == "My favourite colour is blue."
    assert not any("Lyon" in text for text in shown(user, "Where do I live?"))
    [marked] = [text for text in shown(user, "Where do I live?", mode="tool") if "Lyon" in text]
    assert marked.startswith(MARK) and "] I live in Lyon. My favourite colour" in marked
    packed = pack_of_a_new_conversation(user)
    assert "blue" in packed and "Lyon" not in packed


@pytest.mark.controls
def test_e05_what_waits_or_was_rejected_is_said_by_no_other_row(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person]
) -> None:
    user = person(tenant_with(review_mode="interactive"))
    said(user, "I have two daughters. I work as a nurse at Acme.", reply="Two daughters, how nice!")
    waiting = {one["memory"]["text"]: one["id"] for one in user.expect(200, "GET", "/inbox")["items"]}
    daughters, nurse = sorted(waiting, key=lambda text: "nurse" in text)

    def told(**more: object) -> str:
        return str(shown(user, "Do I have daughters, and am I a nurse?", **more))

    assert [word in told(mode=mode) for mode in ("prompt", "tool") for word in ("daughters", "nurse")] == [False] * 4
    assert "[not confirmed] I have two daughters." in told(include_inbox=True)
    packed = pack_of_a_new_conversation(user)
    assert "daughters" not in packed and "nurse" not in packed
    user.expect(200, "POST", f"/inbox/{waiting[daughters]}/reject", {})
    user.expect(200, "POST", f"/inbox/{waiting[nurse]}/approve", {})
    user.settle()
    for mode in ("prompt", "tool"):
        asked = told(mode=mode, include_inbox=True, include_superseded=True)
        assert "nurse" in asked and "daughters" not in asked
    user.open("later")
    packed = user.pack_text("later")
    assert "nurse" in packed and "daughters" not in packed


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
