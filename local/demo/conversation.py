"""The bundled conversation with its days counted back from today, so that "tomorrow" in it lies in these weeks."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

from neve.domain.times import iso

SAMPLE = Path(__file__).resolve().parent.parent / "sample" / "conversation.json"
PAUSE = timedelta(seconds=50)
"""Between two events of a session."""
TILE = 24
"""Width and height of the picture in pixels."""


@dataclass(frozen=True, slots=True)
class Talk:
    """One session; ``events`` as the API takes them."""

    id: str
    title: str
    days_ago: int
    events: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """``shows``: what its answer is an example of."""

    query: str
    shows: str


@dataclass(frozen=True, slots=True)
class Sample:
    """``today`` is the id of a session without events, whose pack holds what the others left."""

    user_meta: dict[str, str]
    talks: list[Talk]
    today: str
    questions: list[Question]


def load(now: datetime, path: Path = SAMPLE) -> Sample:
    """``now``: the day that ``days_ago`` counts back from."""
    given = json.loads(path.read_text(encoding="utf-8"))
    names = {role: given[role]["name"] for role in ("user", "assistant")}
    return Sample(
        user_meta=given["user"],
        talks=[_talk(talk, names, now) for talk in given["sessions"]],
        today=given["today"],
        questions=[Question(**question) for question in given["questions"]],
    )


def _talk(given: dict[str, Any], names: dict[str, str], now: datetime) -> Talk:
    day = (now - timedelta(days=given["days_ago"])).date()
    began = datetime.combine(day, time.fromisoformat(given["time"]), UTC)
    events = []
    for position, event in enumerate(given["events"]):
        sent = _event(event, names)
        sent |= {"client_id": f"{given['id']}-{position + 1}", "created_at": iso(began + position * PAUSE)}
        events.append(sent)
    return Talk(given["id"], given["title"], given["days_ago"], events)


def _event(given: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """An event without its id and time. What is said is under the speaker's role, a tool's part under its own name.
    ``names``: of the speakers, by role."""
    if "tool_call" in given:
        data = {"tool_use_id": given["id"], "name": given["tool_call"], "args": given["args"]}
        return {"event_type": "tool_call", "content": "", "event_data": data}
    if "tool_result" in given:
        data = {"tool_use_id": given["id"], "name": given["tool_result"]}
        return {"event_type": "tool_result", "content": given["text"], "event_data": data}
    if "assistant" in given:
        return {"event_type": "assistant_response", "name": names["assistant"], "content": given["assistant"]}
    content: Any = given["user"]
    if given.get("picture"):
        content = [{"type": "text", "text": content}, _image(celadon_tile())]
    return {"event_type": "user_message", "name": names["user"], "content": content}


def _image(png: bytes) -> dict[str, Any]:
    return {"type": "image", "media_type": "image/png", "data": base64.b64encode(png).decode()}


def celadon_tile(size: int = TILE) -> bytes:
    """A PNG of a pale green tile that darkens towards its lower edge, as a glaze does where it gathers."""
    rows = b"".join(b"\x00" + bytes((150 - 2 * y, 190 - y, 160 - 2 * y)) * size for y in range(size))
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
