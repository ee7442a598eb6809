"""The flag `never_recall` of a memory, a part of row C20 of docs/features.md."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from local.api_client import ApiClient
from tests.http.driving.downloads import exported_text
from tests.http.driving.people import Json, Person

WORDS = "The wedding is called off."


def shown(user: Person, question: str = "wedding") -> list[str]:
    """The ids of the memories that any way of asking gives."""
    ways = ({"mode": "tool"}, {"mode": "prompt"}, {"mode": "tool", "include_inbox": True, "include_superseded": True})
    found = [one for more in ways for one in user.recalled(question, sources=["memory"], limit=50, **more)]
    tool = user.expect(200, "POST", "/tools/recall_memory", {"arguments": {"query": question}})
    return found + [one["id"] for one in tool.get("items", tool.get("hits", []))]


@pytest.mark.live
def test_c20_what_is_never_to_be_recalled_is_listed_and_shown_nowhere(user: Person) -> None:
    user.open("s1")
    hidden = user.remember(WORDS, never_recall=True)
    told = user.remember("The wedding dress is blue.")
    assert (hidden["never_recall"], told["never_recall"], hidden["status"]) == (True, False, "active")
    assert set(shown(user)) == {told["id"]}, "before the index hears of it"
    user.settle()
    assert set(shown(user)) == {told["id"]}
    user.open("s2")
    assert WORDS not in user.pack_text("s2") and "dress" in user.pack_text("s2")
    assert WORDS not in json.dumps(user.context("s1", "What about the wedding?"))
    assert user.memory(hidden["id"])["text"] == WORDS
    assert [one["id"] for one in user.memories(never_recall="true")] == [hidden["id"]]
    assert [one["id"] for one in user.memories(never_recall="false")] == [told["id"]]
    assert {one["id"] for one in user.memories()} == {hidden["id"], told["id"]}


@pytest.mark.live
def test_c20_the_flag_is_set_and_taken_away_by_a_change(user: Person) -> None:
    row = user.remember(WORDS)
    user.settle()
    user.open("s1")
    assert WORDS in user.pack_text("s1") and shown(user)
    for flag in (True, False):
        changed = user.expect(200, "PATCH", f"/memories/{row['id']}", {"never_recall": flag})
        assert changed["never_recall"] is flag and changed["rev"] > row["rev"]
        assert bool(shown(user)) is not flag, "at once"
        user.settle()
        assert bool(shown(user)) is not flag
        user.open(f"new-{flag}")
        assert (WORDS in user.pack_text(f"new-{flag}")) is not flag
    problem = user.expect(422, "PATCH", f"/memories/{row['id']}", {"never_recall": None})
    assert [error["field"] for error in problem["errors"]] == ["never_recall"]


@pytest.mark.live
def test_c20_a_fact_keeps_the_flag_when_it_evolves(user: Person) -> None:
    body = {"kind": "fact", "category": "EVENT", "text": "User was in hospital in May.", "never_recall": True}
    fact = user.expect(201, "POST", "/memories", body)
    again = user.expect(200, "POST", "/memories", body | {"never_recall": False})
    assert (again["id"], again["decision"], again["never_recall"]) == (fact["id"], "reinforced", True)
    evolved = {"text": "User was in hospital in June.", "reason": "wrong month"}
    new = user.expect(201, "POST", f"/memories/{fact['id']}/evolve", evolved)
    user.settle()
    assert new["never_recall"] is True and shown(user, "hospital") == []


@pytest.mark.live
def test_c20_the_flag_is_exported_and_brought_in(user: Person, job_ended: Callable[[ApiClient, Json], Json]) -> None:
    user.bring_in({"id": "mem_flagged", "text": WORDS, "never_recall": True})
    assert user.memory("mem_flagged")["never_recall"] is True
    user.settle()
    assert shown(user) == []
    job = job_ended(user.api, user.expect(202, "POST", "/export"))
    [line] = [one for one in map(json.loads, exported_text(job).splitlines()) if one["type"] == "memory"]
    assert (line["text"], line["never_recall"]) == (WORDS, True)
