"""Rows B47 and D53 of docs/features.md: a user who is erased, and originals whose time is over."""

from __future__ import annotations

import base64
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import uuid4

import pytest

from local.api_client import ApiClient
from tests.http.driving.at_once import Beside
from tests.http.driving.controls import Controls
from tests.http.driving.images import IMAGE, PNG, upload
from tests.http.driving.people import LONG_TEXT, Json, Person, answered, filler, reflect_job, user_message

USERS = {"embedded": 50, "segments": 10, "full": 10}
IMPORTED = 3
T = TypeVar("T")
JobEnded = Callable[[ApiClient, Json], Json]


def erase(user: Person, **query: object) -> Json:
    return dict(user.expect(202, "DELETE", "", query=query))


@pytest.mark.live
def test_b47_what_is_erased_is_gone_and_the_id_starts_over(
    person: Callable[[ApiClient], Person], api: ApiClient, job_ended: JobEnded
) -> None:
    ann, bob = person(api), person(api)
    for user in (ann, bob):
        user.open("s1")
        text = {"type": "text", "text": "My sister keeps axolotls in Lisbon."}
        user.append("s1", user_message([text, IMAGE]), answered())
        user.put_document("/notes/log", LONG_TEXT)
        user.remember("User once saw a quetzal.")
        user.settle()
        user.recall("quetzal")
    [memory] = [row["id"] for row in ann.memories() if "quetzal" in row["text"]]
    [recall] = [one["id"] for one in ann.expect(200, "GET", "/recalls")["recalls"]]
    upload(ann, base64.b64decode(PNG))
    exported = job_ended(api, ann.expect(202, "POST", "/export"))
    assert (exported["status"], exported["result"]["lines"]["document"]) == ("done", 1), exported
    job = erase(ann)
    assert ann.call("POST", "/memories", {"text": "One more."}).json()["code"] == "erasing"
    assert ann.call("POST", "/uploads", {"media_type": "image/png"}).json()["code"] == "erasing"
    assert (ann.memories(), ann.recalled("quetzal", mode="tool")) == ([], [])
    assert erase(ann)["id"] == job["id"], "a repeat is the same erasure"
    done = job_ended(api, job)
    assert done["status"] == "done", done
    receipt = done["result"]["receipt"]
    assert all(store["verified_empty_at"] for store in receipt.values())
    assert {name for name, store in receipt.items() if store["deleted"]} >= {
        *("passages", "packs", "images", "uploads", "documents", "events", "memories", "recalls", "vectors", "rows"),
    }
    assert done["result"]["backups_expire_at"] > done["finished_at"]
    for gone in (
        "/sessions/s1",
        "/sessions/s1/events",
        "/pack?session_id=s1",
        f"/memories/{memory}",
        f"/recalls/{recall}",
    ):
        assert ann.call("GET", gone).status == 404, gone
    assert ann.memories() == []
    assert ann.recall("quetzal axolotls")["hits"] == []
    stats = ann.expect(200, "GET", "/stats")
    assert (stats["memories"]["total"], stats["short_term"]["sessions"], stats["embeddings"]["vectors"]) == (0, 0, 0)
    assert len(bob.recalled("quetzal", mode="tool")) == 1
    assert len(bob.memories()) > 0
    assert ann.open("s1")["pack"]["text"] == "", "an empty memory"
    ann.append("s1", user_message("I live in Porto now."), answered())
    ann.settle()
    assert ann.recalled("Porto") != []


@pytest.mark.live
def test_b47_a_closed_id_is_refused_for_good(user: Person, job_ended: JobEnded) -> None:
    user.open("s1")
    user.remember("User once saw a quetzal.")
    assert job_ended(user.api, erase(user, close="true"))["result"]["closed"]
    query, session = {"query": "quetzal"}, {"session_id": "s1"}
    for method, path, body in (
        ("POST", "/memories", {"text": "Back."}),
        ("GET", "/pack", None),
        ("GET", "/pack?session_id=s1", None),
        ("GET", "/pack?session_id=s1&version=1&format=text", None),
        ("GET", "/pack/versions?session_id=s1", None),
        ("GET", "/pack/diff?session_id=s1&from=1&to=1", None),
        ("POST", "/recall", query),
        ("POST", "/recall", query | session),
        ("POST", "/context", {"message": "Hello?"} | session),
        ("POST", "/tools/recall_memory", {"arguments": query}),
        ("POST", "/tools/search_conversation", {"arguments": query | {"conversation_id": "s1"}}),
        ("POST", "/uploads", {"media_type": "image/png"}),
        ("DELETE", "", None),
        ("POST", "/export", None),
    ):
        reply = user.call(method, path, body)
        assert (reply.status, reply.json()["code"]) == (410, "user_closed"), (method, path)


