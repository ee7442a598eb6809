"""The images of new events: checked, and stored as objects before the rows that point to them are written.

An upload that is named is copied out of the prefix that expires. Taking a tag off it would do as well, but a lifecycle
rule by prefix needs no tag in what is signed, and every S3 has it."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

from neve.domain.errors import FieldError, NeveError, invalid, not_found
from neve.domain.images.image_types import MAX_IMAGE_BYTES, START_BYTES, image_type
from neve.domain.images.whole_picture import HEAD_BYTES, MAX_SIDE, TAIL_BYTES, Bytes, sides_of
from neve.ports.errors import StoreUnavailable
from neve.ports.objects import ObjectStart, ObjectStore
from neve.scope import UserScope
from neve.usecases.core.images.image_objects import remove_images
from neve.usecases.core.images.shown_images import ShownImages
from neve.usecases.core.images.uploaded_texts import NewText, TextShape

Content = str | list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of an image. ``bytes``: how many there are; sides in pixels."""

    bytes: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class NewImage:
    """An image of a new event. ``name``: of the object that it becomes. Either the ``data`` was sent, with a known
    ``shape``, or it was uploaded as ``uploaded``. ``field``: where it stands."""

    name: str
    media_type: str
    field: str
    data: bytes | None = None
    upload_id: str = ""
    uploaded: str = ""
    shape: Shape | None = None

    def check(self, objects: ObjectStore) -> Shape:
        """Give its shape, or refuse it. What was sent was checked when it was named; an upload is looked at here. One
        that an event has named before is where it stays, and may have expired where it was sent to. One read of a small
        one, two of most others; what head and tail say nothing good of is read whole before it is refused."""
        if self.shape is not None:
            return self.shape
        for name in (self.uploaded, self.name):
            found = objects.peek(name, HEAD_BYTES)
            if found is not None:
                return self._look(objects, name, found)
        raise not_found("upload", self.upload_id)

    def _look(self, objects: ObjectStore, name: str, found: ObjectStart) -> Shape:
        if found.size > MAX_IMAGE_BYTES:
            raise too_large(self.field, found.size)
        ends = Bytes(found.start, found.start, found.size)
        if found.size > HEAD_BYTES:
            ends = replace(ends, tail=objects.tail(name, TAIL_BYTES) or b"")
            if sides_of(_type_of(ends, self.media_type, self.field), ends) is None:
                ends = Bytes.all_of(objects.get(name) or b"")
        return _shape(ends, self.media_type, self.field)

    def store(self, objects: ObjectStore) -> bool:
        """Store it, and say whether it was not there before."""
        if self.data is not None:
            return objects.put_new(self.name, self.data, content_type=self.media_type)
        if objects.peek(self.name, START_BYTES) is not None:
            return False
        if not objects.copy(self.uploaded, self.name):
            raise not_found("upload", self.upload_id)
        return True


class NewObject(Protocol):
    """An object that an event names and the object store holds: an image, or a text that was uploaded."""

    @property
    def name(self) -> str: ...

    def check(self, objects: ObjectStore) -> Shape | TextShape: ...

    def store(self, objects: ObjectStore) -> bool: ...


def name_images(scope: UserScope, content: Content, field: str) -> tuple[Content, list[NewObject]]:
    """Put the key of an object in place of bytes and uploads, and give the content with what is to be stored for it;
    nothing is stored or looked for yet. ``field``: where the content stands. Raises NeveError: validation_failed for
    what is no image or of another type, image_too_large."""
    if isinstance(content, str):
        return content, []
    images: list[NewObject] = []
    named: list[dict[str, Any]] = []
    for n, block in enumerate(content):
        if block["type"] == "text" and "upload_id" in block:
            images.append(_uploaded_text(scope, block["upload_id"], f"{field}[{n}].upload_id"))
            named.append({"type": "text", "object": images[-1].name})
            continue
        if block["type"] != "image":
            named.append(block)
            continue
        named_block = {"type": "image", "media_type": block["media_type"]}
        if "url" in block:
            named.append(named_block | {"url": block["url"]})
            continue
        images.append(_named(scope, block, f"{field}[{n}]"))
        named.append(named_block | {"object": images[-1].name})
    return named, images


