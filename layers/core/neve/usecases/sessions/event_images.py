"""The images of new events: checked, and stored as objects before the rows that point to them are written.

An upload that is named is copied out of the prefix that expires. Taking a tag off it would do as well, but a lifecycle
rule by prefix needs no tag in what is signed, and every S3 has it."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import Any

from neve.domain.errors import FieldError, NeveError, invalid, not_found
from neve.domain.sessions.images import MAX_IMAGE_BYTES, START_BYTES, image_type
from neve.ports import ObjectStart
from neve.scope import UserScope

Content = str | list[dict[str, Any]]


def store_images(scope: UserScope, content: Content, field: str) -> Content:
    """The content with the key of an object in place of bytes and uploads. ``field``: where the content stands.

    Raises NeveError: validation_failed for what is no image or of another type, image_too_large, upload_not_found.
    Raises StoreUnavailable."""
    if isinstance(content, str):
        return content
    return [
        _Image(scope, block, f"{field}[{n}]").stored() if block["type"] == "image" else block
        for n, block in enumerate(content)
    ]


@dataclass(frozen=True, slots=True)
class _Image:
    """``block`` holds exactly one of ``data`` (base64), ``url``, ``upload_id``."""

    scope: UserScope
    block: dict[str, Any]
    field: str

    def stored(self) -> dict[str, Any]:
        kept = {"type": "image", "media_type": self.block["media_type"]}
        if "url" in self.block:
            return kept | {"url": self.block["url"]}
        return kept | {"object": self._uploaded() if "upload_id" in self.block else self._sent()}

    def _uploaded(self) -> str:
        """An upload is copied to where it does not expire; one that was named before is there already."""
        objects, keys, upload_id = self.scope.ports.objects, self.scope.keys, self.block["upload_id"]
        kept, sent = keys.image_object(upload_id), keys.upload_object(upload_id)
        for name in (sent, kept):
            found = objects.peek(name, START_BYTES)
            if found is None:
                continue
            self._check(found, f"{self.field}.upload_id")
            if name == kept or objects.copy(sent, kept):
                return kept
        raise not_found("upload", upload_id)

    def _sent(self) -> str:
        field = f"{self.field}.data"
        try:
            data = base64.b64decode(self.block["data"], validate=True)
        except (binascii.Error, ValueError):
            raise invalid(field, "is not base64") from None
        media_type = self.block["media_type"]
        self._check(ObjectStart(len(data), media_type, data[:START_BYTES]), field)
        name = self.scope.keys.image_object(hashlib.sha256(data).hexdigest())
        self.scope.ports.objects.put(name, data, content_type=media_type)
        return name

    def _check(self, found: ObjectStart, field: str) -> None:
        if found.size > MAX_IMAGE_BYTES:
            raise too_large(field, found.size)
        declared, kind = self.block["media_type"], image_type(found.start)
        if kind is None:
            raise invalid(field, f"is no image: its first bytes are those of no {declared}")
        if kind != declared:
            raise invalid(field, f"is {kind}, not {declared}")


def too_large(field: str, size: int) -> NeveError:
    """413, with both numbers."""
    message = f"has {size} bytes; {MAX_IMAGE_BYTES} are accepted for one image"
    return NeveError("image_too_large", f"{field} {message}.", errors=[FieldError(field, message)])
