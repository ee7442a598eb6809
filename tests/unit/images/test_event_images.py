"""Images of new events: only what a model can read is taken, and what is named is kept."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from typing import Any, Literal

import pytest

from neve.domain.errors import NeveError
from neve.domain.images.image_types import MAX_IMAGE_BYTES, image_type
from neve.domain.records.sessions import EventType
from neve.store import rows
from neve.store.idempotency import IdempotencyKey
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.core.images.event_images import name_images, store_images
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.tell.sessions.create_upload import create_upload
from tests.pictures import PICTURES
from tests.unit.world import World

PIXELS = PICTURES
FIELD = "events[1].content[1]"


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
    assert "is not an image" in message


def test_an_image_of_another_type_than_declared_is_refused(world: World) -> None:
    jpeg = PIXELS["image/jpeg"]
    assert (
        refusal(world, data=base64.b64encode(jpeg).decode())[2]
        == "is image/jpeg, not image/png: declare the type that it is"
    )
    assert (
        refusal(world, upload_id=uploaded(world, jpeg))[2]
        == "is image/jpeg, not image/png: declare the type that it is"
    )


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


# --- refused appends ------------------------------------------------------------------------------

PNG = PIXELS["image/png"]


def photo(client_id: str | None = None, **block: Any) -> NewEvent:
    sent = block or {"data": base64.b64encode(PNG).decode()}
    return NewEvent(EventType.USER_MESSAGE, [{"type": "image", "media_type": "image/png", **sent}], client_id=client_id)


def images(world: World) -> list[str]:
    return world.objects.list(world.user().keys.images_prefix)


def stand(world: World, state: Literal["erasing", "closed"]) -> None:
    """Of the user, as an erasure leaves it."""
    keys = world.user().keys
    head = rows.read_head(world.table.get(keys.head))
    world.table.write([rows.put_head(keys, replace(head, state=state, incarnation=head.incarnation + 1))])


@pytest.mark.parametrize("by", ["data", "upload_id"])
@pytest.mark.parametrize(
    ("refused_as", "session"), [("session_not_found", "none"), ("user_closed", "s1"), ("erasing", "s1")]
)
def test_a_refused_append_stores_no_image(world: World, by: str, refused_as: str, session: str) -> None:
    sent = photo() if by == "data" else photo(upload_id=uploaded(world, PNG))
    if session == "s1":
        stand(world, "closed" if refused_as == "user_closed" else "erasing")
    with pytest.raises(NeveError, match=refused_as):
        append_events(world.user().of_session(session), [sent])
    assert images(world) == []


@pytest.mark.parametrize("keyed", [False, True])
def test_a_repeat_stores_what_is_gone_of_an_event_that_shows_it(world: World, keyed: bool) -> None:
    """Whoever wrote the event died before the look for what somebody had taken away meanwhile."""
    scope = world.user().of_session("s1")
    event, key = photo("m1"), IdempotencyKey("POST /events", "k1", "0" * 64) if keyed else None
    append_events(scope, [event], key)
    [name] = images(world)
    world.objects.delete(name)
    assert append_events(scope, [event], key).seqs == [1]
    assert images(world) == [name]


def test_a_repeat_does_not_bring_back_what_is_gone(world: World) -> None:
    """Of an event that is known nothing is stored again: its image may have been deleted, or its time may be over."""
    scope = world.user().of_session("s1")
    event, key = photo("m1"), IdempotencyKey("POST /events", "k1", "0" * 64)
    append_events(scope, [event], key)
    [name] = images(world)
    world.objects.delete(name)
    row = world.table.get(scope.keys.event(1)) or {}
    world.table.write([rows.put_without_images(row)])
    assert append_events(scope, [event]).seqs == [1]
    assert append_events(scope, [event], key).seqs == [1]
    assert images(world) == []
    head = rows.read_session(world.table.get(scope.keys.session_head) or {})
    world.table.write([rows.put_session(scope.keys, replace(head, retracted=((1, 1),), erased=((1, 1),)))])
    with pytest.raises(NeveError, match="retracted"):
        append_events(scope, [event])
    assert images(world) == []


def test_all_images_are_looked_at_before_one_is_stored(world: World) -> None:
    with pytest.raises(NeveError, match="upload_not_found"):
        append_events(world.user().of_session("s1"), [photo(), photo(upload_id="upl_none")])
    assert images(world) == []


def test_an_append_that_is_refused_behind_the_look_takes_its_images_with_it(world: World) -> None:
    """Somebody else was faster with the client id; an image that an event of any session names stays."""
    world.open(session="s2")
    jpeg = {"media_type": "image/jpeg", "data": base64.b64encode(PIXELS["image/jpeg"]).decode()}
    scope, other = world.user().of_session("s1"), world.user().of_session("s2")

    def faster() -> None:
        append_events(scope, [NewEvent(EventType.USER_MESSAGE, "another", client_id="m1")])
        append_events(other, [photo(**jpeg)])

    upload_id = uploaded(world, PNG)
    world.table.before_write = faster
    with pytest.raises(NeveError, match="client_id_conflict"):
        append_events(scope, [photo("m1"), photo(**jpeg), photo(upload_id=upload_id)])
    assert images(world) == [scope.keys.image_object(hashlib.sha256(PIXELS["image/jpeg"]).hexdigest())]
    append_events(scope, [photo(upload_id=upload_id)])
    assert len(images(world)) == 2


def test_what_another_append_takes_away_meanwhile_is_stored_again(world: World) -> None:
    """It was there when this one came, and gone when it was written."""
    scope = world.user().of_session("s1")
    append_events(scope, [photo()])
    [name] = images(world)
    world.table.before_write = lambda: world.objects.delete(name)
    append_events(scope, [photo()])
    assert images(world) == [name]


def test_what_a_deleted_event_takes_along_before_the_commit_is_stored_again(world: World) -> None:
    """What this append brought itself, too."""
    scope = world.user().of_session("s1")
    world.table.before_write = lambda: world.objects.delete(images(world)[0])
    append_events(scope, [photo()])
    assert len(images(world)) == 1


def test_an_image_whose_event_was_deleted_meanwhile_does_not_come_back(world: World) -> None:
    scope = world.user().of_session("s1")
    event = photo()
    assert isinstance(event.content, list)
    stored = store_images(scope, name_images(scope, event.content, "content")[1])
    world.objects.delete(images(world)[0])
    stored.keep()  # no event names it
    assert images(world) == []


def test_an_upload_that_a_deletion_took_along_stays_gone_and_the_append_is_answered(world: World) -> None:
    scope, upload_id = world.user().of_session("s1"), uploaded(world, PNG)

    def deleted() -> None:
        world.objects.delete(scope.keys.image_object(upload_id))
        world.objects.delete(scope.keys.upload_object(upload_id))

    world.table.before_write = deleted
    assert append_events(scope, [photo(upload_id=upload_id)]).seqs == [1]
    assert images(world) == []


def test_an_append_without_images_reads_once(world: World) -> None:
    world.table.calls.clear()
    append_events(world.user().of_session("s1"), [NewEvent(EventType.USER_MESSAGE, "hello")])
    assert world.table.calls == {"get_many": 1, "write": 1}
    world.table.calls.clear()
    append_events(world.user().of_session("s1"), [photo()])
    assert world.table.calls == {"get_many": 2, "write": 1}


def test_a_lost_commit_keeps_its_images(world: World) -> None:
    world.table.lose_response = True
    append_events(world.user().of_session("s1"), [photo()])
    assert len(images(world)) == 1


# --- uploads --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("state", "code"), [("erasing", "erasing"), ("closed", "user_closed")])
def test_who_is_erased_gets_no_target(world: World, state: Literal["erasing", "closed"], code: str) -> None:
    stand(world, state)
    with pytest.raises(NeveError, match=code):
        create_upload(world.user(), "image/png")


def test_a_target_takes_one_read(world: World) -> None:
    world.table.calls.clear()
    create_upload(world.user(), "image/png")
    assert world.table.calls == {"get": 1}
