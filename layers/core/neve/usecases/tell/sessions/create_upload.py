"""E2 uploads: a pre-signed target for one image or text, so that what is large never passes through the API."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from neve.domain.images.image_types import MAX_IMAGE_BYTES
from neve.domain.times import iso
from neve.scope import UserScope
from neve.store import rows
from neve.usecases.core.images.event_images import too_large
from neve.usecases.core.images.uploaded_texts import MAX_TEXT_BYTES, TEXT_TYPE, text_too_large

EXPIRES_S = 900
"""Long enough for a slow phone, short enough that a leaked URL is soon worthless *(ours)*."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A target for an upload. PUT the bytes to ``url`` with exactly this content type and ``If-None-Match: *``, then
    name ``upload_id`` in a block."""

    upload_id: str
    url: str
    content_type: str
    expires_at: str


def create_upload(scope: UserScope, media_type: str, size: int | None = None, upload_id: str | None = None) -> Upload:
    """Sign a target. ``size``: exactly how many bytes will be sent, signed with the rest. ``upload_id``: of a target
    that was given out before, to be signed anew; it still takes one object. An erasure waits longer than the target of
    a user whom it found is good for, so no target is signed once it has begun. Raises image_too_large, event_too_large,
    erasing, user_closed, StoreUnavailable."""
    if size is not None and media_type == TEXT_TYPE and size > MAX_TEXT_BYTES:
        raise text_too_large("size", size)
    if size is not None and media_type != TEXT_TYPE and size > MAX_IMAGE_BYTES:
        raise too_large("size", size)
    rows.writable(rows.read_head(scope.ports.table.get(scope.keys.head)))
    now = scope.ports.clock.now()
    upload_id = upload_id or f"upl_{scope.ports.ids.ulid(now)}"
    url = scope.ports.objects.presign_put(
        scope.keys.upload_object(upload_id), content_type=media_type, expires_s=EXPIRES_S, size=size
    )
    return Upload(upload_id, url, media_type, iso(now + timedelta(seconds=EXPIRES_S)))
