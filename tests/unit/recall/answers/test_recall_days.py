"""The days in the text for a prompt are those of the session's user (docs/rules/sessions.md#days)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from neve.domain.times import iso
from neve.store import rows
from neve.usecases.tell.sessions.open_session import OpenSession, open_session
from tests.unit.recall_world import RecallWorld

LATE = datetime(2026, 3, 10, 3, 0, tzinfo=UTC)
"""Monday the 9th, 20:00 in Los Angeles."""
SAID = "I fly to Tokyo tomorrow."


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    with new_recall_world.at(LATE):
        new_recall_world.open("spoken")
        new_recall_world.say(SAID, session="spoken")
        new_recall_world.remember("User flies to Tokyo", observed_at=iso(LATE))
    new_recall_world.pump()
    return new_recall_world


def days(world: RecallWorld, session: str | None, meta: dict[str, str] | None = None) -> set[str]:
    """Those behind the ids of the hits, an utterance and a memory."""
    if session is not None:
        open_session(world.user(), OpenSession(session, user_meta=meta or {}, budget_ms=0))
    answer = world.ask("fly to Tokyo", session_id=session)
    assert {hit.source for hit in answer.hits} == {"event", "memory"}
    assert {hit.observed_at for hit in answer.hits} == {iso(LATE)}, "the times of the answer stay UTC"
    return {line.split("] ")[1][:10] for line in answer.injection_text.splitlines() if line.startswith("- [")}


@pytest.mark.parametrize(
    ("timezone", "day"),
    [("America/Los_Angeles", "2026-03-09"), ("Asia/Kathmandu", "2026-03-10"), ("UTC", "2026-03-10")],
)
def test_the_days_are_those_of_the_session_that_asks(world: RecallWorld, timezone: str, day: str) -> None:
    assert days(world, "asks", {"timezone": timezone}) == {day}


def test_without_a_session_or_its_zone_they_are_utc(world: RecallWorld) -> None:
    assert days(world, None) == days(world, "asks") == {"2026-03-10"}


def test_a_zone_that_nobody_knows_counts_as_utc(world: RecallWorld) -> None:
    """As a version may have stored it that did not check."""
    world.open("asks")
    key = world.user().of_session("asks").keys
    item = world.rows.get(key.session_head)
    assert item is not None
    head = replace(rows.read_session(item), user_meta={"timezone": "Mars/Base"})
    world.rows.write([rows.put_session(key, head)])
    assert days(world, "asks") == {"2026-03-10"}
