"""What an export's addresses give."""

from __future__ import annotations

from contextlib import closing

from local.api_client import ApiClient
from tests.http.driving.people import Json


def exported_text(job: Json) -> str:
    """All parts of an export that has ended."""
    return "".join(map(_text_at, (part["url"] for part in job["result"]["parts"])))


def _text_at(url: str) -> str:
    path = "/" + url.split("://", 1)[1].partition("/")[2]
    with closing(ApiClient(url.removesuffix(path))) as bucket:
        reply = bucket.call("GET", path)
        assert reply.status == 200, reply.text
        return reply.text
