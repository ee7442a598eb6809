"""Ids as the service takes them. An id is a part of a path: with `#`, `?`, `/` or dots alone it would name another
user or another memory, so nothing is sent with one that is none."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import click

NAME = r"(?!\.{1,2}$)[^\s/#~%?\\\x00-\x1f\x7f-\x9f][^/#~%?\\\x00-\x1f\x7f-\x9f]{0,127}"
NAME_RULE = (
    "must be 1 to 128 bytes of printable UTF-8 without / # ~ % ? \\ and control characters, not begin with white space,"
    " and be neither . nor .."
)
MEMORY = r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}|[A-Za-z0-9_-]{1,64}"


class Id(click.ParamType):  # type: ignore[type-arg]  # older versions of click take none
    """Of a user, a session or a memory; else a UsageError."""

    name = "id"

    def __init__(self, pattern: str, rule: str) -> None:
        self._pattern, self._rule = re.compile(pattern), rule

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if not self._pattern.fullmatch(text):
            self.fail(f"{text!r} is no id: it {self._rule}.", param, ctx)
        return text


NAME_ID = Id(NAME, NAME_RULE)
MEMORY_ID = Id(MEMORY, "must be 1 to 64 of A-Z a-z 0-9 _ -")


def path_of(*parts: str) -> str:
    """``/memories/mem_x/trace``: each part stays one, whatever it holds. Raises ValueError for one that a client
    would resolve."""
    for part in parts:
        if part in ("", ".", ".."):
            raise ValueError(f"{part!r} cannot be a part of a path")
    return "".join(f"/{quote(part, safe='')}" for part in parts)
