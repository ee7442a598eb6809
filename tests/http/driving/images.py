"""An image as a client sends it: in the message, or by an address of its own."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from contextlib import closing
from typing import Any, Final

from local.api_client import ApiClient
from tests.http.driving.people import Json, Person
from tests.pictures import png

PNG: Final = base64.b64encode(png(noise=random.Random(7).randbytes(900))).decode()
IMAGE: Final[Json] = {"type": "image", "media_type": "image/png", "data": PNG}


def upload(user: Person, body: bytes, **more: Any) -> tuple[str, Callable[[bytes], int]]:
    """An upload's id, and what sends bytes to its address: the status. ``body`` has been sent."""
    target = user.expect(201, "POST", "/uploads", {"media_type": "image/png"} | more)
    path = "/" + target["url"].split("://", 1)[1].partition("/")[2]

    def send(data: bytes) -> int:
        with closing(ApiClient(target["url"].removesuffix(path))) as bucket:
            return bucket.call("PUT", path, raw=data, headers=target["headers"]).status

    assert send(body) == 200
    return target["upload_id"], send
