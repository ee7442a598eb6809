"""Rows A15 to A19 of docs/features.md: what a night condenses, and what it leaves alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.people import (
    ENDED,
    Json,
    Person,
    answered,
    filler,
    layer_ids,
    new_user,
    reflect_job,
    user_message,
)
from tests.patience import PATIENCE_S

REFLECT = "/v1/admin/reflect"


def ago(days: float, *, at: datetime | None = None) -> str:
    return ((at or datetime.now(UTC)) - timedelta(days=days)).isoformat()


def old(text: str, days: float = 9, *, at: datetime | None = None, **more: object) -> Json:
    created = ago(days, at=at)
    return {"text": text, "kind": "observation", "created_at": created, "observed_at": created, **more}


def planned(user: Person, **more: object) -> Json:
    return dict(user.api.expect(200, "POST", REFLECT, {"user_id": user.id, "dry_run": True, **more}))


def reflected(user: Person, **more: Any) -> Json:
    """The ended job."""
    job = reflect_job(user.api, **{"user_id": user.id, **more})
    end = time.monotonic() + PATIENCE_S
    while job["status"] not in ENDED:
        assert time.monotonic() < end, job
        user.settle()
        job = dict(user.api.expect(200, "GET", f"/v1/admin/jobs/{job['id']}"))
    return job


def condensed(*rows: str, **more: Any) -> Json:
    return {"rows": [{"content": row, **more} for row in rows]}


def active(user: Person) -> list[str]:
    return [memory["id"] for memory in user.memories(status="active")]


# --- A15 ------------------------------------------------------------------------------------------


@pytest.mark.live
def test_a15_three_days_make_a_row_old_enough(user: Person) -> None:
    user.open_without_pack("s1")
    young, exactly, five, *_ = user.bring_in(
        old("one day", 1),
        old("three days", 3),
        old("five days", 5, session_id="s1"),
        old("by hand", 90, kind="manual"),
        old("a note", 90, kind="note"),
        old("a fact", 90, kind="fact", category="PLACE"),
        old("condensed before", 90, kind="reflection", scope="global"),
    )
    plan = planned(user)
    assert plan["eligible"] == [five, exactly]
    assert young not in plan["eligible"]
    assert plan["batches"] == [{"user_id": user.id, "ids": [five, exactly], "tokens": 7}]
    assert (plan["dry_run"], plan["users"], plan["complete"]) == (True, 1, True)
    assert plan["not_worth"] == [user.id], "a night would wait for more"


@pytest.mark.controls
def test_a15_equality_is_old_enough(user: Person, controls: Controls) -> None:
    now = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)
    controls.freeze(now)
    exactly, just_under = user.bring_in(
        old("exactly", 3, at=now), old("a moment younger", 3, at=now + timedelta(milliseconds=1))
    )
    assert planned(user)["eligible"] == [exactly]
    controls.advance(0.001)
    assert planned(user)["eligible"] == [exactly, just_under]


@pytest.mark.live
def test_a15_another_age_may_be_asked_for(user: Person) -> None:
    [one] = user.bring_in(old("today", 0.5))
    assert planned(user)["eligible"] == []
    assert planned(user, min_age_days=0.25)["eligible"] == [one]


@pytest.mark.live
def test_a15_bad_input_is_named(user: Person) -> None:
    for body, field in (
        ({"min_age_days": -1}, "min_age_days"),
        ({"user_id": "a/b"}, "user_id"),
        ({"dry": True}, "dry"),
    ):
        reply = user.api.call("POST", REFLECT, body)
        assert (reply.status, reply.json()["errors"][0]["field"]) == (422, field)


# --- A16 ------------------------------------------------------------------------------------------


@pytest.mark.controls
def test_a16_batches_are_packed_oldest_first(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person]
) -> None:
    """docs/rules/values.md#nightly-reflection: rows of 13 tokens, 30 of which are a batch."""
    user = person(tenant_with(window=100, session_reflection_trigger=30, session_reflection_target=15))
    ids = user.bring_in(*[old(f"o{n} {filler(12)}", 4 + n) for n in range(6)])
    plan = planned(user)
    assert plan["eligible"] == list(reversed(ids))
    assert [batch["ids"] for batch in plan["batches"]] == [ids[5:3:-1], ids[3:1:-1], ids[1::-1]]
    assert {batch["tokens"] for batch in plan["batches"]} == {26}


@pytest.mark.live
def test_a16_a_batch_is_as_large_as_the_trigger_of_a_reflection(user: Person) -> None:
    cap = user.api.expect(200, "GET", "/v1/policy")["in_force"]["session_reflection_trigger"]
    size = 19_000
    ids = [user.bring_in(old(filler(size), 9 - n))[0] for n in range(5)]
    together = cap // size
    batches = [ids[start : start + together] for start in range(0, 5, together)]
    assert [batch["ids"] for batch in planned(user)["batches"]] == batches


