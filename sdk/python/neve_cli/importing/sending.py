"""Lines of an import, or of an export, sent to a service in pieces that it takes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from neve_cli.importing.conversations import is_message, send_messages
from neve_cli.importing.reading import NO_JSON
from neve_cli.importing.sent import Sent
from neve_cli.importing.service import (
    OF_A_LINE,
    TOO_LARGE,
    Service,
    in_the_end,
    is_conflict,
    not_taken,
    object_of,
    reason_of,
)

PIECE_BYTES, PIECE_LINES = 1024 * 1024, 5_000
"""Of one call (docs/rules/memories.md#import)."""
DOCUMENT_FIELDS = (
    *("text", "name", "summary", "tags", "group", "kind", "always_include", "include_priority", "prompt_label"),
    *("prompt_hint", "prompt_order", "editable", "source_type", "source_id", "importance", "valid_from"),
    "valid_until",
)
ARTIFACTS = "/artifacts/"
IMPORT_MEMBERS = {"imported", "unchanged", "conflicting", "rejected", "skipped"}
SUPERSEDED, PUT_AWAY = "superseded", "archived"
"""No call makes a document superseded as it writes it, so it is put away: what took its place is another line."""
NO_ROOM = "is not accepted; the reasons of the lines before it left no room for its own"


def send_lines(service: Service, user: str, text: str) -> Sent:
    """Sends memories by E9 import, documents by E10, and messages as conversations; all may be repeated. Events of an
    export belong to a log: with their images they may be more than a call takes, and the import would only count them.
    Raises NotTaken, OSError."""
    sent, documents, messages = Sent(), list[tuple[int, dict[str, Any]]](), list[tuple[int, dict[str, Any]]]()
    rest: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        found = _parsed(line)
        if found.get("type") == "export":
            continue  # whose it was and when it was made, which is nothing of a person
        if found.get("type") == "event":
            sent.skipped["event"] += 1
        elif _is_document(found):
            documents.append((number, found))
        elif is_message(found):
            messages.append((number, found))
        elif line.strip():
            rest.append((number, line))
    for piece in pieces(rest):
        _send_piece(service, user, piece, sent)
    for number, document in documents:
        _send_document(service, user, number, document, sent)
    send_messages(service, user, messages, sent)
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


def _send_piece(service: Service, user: str, piece: list[tuple[int, str]], sent: Sent) -> None:
    """In as many calls as the service takes for it."""
    while piece:
        piece = _send_some(service, user, piece, sent)


def _send_some(service: Service, user: str, piece: list[tuple[int, str]], sent: Sent) -> list[tuple[int, str]]:
    """What is left of the piece: lines that one call had no time for."""
    body = _bytes("\n".join(line for _, line in piece))
    path = f"/v1/users/{quote(user, safe='')}/memories/import"
    reply = in_the_end(lambda: service.call("POST", path, raw=body))
    if reply.status in OF_A_LINE and len(piece) > 1:
        for part in _parts(piece, reply.status):
            _send_piece(service, user, part, sent)
        return []
    if reply.status in OF_A_LINE:
        sent.rejected[piece[0][0]] = reason_of(reply)
        return []
    answer = object_of(reply)
    if reply.status != 200 or not answer.keys() >= IMPORT_MEMBERS:
        raise not_taken(f"lines {piece[0][0]} to {piece[-1][0]}", reply)
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


def _parsed(line: str) -> dict[str, Any]:
    """Nothing for a line that says neither a type nor a role, or is none: the service names what is wrong with it."""
    if '"type"' not in line and '"role"' not in line:
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


def _send_document(service: Service, user: str, number: int, document: dict[str, Any], sent: Sent) -> None:
    body = {name: document[name] for name in DOCUMENT_FIELDS if name in document}
    if "status" in document:
        body["status"] = PUT_AWAY if document["status"] == SUPERSEDED else document["status"]
    path, query = f"/v1/users/{quote(user, safe='')}/documents", {"path": document["path"]}
    reply = in_the_end(lambda: service.call("PUT", path, body, query=query, headers={"If-None-Match": "*"}))
    if reply.status in (200, 201) and "path" in object_of(reply):
        sent.documents += 1
    elif reply.status == 412:
        there = in_the_end(lambda: service.call("GET", path, query=query))
        found = object_of(there)
        if there.status != 200 or "text" not in found:
            raise not_taken(f"line {number}", there)
        if found["text"] == body.get("text"):
            sent.documents_there += 1
        else:
            sent.conflicting.append(document["path"])
    elif reply.status in OF_A_LINE or is_conflict(reply):
        sent.rejected[number] = reason_of(reply)
    else:
        raise not_taken(f"line {number}", reply)
