"""Row E12 of docs/features.md: from when on, and until when, a memory or a document holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.downloads import exported_text
from tests.http.driving.people import Json, Person, answered, user_message

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)  # a Wednesday
DAY = timedelta(days=1)


def at(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", ".000Z")


def everywhere(user: Person, question: str, session: str | None = None) -> set[str]:
    """The ids that any way of asking gives, a prompt's own retrieval included."""
    of = {} if session is None else {"session_id": session}
    modes = ({"mode": "prompt"}, {"mode": "tool"}, {"mode": "tool", "include_superseded": True})
    found = {one for more in modes for one in user.recalled(question, limit=50, **of, **more)}
    tool = user.expect(200, "POST", "/tools/recall_memory", {"arguments": {"query": question}, **of})
    return found | {hit["id"] for hit in tool["hits"]}


def prompt_of(user: Person, session: str, message: str) -> str:
    return json.dumps(user.context(session, message)["request"], ensure_ascii=False)


@pytest.mark.controls
def test_e12_what_has_ended_is_not_packed_nor_recalled_but_listed(user: Person, controls: Controls) -> None:
    controls.freeze(NOW)
    ended = user.remember("The kayak is in the boathouse.", valid_until=at(NOW - DAY))
    holds = user.remember("The kayak is green.", valid_from=at(NOW), valid_until=at(NOW + DAY))
    later = user.remember("The kayak is to be sold.", valid_from=at(NOW + DAY))
    assert [one["holds"] for one in (ended, holds, later)] == [False, True, False]
    assert (ended["valid_until"], holds["valid_from"]) == (at(NOW - DAY), at(NOW))
    assert everywhere(user, "Where is the kayak?") == {holds["id"]}, "before the index has them"
    user.settle()
    assert everywhere(user, "Where is the kayak?") == {holds["id"]}
    user.open("s1")
    pack = user.pack_text("s1")
    assert "green" in pack and "boathouse" not in pack and "sold" not in pack
    assert "boathouse" not in prompt_of(user, "s1", "Where is the kayak?")
    listed = {one["id"]: one["holds"] for one in user.memories()}
    assert listed == {ended["id"]: False, holds["id"]: True, later["id"]: False}
    assert user.memory(ended["id"])["holds"] is False


@pytest.mark.controls
def test_e12_a_row_holds_from_its_beginning_on_and_not_at_its_end(user: Person, controls: Controls) -> None:
    controls.freeze(NOW)
    row = user.remember("The gate code is 4711.", valid_from=at(NOW + DAY), valid_until=at(NOW + 2 * DAY))
    user.settle()
    second = timedelta(seconds=1)
    for moment, shown in (
        (NOW + DAY - second, False),
        (NOW + DAY, True),
        (NOW + 2 * DAY - second, True),
        (NOW + 2 * DAY, False),
    ):
        controls.freeze(moment)
        assert everywhere(user, "gate code") == ({row["id"]} if shown else set())
        assert user.memory(row["id"])["holds"] is shown
        user.open(session := f"s{moment:%d%H%M%S}")
        assert ("4711" in user.pack_text(session)) is shown, "a new session's pack is built now"


@pytest.mark.controls
def test_e12_a_frozen_pack_keeps_its_bytes_and_every_prompt_tells_what_has_ended(
    user: Person, controls: Controls
) -> None:
    controls.freeze(NOW)
    row = user.remember("User is staying at the Harbour hotel.", kind="note", valid_until=at(NOW + DAY))
    user.put_document("/always-load/trip.md", "The trip goes to Rome.", valid_until=at(NOW + DAY))
    for n in range(35):
        user.remember(f"Note number {n} about the trip.")
    user.settle()
    user.open("s1")
    pack = user.pack_text("s1")
    assert "Harbour" in pack.splitlines()[-3] and "Rome" in pack, "behind those that are compared with their rows"
    assert "No longer holds" not in prompt_of(user, "s1", "Good morning, where do I sleep?")
    controls.freeze(NOW + DAY)
    for _ in range(2):
        prompt = prompt_of(user, "s1", "Good morning, where do I sleep?")
        assert prompt.count("No longer holds: User is staying at the Harbour hotel.") == 1
        assert prompt.count("No longer holds: /always-load/trip.md") == 1
    assert user.pack_text("s1") == pack
    assert user.recalled("Harbour hotel", mode="tool") == [] and user.memory(row["id"])["status"] == "active"
    user.open("s2")
    rebuilt = user.pack_text("s2")
    assert "Harbour" not in rebuilt and "Rome" not in rebuilt
    assert "No longer holds" not in prompt_of(user, "s2", "Good morning, where do I sleep?")