@pytest.mark.controls
def test_b47_every_write_is_refused_when_the_rows_are_gone_too(
    user: Person, controls: Controls, job_ended: JobEnded
) -> None:
    """An erasure that has removed everything still waits for what no commit could stop."""
    user.open("s1")
    memory = user.remember("User once saw a quetzal.")["id"]
    job = erase(user, close="true")
    controls.drain()
    assert user.call("GET", f"/memories/{memory}").status == 404
    assert {answer_to(user, *write) for write in writes(memory)} == {(409, "erasing")}
    assert job_ended(user.api, job)["result"]["closed"]
    assert {answer_to(user, *write) for write in writes(memory)} == {(410, "user_closed")}


def writes(memory: str) -> list[tuple[str, str, Json]]:
    """Of a session ``s1`` and a memory, one of each kind."""
    waiting = {"text": "What waits.", "reason": "Because."}
    return [
        ("POST", "/sessions", {"session_id": "s1"}),
        ("POST", "/sessions/s1/events", {"events": [user_message("Hello?")]}),
        ("POST", "/sessions/s1/events/retract", {"from_seq": 1, "reason": "edited"}),
        ("POST", "/sessions/s1/observe", {}),
        ("POST", "/sessions/s1/compact", {}),
        ("POST", "/sessions/s1/end", {}),
        ("PATCH", f"/memories/{memory}", {"text": "User saw a quetzal."}),
        ("DELETE", f"/memories/{memory}", {}),
        ("POST", f"/memories/{memory}/evolve", waiting),
        ("POST", f"/inbox/{memory}/approve", {}),
        ("POST", f"/inbox/prp_{memory.removeprefix('mem_')}/reject", {}),
        ("PUT", "/documents?path=/notes/log", {"text": "A day."}),
        ("DELETE", "/documents?path=/notes/log", {}),
        ("POST", "/documents/move", {"path": "/notes/log", "to": "/notes/day"}),
        ("POST", "/documents/evolve", {"path": "/notes/log", "to": "/notes/day", **waiting}),
    ]


def answer_to(user: Person, method: str, path: str, body: Json) -> tuple[int, str]:
    reply = user.call(method, path, body or None)
    return reply.status, reply.json().get("code", "")


@pytest.mark.controls
def test_b47_fifty_users_leave_or_take_back_while_the_workers_are_at_them(
    person: Callable[[ApiClient], Person], api: ApiClient, controls: Controls, job_ended: JobEnded, stack: str
) -> None:
    """Every second one is erased; the others delete all that they said. Afterwards no byte is left: in raw files of the
    embedded engine, of real servers in all that their APIs give, once deleted passages are merged; nor is it once all
    that the workers were told is told again."""
    group, dead = uuid4().hex[:8], dead_letters(controls)
    gone, deleted = f"quagga{group}", f"okapi{group}"
    users = [replace(person(api), id=f"load-{group}-{n}") for n in range(USERS[stack])]
    bystander = replace(person(api), id=f"kept-{group}")
    leaving, retracting = users[::2], users[1::2]
    at_once([*((user, gone) for user in (*leaving, bystander)), *((user, deleted) for user in retracting)], live)
    controls.drain()
    bystander.open("s2")
    with controls.working():
        jobs = at_once([(user, gone) for user in leaving] + [(user, deleted) for user in retracting], leave)
    erased = [job_ended(api, job) for job in jobs[: len(leaving)]]
    retracted = [user.ended(job["job_id"]) for user, job in zip(retracting, jobs[len(leaving) :], strict=True)]
    assert [job for job in (*erased, *retracted) if job["status"] != "done"] == []
    counts = [job["result"]["receipt"]["memories"]["deleted"] for job in erased]
    assert min(counts) > IMPORTED, "nobody was observed before"
    receipts = [job["result"]["erased"] for job in retracted]
    assert all(receipt["verified"] and receipt["events"] == 4 and receipt["memories"] for receipt in receipts)
    assert all(user.memories() == [] and user.recalled(gone) == [] for user in leaving)
    assert all(deleted not in str(user.memories()) + str(user.recall(deleted)) for user in retracting)
    assert bystander.recalled(gone) != [], "nobody else notices"
    before = controls.stored(gone)
    assert before != []
    if stack == "full":
        assert {place.split()[0] for place in before} == {"row", "object", "passage"}, before
    assert job_ended(api, erase(bystander))["status"] == "done"
    assert controls.left(gone, deleted) == []
    assert controls.replay(f"load-{group}-1") > 0
    assert controls.left(gone, deleted) == []
    assert dead_letters(controls) == dead


