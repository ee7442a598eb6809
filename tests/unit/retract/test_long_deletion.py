"""A deletion of more than one worker has time for: each hands on what is left, and the receipt tells of all of it."""

from __future__ import annotations

import base64
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from neve.domain.records.sessions import EventType
from neve.store import rows
from neve.usecases.jobs.messages.compaction import message_of_row
from neve.usecases.retract import erase_retracted
from neve.usecases.retract.retract_events import Retract, retract_events
from neve.usecases.retract.run_retraction import run_retraction
from neve.usecases.sessions.append_events import NewEvent, append_events
from tests.unit.world import World

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World.make(tmp_path)
    world.open()
    return world


def deletion(world: World) -> dict[str, Any]:
    """The message of its job."""
    answer = retract_events(world.user().of_session("s1"), Retract(1, None, "deleted"))
    return dict(message_of_row(world.table.get(world.tenant.keys.job(answer.job_id)) or {}).body)


def left_off(world: World, message: dict[str, Any]) -> list[str]:
    """Where each worker stopped, until the job is done. A worker has too little time left for another round as soon as
    it has begun."""
    places: list[str] = []
    while True:
        seconds_left = partial(next, iter([60.0]), 5.0)
        report = run_retraction(world.user().of_session("s1"), message, seconds_left)
        assert report is not None
        if report.left_off_at is None:
            return places
        places.append(report.left_off_at)
        assert len(places) < 10, "the job does not get on"


def erased(world: World, message: dict[str, Any]) -> dict[str, Any]:
    job = rows.read_job(world.table.get(world.tenant.keys.job(message["job_id"])) or {})
    assert job.status == "done"
    return dict(job.result["erased"])


def test_what_a_worker_has_no_time_for_is_the_next_ones(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue hides the message of one that is cut off for six minutes, with all that the session waits for, and the
    fifth time it is a dead letter."""
    monkeypatch.setattr(erase_retracted, "ROUND", 2)
    world.say("one", "two", "three", "four", "five")
    message = deletion(world)
    places = left_off(world, message)
    assert len(places) == len(set(places)) == 3, "a message that stands where it stood is given up"
    assert (erased(world, message)["events"], erased(world, message)["verified"]) == (5, True)


def test_images_are_handed_on_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erase_retracted, "IMAGE_BATCH_SIZE", 1)
    content = [
        {"type": "image", "media_type": "image/png", "data": base64.b64encode(PNG + bytes([n])).decode()}
        for n in range(3)
    ]
    append_events(world.user().of_session("s1"), [NewEvent(EventType.USER_MESSAGE, content)])
    message = deletion(world)
    assert len(left_off(world, message)) == 3
    receipt = erased(world, message)
    assert (receipt["events"], receipt["images"]) == (1, 3)
    assert world.objects.list(world.user().keys.objects["images"]) == []
