"""Only whole pictures are taken that a provider would read, and every real one is (docs/rules/sessions.md#images)."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.errors import NeveError
from neve.domain.images.image_types import MAX_IMAGE_BYTES, image_type
from neve.domain.images.whole_picture import HEAD_BYTES, TAIL_BYTES, Bytes, sides_of
from neve.domain.records.sessions import EventType
from neve.store import rows
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.tell.sessions.create_upload import create_upload
from tests.pictures import OTHER_FORMS, PICTURES, png
from tests.unit.world import World

WHOLE = [*PICTURES.items(), *OTHER_FORMS]
JPEG, GIF, WEBP = (PICTURES[f"image/{kind}"] for kind in ("jpeg", "gif", "webp"))
PREVIEW = b"Exif\x00\x00" + JPEG
"""A header that holds a picture of its own, with its end."""


def segments(data: bytes, marker: bytes = b"\xff\xe1") -> bytes:
    """As a phone writes long headers: in parts below 64 KiB."""
    parts = [data[at : at + 65_000] for at in range(0, len(data), 65_000)]
    return b"".join(marker + struct.pack(">H", len(part) + 2) + part for part in parts)


def jpeg(width: int = 3, height: int = 2, *, header: bytes = b"", scan: int = 0) -> bytes:
    """``header``: in front of the sides. ``scan``: bytes of pixels more."""
    frame = JPEG.index(b"\xff\xc0")
    sized = JPEG[: frame + 5] + struct.pack(">HH", height, width) + JPEG[frame + 9 : -2]
    return sized[:2] + segments(header) + sized[2:] + b"\x5a" * scan + JPEG[-2:]


def look(body: bytes) -> tuple[int, int] | None:
    return sides_of(image_type(body) or "", Bytes.all_of(body))


@pytest.mark.parametrize(("media_type", "body"), WHOLE)
def test_the_sides_are_read_of_every_form(media_type: str, body: bytes) -> None:
    assert (image_type(body), look(body)) == (media_type, (3, 2))


@pytest.mark.parametrize(("media_type", "body"), WHOLE)
def test_wherever_it_is_cut_off_it_is_no_whole_picture(media_type: str, body: bytes) -> None:
    taken = [end for end in range(len(body)) if sides_of(media_type, Bytes.all_of(body[:end]))]
    assert taken == []


@pytest.mark.parametrize(("media_type", "body"), WHOLE)
def test_a_page_behind_the_first_bytes_is_no_picture(media_type: str, body: bytes) -> None:
    for page in (b"<!doctype html><title>Sign in</title>" * 9, b'{"error": "expired"};', bytes(500)):
        assert all(sides_of(media_type, Bytes.all_of(body[:kept] + page)) is None for kept in (8, 12, 16))


@pytest.mark.parametrize("behind", [bytes(20), b"ftypmp42" * 50, JPEG + JPEG[:-2]])
def test_what_is_appended_behind_the_end_is_no_fault(behind: bytes) -> None:
    for _, body in WHOLE:
        assert look(body + behind) == (3, 2) or (body == GIF and behind.strip(b"\x00"))


def test_long_headers_and_previews_hide_neither_sides_nor_end() -> None:
    long = jpeg(4_000, 3_000, header=PREVIEW * 3_000)
    assert len(long) > HEAD_BYTES
    assert look(long) == (4_000, 3_000)
    assert look(jpeg(header=PREVIEW)[:-2]) is None, "the preview has an end, the picture has none"


def test_a_header_with_a_wrong_checksum_is_no_picture() -> None:
    body = bytearray(png(3, 2))
    body[19] ^= 1
    assert look(bytes(body)) is None


@given(st.sampled_from(WHOLE), st.integers(0, 60), st.binary(max_size=200))
def test_no_bytes_are_more_than_it_can_read(whole: tuple[str, bytes], kept: int, behind: bytes) -> None:
    media_type, body = whole
    sides = sides_of(media_type, Bytes.all_of(body[: kept + 12] + behind))
    assert sides is None or min(sides) > 0


def test_a_walk_has_an_end() -> None:
    chunk = struct.pack(">I", 0) + b"tEXt" + struct.pack(">I", zlib.crc32(b"tEXt"))
    body = png()
    assert look(body[:33] + chunk * 100_000 + body[33:]) is None
    assert look(b"\xff\xd8\xff" + b"\xff\xfe\x00\x02" * 100_000 + JPEG[2:]) is None


# --- appends --------------------------------------------------------------------------------------


def append(world: World, media_type: str, *, client_id: str | None = None, **source: str) -> None:
    content = [{"type": "image", "media_type": media_type, **source}]
    append_events(world.user().of_session("s1"), [NewEvent(EventType.USER_MESSAGE, content, client_id=client_id)])


def send(world: World, media_type: str, body: bytes, how: str) -> None:
    if how == "data":
        return append(world, media_type, data=base64.b64encode(body).decode())
    upload = create_upload(world.user(), media_type)
    world.objects.put(world.user().keys.upload_object(upload.upload_id), body, content_type=media_type)
    return append(world, media_type, upload_id=upload.upload_id)


def last_block(world: World) -> dict[str, object]:
    scope = world.user().of_session("s1")
    head = rows.read_session(world.table.get(scope.keys.session_head) or {})
    content = rows.read_event(world.table.get(scope.keys.event(head.last_seq)) or {}).content
    assert isinstance(content, list)
    return {name: value for name, value in content[0].items() if name in ("bytes", "width", "height")}


@pytest.mark.parametrize("how", ["data", "upload"])
@pytest.mark.parametrize(
    ("media_type", "body", "message"),
    [
        ("image/png", png(300, 300)[:400], "is no whole image/png"),
        ("image/jpeg", jpeg(scan=500)[:400], "is no whole image/jpeg"),
        ("image/png", png(8_001, 1), "has 8001 x 1 pixels; at most 8000 a side are accepted: scale it down"),
        ("image/jpeg", jpeg(1, 9_000), "has 1 x 9000 pixels"),
        ("image/gif", WEBP, "is image/webp, not image/gif: declare the type that it is"),
        ("image/png", b"%PDF-1.7", "is not an image of the type image/png: send a PNG"),
    ],
)
def test_what_a_provider_would_refuse_is_refused_with_its_cure(
    world: World, how: str, media_type: str, body: bytes, message: str
) -> None:
    with pytest.raises(NeveError) as refused:
        send(world, media_type, body, how)
    [error] = refused.value.errors
    assert (refused.value.code, error.field) == (
        "validation_failed",
        f"events[0].content[0].{'data' if how == 'data' else 'upload_id'}",
    )
    assert message in error.message


@pytest.mark.parametrize("how", ["data", "upload"])
def test_the_log_keeps_what_a_prompt_has_to_know(world: World, how: str) -> None:
    send(world, "image/png", png(1_170, 2_532), how)
    assert last_block(world) == {"bytes": len(png(1_170, 2_532)), "width": 1_170, "height": 2_532}


def test_a_repeat_is_the_same_event_although_nobody_looks_at_its_upload_again(world: World) -> None:
    upload = create_upload(world.user(), "image/png")
    name = world.user().keys.upload_object(upload.upload_id)
    world.objects.put(name, png(5, 5), content_type="image/png")
    for _ in range(2):
        append(world, "image/png", client_id="m1", upload_id=upload.upload_id)
        world.objects.delete(name)
    assert last_block(world)["width"] == 5


@pytest.mark.parametrize(
    ("body", "reads"),
    [
        (jpeg(), {"peek": 1}),
        (jpeg(4_000, 3_000, scan=1_000_000), {"peek": 1, "tail": 1}),
        (png(noise=bytes(HEAD_BYTES)), {"peek": 1, "tail": 1}),
        (jpeg(header=PREVIEW * 3_000, scan=1_000_000), {"peek": 1, "tail": 1, "get": 1}),
        (jpeg(scan=HEAD_BYTES) + b"\x11" * (TAIL_BYTES + 1), {"peek": 1, "tail": 1, "get": 1}),
    ],
)
def test_of_an_upload_head_and_tail_are_read_and_all_of_it_only_before_it_would_be_refused(
    world: World, monkeypatch: pytest.MonkeyPatch, body: bytes, reads: dict[str, int]
) -> None:
    assert len(body) < MAX_IMAGE_BYTES
    called: list[str] = []
    media_type = image_type(body) or ""
    upload = create_upload(world.user(), media_type)
    uploaded = world.user().keys.upload_object(upload.upload_id)
    world.objects.put(uploaded, body, content_type=media_type)
    for method in ("peek", "tail", "get"):
        inner = getattr(world.objects, method)

        def counted(key: str, *more: int, inner: object = inner, method: str = method) -> object:
            called.extend([method] * (key == uploaded))
            return inner(key, *more)  # type: ignore[operator]

        monkeypatch.setattr(world.objects, method, counted)
    append(world, media_type, upload_id=upload.upload_id)
    assert {method: called.count(method) for method in dict.fromkeys(called)} == reads