@pytest.mark.controls
def test_e12_as_of_gives_what_was_in_force_then(user: Person, controls: Controls) -> None:
    months = [NOW - 90 * DAY, NOW - 60 * DAY, NOW - 30 * DAY]
    controls.freeze(months[0])
    first = user.remember("The office is in Lisbon.")["id"]
    short = user.remember("The office has a cat.", valid_until=at(months[1]))["id"]
    gone = user.remember("The office has a snake.")["id"]
    user.open("s1")
    user.append("s1", user_message("The office smells of paint."), answered())
    controls.freeze(months[1])
    second = user.expect(201, "POST", f"/memories/{first}/evolve", {"text": "The office is in Porto.", "reason": "x"})
    controls.freeze(months[2])
    user.remember("The office has plants.")
    user.expect(200, "DELETE", f"/memories/{gone}")
    controls.freeze(NOW)
    user.settle()

    def then(moment: datetime) -> set[str]:
        asked = user.recall("office", mode="tool", sources=["memory"], as_of=at(moment), session_id="s1")
        listed = {one["id"] for one in user.memories(as_of=at(moment))}
        assert listed == {hit["id"] for hit in asked["hits"]}
        return listed

    assert then(months[0] - DAY) == set()
    assert then(months[0]) == {first, short}, "what was deleted never comes back"
    assert then(months[1] - DAY) == {first, short}
    assert then(months[1]) == {second["id"]}
    assert len(then(NOW)) == 2
    said = [hit["text"] for hit in user.recall("paint", mode="tool", as_of=at(months[0] + DAY))["hits"]]
    assert "The office smells of paint." in said
    assert user.recall("paint", mode="tool", as_of=at(months[0] - DAY))["hits"] == []


@pytest.mark.controls
def test_e12_a_recall_of_the_past_says_so_in_the_ledger_and_bumps_nothing(user: Person, controls: Controls) -> None:
    controls.freeze(NOW)
    row = user.remember("The office is in Lisbon.")["id"]
    user.settle()
    answer = user.recall("office", mode="tool", as_of=at(NOW))
    controls.drain()
    assert [hit["id"] for hit in answer["hits"]] == [row]
    record = user.expect(200, "GET", f"/recalls/{answer['recall_id']}")
    assert (record["as_of"], record["hits"][0]["outcome"]) == (at(NOW), "returned")
    assert "last_accessed_at" not in user.memory(row)
    plain = user.recall("office", mode="tool")
    controls.drain()
    assert "as_of" not in user.expect(200, "GET", f"/recalls/{plain['recall_id']}")
    assert user.memory(row)["last_accessed_at"] == at(NOW)


@pytest.mark.controls
def test_e12_the_times_are_changed_cleared_evolved_and_travel(
    user: Person, controls: Controls, job_ended: Callable[[ApiClient, Json], Json]
) -> None:
    controls.freeze(NOW)
    row = user.remember("The pool is closed.")
    user.settle()
    changed = user.expect(200, "PATCH", f"/memories/{row['id']}", {"valid_until": at(NOW - DAY)})
    assert changed["holds"] is False and changed["rev"] > row["rev"]
    assert everywhere(user, "pool") == set(), "at once"
    user.settle()
    assert everywhere(user, "pool") == set()
    again = user.expect(200, "PATCH", f"/memories/{row['id']}", {"valid_until": ""})
    assert again["holds"] is True and "valid_until" not in again
    user.settle()
    assert everywhere(user, "pool") == {row["id"]}
    until = at(NOW + DAY)
    body = {"text": "The pool is open.", "reason": "spring", "valid_until": until}
    new = user.expect(201, "POST", f"/memories/{row['id']}/evolve", body)
    assert (new["valid_until"], new["holds"]) == (until, True)
    user.bring_in(
        {"id": "mem_valid", "text": "The sauna is closed.", "valid_from": at(NOW - DAY), "valid_until": until}
    )
    assert user.memory("mem_valid")["valid_from"] == at(NOW - DAY)
    user.put_document("/pool.md", "The pool has four lanes.", valid_until=until)
    job = job_ended(user.api, user.expect(202, "POST", "/export"))
    lines = [json.loads(line) for line in exported_text(job).splitlines()]
    kept = {one["text"]: one.get("valid_until") for one in lines if one["type"] in ("memory", "document")}
    assert kept == dict.fromkeys(("The pool is open.", "The sauna is closed.", "The pool has four lanes."), until) | {
        "The pool is closed.": None
    }


