"""Images of new events: only what a model can read is taken, and what is named is kept."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.records import EventType
from neve.domain.sessions.images import MAX_IMAGE_BYTES, image_type
from neve.usecases.sessions.append_events import NewEvent, append_events
from neve.usecases.sessions.create_upload import create_upload
from neve.usecases.sessions.list_events import list_events
from tests.unit.world import World

PIXELS = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff\xe0",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\x24\x00\x00\x00WEBPVP8 ",
}
FIELD = "events[1].content[1]"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World.make(tmp_path)
    world.open()
    yield world
    world.table.close()


def append(world: World, **block: Any) -> None:
    content = [{"type": "text", "text": "look"}, {"type": "image", "media_type": "image/png", **block}]
    events = [NewEvent(EventType.USER_MESSAGE, "hello"), NewEvent(EventType.USER_MESSAGE, content)]
    append_events(world.user().of_session("s1"), events)


def refusal(world: World, **block: Any) -> tuple[str, str, str]:
    """Code, field and message of the refusal, after which nothing is stored."""
    with pytest.raises(NeveError) as raised:
        append(world, **block)
    assert list_events(world.user().of_session("s1"), 1, 10).events == []
    [error] = raised.value.errors
    return raised.value.code, error.field, error.message


def uploaded(world: World, body: bytes, content_type: str = "image/png") -> str:
    upload = create_upload(world.user(), content_type)
    world.objects.put(world.user().keys.upload_object(upload.upload_id), body, content_type=content_type)
    return upload.upload_id


@pytest.mark.parametrize(("media_type", "pixels"), PIXELS.items())
def test_the_first_bytes_tell_the_type(world: World, media_type: str, pixels: bytes) -> None:
    assert image_type(pixels) == media_type
    assert image_type(pixels[:3]) in (None, "image/jpeg")
    append(world, media_type=media_type, data=base64.b64encode(pixels + b"\x00" * 50).decode())
    append(world, media_type=media_type, upload_id=uploaded(world, pixels, media_type))
    assert len(world.objects.list(world.user().keys.images_prefix)) == 2


@pytest.mark.parametrize("body", [b"", b"<script>", b"\x89PNG", b"%PDF-1.7", b"RIFF\x24\x00\x00\x00WAVEfmt "])
def test_bytes_that_are_no_image_are_refused(world: World, body: bytes) -> None:
    sent = base64.b64encode(body + b"\x00" * 3 * (not body)).decode()
    assert refusal(world, data=sent)[:2] == ("validation_failed", f"{FIELD}.data")
    code, field, message = refusal(world, upload_id=uploaded(world, body))
    assert (code, field) == ("validation_failed", f"{FIELD}.upload_id")
    assert "is no image" in message


def test_an_image_of_another_type_than_declared_is_refused(world: World) -> None:
    jpeg = PIXELS["image/jpeg"]
    assert refusal(world, data=base64.b64encode(jpeg).decode())[2] == "is image/jpeg, not image/png"
    assert refusal(world, upload_id=uploaded(world, jpeg))[2] == "is image/jpeg, not image/png"


def test_an_image_above_the_limit_is_refused_with_the_limit(world: World) -> None:
    exact = PIXELS["image/png"].ljust(MAX_IMAGE_BYTES, b"\x00")
    code, field, message = refusal(world, upload_id=uploaded(world, exact + b"\x00"))
    assert (code, field) == ("image_too_large", f"{FIELD}.upload_id")
    assert str(MAX_IMAGE_BYTES + 1) in message
    assert str(MAX_IMAGE_BYTES) in message
    append(world, upload_id=uploaded(world, exact))
    with pytest.raises(NeveError, match="image_too_large"):
        create_upload(world.user(), "image/png", MAX_IMAGE_BYTES + 1)


def test_an_upload_is_found_by_its_whole_id(world: World) -> None:
    upload_id = uploaded(world, PIXELS["image/png"])
    for part in ("a", upload_id[:-1], "upl_"):
        with pytest.raises(NeveError, match="upload_not_found"):
            append(world, upload_id=part)
    append(world, upload_id=upload_id)


def test_what_an_event_names_is_kept_when_uploads_expire(world: World) -> None:
    keys, upload_id = world.user().keys, uploaded(world, PIXELS["image/png"])
    never_named = uploaded(world, PIXELS["image/png"])
    append(world, upload_id=upload_id)
    for name in world.objects.list(keys.uploads_prefix):
        world.objects.delete(name)
    assert world.objects.list("images/") == [keys.image_object(upload_id)]
    append(world, upload_id=upload_id)
    with pytest.raises(NeveError, match="upload_not_found"):
        append(world, upload_id=never_named)


def test_another_users_upload_is_not_found(world: World) -> None:
    upload_id = uploaded(world, PIXELS["image/png"])
    world.open(user="bob")
    block = {"type": "image", "media_type": "image/png", "upload_id": upload_id}
    with pytest.raises(NeveError, match="upload_not_found"):
        append_events(world.user("bob").of_session("s1"), [NewEvent(EventType.USER_MESSAGE, [block])])
