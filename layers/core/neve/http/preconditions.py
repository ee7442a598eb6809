"""The grammar of If-Match, If-None-Match, Idempotency-Key and Content-Encoding."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from neve.domain.errors import invalid

_LISTED = re.compile(r'[ \t]*(?:(?P<weak>W/)?"(?P<tag>[\x21\x23-\x7e\x80-\xff]*)")?[ \t]*(?:,|$)')
"""One member of a list of entity tags, which may be empty, with the comma behind it (RFC 9110, 5.6.1 and 8.8.3). A
comma inside the quotes belongs to the tag."""
_REV = re.compile(r"0|[1-9][0-9]{0,14}")
"""A rev as an ETag says it: a strong comparison is of the characters."""
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
MAX_TAGS = 50
EVERY_REV = range(10**15)
"""The revs that ``If-Match: *`` names: the rev of whatever is there, and of nothing that is not (RFC 9110, 13.1.1)."""


@dataclass(frozen=True, slots=True)
class EntityTags:
    """An If-None-Match. ``tags`` are opaque and without quotes; whether one was weak does not matter, because
    If-None-Match compares weakly (RFC 9110 §13.1.2)."""

    tags: tuple[str, ...] = ()
    any: bool = False

    def match(self, tag: str) -> bool:
        return self.any or tag in self.tags


NO_TAGS = EntityTags()


def read_entity_tags(values: Sequence[str]) -> EntityTags:
    """Read the entity tags that an If-None-Match names. Raises 422 that names the header."""
    tags = _tags("If-None-Match", values)
    return EntityTags(any=True) if tags is None else EntityTags(tuple(tag for _, tag in tags))


def read_revs(values: Sequence[str]) -> Collection[int] | None:
    """Read the revs that an If-Match names, one of which has to be the current one; None without the header. A weak tag
    and one that is no rev are tags of nothing: If-Match compares strongly (RFC 9110, 13.1.1). Raises 422 that names the
    header."""
    if not values:
        return None
    tags = _tags("If-Match", values)
    if tags is None:
        return EVERY_REV
    return frozenset(int(tag) for weak, tag in tags if not weak and _REV.fullmatch(tag))


def _tags(header: str, values: Sequence[str]) -> list[tuple[bool, str]] | None:
    """Parse the entity tags of a header: for each whether it is weak, and its text without quotes. None for ``*``."""
    given = ",".join(values).strip()
    if given == "*":
        return None
    tags: list[tuple[bool, str]] = []
    at = 0
    while at < len(given):
        found = _LISTED.match(given, at)
        if found is None:
            raise invalid(f"header.{header}", 'must be * or a list of entity tags such as "abc", "def"')
        if found["tag"] is not None:
            tags.append((found["weak"] is not None, found["tag"]))
        at = found.end()
    if len(tags) > MAX_TAGS:
        raise invalid(f"header.{header}", f"holds more than {MAX_TAGS} entity tags")
    return tags


def read_idempotency_key(value: str | None) -> str | None:
    """Read an Idempotency-Key. Raises 422 that names the header."""
    if value is not None and not _KEY.fullmatch(value):
        raise invalid("header.Idempotency-Key", "must be 1 to 255 visible ASCII characters")
    return value


def refuse_encoded(values: Sequence[str]) -> None:
    """Refuse a body that is encoded. ``values``: of Content-Encoding, which may name codings of a body that the service
    does not undo. Raises 422 that names the header."""
    codings = [coding.strip().lower() for value in values for coding in value.split(",")]
    if any(coding not in ("", "identity") for coding in codings):
        raise invalid("header.Content-Encoding", "must be identity or left out: a body is not decompressed")