@pytest.mark.controls
def test_e12_a_fact_that_has_ended_and_is_stated_again_holds_again(user: Person, controls: Controls) -> None:
    controls.freeze(NOW)
    body = {"kind": "fact", "category": "PLACE", "text": "User is in Rome."}
    fact = user.expect(201, "POST", "/memories", {**body, "valid_until": at(NOW + DAY)})
    again = user.expect(200, "POST", "/memories", body)
    assert (again["decision"], again["valid_until"]) == ("reinforced", at(NOW + DAY)), "it holds, and ends when it did"
    longer = user.expect(200, "POST", "/memories", {**body, "valid_until": at(NOW + 2 * DAY)})
    assert (longer["id"], longer["valid_until"]) == (fact["id"], at(NOW + 2 * DAY))
    controls.freeze(NOW + 3 * DAY)
    assert user.memory(fact["id"])["holds"] is False
    back = user.expect(200, "POST", "/memories", body)
    assert (back["id"], back["holds"], "valid_until" in back) == (fact["id"], True, False)
    user.settle()
    assert everywhere(user, "Rome") == {fact["id"]}


@pytest.mark.controls
def test_e12_a_document_that_does_not_hold_is_read_by_its_path_only(user: Person, controls: Controls) -> None:
    controls.freeze(NOW)
    user.put_document("/menu.md", "Soup of the day: pumpkin.", valid_until=at(NOW + DAY))
    user.put_document("/always-load/rules.md", "No pumpkin on Mondays.", valid_from=at(NOW + DAY))
    user.settle()
    user.open("s1")
    assert "Mondays" not in user.pack_text("s1")
    assert [hit["path"] for hit in user.recall("pumpkin", mode="tool")["hits"]] == ["/menu.md"]
    controls.freeze(NOW + DAY)
    found = user.expect(200, "POST", "/tools/search_knowledge", {"arguments": {"query": "pumpkin"}})
    assert [hit["path"] for hit in found["results"]] == ["/always-load/rules.md"]
    assert user.document("/menu.md")["holds"] is False
    listed = user.expect(200, "GET", "/documents/list")["documents"]
    assert {one["path"]: one["holds"] for one in listed} == {"/always-load/rules.md": True, "/menu.md": False}
    user.open("s2")
    assert "Mondays" in user.pack_text("s2")
    assert "pumpkin" in user.put_document("/menu.md", "Soup of the day: pumpkin.", valid_until="")["text"]
    user.settle()
    assert "/menu.md" in [hit["path"] for hit in user.recall("pumpkin", mode="tool")["hits"]]


