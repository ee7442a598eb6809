"""Rows E01 to E04 of docs/features.md: what is taken back, and what was made of it."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.http.driving.controls import Controls
from tests.http.driving.images import IMAGE, PNG
from tests.http.driving.people import LONG_TEXT, Json, Person, answered, user_message

PREFERENCES = "/profile/preferences"
PEANUTS = [user_message("I am allergic to peanuts."), answered("Noted.")]
SEATS = user_message("I always prefer window seats on trains.")
DOG = [
    answered("Good to know."),
    user_message("I decided to adopt a dog named Quillon."),
    answered("Congratulations on Quillon!"),
]


def retract(user: Person, session: str, first: int, last: int | None, reason: str = "edited", **more: Any) -> Json:
    body = {"from_seq": first, **({} if last is None else {"to_seq": last}), "reason": reason}
    return dict(user.expect(200, "POST", f"/sessions/{session}/events/retract", body, **more))


def done(user: Person, retraction: Json) -> Json:
    user.settle()
    job = user.ended(retraction["job_id"])
    user.settle()
    assert job["status"] == "done", job
    return dict(job["result"])


def words(recall: Json) -> str:
    return "\n".join(hit["text"] for hit in recall["hits"])


def facts(user: Person) -> list[str]:
    return [str(fact["text"]) for fact in user.memories(status="active", kind="fact")]


def ranges(memories: list[Json]) -> list[tuple[int, int]]:
    return [(row["provenance"]["seq_from"], row["provenance"]["seq_to"]) for row in memories]


def marked(user: Person, session: str) -> list[int]:
    return [event["seq"] for event in user.events(session) if event["retracted"]]


@pytest.mark.live
def test_e01_no_end_is_the_end_of_the_log_also_where_it_is_sent_as_null(user: Person) -> None:
    user.open("s1")
    user.append("s1", user_message("I keep bees."), answered("Nice."))
    body = {"from_seq": 1, "to_seq": None, "reason": "deleted"}
    assert user.expect(200, "POST", "/sessions/s1/events/retract", body)["to_seq"] == 2


@pytest.mark.live
def test_e01_what_is_taken_back_takes_along_what_was_made_of_it(user: Person) -> None:
    user.open("s1")
    user.append("s1", *PEANUTS)
    user.observe("s1")
    user.append("s1", SEATS, *DOG)
    user.observe("s1")
    user.settle()
    first, second = user.memories(status="active", kind="observation")
    assert ranges([first, second]) == [(1, 2), (3, 6)]
    assert "Quillon" in second["text"]
    assert "Quillon" in words(user.recall("Quillon", sources=["event"]))

    answer = retract(user, "s1", 4, 6)
    for where in ({}, {"session_id": "s1"}):
        for sources in ({}, {"sources": ["event"]}, {"sources": ["memory"]}):
            assert "Quillon" not in words(user.recall("Quillon", **sources, **where))
    done(user, answer)
    assert user.memory(second["id"])["status"] == "superseded"
    assert second["id"] not in [one["id"] for one in user.memories(status="active")]
    assert second["id"] not in user.recalled("Quillon window seats")
    remaining, again = user.memories(status="active", kind="observation")
    assert (remaining["id"], ranges([again])) == (first["id"], [(3, 3)])
    assert "window seats" in again["text"] and "Quillon" not in again["text"]
    assert user.recalled("Quillon") == []
    assert "window seats" in words(user.recall("window seats", sources=["memory"]))
    text = user.pack_text("s1")
    assert "window seats" in text and "Quillon" not in text
    assert user.versions("s1")[-1]["trigger"] == "reflection"

    assert marked(user, "s1") == [4, 5, 6]
    assert [event["seq"] for event in user.events("s1")] == [1, 2, 3, 4, 5, 6]
    assert user.append("s1", user_message("I decided to adopt a cat."))["seqs"] == [7]
    assert retract(user, "s1", 4, 6) == answer
    assert retract(user, "s1", 4, 6, headers={"Idempotency-Key": "k1"}) == answer


def _bare(memory: dict[str, Any]) -> dict[str, Any]:
    """Without how far its vector is, which has nothing to do with it."""
    return {name: value for name, value in memory.items() if not name.startswith("embedding")}


@pytest.mark.live
def test_e01_what_a_person_last_wrote_stays_unless_it_is_deleted(user: Person) -> None:
    user.open("s1")
    user.append("s1", *PEANUTS)
    user.observe("s1")
    user.append("s1", SEATS, DOG[0])
    user.observe("s1")
    first, second = user.memories(status="active", kind="observation")
    user.expect(200, "PATCH", f"/memories/{first['id']}", {"text": "The peanut allergy was a misunderstanding."})
    user.expect(200, "PATCH", f"/memories/{second['id']}", {"status": "resolved", "label": "travel", "importance": 5})
    before = _bare(user.memory(first["id"]))
    for seq in (2, 4, 1):
        done(user, retract(user, "s1", seq, seq))
    assert _bare(user.memory(first["id"])) == before
    left, again = user.memories(session_id="s1", kind="observation")
    assert (left["id"], again["supersedes"]) == (first["id"], [second["id"]])
    marks = ("text", "status", "label", "importance")
    assert [again[name] for name in marks] == [second["text"], "resolved", "travel", 5]
    done(user, retract(user, "s1", 1, 1, "deleted"))
    user.expect(404, "GET", f"/memories/{first['id']}")


@pytest.mark.live
def test_e01_a_fact_that_a_person_deleted_does_not_come_back_with_a_regenerated_answer(user: Person) -> None:
    user.open("s1")
    user.append("s1", user_message("I live in Paris."), answered("I see."), SEATS)
    user.observe("s1")
    [paris] = [fact for fact in user.memories(status="active", kind="fact") if "Paris" in fact["text"]]
    user.expect(200, "DELETE", f"/memories/{paris['id']}")
    done(user, retract(user, "s1", 2, 2))
    [again] = user.memories(status="active", kind="observation")
    assert again["supersedes"] and "Paris" in again["text"], "it was read again"
    assert [fact for fact in facts(user) if "Paris" in fact] == []
    user.expect(200, "DELETE", f"/memories/{again['id']}")
    user.append("s1", user_message("I live in Paris."), answered("Yes."))
    user.observe("s1")
    assert [fact for fact in facts(user) if "Paris" in fact] == ["User lives in Paris"]


@pytest.mark.live
def test_e01_what_the_librarian_made_of_it_follows(user: Person) -> None:
    user.open_without_pack("s0")
    user.append("s0", user_message("I live in Lyon."), answered("Noted."))
    user.observe("s0")
    user.open_without_pack("s1")
    user.append("s1", user_message("I prefer the window seat."), answered("Noted."))
    user.append("s1", user_message("My sister Quilla lives in Bergen."), answered("Greetings to Quilla."))
    user.append("s1", user_message("Actually, I live in Nice."), answered("I see."))
    ended = user.ended(user.expect(202, "POST", "/sessions/s1/end", {})["id"])
    user.settle()
    written = [document["path"] for document in ended["result"]["documents"]]
    assert "/profile/people/quilla" in written and PREFERENCES in written
    assert {"User lives in Nice", "User's sister Quilla lives in Bergen"} <= set(facts(user))
    assert "Quilla" in str(user.memory(ended["result"]["session_summary"]["memory_id"]))
    assert "Quilla" in words(user.recall("Quilla Bergen", sources=["document"]))

    result = done(user, retract(user, "s1", 3, 6))
    again = user.ended(result["librarian_job_id"])
    user.settle()
    user.expect(404, "GET", "/documents", query={"path": "/profile/people/quilla"})
    [conversation] = user.expect(200, "GET", "/documents/list", query={"prefix": "/conversations/"})["documents"]
    assert conversation["path"] == again["result"]["session_summary"]["path"]
    [summary] = user.memories(status="active", kind="session_summary")
    assert summary["id"] == again["result"]["session_summary"]["memory_id"]
    texts = [
        user.expect(200, "GET", "/documents", query={"path": path}) for path in (conversation["path"], PREFERENCES)
    ]
    for one_memory in (*texts, summary):
        assert "window seat" in one_memory["text"] and "Quilla" not in str(one_memory) and "Nice" not in str(one_memory)
    assert "User lives in Lyon" in facts(user)
    assert not [fact for fact in facts(user) if "Quilla" in fact or "Nice" in fact]
    for asked in ("Quilla Bergen sister", "Where do I live, Nice?"):
        assert "Quilla" not in words(user.recall(asked)) and "Nice" not in words(user.recall(asked))
    after = user.ended(user.expect(202, "POST", "/sessions/s1/end", {})["id"])
    assert (after["id"] != ended["id"], after["result"]["documents"]) == (True, again["result"]["documents"])
    user.open("s2")
    assert "Quilla" not in user.pack_text("s2") and "window seat" in user.pack_text("s2")


@pytest.mark.live
def test_e01_what_cannot_be_taken_back_is_refused_by_name(user: Person) -> None:
    user.open_without_pack("s1")
    user.append("s1", user_message("one", client_id="m1"), answered("two"))
    path = "/sessions/s1/events/retract"
    for body, field in (
        ({"from_seq": 3, "reason": "edited"}, "from_seq"),
        ({"from_seq": 1, "to_seq": 3, "reason": "edited"}, "to_seq"),
        ({"from_seq": 2, "to_seq": 1, "reason": "edited"}, "to_seq"),
        ({"from_seq": 1, "to_seq": 1, "reason": "regretted"}, "reason"),
        ({"from_seq": 1}, "reason"),
    ):
        problem = user.expect(422, "POST", path, body)
        assert [error["field"] for error in problem["errors"]] == [field], problem
    user.expect(404, "POST", "/sessions/nobody/events/retract", {"from_seq": 1, "to_seq": 1, "reason": "edited"})

    retract(user, "s1", 1, 1)
    again = user.append("s1", user_message("one", client_id="m1"))
    assert (again["seqs"], again["retracted"], again["retracted_seqs"]) == ([1], True, [1])
    other = user.expect(409, "POST", "/sessions/s1/events", {"events": [user_message("another one", client_id="m1")]})
    assert other["code"] == "client_id_conflict"
    retract(user, "s1", 1, 1, "deleted")
    deleted = user.expect(409, "POST", "/sessions/s1/events", {"events": [user_message("one", client_id="m1")]})
    assert deleted["code"] == "retracted"


@pytest.mark.controls
def test_e02_a_deleted_message_leaves_no_byte(user: Person, controls: Controls) -> None:
    """Raw files of the embedded engine; of real servers all that their APIs give, once deleted passages are merged. A
    document whose text is no row may hold what was deleted, so it is read."""
    marker = f"zq{user.id[-12:]}xv"
    user.open_without_pack("s1")
    lines = [{"text": f"🔴 User keeps the number {marker}.", "seq_from": 1, "seq_to": 2}]
    controls.script({"has_memory": True, "observations": lines}, {"has_memory": False, "observations": []})
    text = {"type": "text", "text": f"Remember the number {marker} for me."}
    photo = IMAGE | {"data": base64.b64encode(base64.b64decode(PNG) + marker.encode()).decode()}
    user.append("s1", user_message([text, photo], client_id="m1"), answered(f"I keep {marker}.", client_id="m2"))
    user.append("s1", user_message("Thank you."), answered("You are welcome."))
    user.put_document("/notes/log", LONG_TEXT)
    user.observe("s1")
    user.settle()
    user.open("s1")
    user.open("s2")
    assert marker in user.pack_text("s1") and marker in user.pack_text("s2")
    assert marker in words(user.recall(marker, sources=["event"]))
    assert controls.stored(marker) != []
    [observed] = user.memories()

    result = done(user, retract(user, "s1", 1, 2, "deleted"))
    erased = result["erased"]
    assert (erased["events"], erased["memories"], erased["packs"], erased["verified"]) == (2, 1, 2, True)
    assert erased["images"] == 1
    assert erased["rebuilt_packs"] == ["s1", "s2"]
    user.expect(404, "GET", f"/memories/{observed['id']}")
    for session in ("s1", "s2"):
        assert marker not in user.pack_text(session)
        [version] = user.versions(session)
        assert (version["trigger"], version["pack_version"] > 1) == ("initial", True)
    shown = user.events("s1")[:2]
    assert [(event["content"], event["erased"]) for event in shown] == [("", True)] * 2
    assert marker not in str(user.recall(marker, sources=["event", "memory", "document"])["hits"])
    assert controls.left(marker) == []
    assert controls.replay(user.id) > 0
    again = user.expect(409, "POST", "/sessions/s1/events", {"events": [user_message([text, photo], client_id="m1")]})
    assert again["code"] == "retracted"
    assert controls.left(marker) == []


@pytest.mark.controls
def test_e02_other_conversations_keep_what_stood_beside_a_deleted_message(user: Person) -> None:
    user.open_without_pack("a")
    messages = ("Never suggest IKEA to me.", "My locker code is 7741.", "We have two cats called Ada and Bix.")
    user.append("a", *(one for text in messages for one in (user_message(text), answered("Okay."))))
    user.observe("a")
    user.settle()
    user.open("b")
    assert "IKEA" in user.pack_text("b") and "7741" in user.pack_text("b")

    result = done(user, retract(user, "a", 3, 4, "deleted"))
    assert result["erased"]["rebuilt_packs"] == ["b"]
    text = user.pack_text("b")
    assert "IKEA" in text and "Ada" in text and "7741" not in text
    assert user.versions("b")[-1]["trigger"] == "initial"


@pytest.mark.controls
def test_e02_no_document_is_called_by_a_deleted_message_once_its_text_is_a_persons(user: Person) -> None:
    user.open_without_pack("s1")
    user.append("s1", user_message("I decided to tell nobody about my vasectomy in March."), answered("Noted."))
    user.append("s1", *PEANUTS)
    user.ended(user.expect(202, "POST", "/sessions/s1/end", {})["id"])
    user.settle()
    before = user.expect(200, "GET", "/documents/list", query={"prefix": "/"})["documents"]
    called = [one for one in before if "vasectomy" in str([one["name"], one["summary"]]).lower()]
    assert len(called) == 2, "the decision and the conversation"
    for one in called:
        user.put_document(one["path"], "My own words.")
    result = done(user, retract(user, "s1", 1, 2, "deleted"))
    user.ended(result["librarian_job_id"])
    user.settle()
    assert result["erased"]["verified"] is True
    assert result["paths_kept"] == sorted(one["id"] for one in called)
    for one in called:
        versions = user.expect(200, "GET", "/documents/versions", query={"path": one["path"]})["versions"]
        assert not [v for v in versions if "vasectomy" in str([v["name"], v["summary"], v["tags"]]).lower()]
        text = user.expect(200, "GET", "/documents", query={"path": one["path"]})["text"]
        assert text.startswith("My own words.")


@pytest.mark.live
def test_e03_a_branch_goes_on_from_where_it_left(user: Person) -> None:
    user.open("s1")
    user.append("s1", *PEANUTS, user_message("Where should we travel?"), answered("To the mountains, or to the sea."))
    old = [user_message("I decided to book a hut in Zermatt."), answered("Zermatt it is.")]
    new = [user_message("I decided to book a boat in Bergen."), answered("Bergen it is.")]
    user.append("s1", *old)
    user.observe("s1")
    before = user.context("s1", "And then?", retrieval="none")
    assert "Zermatt" in str(before["request"])
    epoch = user.session("s1")["epoch"]

    answer = retract(user, "s1", 5, None, "branched")
    assert answer["to_seq"] == 6
    assert user.append("s1", *new)["seqs"] == [7, 8]
    user.observe("s1")
    done(user, answer)
    after = user.context("s1", "And then?", retrieval="none")
    assert "Bergen" in str(after["request"]) and "Zermatt" not in str(after["request"])
    assert answer["epoch"] > epoch and user.session("s1")["epoch"] >= answer["epoch"]
    assert user.recalled("Zermatt") == []
    assert user.recalled("Bergen") != []
    assert "Zermatt" not in user.pack_text("s1")
    user.open("s2")
    assert "Bergen" in user.pack_text("s2") and "Zermatt" not in user.pack_text("s2")
    assert marked(user, "s1") == [5, 6]
    assert [event["content"] for event in user.events("s1")[4:]] == [event["content"] for event in (*old, *new)]


@pytest.mark.controls
def test_e02_a_deletion_that_the_stream_gave_up_is_found_by_the_sweep(user: Person, controls: Controls) -> None:
    """What was answered with 200 is done without anybody's help: by its job, and in the search index."""
    marker = f"zq{user.id[-12:]}xv"
    user.open_without_pack("s1")
    user.append("s1", user_message(f"I am called {marker}."), answered("Noted."))
    user.observe("s1")
    user.settle()
    controls.freeze("2026-06-01T12:00:00Z")
    controls.fault("queue", "error")
    answer = retract(user, "s1", 1, 2, "deleted")
    controls.drain()
    controls.faults()
    assert user.expect(200, "GET", f"/jobs/{answer['job_id']}")["status"] == "queued"
    for minutes in (9, 11):
        controls.advance(minutes * 60)
        controls.run("sweep")
        controls.drain()
    assert done(user, answer)["erased"]["verified"]
    assert user.memories(status="active") == []
    assert marker not in words(user.recall(marker, sources=["event"]))


