"""The grammar of If-Match, If-None-Match and Idempotency-Key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from neve.domain.errors import invalid

_ENTITY_TAG = re.compile(r'(W/)?"([\x21\x23-\x7e]*)"')
_REV = re.compile(r'"([0-9]{1,15})"')
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
MAX_TAGS = 50


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
    """Raises 422 that names the header."""
    given = ",".join(values).strip()
    if given == "*":
        return EntityTags(any=True)
    tags = []
    for part in (part.strip() for part in given.split(",")):
        if not part:
            continue
        found = _ENTITY_TAG.fullmatch(part)
        if found is None:
            raise invalid("header.If-None-Match", 'must be * or a list of entity tags such as "abc", W/"abc"')
        tags.append(found[2])
    if len(tags) > MAX_TAGS:
        raise invalid("header.If-None-Match", f"holds more than {MAX_TAGS} entity tags")
    return EntityTags(tuple(tags))


def read_rev(value: str | None) -> int | None:
    """The rev of an If-Match; None without one, and for ``*`` (any rev). Raises 422 that names the header."""
    if value is None or value == "*":
        return None
    found = _REV.fullmatch(value)
    if found is None:
        raise invalid("header.If-Match", 'must be * or one rev in quotes, such as "3"')
    return int(found[1])


def read_idempotency_key(value: str | None) -> str | None:
    """Raises 422 that names the header."""
    if value is not None and not _KEY.fullmatch(value):
        raise invalid("header.Idempotency-Key", "must be 1 to 255 visible ASCII characters")
    return value
