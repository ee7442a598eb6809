"""E-mail addresses, read outwards from the sign between name and host: each is looked at once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neve.domain.privacy.spans import Span

_AT = re.compile("@|%40")
_MAX_NAME = 64
"""Characters before the sign (RFC 5321, 4.5.3.1.1)."""
_IN_NAMES = frozenset(".+%&~'-_")
_BEGINS_NO_NAME = ".%&~'-"
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_HOST = re.compile(
    rf"{_LABEL}(?:\.{_LABEL}){{0,8}}\.(?:xn--[a-z0-9-]{{2,59}}|[^\W\d_]{{2,24}})(?![\w-])", re.IGNORECASE
)
_SCALED = re.compile(r"\d+x\.(?:png|jpe?g|gif|webp|svg|avif)", re.IGNORECASE)
"""``logo@2x.png``"""
_CLONED_BY = frozenset({"git", "hg", "svn"})
"""Names in front of a repository's host: ``git@host.example:owner/name`` is no person's address."""


def find(text: str) -> Iterator[Span]:
    for at in _AT.finditer(text):
        host = _HOST.match(text, at.end())
        if host is None or _SCALED.fullmatch(host[0]):
            continue
        start = _find_name_start(text, at.start())
        if start is not None and not _is_login_name(text, start, at.start(), host.end()):
            yield Span(start, host.end(), "email")


def _find_name_start(text: str, at: int) -> int | None:
    """Find where the name in front of the sign begins; None where there is none."""
    start = at
    while start > 0 and at - start <= _MAX_NAME and (text[start - 1].isalnum() or text[start - 1] in _IN_NAMES):
        start -= 1
    while start < at and text[start] in _BEGINS_NO_NAME:
        start += 1
    return start if 0 < at - start <= _MAX_NAME and text[at - 1] != "." else None


def _is_login_name(text: str, start: int, at: int, end: int) -> bool:
    """Say whether the name is that of the login to a host, of a web address or a repository's."""
    if text.endswith("//", 0, start):
        return True
    return text[start:at].lower() in _CLONED_BY and text[end : end + 1] in (":", "/")
