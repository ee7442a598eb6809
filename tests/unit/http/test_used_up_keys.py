"""An Idempotency-Key whose day is over, where the record is part of the write's transaction. The store removes such a
record late: a deployed table within days."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from functions.observe.app import router as observe
from functions.records.app import router as records
from neve.http.router import Router
from tests.unit.api_world import Api, Reply, installed
from tests.unit.world import World

USER = "/v1/users/{user_id}"
DOCUMENTS = f"{USER}/documents"
EVENTS = f"{USER}/sessions/{{session_id}}/events"


@dataclass(frozen=True)
class Write:
    """A call that may be made again and again, and the status of each. ``other``: another body for it."""

    router: Router
    resource: str
    body: dict[str, Any]
    other: dict[str, Any]
    status: int
    method: str = "POST"
    query: str = ""

    def call(self, body: dict[str, Any]) -> Reply:
        ids = {"user_id": "ann"} | ({"session_id": "s1"} if "session_id" in self.resource else {})
        headers = {"Idempotency-Key": "k"}
        return Api(self.router).call(self.method, self.resource, body, query=self.query, headers=headers, **ids)


def said(text: str) -> dict[str, Any]:
    return {"events": [{"event_type": "user_message", "content": text}]}


def report(tokens: int) -> dict[str, Any]:
    return {"session_id": "s1", "pack_version": 0, "model": "m", "usage": {"input": tokens, "output": 1}}


WRITES = {
    "append": Write(observe, EVENTS, said("Hello."), said("Good evening."), 201),
    "retract": Write(
        observe,
        f"{EVENTS}/retract",
        {"from_seq": 1, "to_seq": 1, "reason": "edited"},
        {"from_seq": 2, "to_seq": 2, "reason": "edited"},
        200,
    ),
    "report": Write(observe, f"{USER}/usage", report(1), report(2), 200),
    "memory": Write(records, f"{USER}/memories", {"text": "Keeps bees."}, {"text": "Keeps ducks."}, 201),
    "document": Write(records, DOCUMENTS, {"text": "Bees."}, {"text": "Ducks."}, 200, "PUT", "path=/pets"),
}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    for made in installed(World.make(tmp_path)):
        made.open()
        made.say("One.", "Two.")
        headers = {"Idempotency-Key": "first"}
        Api(records).call("PUT", DOCUMENTS, {"text": "None."}, query="path=/pets", headers=headers, user_id="ann")
        yield made


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_key_whose_day_is_over_is_a_new_one(world: World, write: Write) -> None:
    assert write.call(write.body).status == write.status
    assert write.call(write.other).json["code"] == "idempotency_mismatch"
    world.clock.move(hours=24)
    again = write.call(write.other)
    assert again.status == write.status, again.text
    assert write.call(write.other).text == again.text
    assert write.call(write.body).json["code"] == "idempotency_mismatch"