@pytest.mark.controls
def test_b47_an_image_whose_append_meets_the_erasure_is_stored_no_longer(user: Person, controls: Controls) -> None:
    """The append was taken, and is refused when its image is about to be stored."""
    marker = f"quagga{uuid4().hex}"
    photo = IMAGE | {"data": base64.b64encode(base64.b64decode(PNG) + marker.encode()).decode()}
    user.open("s1")
    controls.hold("observe", at="object")
    events = {"events": [user_message([{"type": "text", "text": "Look."}, photo])]}
    with controls.paused("jobs"):
        with Beside(lambda: user.call("POST", "/sessions/s1/events", events), user.api) as append:
            controls.wait_until_held("observe")
            erase(user)
            controls.resume("observe")
        assert (append.result.status, append.result.json()["code"]) == (409, "erasing")
        assert controls.stored(marker) == [], "nor does it wait for the erasure"


def live(user: Person, word: str) -> None:
    user.open("s1")
    long_ago = (datetime.now(UTC) - timedelta(days=9)).isoformat()
    old = {"kind": "observation", "created_at": long_ago}
    user.bring_in(
        *({"text": f"Saw {word if word.startswith('quagga') else 'a kayak'} {n}.", **old} for n in range(IMPORTED))
    )
    user.append("s1", user_message(f"I like {word}."), answered("Noted."))


def leave(user: Person, word: str) -> Json:
    """Of what is in a pack, and of what was just said and is about to be observed, embedded and condensed."""
    user.open("s2")
    user.append("s1", user_message(f"I moved to {word}."), answered("Noted."))
    reflect_job(user.api, user.id)
    return erase(user) if word.startswith("quagga") else delete_all(user)


def delete_all(user: Person) -> Json:
    body = {"from_seq": 1, "reason": "deleted"}
    return dict(user.expect(200, "POST", "/sessions/s1/events/retract", body))


def at_once(wanted: list[tuple[Person, str]], work: Callable[[Person, str], T]) -> list[T]:
    """Eight beside each other."""

    def of(one: tuple[Person, str]) -> T:
        try:
            return work(*one)
        finally:
            one[0].api.close()  # this thread's connection

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(of, wanted))


def dead_letters(controls: Controls) -> dict[str, int]:
    """Those of other tests on the same server too."""
    return {name: counts["dlq"] for name, counts in controls.queues().items()}


# --- D53 ------------------------------------------------------------------------------------------


@pytest.mark.controls
def test_d53_archived_originals_go_and_their_summary_stays(
    tenant_with: Callable[..., ApiClient],
    person: Callable[[ApiClient], Person],
    controls: Controls,
    job_ended: JobEnded,
) -> None:
    user = person(tenant_with(window=2_000, retention_days=30))
    user.open("s1")
    long_ago = {"created_at": "2024-03-10T09:30:00Z"}
    for turn in range(10):
        user.append(
            "s1",
            user_message(f"Turn {turn}: I decided on a quetzal. {filler(60)}", **long_ago),
            answered(filler(120), **long_ago),
        )
    user.append("s1", *tool_turn("the page said axolotl " * 400, **long_ago))
    user.append("s1", *tool_turn("the page said narwhal " * 400))
    for _ in range(4):
        user.append("s1", user_message(filler(80)), answered(filler(80)))
    user.observe("s1")
    user.compact("s1")
    covers = user.session("s1")["covers"]
    before = user.events("s1", limit=200)
    archived = [event["seq"] for event in before if event["archived"]]
    assert (archived[0], archived[-1]) == (covers["from"], covers["to"])
    artifacts = [event["artifact_path"] for event in before if event.get("artifact_path")]
    old = [event["seq"] for event in before if event["archived"] and event["created_at"] < "2025"]
    controls.run("sweep")
    controls.drain()
    page = user.expect(200, "GET", "/sessions/s1/events", query={"limit": 200})
    left = [event["seq"] for event in page["events"]]
    assert left == [event["seq"] for event in before if event["seq"] not in old]
    assert page["removed"] == {"seq_from": old[0], "seq_to": old[-1]}
    assert len(artifacts) == 2, "what two tools said was put away"

    def read(path: str) -> str:
        return user.call("POST", "/tools/read_document", {"arguments": {"path": path}}).text

    gone, remaining = artifacts
    assert "axolotl" not in read(gone) and "narwhal" in read(remaining)
    found = [hit for hit in user.recalled("quetzal", mode="tool") if hit.startswith("evt:s1:")]
    assert [hit for hit in found if int(hit.split(":")[2]) in old] == []
    assert user.compact("s1")["result"]["outcome"] == "nothing_to_cover"
    assert "<neve-summary" in str(user.context("s1", "And now?")["request"]), "the summary stands for them"
    erased = job_ended(user.api, erase(user))
    assert erased["status"] == "done"
    assert user.call("GET", "/sessions/s1").status == 404
    assert "narwhal" not in read(remaining)


def tool_turn(output: str, **more: object) -> list[Json]:
    data = {"tool_use_id": "t1", "name": "fetch"}
    return [
        user_message("Look it up.", **more),
        {"event_type": "tool_call", "content": "", "event_data": {**data, "args": {}}, **more},
        {"event_type": "tool_result", "content": output, "event_data": data, **more},
        answered("I found it.", **more),
    ]