@pytest.mark.controls
def test_a16_a_row_above_the_cap_is_a_batch_of_its_own(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person]
) -> None:
    user = person(tenant_with(window=100, session_reflection_trigger=30, session_reflection_target=15))
    ids = user.bring_in(old("first", 9), old(filler(100), 8), old("last", 7))
    assert [batch["ids"] for batch in planned(user)["batches"]] == [[one] for one in ids]


# --- A17 ------------------------------------------------------------------------------------------


@pytest.mark.controls
def test_a17_an_answer_without_rows_keeps_its_batch(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person], controls: Controls
) -> None:
    user = person(tenant_with(window=2_000))  # batches of 650 tokens
    ids = user.bring_in(*[old(filler(200), 9 - n) for n in range(5)])
    controls.script(condensed("🔴 what they said"), condensed())
    job = reflected(user)
    assert (job["status"], job["result"]["replaced"], job["result"]["kept"]) == ("done", 3, 2)
    asked = controls.calls("model", purpose="condense")
    assert [call["content"][0]["text"].count("[group id:") for call in asked] == [3, 2]
    made, *remaining = sorted(active(user), key=lambda one: one in ids)
    assert sorted(remaining) == sorted(ids[3:])
    row = user.memory(made)
    assert (row["kind"], row["scope"], row["supersedes"]) == ("reflection", "global", ids[:3])
    assert user.memory(ids[0])["superseded_by"] == made


# --- A18 ------------------------------------------------------------------------------------------


@pytest.mark.controls
def test_a18_what_is_written_meanwhile_survives(user: Person, controls: Controls) -> None:
    ids = user.bring_in(*[old(f"statement {n}", 9) for n in range(4)])
    young = user.bring_in(old("too young", 1))[0]
    controls.drain()
    used_before = {one: user.memory(one)["last_used_at"] for one in (ids[1], young)}
    controls.script(condensed("🔴 four statements"))
    controls.hold("reflect")
    job = reflect_job(user.api, user.id)
    with controls.draining():
        controls.wait_until_held("reflect")
        written = user.remember("typed meanwhile")["id"]
        assert user.expect(200, "POST", "/memories/used", {"ids": [ids[1], young]})["used"] == [ids[1], young]
        controls.resume("reflect")
    controls.drain()
    ended = user.api.expect(200, "GET", f"/v1/admin/jobs/{job['id']}")
    assert (ended["status"], ended["result"]["replaced"]) == ("done", 4)
    assert {written, young} < set(active(user))
    assert user.memory(written)["text"] == "typed meanwhile"
    [made] = set(active(user)) - {written, young}
    assert user.memory(made)["text"] == "🔴 four statements"
    assert [user.memory(one)["status"] for one in (ids[1], young)] == ["superseded", "active"]
    assert all(user.memory(one)["last_used_at"] > before for one, before in used_before.items())


@pytest.mark.controls
def test_a18_what_a_person_corrects_meanwhile_is_not_condensed_as_it_was(user: Person, controls: Controls) -> None:
    ids = user.bring_in(*[old(f"statement {n}", 9) for n in range(4)])
    controls.drain()
    controls.script(condensed("🔴 four statements"))
    controls.hold("reflect")
    job = reflect_job(user.api, user.id)
    with controls.draining():
        controls.wait_until_held("reflect")
        user.expect(200, "PATCH", f"/memories/{ids[2]}", {"text": "corrected"})
        controls.resume("reflect")
    controls.drain()
    ended = user.api.expect(200, "GET", f"/v1/admin/jobs/{job['id']}")
    assert (ended["result"]["replaced"], ended["result"]["changed"]) == (0, 4)
    assert sorted(active(user)) == sorted(ids)
    assert user.memory(ids[2])["text"] == "corrected"


# --- A19 ------------------------------------------------------------------------------------------


@pytest.mark.live
def test_a19_a_frozen_pack_stays_and_the_next_one_shows_the_reflections(user: Person) -> None:
    ids = user.bring_in(*[old(f"🔴 User keeps bees in hive number {n}.", 9 - n / 10) for n in range(6)])
    user.open("s1")
    before = user.read_pack("s1", format="text")
    assert reflected(user)["result"]["replaced"] == 6
    after = user.read_pack("s1", format="text")
    assert (after.headers["etag"], after.body) == (before.headers["etag"], before.body)
    assert user.read_pack("s1", format="text", etag=before.headers["etag"]).status == 304
    made = [one for one in active(user) if one not in ids]
    assert made
    shown = layer_ids(user.open("s2")["pack"], "global")
    assert set(shown) == set(made)
    assert all(user.memory(one)["kind"] == "reflection" for one in shown)


@pytest.mark.live
def test_a19_a_night_without_a_model_takes_no_line_that_lasts_out_of_a_pack(user: Person) -> None:
    lasting = [
        "User's standing wish: Please never call me on Sundays",
        "User takes 20 mg of omeprazole every morning",
        "User doesn't eat pork",
        "User is allergic to penicillin",
    ]
    bought = ["User bought a lamp", "User sold a chair", "User finished the shed", "User bought a rug"]
    rows = [f"🔴 {text}" for text in lasting] + [f"✅ {text}" for text in bought]
    user.bring_in(*[old(text, 9 - n / 10) for n, text in enumerate(rows)])
    before = user.open("s1")["pack"]["text"]
    assert all(text in before for text in lasting + bought)
    result = reflected(user)["result"]
    after = user.open("s2")["pack"]["text"]
    assert all(text in after for text in lasting)
    assert not any(text in after for text in bought), "half of the tokens are left, and these go first"
    assert (result["replaced"], result["reflection_left_out"], result["reflection_cut"]) == (8, 4, 0)
    assert result["reflection_over_target"] > 0


