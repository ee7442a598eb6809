"""Bounds a pack to what one answer and one row have room for, whatever budgets a policy has
(docs/rules/pack.md#room)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from neve.domain.pack.render import escape
from neve.domain.records.packs import PackEntry

PACK_BYTES = 4 * 1024 * 1024
"""Bytes of a pack's text as Lambda hands an answer on (*chosen*): of its 6 MB a manifest takes one, and a prompt has
two for the log."""
SERVED_BYTES = PACK_BYTES + 256 * 1024
"""A version that takes more was built before there was this bound; what stands around the items of a pack takes far
less than the difference."""
LAYERS_BYTES, LEFT_OUT_BYTES = 260_000, 60_000
"""Bytes of the entries in the row of a version, and of those that it names as left out (*chosen*): 3,250 and 750 with
ids of ours. A row has 400 KB (*limit*, DynamoDB); what is short is not compressed there and takes up to 60 KB more."""
BESIDE_THE_ID = 50
"""Bytes of an entry in its row, compressed: 65 bytes were measured with ids of ours, 105 with ids of 64 drawn
characters, where the fingerprint takes 32."""
BESIDE_A_TEXT = 64
"""The element around a document, the line break behind a memory."""
MOST_BYTES_A_CHARACTER = 7
"""A control character, escaped twice."""


@dataclass(frozen=True, slots=True)
class Size:
    """The bytes that something takes. ``text``: in an answer; ``row``: in the row of the version."""

    text: int = 0
    row: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(self.text + other.text, self.row + other.row)


NOTHING = Size()


@dataclass(frozen=True, slots=True)
class Shown:
    """An item as it is rendered, and its entry."""

    text: str
    entry: PackEntry


def answer_bytes(value: object) -> int:
    """Count the bytes of a value as a part of an answer's body: JSON whose quotes and backslashes are escaped again,
    for a body is a string."""
    text = json.dumps(value, ensure_ascii=False)
    return len(text.encode("utf-8", "surrogatepass")) + text.count("\\") + text.count('"')


def served(text: str) -> bool:
    """Say whether an answer has room for a version's text."""
    return MOST_BYTES_A_CHARACTER * len(text) <= SERVED_BYTES or answer_bytes(text) <= SERVED_BYTES


def row_bytes(entries: Iterable[PackEntry]) -> int:
    """Count the bytes that entries take at most, as the row of a version keeps them."""
    named = ((one.id, one.path or "", one.session_id or "", one.valid_until or "") for one in entries)
    return sum(BESIDE_THE_ID + sum(len(text.encode()) for text in texts) for texts in named)


def with_room(items: Sequence[Shown], taken: Size = NOTHING) -> list[int]:
    """Give the indexes that are kept, in order: each item that still has room beside ``taken``; one that has none is
    skipped."""
    most = sum(MOST_BYTES_A_CHARACTER * len(one.text) + BESIDE_A_TEXT for one in items)
    if taken.text + most <= PACK_BYTES and taken.row + row_bytes(one.entry for one in items) <= LAYERS_BYTES:
        return list(range(len(items)))
    chosen, text, row = [], taken.text, taken.row
    for index, one in enumerate(items):
        more_text, more_row = answer_bytes(escape(one.text)) + BESIDE_A_TEXT, row_bytes([one.entry])
        if text + more_text <= PACK_BYTES and row + more_row <= LAYERS_BYTES:
            chosen.append(index)
            text, row = text + more_text, row + more_row
    return chosen


def named(left_out: Sequence[PackEntry]) -> tuple[tuple[PackEntry, ...], int]:
    """Give the first entries of what a version is without, as many as its row has room for; and how many more there
    are."""
    room = LEFT_OUT_BYTES
    for count, entry in enumerate(left_out):
        room -= row_bytes([entry])
        if room < 0:
            return tuple(left_out[:count]), len(left_out) - count
    return tuple(left_out), 0
