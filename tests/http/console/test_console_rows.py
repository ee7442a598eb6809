"""Row of docs/features.md about what a console asks."""

from __future__ import annotations

import pytest

from tests.http.driving.people import Person, answered, new_memory_id, user_message

pytestmark = pytest.mark.live


def test_e28_a_recall_says_why_a_memory_was_not_among_its_hits(user: Person) -> None:
    shown, cut = (user.remember(f"User once saw a quetzal in {place}.")["id"] for place in ("Boquete", "Monteverde"))
    never = user.remember("User once saw a quetzal at home.", never_recall=True)["id"]
    user.settle()
    answer = user.recall("quetzal", mode="tool", limit=1)
    [hit] = answer["hits"]
    other = cut if hit["id"] == shown else shown
    path = f"/recalls/{answer['recall_id']}"

    why = {
        one: user.expect(200, "GET", path, query={"why_not": one})["why_not"]
        for one in (hit["id"], other, never, new_memory_id())
    }
    assert [(one["found"], one["reason"]) for one in why.values()] == [
        (True, "returned"),
        (False, "over_k"),
        (False, "never_recall"),
        (False, "unknown"),
    ]
    assert (why[hit["id"]]["rank"], why[hit["id"]]["score"]) == (1, hit["score"])
    assert why[other]["legs"]["lexical"]["status"] == "complete"
    assert why[other]["legs"]["lexical"]["rank"] in (1, 2)
    assert why[never]["told_by"] == "memory"
    record = user.expect(200, "GET", path)
    assert "why_not" not in record
    assert record == {
        name: value
        for name, value in user.expect(200, "GET", path, query={"why_not": never}).items()
        if name != "why_not"
    }


def test_e28_a_trace_names_the_packs_that_hold_a_memory(user: Person) -> None:
    memory = user.remember("User collects harpsichords.", kind="note")["id"]
    user.settle()
    user.open("s1")
    version = user.expect(200, "GET", "/pack", query={"session_id": "s1"})
    trace = user.expect(200, "GET", f"/memories/{memory}/trace")
    expected = {"session_id": "s1", "pack_version": version["pack_version"], "trigger": "initial"}
    [held] = trace["packs"]
    assert expected.items() <= held.items()
    assert (held["layer"], held["rev"], held["built_at"]) == ("global", 1, version["built_at"])
    assert trace["more_packs"] is False

    later = user.remember("User sold a spinet.", kind="note")["id"]
    assert user.expect(200, "GET", f"/memories/{later}/trace")["packs"] == []


def test_e28_a_dry_run_says_what_an_observation_would_write(user: Person) -> None:
    user.open_without_pack("s1")
    user.append("s1", user_message("I moved to Lisbon, and I am allergic to walnuts."), answered())
    dry = user.expect(200, "POST", "/sessions/s1/observe", {"dry_run": True})
    assert (dry["dry_run"], dry["complete"], dry["observed_seq"]) == (True, True, 2)
    assert any("Lisbon" in one["text"] for one in dry["observations"])
    assert dry["tokens"] > 0
    written = user.observe("s1")["result"]
    assert written["observed_seq"] == 2
    told = [one["text"] for one in (*dry["observations"], *dry["facts"]) if "text" in one]
    assert sorted(told) == sorted(one["text"] for one in user.memories())

    again = user.expect(200, "POST", "/sessions/s1/observe", {"dry_run": True})
    assert (again["observations"], again["facts"], again["tokens"]) == ([], [], 0)
    assert user.call("POST", "/sessions/none/observe", {"dry_run": True}).json()["code"] == "session_not_found"