@pytest.mark.controls
def test_a19_the_next_rebuild_of_the_same_session_shows_them(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person], controls: Controls
) -> None:
    user = person(tenant_with(window=2_000))
    ids = user.bring_in(*[old(f"statement {n}", 9) for n in range(4)])
    session = user.open("s1")["session"]["id"]
    for n in range(6):  # below the trigger of a compaction
        user.append(session, user_message(filler(75)), answered(f"{n} {filler(70)}"))
    user.settle()
    before = user.pack(session)
    assert set(layer_ids(before, "global")) == set(ids)
    controls.script(condensed("🔴 four statements"))
    reflected(user)
    assert user.pack(session)["pack_version"] == before["pack_version"]
    assert user.compact(session)["result"]["outcome"] == "covered"
    [made] = layer_ids(user.pack(session), "global")
    assert user.memory(made)["text"] == "🔴 four statements"
    assert [one["trigger"] for one in user.versions(session)][-1] == "horizon"


# --- the night itself -----------------------------------------------------------------------------


@pytest.mark.controls
def test_a19_the_planner_begins_the_night_of_each_tenant_once(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person], controls: Controls
) -> None:
    now = datetime(2030, 3, 10, 18, 0, tzinfo=UTC)  # 03:00 in Tokyo
    controls.freeze(now)
    api = tenant_with(timezone="Asia/Tokyo", reflection_min_rows=3)
    controls.run("reflect_planner")
    controls.drain()
    user, few = person(api), person(api)
    ids = user.bring_in(*[old(f"🔴 statement number {n}", 9, at=now) for n in range(3)])
    few.bring_in(old("🔴 alone", 9, at=now))
    controls.drain()
    controls.run("reflect_planner")
    controls.drain()
    assert sorted(active(user)) == sorted(ids), "this night is over"
    controls.freeze(now + timedelta(days=1))
    with controls.running("reflect_planner"):
        controls.run("reflect_planner")
    controls.drain()
    assert set(active(user)).isdisjoint(ids)
    assert len(few.memories(status="active")) == 1
    reflections = active(user)
    controls.run("reflect_planner")
    controls.drain()
    assert active(user) == reflections


@pytest.mark.controls
def test_a19_a_night_that_cannot_hand_its_batches_in_asks_at_once(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person], controls: Controls
) -> None:
    now = datetime(2030, 3, 10, 18, 0, tzinfo=UTC)
    controls.freeze(now)
    api = tenant_with(timezone="Asia/Tokyo", reflection_min_rows=2, nightly_model="batch")
    user = person(api)
    ids = user.bring_in(*[old(f"🔴 statement number {n}", 9, at=now) for n in range(2)])
    controls.drain()
    controls.run("reflect_planner")
    controls.drain()
    assert set(active(user)).isdisjoint(ids)
    api.expect(422, "PATCH", "/v1/policy", {"nightly_model": "later"})


@pytest.mark.controls
def test_a19_a_night_that_the_stream_gave_up_is_sent_by_the_sweep(user: Person, controls: Controls) -> None:
    noon = datetime(2026, 6, 1, 12, tzinfo=UTC)
    controls.freeze(noon.isoformat())
    user.bring_in(old("User drank tea.", at=noon), old("User drank coffee.", at=noon))
    user.settle()
    controls.fault("queue", "error")
    job = reflect_job(user.api, user.id)
    controls.drain()
    controls.faults()
    assert user.api.expect(200, "GET", f"/v1/admin/jobs/{job['id']}")["status"] == "queued"
    controls.advance(21 * 60)
    controls.run("sweep")
    controls.drain()
    assert user.api.expect(200, "GET", f"/v1/admin/jobs/{job['id']}")["status"] == "done"


@pytest.mark.controls
def test_a19_everybody_may_be_asked_for(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person]
) -> None:
    api = tenant_with()
    users = [person(api) for _ in range(3)]
    for user in users:
        user.bring_in(*[old(f"🔴 statement number {n}", 9) for n in range(2)])
    job = reflected(users[0], user_id=None)
    assert (job["status"], job["result"]["users"], job["result"]["replaced"]) == ("done", 3, 6)
    plan = api.expect(200, "POST", REFLECT, {"dry_run": True})
    assert (plan["eligible"], plan["users"]) == ([], 3)


@pytest.mark.live
def test_a19_the_job_of_a_user_nobody_knows_has_nothing_to_do(user: Person) -> None:
    user.api.expect(200, "POST", REFLECT, {"user_id": new_user(), "dry_run": True})
    assert reflected(user)["result"] == {"reason": "there is no such user"}