@pytest.mark.controls
def test_e02_a_deleted_memory_that_the_stream_gave_up_leaves_the_index(user: Person, controls: Controls) -> None:
    marker = f"zq{user.id[-12:]}xv"
    memory = user.remember(f"I am called {marker}.")
    user.settle()
    controls.freeze("2026-06-01T12:00:00Z")
    controls.fault("queue", "error")
    user.expect(200, "DELETE", f"/memories/{memory['id']}")
    controls.drain()
    controls.faults()
    assert controls.stored(marker) != []
    controls.advance(31 * 60)
    assert controls.left(marker) == []


@pytest.mark.controls
def test_e04_a_pass_under_way_writes_nothing_of_what_is_taken_back(user: Person, controls: Controls) -> None:
    user.open_without_pack("s1")
    controls.hold("extract")
    lines = [{"text": "🔴 User adopts Quillon.", "seq_from": 1, "seq_to": 4}]
    again = [{"text": "🟡 User likes trains.", "seq_from": 1, "seq_to": 2}]
    controls.script(
        {"has_memory": True, "observations": lines}, {"has_memory": True, "observations": again}, purpose="observe"
    )
    user.append("s1", user_message("I like trains."), answered("Noted."), *DOG[1:])
    with controls.draining():
        controls.wait_until_held("extract")
        answer = retract(user, "s1", 3, 4, "deleted")
        controls.resume("extract")
    done(user, answer)
    first, second = controls.calls("model", purpose="observe")
    assert "Quillon" in str(first["content"]) and "Quillon" not in str(second["content"])
    [row] = user.memories()
    assert row["text"] == "🟡 User likes trains."
    assert user.session("s1")["observed_seq"] == 4
