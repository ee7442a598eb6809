"""Lines of an import, or of an export, sent to a service in pieces that it takes."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from local.api_client import ApiClient, Reply
from local.importers.reading import NO_JSON

PIECE_BYTES, PIECE_LINES = 1024 * 1024, 5_000
"""Of one call (docs/rules/memories.md#import)."""
DOCUMENT_FIELDS = (
    *("text", "name", "summary", "tags", "group", "kind", "always_include", "include_priority", "prompt_label"),
    *("prompt_hint", "prompt_order", "editable", "source_type", "source_id", "importance"),
)
ARTIFACTS = "/artifacts/"
TOO_LARGE = 413
_OF_A_LINE = (400, TOO_LARGE, 422)
"""Refusals that are about what one line holds, or how many there are: the others go in."""
IMPORT_MEMBERS = {"imported", "unchanged", "conflicting", "rejected", "skipped"}
ATTEMPTS, PAUSE_S, MAX_PAUSE_S = 6, 1.0, 5.0
"""Of a call that came too fast, met a store that was down, or was not waited for by a gateway: longer than a failover
takes."""
SUPERSEDED, PUT_AWAY = "superseded", "archived"
"""No call makes a document superseded as it writes it, so it is put away: what took its place is another line."""
NO_ROOM = "is not accepted; the reasons of the lines before it left no room for its own"


class NotTaken(RuntimeError):
    """The service refused a call as a whole; the message says why."""


@dataclass
class Sent:
    """``repeated``: facts that another memory there states. ``conflicting``: ids and paths of what is there with
    another text. ``rejected``: number of the line, and why. ``documents``: written, and there already."""

    imported: int = 0
    unchanged: int = 0
    repeated: int = 0
    conflicting: list[str] = field(default_factory=list)
    rejected: dict[int, str] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    documents: int = 0
    documents_there: int = 0


def send_lines(api: ApiClient, user: str, text: str) -> Sent:
    """Memories by E9 import, documents by E10; both may be repeated. Events belong to a log: with their images they may
    be more than a call takes, and the import would only count them. Raises NotTaken, OSError."""
    sent, documents = Sent(), list[tuple[int, dict[str, Any]]]()
    rest: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        found = _of_an_export(line)
        if found.get("type") == "event":
            sent.skipped["event"] += 1
        elif _is_document(found):
            documents.append((number, found))
        elif line.strip():
            rest.append((number, line))
    for piece in pieces(rest):
        _send_piece(api, user, piece, sent)
    for number, document in documents:
        _send_document(api, user, number, document, sent)
    return sent


def pieces(lines: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """At most ``PIECE_LINES`` lines and ``PIECE_BYTES`` each, in order; a longer line is a piece of its own."""
    piece: list[tuple[int, str]] = []
    size = 0
    for number, line in lines:
        own = len(_bytes(line)) + 1
        if piece and (size + own > PIECE_BYTES or len(piece) == PIECE_LINES):
            yield piece
            piece, size = [], 0
        piece.append((number, line))
        size += own
    if piece:
        yield piece


def _bytes(text: str) -> bytes:
    """As they were in the file: the service names a line that is not UTF-8."""
    return text.encode(errors="surrogateescape")


def _send_piece(api: ApiClient, user: str, piece: list[tuple[int, str]], sent: Sent) -> None:
    """In as many calls as the service takes for it."""
    while piece:
        piece = _send_some(api, user, piece, sent)


def _send_some(api: ApiClient, user: str, piece: list[tuple[int, str]], sent: Sent) -> list[tuple[int, str]]:
    """What is left of the piece: lines that one call had no time for."""
    body = _bytes("\n".join(line for _, line in piece))
    path = f"/v1/users/{quote(user, safe='')}/memories/import"
    reply = _in_the_end(lambda: api.call("POST", path, raw=body))
    if reply.status in _OF_A_LINE and len(piece) > 1:
        for part in _parts(piece, reply.status):
            _send_piece(api, user, part, sent)
        return []
    if reply.status in _OF_A_LINE:
        sent.rejected[piece[0][0]] = _reason(reply)
        return []
    answer = _object(reply)
    if reply.status != 200 or not answer.keys() >= IMPORT_MEMBERS:
        raise NotTaken(f"lines {piece[0][0]} to {piece[-1][0]}: {_whole(reply)}")
    sent.imported += len(answer["imported"])
    sent.unchanged += len(answer["unchanged"])
    sent.repeated += len(answer.get("repeated", ()))
    sent.conflicting += answer["conflicting"]
    sent.rejected |= {piece[one["line"] - 1][0]: one["detail"] for one in answer["rejected"]}
    sent.rejected |= {piece[line - 1][0]: NO_ROOM for line in answer.get("also_rejected", ())}
    sent.skipped.update(answer["skipped"])
    next_line = answer.get("next_line")
    return [] if next_line is None else piece[next_line - 1 :]


def _parts(piece: list[tuple[int, str]], status: int) -> Iterable[list[tuple[int, str]]]:
    """Of a piece of which nothing was taken: its halves where it is more than what stands before the service lets
    through, else each line, to be asked about alone. A line has the same id in each of them: the service makes it of
    the line where it has none."""
    if status == TOO_LARGE:
        half = len(piece) // 2
        return piece[:half], piece[half:]
    return ([one] for one in piece)


def _in_the_end(ask: Callable[[], Reply]) -> Reply:
    """The answer of a call that may be repeated, when it no longer says to come back later."""
    for _ in range(ATTEMPTS - 1):
        reply = ask()
        if not _is_for_later(reply):
            return reply
        told = reply.headers.get("retry-after", "")
        time.sleep(min(float(told), MAX_PAUSE_S) if told.isdecimal() else PAUSE_S)
    return ask()


def _is_for_later(reply: Reply) -> bool:
    """A conflict that is worth another try says when (docs/rules/http.md#conflicts)."""
    if reply.status != 409:
        return reply.status in (429, 500, 502, 503, 504)
    return "retry-after" in reply.headers and _is_conflict(reply)


def _is_conflict(reply: Reply) -> bool:
    return reply.status == 409 and _object(reply).get("code") == "conflict"


def _object(reply: Reply) -> dict[str, Any]:
    """What it answers with; nothing of a page, which is how what stands before the service answers."""
    try:
        found = reply.json()
    except NO_JSON:
        return {}
    return found if isinstance(found, dict) else {}


def _reason(reply: Reply) -> str:
    return str(_object(reply).get("detail") or f"HTTP {reply.status}")


def _whole(reply: Reply) -> str:
    """In a line, with the id of the request."""
    found = _object(reply)
    return f"{reply.status} {json.dumps(found, ensure_ascii=False)}" if found else f"HTTP {reply.status}, not as Neve"


def _of_an_export(line: str) -> dict[str, Any]:
    """Nothing for a line that says no type, or is none: the service names what is wrong with it."""
    if '"type"' not in line:
        return {}
    try:
        found = json.loads(line)
    except NO_JSON:
        return {}
    return found if isinstance(found, dict) else {}


def _is_document(found: dict[str, Any]) -> bool:
    """But for artifacts, which belong to a log."""
    path = found.get("path")
    return found.get("type") == "document" and isinstance(path, str) and not path.startswith(ARTIFACTS)


def _send_document(api: ApiClient, user: str, number: int, document: dict[str, Any], sent: Sent) -> None:
    body = {name: document[name] for name in DOCUMENT_FIELDS if name in document}
    if "status" in document:
        body["status"] = PUT_AWAY if document["status"] == SUPERSEDED else document["status"]
    path, query = f"/v1/users/{quote(user, safe='')}/documents", {"path": document["path"]}
    reply = _in_the_end(lambda: api.call("PUT", path, body, query=query, headers={"If-None-Match": "*"}))
    if reply.status in (200, 201) and "path" in _object(reply):
        sent.documents += 1
    elif reply.status == 412:
        there = _in_the_end(lambda: api.call("GET", path, query=query))
        found = _object(there)
        if there.status != 200 or "text" not in found:
            raise NotTaken(f"line {number}: {_whole(there)}")
        if found["text"] == body.get("text"):
            sent.documents_there += 1
        else:
            sent.conflicting.append(document["path"])
    elif reply.status in _OF_A_LINE or _is_conflict(reply):
        sent.rejected[number] = _reason(reply)
    else:
        raise NotTaken(f"line {number}: {_whole(reply)}")
