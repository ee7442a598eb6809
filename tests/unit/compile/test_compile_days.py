"""The days of a prompt are the user's, and what is frozen keeps its days (docs/rules/sessions.md#days)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from neve.domain.compile.conversation import Text
from neve.store import rows
from neve.usecases.ask.compile.compile_context import Compiled
from neve.usecases.tell.sessions.open_session import OpenSession, open_session
from tests.unit.compile.compile_world import SMALL, compiled, epoch, session, talk
from tests.unit.recall_world import RecallWorld

LATE = datetime(2026, 3, 10, 3, 0, tzinfo=UTC)
"""Monday the 9th, 20:00 in Los Angeles."""
MORNING = datetime(2026, 3, 10, 16, 0, tzinfo=UTC)


def zoned(world: RecallWorld, timezone: str, name: str = "s1") -> None:
    open_session(world.user(), OpenSession(name, user_meta={"timezone": timezone}, budget_ms=0))


def observed(world: RecallWorld, name: str) -> None:
    """A pass has read all of it, and found nothing."""
    keys = world.user().of_session(name).keys
    head, marker = world.rows.get(keys.session_head), world.rows.get(keys.marker)
    assert head is not None and marker is not None
    read = replace(rows.read_marker(marker), observed_seq=head["last_seq"])
    world.rows.write([rows.put_marker(keys, read)])


def frozen(made: Compiled) -> Any:
    """What stands in front of the last message."""
    prompt = made.plan.prompt
    return prompt.static, prompt.instructions, prompt.pack, prompt.history


def last_text(made: Compiled) -> str:
    return "\n".join(block.text for block in made.plan.prompt.last if isinstance(block, Text))


def test_what_was_recalled_has_the_day_of_the_time_beside_it(world: RecallWorld) -> None:
    zoned(world, "America/Los_Angeles", "before")
    with world.at(LATE):
        world.say("I fly to Tokyo tomorrow morning.", "Have a good trip.", session="before")
        world.pump()
    observed(world, "before")
    zoned(world, "America/Los_Angeles")
    with world.at(MORNING):
        made = compiled(world, "When do I fly to Tokyo?", retrieval="auto")
    text = last_text(made)
    assert "2026-03-09, user said: I fly to Tokyo tomorrow morning." in text
    assert "Current time: 2026-03-10T09:00:00-07:00" in text
    zoned(world, "Asia/Tokyo")
    with world.at(MORNING):
        moved = compiled(world, "When do I fly to Tokyo?", retrieval="auto")
    assert "2026-03-10, user said: I fly to Tokyo tomorrow morning." in last_text(moved)
    assert frozen(moved) == frozen(made), "only the last message tells what was recalled"


def test_a_cut_keeps_the_days_that_it_was_made_with(world: RecallWorld) -> None:
    zoned(world, "America/Los_Angeles")
    with world.at(LATE):
        talk(world, 2)
        world.say("I prefer tea.", "Noted.")
        talk(world, 9, first=4)
    made = compiled(world, profile=SMALL)
    assert "user (2026-03-09): I prefer tea." in str(made.plan.summary)
    zoned(world, "Asia/Tokyo")
    again = compiled(world, profile=SMALL)
    assert frozen(again) == frozen(made) and again.plan.cut is None
    with world.at(LATE):
        world.say("I prefer oolong.", "Noted.")
        talk(world, 8, first=13)
    later = compiled(world, profile=SMALL)
    assert later.plan.cut is not None
    summary = str(later.plan.summary)
    assert "user (2026-03-09): I prefer tea." in summary and "user (2026-03-10): I prefer oolong." in summary


def test_a_summary_that_a_prompt_makes_keeps_its_days(world: RecallWorld) -> None:
    zoned(world, "America/Los_Angeles")
    with world.at(LATE):
        world.say("I decided to buy the red boat.", "Noted.")
    talk(world, 6, first=2)
    moved = replace(epoch(world), epoch=1, covers_from=1, covers_to=2)
    world.rows.write([rows.put_epoch(session(world).keys, moved, world.clock.now())])
    made = compiled(world)
    assert "user (2026-03-09): I decided to buy the red boat." in str(made.plan.summary)
    zoned(world, "UTC")
    assert frozen(compiled(world)) == frozen(made)
