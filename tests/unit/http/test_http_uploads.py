"""A target for an image, asked for again with the same Idempotency-Key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.observe.app import router as observe
from neve.domain.times import iso
from neve.store.idempotency import IdempotencyKey, row_key
from neve.usecases.tell.requests.request_erasure import request_erasure
from neve.usecases.tell.sessions.create_upload import EXPIRES_S
from tests.unit.api_world import Api, Reply, installed
from tests.unit.world import World

UPLOADS = "/v1/users/{user_id}/uploads"
KEY = IdempotencyKey("POST /v1/users/ann/uploads", "k", "")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    for made in installed(World.make(tmp_path)):
        made.open()
        yield made


def asked() -> Reply:
    body = {"media_type": "image/png", "size": 70}
    return Api(observe).call("POST", UPLOADS, body, headers={"Idempotency-Key": "k"}, user_id="ann")


def test_a_repeat_gets_the_same_target_for_as_long_again(world: World) -> None:
    """A phone that was offline for longer than its target was good for."""
    first = asked()
    world.clock.move(seconds=EXPIRES_S + 300)
    again = asked()
    assert (first.status, again.status) == (201, 201)
    assert again.json["upload_id"] == first.json["upload_id"]
    assert again.json["headers"] == first.json["headers"]
    assert first.json["expires_at"] < iso(world.clock.now()) < again.json["expires_at"]
    assert again.json["url"] != first.json["url"]


def test_no_signature_is_kept(world: World) -> None:
    asked()
    kept = world.table.get(row_key(world.tenant.keys, KEY))
    assert kept is not None
    assert "upl_" in kept["reply"]
    assert "http" not in kept["reply"]


def test_a_repeat_signs_nothing_for_a_user_who_is_being_erased(world: World) -> None:
    asked()
    request_erasure(world.user("ann"), close=False)
    assert asked().json["code"] == "erasing"
