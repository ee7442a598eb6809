"""Row of docs/features.md about what a console asks."""

from __future__ import annotations

from typing import Any

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
    user.append("s1", user_message("I moved to Lisbon, and I am allergic to walnuts."))  # unanswered: no pass of itself
    dry = user.expect(200, "POST", "/sessions/s1/observe", {"dry_run": True})
    assert (dry["dry_run"], dry["complete"], dry["observed_seq"]) == (True, True, 1)
    assert any("Lisbon" in one["text"] for one in dry["observations"])
    assert dry["tokens"] > 0
    written = user.observe("s1")["result"]
    assert written["observed_seq"] == 1
    told = [one["text"] for one in (*dry["observations"], *dry["facts"]) if "text" in one]
    assert sorted(told) == sorted(one["text"] for one in user.memories())

    again = user.expect(200, "POST", "/sessions/s1/observe", {"dry_run": True})
    assert (again["observations"], again["facts"], again["tokens"]) == ([], [], 0)
    assert user.call("POST", "/sessions/none/observe", {"dry_run": True}).json()["code"] == "session_not_found"


def test_e28_a_dry_run_shows_the_prompt_and_where_its_parts_are(user: Person) -> None:
    user.remember("User keeps bees.", kind="note")
    user.settle()
    user.open("s1")
    user.append("s1", user_message("Hello."), answered("Hello, too."))
    kept = ("last_seq", "epoch", "pack_version", "total_tokens")
    before = user.session("s1")
    for form in ("anthropic", "openai", "openai_responses", "ai_sdk", "gemini"):
        asked = {"dry_run": True, "format": form, "instructions": ["Answer in one sentence."]}
        made = user.context("s1", "What do bees eat?", with_request=True, **asked)
        assert "request" not in user.context("s1", "What do bees eat?", **asked)
        assert "prompt_id" not in made
        parts = {one["name"]: one for one in made["parts"]}
        assert list(parts) == ["instructions", "pack", "history", "session", "message"]
        shown = {name: at(made["request"], one["at"]) for name, one in parts.items()}
        texts = {name: shown[name][one["start"] : one["end"]] for name, one in parts.items() if "start" in one}
        assert texts["instructions"] == "Answer in one sentence."
        assert texts["pack"].startswith("<neve-memory")
        assert texts["message"] == "What do bees eat?"
        assert "Hello." in str(shown["history"])
        assert all(one["tokens"] > 0 for one in parts.values())
    after = user.session("s1")
    assert [after[name] for name in kept] == [before[name] for name in kept], "what workers do meanwhile stands beside"
    assert user.expect(200, "GET", "/recalls")["recalls"] == []


def test_e28_the_work_of_a_tenant_names_no_words(user: Person) -> None:
    user.open_without_pack("s1")
    user.append("s1", user_message("I collect zograscopes."), answered())
    work = user.api.expect(200, "GET", "/v1/admin/work")
    assert {"jobs", "jobs_by_kind", "jobs_complete", "waiting", "waiting_complete", "webhooks"} <= work.keys()
    assert len(work["jobs"]) == sum(work["jobs_by_kind"].values()) <= 50
    assert {job["status"] for job in work["jobs"]} <= {"queued", "running"}
    assert "zograscopes" not in str(work)


def at(document: Any, pointer: str) -> Any:
    """What a JSON pointer points to."""
    for name in pointer.split("/")[1:]:
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document
