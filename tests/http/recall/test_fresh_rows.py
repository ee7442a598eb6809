"""Rows of docs/features.md about recall. New rows are found at once, and deleted ones never again."""

from __future__ import annotations

import time

import pytest

from tests.http.driving.controls import Controls
from tests.http.driving.people import Person, answered, user_message
from tests.patience import PATIENCE_S


@pytest.mark.live
def test_a31_a_new_row_is_found_at_once(user: Person) -> None:
    for word in ("quetzal", "narwhal", "axolotl"):
        memory_id = user.remember(f"User once saw a {word}.")["id"]
        assert user.recalled(word) == [memory_id]


@pytest.mark.controls
def test_a31_before_the_index_hears_of_it(user: Person, controls: Controls) -> None:
    user.open("s1")
    user.append("s1", user_message("I once saw a narwhal near the pier."), answered("Wonderful!"))
    controls.drain()
    with controls.paused("outbox"):
        memory_id = user.remember("User once saw a quetzal.")["id"]
        user.append("s1", user_message("And an axolotl in a tank."))
        assert user.recalled("quetzal") == [memory_id]
        assert user.recalled("axolotl", session_id="s1") == ["evt:s1:3"]
        changed = user.expect(200, "PATCH", f"/memories/{memory_id}", {"text": "User once saw a capybara."})
        assert changed["rev"] == 2
        assert user.recalled("capybara") == [memory_id]
        assert user.recalled("quetzal") == []
        assert controls.calls("embed", operation="passages")[-1]["texts"] != ["User once saw a quetzal."]
    controls.drain()
    assert user.recalled("capybara") == [memory_id]
    assert user.recalled("quetzal") == []


@pytest.mark.live
def test_a35_a_deleted_row_never_returns(user: Person) -> None:
    gone, stays = user.remember("User once saw a quetzal.")["id"], user.remember("User draws a quetzal.")["id"]
    user.settle()
    assert set(user.recalled("quetzal")) == {gone, stays}
    deleted = user.expect(200, "DELETE", f"/memories/{gone}")
    assert (deleted["id"], deleted["in_packs"]) == (gone, [])
    assert user.recalled("quetzal") == [stays]
    assert user.recalled("User once saw a quetzal.", threshold=0) == [stays]
    assert user.call("GET", f"/memories/{gone}").status == 404
    assert user.call("DELETE", f"/memories/{gone}").status == 404
    assert [row["id"] for row in user.memories()] == [stays]
    user.settle()
    assert user.recalled("quetzal") == [stays]


@pytest.mark.controls
def test_a35_before_the_index_hears_of_it(user: Person, controls: Controls) -> None:
    gone = user.remember("User once saw a quetzal.")["id"]
    controls.drain()
    with controls.paused("outbox"):
        user.expect(200, "DELETE", f"/memories/{gone}")
        answer = user.recall("User once saw a quetzal.", debug=True)
        assert (answer["hits"], answer["result_state"]) == ([], "none")
        assert {"id": gone, "reason": "gone"} in answer["debug"]["dropped"], "the index must still have had it"
    controls.drain()
    end = time.monotonic() + PATIENCE_S
    while user.recall("User once saw a quetzal.", debug=True)["debug"]["dropped"] != []:
        assert time.monotonic() < end, "the index must forget it; searches see a removal with its next refresh"


@pytest.mark.live
def test_a35_the_packs_that_still_hold_it_are_named(user: Person) -> None:
    gone = user.remember("User once saw a quetzal.")["id"]
    user.open("s1")
    deleted = user.expect(200, "DELETE", f"/memories/{gone}")
    assert deleted["in_packs"] == [{"session_id": "s1", "version": 1}]
    assert "quetzal" in user.pack_text("s1"), "a frozen pack stays as it is"
    assert "quetzal" not in str(user.open("s2")["pack"])


@pytest.mark.live
def test_a35_what_else_still_says_it_is_named(user: Person) -> None:
    """The message, the observation beside the fact, and what the librarian made of it."""
    user.open("s1")
    user.append(
        "s1",
        user_message("I live in Paris."),
        answered("Noted."),
        user_message("I prefer the window seat."),
        answered("Noted."),
    )
    user.observe("s1")
    user.ended(user.expect(202, "POST", "/sessions/s1/end", {})["id"])
    user.settle()
    rows = {row["id"]: row for row in user.memories()}
    [fact] = [row for row in rows.values() if row["kind"] == "fact" and "Paris" in row["text"]]
    assert fact["provenance"]["seq_from"] == fact["provenance"]["seq_to"] == 1
    assert "also_in" not in user.expect(200, "PATCH", f"/memories/{fact['id']}", {"label": "home"})
    changed = user.expect(200, "PATCH", f"/memories/{fact['id']}", {"text": "User moved to Rome"})
    deleted = user.expect(200, "DELETE", f"/memories/{fact['id']}")
    named = deleted["also_in"]
    assert [one | {"because": "same_events"} for one in changed["also_in"]] == named
    assert changed["also_in_complete"] is True
    assert named[0] == {"where": "events", "because": "same_events", "session_id": "s1", "seq_from": 1, "seq_to": 1}
    kinds = {rows[one["id"]]["kind"] for one in named if one["where"] == "memory"}
    assert kinds == {"observation", "session_summary"}
    documents = [one["path"] for one in named if one["where"] == "document"]
    assert [path for path in documents if path.startswith("/conversations/")]
    assert all("Paris" in user.document(path)["text"] for path in documents), "no document about something else"
    assert deleted["also_in_complete"] is True
    retracted = user.expect(
        200, "POST", "/sessions/s1/events/retract", {"from_seq": 1, "to_seq": 1, "reason": "deleted"}
    )
    user.ended(retracted["job_id"])
    user.settle()
    assert [row for row in user.memories() if "Paris" in row["text"]] == []


@pytest.mark.live
def test_a35_the_same_words_kept_twice_are_named(user: Person) -> None:
    gone, twin = (user.remember("User once saw a quetzal.")["id"] for _ in range(2))
    user.remember("User draws a quetzal.")
    user.settle()
    foreseen = user.expect(200, "DELETE", f"/memories/{gone}", query={"dry_run": "true"})
    assert foreseen.pop("dry_run") and user.expect(200, "GET", f"/memories/{gone}"), "nothing is gone"
    deleted = user.expect(200, "DELETE", f"/memories/{gone}")
    assert deleted == foreseen
    assert deleted["also_in"] == [{"where": "memory", "because": "same_words", "id": twin, "status": "active"}]
    user.settle()
    assert user.expect(200, "DELETE", f"/memories/{twin}")["also_in"] == []
