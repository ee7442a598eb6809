"""Says where a librarian may write, and where what belongs (docs/rules/librarian.md#paths)."""

from __future__ import annotations

import re
import unicodedata

from neve.domain.documents.paths import CONVERSATIONS, PEOPLE, PROFILE, normal_path

PROJECTS = "/projects/"
IDENTITY, PREFERENCES = "/profile/identity", "/profile/preferences"
ROOTS = (PROFILE, PROJECTS, "/reference/", "/insights/")
"""Folders that a model may name. ``/conversations/`` and ``/artifacts/`` are written by code, ``/always-load/`` by
people."""
ROOT_RULE = f"must begin with one of {', '.join(ROOTS)}"
PEOPLE_RULE = f"a person is one document, {PEOPLE}<name>"
SLUG_CHARACTERS = 48
_SLUG_READ = 1_000
"""Characters of a text, which may be a whole message, that its slug is made of."""

_NOT_IN_SLUG = re.compile(r"[^\w]+|_+")


def librarian_path(text: str) -> str:
    """Give the path as it is stored. Raises ValueError saying why no librarian may write there."""
    path = normal_path(text)
    if not path.startswith(ROOTS) or path.rstrip("/") + "/" in ROOTS:
        raise ValueError(ROOT_RULE)
    if path.startswith(PEOPLE) and path.count("/") != PEOPLE.count("/"):
        raise ValueError(PEOPLE_RULE)
    return path


def slug(text: str, otherwise: str = "untitled") -> str:
    """Turn a text into a path segment: ``Honeymoon in Paris!`` -> ``honeymoon-in-paris``: letters and digits of any
    script, at most 48 characters."""
    words = _NOT_IN_SLUG.sub("-", unicodedata.normalize("NFC", text[:_SLUG_READ]).casefold()).strip("-")
    allowed = "".join(c for c in words if c == "-" or unicodedata.category(c)[0] in "LM" or c.isdecimal())
    cut = allowed[:SLUG_CHARACTERS]
    if len(allowed) > SLUG_CHARACTERS and "-" in cut:
        cut = cut.rpartition("-")[0]
    return cut.strip("-") or otherwise


def folder_of(path: str) -> str:
    """Name the first folder: ``/projects/alpha/plan`` -> ``projects``."""
    return path.split("/")[1]


def person_path(name: str) -> str:
    return f"{PEOPLE}{slug(name)}"


def decision_path(project: str, date: str, about: str) -> str:
    """Give the path of a decision's document. ``date``: 2026-03-10."""
    return f"{PROJECTS}{slug(project, 'general')}/decisions/{date}-{slug(about)}"


def conversation_path(date: str, title: str, another: str = "") -> str:
    """Give the path of a conversation's document. ``another``: tells two conversations of one day and title apart."""
    return f"{CONVERSATIONS}{date}-{slug(title, 'conversation')}{'-' if another else ''}{another}"
