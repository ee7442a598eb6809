"""Row E18 of docs/features.md: the same statement in other words is kept once."""

from __future__ import annotations

import pytest

from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, user_message

PARAPHRASES = (
    "I'm allergic to peanuts.",
    "I have a peanut allergy.",
    "I've got an allergy to peanuts.",
    "I am allergic to peanuts, by the way.",
    "Remember that I'm allergic to peanuts.",
)
STATED = (
    "User is allergic to peanuts.",
    "User has a peanut allergy.",
    "User has got an allergy to peanuts.",
    "Peanuts give User an allergic reaction.",
    "user is ALLERGIC to peanuts.",
)


def say(user: Person, session: str, text: str) -> list[Json]:
    """Say it in a new conversation; the decisions on its facts."""
    user.open(session)
    user.append(session, user_message(text), answered())
    return list(user.observe(session)["result"]["facts"])


def state(user: Person, text: str, **more: object) -> Json:
    """E9's answer to a fact, whatever was decided."""
    reply = user.call("POST", "/memories", {"kind": "fact", "text": text, "category": "BIOGRAPHY", **more})
    assert reply.status in (200, 201), reply.text
    return dict(reply.json())


def active(user: Person) -> list[Json]:
    return user.memories(kind="fact", status="active")


@pytest.mark.live
def test_e18_five_paraphrases_of_five_conversations_are_one_fact(user: Person) -> None:
    decided = [say(user, f"s{n}", text)[0] for n, text in enumerate(PARAPHRASES)]
    [fact] = active(user)
    assert fact["occurrences"] == 5
    assert [one["decision"] for one in decided] == ["stored", *["reinforced"] * 4]
    assert {one["id"] for one in decided} == {fact["id"]}
    assert all(fact["id"] in one["reason"] for one in decided[1:4]), "the job's result tells of the merge"
    assert len(user.memories(kind="observation")) == 1, "no line says it again"


@pytest.mark.live
def test_e18_five_paraphrases_of_a_caller_are_one_fact(user: Person) -> None:
    first, *others = [state(user, text) for text in STATED]
    assert [one["decision"] for one in others] == ["reinforced"] * 4
    assert [one["id"] for one in others] == [first["id"]] * 4
    assert first["id"] in others[0]["reason"] and others[-1]["reason"] == "It is known word for word."
    [fact] = active(user)
    assert (fact["occurrences"], fact["text"]) == (5, STATED[0]), "a person wrote the first one"


@pytest.mark.live
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("User is allergic to peanuts.", "User is not allergic to peanuts."),
        ("User has two kids.", "User has three kids."),
        ("User's exam is on 12 June.", "User's exam is on 12 July."),
        ("User's sister is called Mary.", "User has a sister named Martha."),
        ("User wants short answers.", "User wants long answers."),
        ("User prefers tea over coffee.", "User prefers coffee over tea."),
        ("user owes ben money", "ben owes user money"),
        ("User smokes.", "User no longer smokes."),
    ],
)
def test_e18_what_differs_is_not_merged_and_both_stand(user: Person, one: str, other: str) -> None:
    assert [state(user, text)["decision"] for text in (one, other)] == ["stored"] * 2
    assert [fact["occurrences"] for fact in active(user)] == [1, 1]


@pytest.mark.live
def test_e18_a_contradiction_of_another_conversation_is_not_merged(user: Person) -> None:
    say(user, "s1", "I prefer tea over coffee.")
    say(user, "s2", "I prefer coffee over tea.")
    assert sorted(fact["text"] for fact in active(user)) == [
        "User prefers coffee over tea",
        "User prefers tea over coffee",
    ]


@pytest.mark.live
def test_e18_the_longer_words_stand_unless_a_person_wrote_the_others(user: Person) -> None:
    short, long = "User has a peanut allergy.", "User has got an allergy to peanuts, actually."
    fact = state(user, short, by="user_stated")
    assert state(user, long, by="user_stated")["decision"] == "reinforced"
    [stored] = active(user)
    assert (stored["id"], stored["text"], stored["occurrences"]) == (fact["id"], long, 2)
    assert state(user, short)["decision"] == "reinforced", "a person's words"
    assert state(user, long, by="user_stated")["decision"] == "reinforced"
    [stored] = active(user)
    assert (stored["id"], stored["text"], stored["occurrences"]) == (fact["id"], short, 4)
    user.settle()
    assert user.recalled("peanut allergy", sources=["memory"]) == [fact["id"]]


@pytest.mark.live
@pytest.mark.parametrize("reason", ["edited", "deleted"])
def test_e18_a_fact_stands_as_long_as_one_of_its_sources_does(user: Person, reason: str) -> None:
    for n, text in enumerate(PARAPHRASES[:3]):
        say(user, f"s{n}", text)
    for n, left in ((0, 2), (2, 1)):
        taken = user.expect(200, "POST", f"/sessions/s{n}/events/retract", {"from_seq": 1, "reason": reason})
        user.ended(taken["job_id"])
        [fact] = active(user)
        assert fact["occurrences"] == left
    assert fact["text"] == "User has a peanut allergy", "in the words that are left"
    taken = user.expect(200, "POST", "/sessions/s1/events/retract", {"from_seq": 1, "reason": reason})
    user.ended(taken["job_id"])
    assert active(user) == []


@pytest.mark.live
def test_e18_an_edit_into_the_words_of_another_fact_is_refused(user: Person) -> None:
    known, other = state(user, "User lives in Rome."), state(user, "User lives in Oslo.")
    refusal = user.expect(409, "PATCH", f"/memories/{other['id']}", {"text": "Rome is where User lives."})
    assert known["id"] in refusal["detail"]
    assert user.expect(200, "PATCH", f"/memories/{known['id']}", {"text": "Rome is where User lives."})["rev"] == 2
    assert state(user, "User's home is in Rome.")["id"] == known["id"]


@pytest.mark.controls
def test_e18_a_model_says_what_is_the_same_and_is_not_believed_where_it_cannot_be(
    user: Person, controls: Controls
) -> None:
    known = state(user, "User has two kids.", by="user_stated")

    def decided(session: str, text: str, relation: str, target: str | None) -> Json:
        fact = {"text": text, "category": "BIOGRAPHY", "importance": 4, "by": "user_stated", "relation": relation}
        fact |= {"target_id": target} if target else {}
        controls.script({"has_memory": True, "observations": [], "facts": [fact]}, purpose="observe")
        return say(user, session, text.replace("User has", "I have"))[0]

    more = decided("s1", "User has two kids who are fond of the sea.", "reinforces", known["id"])
    assert (more["decision"], more["id"]) == ("reinforced", known["id"]) and known["id"] in more["reason"]
    vetoed = decided("s2", "User has three kids.", "reinforces", known["id"])
    assert vetoed["decision"] == "stored" and known["id"] in vetoed["reason"]
    again = decided("s3", "User has 3 children.", "new", None)
    assert (again["decision"], again["id"]) == ("reinforced", vetoed["id"])
    assert {fact["text"]: fact["occurrences"] for fact in active(user)} == {
        "User has two kids who are fond of the sea.": 2,
        "User has three kids.": 2,
    }