@pytest.mark.controls
def test_e12_an_end_before_the_beginning_is_refused_by_its_name(user: Person) -> None:
    wrong = {"valid_from": at(NOW), "valid_until": at(NOW)}

    def refused(method: str, path: str, body: Json | None, **more: Any) -> list[str]:
        problem = user.expect(422, method, path, body, **more)
        return [error["field"] for error in problem["errors"]]

    assert refused("POST", "/memories", {"text": "x", **wrong}) == ["valid_until"]
    fact = {"kind": "fact", "category": "EVENT", "text": "User was here.", **wrong}
    assert refused("POST", "/memories", fact) == ["valid_until"]
    row = user.remember("x", valid_from=at(NOW))
    assert refused("PATCH", f"/memories/{row['id']}", {"valid_until": at(NOW - DAY)}) == ["valid_until"]
    assert refused("POST", f"/memories/{row['id']}/evolve", {"text": "y", "reason": "z", **wrong}) == ["valid_until"]
    assert refused("PUT", "/documents", {"text": "x", **wrong}, query={"path": "/a.md"}) == ["valid_until"]
    user.put_document("/b.md", "x", valid_from=at(NOW))
    late = {"valid_until": at(NOW - DAY)}
    assert refused("PUT", "/documents", late, query={"path": "/b.md"}) == ["valid_until"]
    assert refused("POST", "/memories", {"text": "x", "valid_until": "tomorrow"}) == ["valid_until"]
    assert refused("POST", "/recall", {"query": "x", "as_of": "last month"}) == ["as_of"]
    line = json.dumps({"text": "x", **wrong})
    assert refused("POST", "/memories/import", None, raw=line.encode()) == ["lines[1].valid_until"]


@pytest.mark.controls
def test_e12_a_statement_that_names_its_own_end_is_told_until_then(user: Person, controls: Controls) -> None:
    controls.freeze(NOW)
    user.open("s1", user_meta={"timezone": "Europe/Vienna"})
    user.append("s1", user_message("Until Friday I am in Rome."), answered())
    user.append("s1", user_message("My sister plays the cello."), answered())
    user.observe("s1")
    user.settle()
    [fact] = [one for one in user.memories(kind="fact") if "Rome" in one["text"]]
    midnight = datetime(2026, 12, 4, 23, tzinfo=UTC)
    assert (fact["valid_until"], fact["holds"]) == (at(midnight), True)
    user.open("s2", user_meta={"timezone": "Europe/Vienna"})
    assert "Rome" in user.pack_text("s2") and "cello" in user.pack_text("s2")
    controls.freeze(midnight - timedelta(seconds=1))
    assert any("Rome" in hit["text"] for hit in user.recall("Where am I this week, in Rome?")["hits"])
    controls.freeze(midnight)
    assert not any("Rome" in hit["text"] for hit in user.recall("Where am I this week, in Rome?")["hits"])
    by_a_tool = [hit["text"] for hit in user.recall("Rome", mode="tool")["hits"] if "Rome" in hit["text"]]
    assert by_a_tool and all(text.startswith("[no longer holds since 2026-12-0") for text in by_a_tool)
    assert f"No longer holds: {fact['text']}" in prompt_of(user, "s2", "Where am I?")
    user.open("s3", user_meta={"timezone": "Europe/Vienna"})
    assert "Rome" not in user.pack_text("s3") and "cello" in user.pack_text("s3")
    assert "Rome" not in prompt_of(user, "s3", "Where am I this week?")
    then = user.recall("Rome", mode="tool", as_of=at(midnight - DAY))["hits"]
    assert "Until Friday I am in Rome." in [hit["text"] for hit in then], "unmarked"
    assert fact["id"] in user.recalled("Rome", mode="tool", sources=["memory"], as_of=at(midnight - DAY))


@pytest.mark.controls
def test_e12_a_model_names_the_last_day_of_a_statement(user: Person, controls: Controls) -> None:
    controls.freeze(NOW)
    user.open("s1", user_meta={"timezone": "America/New_York"})
    user.append("s1", user_message("Sono a Roma fino a venerdì, e poi torno."), answered())
    line = {"text": "🟡 User is in Rome until Friday (meaning 2026-12-04)", "seq_from": 1, "seq_to": 1}
    fact = {"text": "User is in Rome.", "category": "EVENT", "importance": 3, "by": "user_stated"}
    other = {**fact, "text": "User returns afterwards.", "valid_until": "some day"}
    facts = [{**fact, "valid_until": "2026-12-04"}, other]
    controls.script({"has_memory": True, "observations": [line], "facts": facts}, purpose="observe")
    user.observe("s1")
    kept = {one["text"]: one.get("valid_until") for one in user.memories(kind="fact")}
    assert kept == {"User is in Rome.": "2026-12-05T05:00:00.000Z", "User returns afterwards.": None}
