"""Row E02 of docs/features.md: wherever the words of a message went, none of them is left when it is deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, filler, new_word, reflect_job, user_message
from tests.http.retraction.test_retract_rows import done, retract

LETTERS = "abcdefgh"
"""The ends of words that begin alike."""


def tool(word: str) -> list[Json]:
    """A call whose result is long enough to be kept as a document."""
    data = {"tool_use_id": "t1", "name": "lookup"}
    return [
        user_message("What is my plan?"),
        {"event_type": "tool_call", "content": "", "event_data": {**data, "args": {"of": word}}},
        {"event_type": "tool_result", "content": f"The {word} plan was decided. " * 300, "event_data": data},
        answered("There it is."),
    ]


SAID: dict[str, Callable[[str], Sequence[Json]]] = {
    "a statement": lambda word: [user_message(f"I am allergic to {word}."), answered()],
    "a decision": lambda word: [user_message(f"I decided to tell nobody about my {word} in March."), answered()],
    "a wish to remember": lambda word: [user_message(f"Remember that my locker stands at {word}."), answered()],
    "a task, the title": lambda word: [user_message(f"Please help me plan the {word} party."), answered()],
    "a preference": lambda word: [user_message(f"I always prefer {word} on trains."), answered()],
    "an answer": lambda word: [user_message("And now?"), answered(f"You decided to use the {word} plan.")],
    "a tool": tool,
    "a speaker": lambda word: [user_message("Good evening to you all.", name=word), answered()],
}
"""Each ends with the word in events 3 and on."""


def say(user: Person, said: Mapping[str, tuple[str, Sequence[Json]]]) -> dict[str, int]:
    """Each in a session of its own, with small talk around it, observed, shown in packs, recalled and in a prompt.
    ``said``: a word and the events with it, by session. Returns the last seq of these events, by session."""
    last = {}
    for session, (_, events) in said.items():
        user.open_without_pack(session)
        user.append(session, user_message("Good morning."), answered())
        key = {"Idempotency-Key": f"first-{session}"}
        last[session] = int(user.append(session, *events, headers=key)["seqs"][-1])
        user.append(session, user_message("I have two cats."), answered())
        user.ended(user.call("POST", f"/sessions/{session}/observe", {}, headers=key).json()["id"])
    user.settle()
    user.open("other")
    for session, (word, _) in said.items():
        user.open(session)
        user.recall(f"What about {word}?", session_id=session)
        user.context(session, "And?")
    return last


def ended(user: Person, *sessions: str) -> list[Json]:
    """Twice, each time with a key: the second answer is that of a job that has ended."""
    for key in ("end", "again"):
        jobs = [
            user.expect(202, "POST", f"/sessions/{session}/end", {}, headers={"Idempotency-Key": f"{key}-{session}"})
            for session in sessions or ("s1",)
        ]
        for job in jobs:
            user.ended(job["id"])
        user.settle()
    return [dict(user.expect(200, "GET", f"/jobs/{job['id']}")) for job in jobs]


def documents(user: Person) -> list[str]:
    return [one["path"] for one in user.expect(200, "GET", "/documents/list", query={"prefix": "/"})["documents"]]


# --- what happened to it before it was deleted ---------------------------------------------------------


def filed_and_moved(user: Person, word: str) -> None:
    """By a person, who has put words of their own in their place: before, or behind it."""
    ended(user)
    for number, path in enumerate(documents(user)):
        to, words = f"/moved/{number}", "My own words."
        if number % 2:
            user.put_document(path, words)
        user.expect(200, "POST", "/documents/move", {"path": path, "to": to}, headers={"Idempotency-Key": to})
        user.put_document(to, words)


def filed_and_deleted(user: Person, word: str) -> None:
    """Each answer says the path, and where else the same stands."""
    ended(user)
    for memory in user.memories():
        key = {"Idempotency-Key": memory["id"]}
        user.expect(200, "DELETE", f"/memories/{memory['id']}", headers=key)
    for number, path in enumerate(documents(user)):
        key = {"Idempotency-Key": f"document-{number}"}
        user.expect(200, "DELETE", "/documents", query={"path": path}, headers=key)


def compacted(user: Person, word: str) -> None:
    user.append("s1", *(one for _ in range(8) for one in (user_message(filler(900)), answered())))
    user.settle()
    body = {"reason": "manual"}
    job = user.call("POST", "/sessions/s1/compact", body, headers={"Idempotency-Key": "compact"}).json()
    user.ended(job["id"])
    ended(user)
    user.context("s1", "And?")


def condensed(user: Person, word: str) -> None:
    user.ended(reflect_job(user.api, user.id, min_age_days=0)["id"])
    user.settle()


def exported(user: Person, word: str) -> None:
    job = user.expect(202, "POST", "/export", {}, headers={"Idempotency-Key": "export"})
    user.ended(job["id"])
    user.settle()


def evolved(user: Person, word: str) -> None:
    """Of what was made of it: a pass that came between two appends has noted the cats in a row of their own, and what a
    person says of that one stays."""
    for memory in (one for one in user.memories(status="active") if word in one["text"]):
        wanted = {"text": f"It is not {word} any more.", "reason": f"It was {word}."}
        key = {"Idempotency-Key": memory["id"]}
        user.expect(201, "POST", f"/memories/{memory['id']}/evolve", wanted, headers=key)
    user.settle()


def decided(user: Person, word: str) -> None:
    ended(user)
    for item in user.expect(200, "GET", "/inbox")["items"]:
        user.expect(200, "POST", f"/inbox/{item['id']}/approve", {}, headers={"Idempotency-Key": item["id"]})
    user.settle()


JOURNEYS: Sequence[Sequence[Callable[[Person, str], None]]] = [
    (filed_and_moved,),
    (filed_and_deleted,),
    (evolved, condensed),
    (compacted, exported, decided),
]


@pytest.mark.controls
def test_e02_whatever_became_of_a_message_no_word_of_it_is_left(
    person: Callable[[ApiClient], Person], api: ApiClient, controls: Controls
) -> None:
    """Each way in a user of its own. All words begin alike, so one search of all that is kept finds each."""
    word = new_word()[:16]
    said = {}
    for letter, journey in zip(LETTERS, JOURNEYS, strict=False):
        user, its_word = person(api), f"{word}{letter}"
        said[user] = say(user, {"s1": (its_word, SAID["a decision"](its_word))})
        for then in journey:
            then(user, its_word)
        assert its_word in str(user.events("s1"))
    assert controls.stored(word) != []
    are_gone(controls, word, said)


@pytest.mark.controls
def test_e02_whatever_a_message_was_no_word_of_it_is_left(user: Person, controls: Controls) -> None:
    word = new_word()[:16]
    said = {
        f"s-{letter}": (f"{word}{letter}", events(f"{word}{letter}"))
        for letter, events in zip(LETTERS, SAID.values(), strict=True)
    }
    last = say(user, said)
    written = {one["path"] for job in ended(user, *said) for one in job["result"]["documents"]}
    assert written <= set(documents(user))
    for session, (its_word, _) in said.items():
        assert its_word in str(user.events(session))
    assert controls.stored(word) != []
    are_gone(controls, word, {user: last})


def are_gone(controls: Controls, word: str, said: Mapping[Person, Mapping[str, int]]) -> None:
    """When events 3 to the last are deleted from each session of each user."""
    results = {
        (user, session): done(user, retract(user, session, 3, last, "deleted"))
        for user, sessions in said.items()
        for session, last in sessions.items()
    }
    for (user, _), result in results.items():
        if "librarian_job_id" in result:
            user.ended(result["librarian_job_id"])
    assert controls.left(word) == []
    for (user, session), result in results.items():
        assert (result["erased"]["verified"], result.get("paths_kept")) == (True, None), session
        assert [one["content"] for one in user.events(session) if not one.get("erased")][:2] == [
            "Good morning.",
            "Noted.",
        ]


@pytest.mark.controls
def test_e02_a_jobs_answer_is_the_first_one_until_its_words_are_deleted(user: Person) -> None:
    """The paths of its documents are those at which they stand when the job is read."""
    say(user, {"s1": ("vasectomy", SAID["a decision"]("vasectomy"))})
    [job] = ended(user)
    again = user.expect(202, "POST", "/sessions/s1/end", {}, headers={"Idempotency-Key": "again-s1"})
    assert again["result"] == job["result"]
    [decision] = [one for one in job["result"]["documents"] if "vasectomy" in one["path"]]
    user.expect(200, "POST", "/documents/move", {"path": decision["path"], "to": "/mine"})
    moved = user.expect(200, "GET", f"/jobs/{job['id']}")["result"]["documents"]
    assert decision | {"path": "/mine"} in moved
    done(user, retract(user, "s1", 3, 4, "deleted"))
    assert "vasectomy" not in str(user.expect(200, "GET", f"/jobs/{job['id']}"))
