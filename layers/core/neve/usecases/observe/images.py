"""Images of a pass: the stored objects become inline blocks for the one model request that describes them."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

from neve.domain.records import Event
from neve.ports import ObjectStore


def with_images(objects: ObjectStore, event: Event) -> Event:
    """The event with ``data`` (base64) in place of each ``object``. An image whose bytes are gone becomes a line of
    text, so that the pass is not stuck on it."""
    if isinstance(event.content, str) or not any("object" in block for block in event.content):
        return event
    return replace(event, content=[_inline(objects, block) for block in event.content])


def _inline(objects: ObjectStore, block: dict[str, Any]) -> dict[str, Any]:
    if "object" not in block:
        return block
    body = objects.get(block["object"])
    if body is None:
        return {"type": "text", "text": "[image no longer stored]"}
    return {"type": "image", "media_type": block["media_type"], "data": base64.b64encode(body).decode()}
