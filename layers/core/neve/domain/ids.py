"""Ids: their grammar, and those that follow from what they name."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from unicodedata import category, normalize

from ulid import ULID

IDENTIFIER = r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}"
"""The grammar of the id of a tenant, and of what Neve gives ids to."""
IDENTIFIER_RULE = "must be 1 to 128 of A-Z a-z 0-9 . _ : @ - and start with a letter or digit"
NAME = r"(?!\.{1,2}$)[^\s/#~%?\\\u0000-\u001f\u007f-\u009f][^/#~%?\\\u0000-\u001f\u007f-\u009f]{0,127}"
"""The grammar of the id of a user, a session and a client's event: what the caller calls them. ``as_name`` is stricter,
which no pattern can say. None holds what keys and object names are joined with, or a control character, which sorts
before all of them."""
MAX_NAME_BYTES = 128
NAME_RULE = (
    f"must be 1 to {MAX_NAME_BYTES} bytes of printable UTF-8 without / # ~ % ? \\ , control and format characters, not"
    " begin with white space, and be neither . nor .."
)
OWN_MEMORY_ID = r"mem_[0-7][0-9A-HJKMNP-TV-Z]{25}"
MEMORY_ID = r"[A-Za-z0-9_-]{1,64}"
"""An id of ours is one of these, too."""
TIME_DIGITS = 10
"""Characters of a ULID that are its time."""
_IDENTIFIER, _OWN, _ANY = re.compile(IDENTIFIER), re.compile(OWN_MEMORY_ID), re.compile(MEMORY_ID)
_NAME = re.compile(NAME)
_NOT_PRINTED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_UNREAD = "\N{REPLACEMENT CHARACTER}"
"""The sign that a gateway makes of bytes that are no UTF-8: two different ones would be one user."""
_EVENT = "evt:"
_DOCUMENT_PREFIX = "doc_"
_DOCUMENT = re.compile(_DOCUMENT_PREFIX + r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


def is_identifier(text: str) -> bool:
    return _IDENTIFIER.fullmatch(text) is not None


def as_name(text: str) -> str | None:
    """Give the caller's id of a user, a session or an event as it is kept, in NFC: two that are canonically equivalent
    are one. None for a text that is no such id (``NAME_RULE``)."""
    name = normalize("NFC", text)
    if not _NAME.fullmatch(name) or _UNREAD in name:
        return None
    if any(category(sign) in _NOT_PRINTED or ord(sign) & 0xFFFE == 0xFFFE for sign in name):
        return None
    return name if len(name.encode()) <= MAX_NAME_BYTES else None


def is_own_memory_id(text: str) -> bool:
    """Say whether Neve gives such ids to memories. Every other one came with an import."""
    return _OWN.fullmatch(text) is not None


def is_memory_id(text: str) -> bool:
    return _ANY.fullmatch(text) is not None


def ulid_time(at: datetime) -> str:
    """Give the start of the ULIDs of a millisecond. Raises ValueError for a time before 1970."""
    ms = int(at.timestamp() * 1000)
    if ms < 0:
        raise ValueError(f"no ULID can hold the time {at.isoformat()}")
    return str(ULID.from_bytes(ms.to_bytes(6) + bytes(10)))[:TIME_DIGITS]


def is_document_id(identifier: str) -> bool:
    return identifier.startswith(_DOCUMENT_PREFIX) and _DOCUMENT.fullmatch(identifier) is not None


def event_ids_of(session: str) -> str:
    """Give the start of the ids of a session's events."""
    return f"{_EVENT}{session}:"


def event_id(session: str, seq: int) -> str:
    return f"{event_ids_of(session)}{seq}"


def is_event_id(identifier: str) -> bool:
    """Say whether an id of ours is an event's: no other one has a colon."""
    return identifier.startswith(_EVENT)


def event_place(identifier: str) -> tuple[str, int] | None:
    """Read session and seq from an ``event_id``; None for any other id."""
    if not is_event_id(identifier):
        return None
    session, _, seq = identifier.removeprefix(_EVENT).rpartition(":")
    return (session, int(seq)) if session and seq.isdecimal() else None


def ulid_named(name: str) -> str:
    """Make the ULID whose 128 bits are the first of the name's sha256: the same name, the same id. It holds no time."""
    return str(ULID.from_bytes(hashlib.sha256(name.encode()).digest()[:16]))
