"""Row E02 of docs/features.md: wherever the words of a message went, none of them is left when it is deleted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, filler, new_word, reflect_job, user_message
from tests.http.retraction.test_retract_rows import done, retract


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


def session(user: Person, word: str, said: Sequence[Json], *, key: str = "first") -> int:
    """Of that and small talk around it, observed, shown in packs, recalled and in a prompt. The last seq of it."""
    user.open_without_pack("s1")
    user.append("s1", user_message("Good morning."), answered())
    seqs = user.append("s1", *said, headers={"Idempotency-Key": key})["seqs"]
    user.append("s1", user_message("I have two cats."), answered())
    user.expect(200, "POST", "/sessions/s1/observe", {"wait": True}, headers={"Idempotency-Key": key})
    user.settle()
    user.open("s1")
    user.open("s2")
    user.recall(f"What about {word}?", session_id="s1")
    user.context("s1", "And?")
    return int(seqs[-1])


def ended(user: Person) -> Json:
    """Twice, each time with a key: the second answer is that of a job that has ended."""
    for key in ("end", "again"):
        job = user.expect(202, "POST", "/sessions/s1/end", {}, headers={"Idempotency-Key": key})
        user.ended(job["id"])
        user.settle()
    return dict(user.expect(200, "GET", f"/jobs/{job['id']}"))


def documents(user: Person) -> list[str]:
    return [one["path"] for one in user.expect(200, "GET", "/documents/list", query={"prefix": "/"})["documents"]]


# --- what happened to it before it was deleted ---------------------------------------------------------


def filed(user: Person, word: str) -> None:
    written = [one["path"] for one in ended(user)["result"]["documents"]]
    assert set(written) <= set(documents(user))


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
    body = {"reason": "manual", "wait": True}
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


THEN = [filed, filed_and_moved, filed_and_deleted, compacted, condensed, exported, evolved, decided]


@pytest.mark.controls
@pytest.mark.parametrize("then", THEN, ids=lambda then: then.__name__)
def test_e02_whatever_became_of_a_message_no_word_of_it_is_left(
    user: Person, controls: Controls, then: Callable[[Person, str], None]
) -> None:
    is_gone(user, controls, "a decision", then)


@pytest.mark.controls
@pytest.mark.parametrize("said", SAID)
def test_e02_whatever_a_message_was_no_word_of_it_is_left(user: Person, controls: Controls, said: str) -> None:
    is_gone(user, controls, said, filed)


def is_gone(user: Person, controls: Controls, said: str, then: Callable[[Person, str], None]) -> None:
    word = new_word()[:16]
    last = session(user, word, SAID[said](word))
    then(user, word)
    assert controls.stored(word) != []
    result = done(user, retract(user, "s1", 3, last, "deleted"))
    if "librarian_job_id" in result:
        user.ended(result["librarian_job_id"])
    for _ in range(2):
        user.settle()
        controls.run("sweep")
    assert controls.stored(word) == []
    assert (result["erased"]["verified"], result.get("paths_kept")) == (True, None)
    assert [one["content"] for one in user.events("s1") if not one.get("erased")][:2] == ["Good morning.", "Noted."]


@pytest.mark.controls
def test_e02_a_jobs_answer_is_the_first_one_until_its_words_are_deleted(user: Person) -> None:
    """The paths of its documents are those at which they stand when the job is read."""
    session(user, "vasectomy", SAID["a decision"]("vasectomy"))
    job = ended(user)
    again = user.expect(202, "POST", "/sessions/s1/end", {}, headers={"Idempotency-Key": "again"})
    assert again["result"] == job["result"]
    [decision] = [one for one in job["result"]["documents"] if "vasectomy" in one["path"]]
    user.expect(200, "POST", "/documents/move", {"path": decision["path"], "to": "/mine"})
    moved = user.expect(200, "GET", f"/jobs/{job['id']}")["result"]["documents"]
    assert decision | {"path": "/mine"} in moved
    done(user, retract(user, "s1", 3, 4, "deleted"))
    assert "vasectomy" not in str(user.expect(200, "GET", f"/jobs/{job['id']}"))