@dataclass(frozen=True, slots=True)
class StoredImages:
    """The objects that an append has stored. ``brought``: what was not there before; ``borrowed``: what was, and what
    another append has to keep. ``shapes``: of all of them, by name."""

    scope: UserScope
    brought: Sequence[NewObject]
    borrowed: Sequence[NewObject]
    shapes: Mapping[str, Shape | TextShape] = field(default_factory=dict)

    def keep(self) -> None:
        """Make sure that the objects of a written append are there. What another worker has taken away meanwhile, with
        a deleted event or a refused append, is stored again, unless its own event was deleted by then; an upload that
        went with one stays gone. Raises StoreUnavailable."""
        self._store_again(_missing(self.scope, [*self.brought, *self.borrowed]))

    def keep_repeated(self) -> None:
        """Make sure that borrowed objects are there. They are of events that were there before, whose writer may have
        died before it looked. Raises StoreUnavailable."""
        missing = _missing(self.scope, self.borrowed)
        shown = ShownImages(self.scope).of({image.name for image in missing})
        self._store_again([image for image in missing if image.name in shown])

    def take_away(self) -> None:
        """Remove what a refused append brought, unless an event names it. Raises StoreUnavailable."""
        self._remove(self.brought)

    def _store_again(self, missing: Sequence[NewObject]) -> None:
        """Store the missing ones, and look behind that: the event that shows one may have been deleted by then."""
        again: list[NewObject] = []
        for image in missing:
            with suppress(NeveError):  # an upload that went with its event
                again += [image] if image.store(self.scope.ports.objects) else []
        self._remove(again)

    def _remove(self, images: Sequence[NewObject]) -> None:
        remove_images(self.scope, {image.name for image in images}, sent=False)


def _missing(scope: UserScope, images: Sequence[NewObject]) -> list[NewObject]:
    return [image for image in images if scope.ports.objects.peek(image.name, START_BYTES) is None]


def store_images(scope: UserScope, images: Sequence[NewObject]) -> StoredImages:
    """Store all of ``images`` or none. Raises NeveError: validation_failed, image_too_large, upload_not_found. Raises
    StoreUnavailable."""
    shapes = {image.name: image.check(scope.ports.objects) for image in images}
    brought: list[NewObject] = []
    borrowed: list[NewObject] = []
    try:
        for image in {image.name: image for image in images}.values():
            (brought if image.store(scope.ports.objects) else borrowed).append(image)
    except (NeveError, StoreUnavailable):
        StoredImages(scope, brought, []).take_away()
        raise
    return StoredImages(scope, brought, borrowed, shapes)


def shaped(content: Content, shapes: Mapping[str, Shape | TextShape]) -> Content:
    """Add to stored images their ``bytes``, ``width`` and ``height``, to texts ``bytes`` and ``tokens``, as the log
    keeps them: a prompt knows what they take without reading them."""
    if isinstance(content, str):
        return content
    return [block | asdict(shapes[block["object"]]) if block.get("object") in shapes else block for block in content]


def _named(scope: UserScope, block: dict[str, Any], field: str) -> NewImage:
    media_type, keys = block["media_type"], scope.keys
    if "upload_id" in block:
        upload_id, where = block["upload_id"], f"{field}.upload_id"
        uploaded = keys.upload_object(upload_id)
        return NewImage(keys.image_object(upload_id), media_type, where, upload_id=upload_id, uploaded=uploaded)
    field = f"{field}.data"
    try:
        data = base64.b64decode(block["data"], validate=True)
    except (binascii.Error, ValueError):
        raise invalid(field, "is not base64") from None
    name, shape = keys.image_object(hashlib.sha256(data).hexdigest()), _shape(Bytes.all_of(data), media_type, field)
    return NewImage(name, media_type, field, data, shape=shape)


def _uploaded_text(scope: UserScope, upload_id: str, field: str) -> NewText:
    return NewText(scope, scope.keys.image_object(upload_id), field, upload_id, scope.keys.upload_object(upload_id))


def _shape(given: Bytes, declared: str, field: str) -> Shape:
    """Measure an image. Raises 422 for what no model's API would take, and 413."""
    if given.size > MAX_IMAGE_BYTES:
        raise too_large(field, given.size)
    kind = _type_of(given, declared, field)
    sides = sides_of(kind, given)
    if sides is None:
        raise invalid(
            field, f"is no whole {kind}: it is cut off, or something else behind its first bytes; send all of it"
        )
    if max(sides) > MAX_SIDE:
        raise invalid(
            field, f"has {sides[0]} x {sides[1]} pixels; at most {MAX_SIDE} a side are accepted: scale it down"
        )
    return Shape(given.size, *sides)


def _type_of(given: Bytes, declared: str, field: str) -> str:
    kind = image_type(given.head)
    if kind is None:
        raise invalid(field, f"is not an image of the type {declared}: send a PNG, JPEG, GIF or WebP")
    if kind != declared:
        raise invalid(field, f"is {kind}, not {declared}: declare the type that it is")
    return kind


def too_large(field: str, size: int) -> NeveError:
    """Make the 413 of an image, with both numbers."""
    message = f"has {size} bytes; {MAX_IMAGE_BYTES} are accepted for one image"
    return NeveError("image_too_large", f"{field} {message}.", errors=[FieldError(field, message)])
