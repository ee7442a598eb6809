"""The documents that stand in every pack, and what of them is known without reading their text
(docs/rules/pack.md#pins).

A pin is a row beside the document, kept by the transactions that write the document; a pack build reads the pins and
only then the texts that fit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from neve.domain.documents.paths import PEOPLE, PROFILE
from neve.domain.records.documents import Document, IncludePriority
from neve.domain.records.memories import Status

Place = Literal["always", "profile", "people"]
PLACES: tuple[Place, ...] = ("always", "profile", "people")
"""The places of documents in the order in which a pack shows them; people stand in the layer ``profile``."""
EXCERPT = 200
"""Characters of a person's text (docs/rules/pack.md#people)."""
ELLIPSIS = "…"
LAST_ORDER = 9_999_999_999
"""The order of a document without ``prompt_order``: behind all that have one."""

_HEADING = re.compile(r"\s*#{1,6}[ \t]+[^\n]*(?:\n\s*|\Z)")
_PRIORITIES: tuple[IncludePriority, ...] = ("high", "normal", "low")


@dataclass(frozen=True, slots=True)
class Pin:
    """A document that stands in every pack. ``order``: of the place, then by path. ``title``: what stands above the
    text of a profile document, or before a person's; ``excerpt``: of a person only, ``cut`` where their text is longer.
    ``tokens``: of the document's text. ``too_long``: no row holds the text, and so no pack. ``valid_from``,
    ``valid_until``: the document's."""

    place: Place
    order: int
    path: str
    document_id: str
    rev: int
    fingerprint: str
    tokens: int
    title: str
    excerpt: str | None = None
    cut: bool = False
    too_long: bool = False
    valid_from: str | None = None
    valid_until: str | None = None

    @property
    def sort_key(self) -> tuple[int, int, str]:
        return PLACES.index(self.place), self.order, self.path

    @property
    def line(self) -> str:
        """Give a person's line in the pack. The title says what a heading would."""
        return f"{self.title}: {_without_heading(self.excerpt or '')}"


def pin_of(document: Document) -> Pin | None:
    """Make the pin of a document; None for one that stands in no pack by itself. A person's text has to be there."""
    place = _place(document)
    if place is None or document.id is None:
        return None
    person = _without_heading(document.text.strip()) if place == "people" else None
    return Pin(
        place=place,
        order=_order(document, place),
        path=document.path,
        document_id=document.id,
        rev=document.rev,
        fingerprint=document.fingerprint,
        tokens=document.tokens,
        title=_title(document, place),
        excerpt=None if person is None else _excerpt(person),
        cut=person is not None and len(person) > EXCERPT,
        too_long=person is None and document.text_object is not None,
        valid_from=document.valid_from,
        valid_until=document.valid_until,
    )


def _place(document: Document) -> Place | None:
    if document.status is not Status.ACTIVE:
        return None
    if document.path.startswith(PEOPLE):
        return "people"
    if document.path.startswith(PROFILE):
        return "profile" if document.always_include or document.prompt_label else None
    return "always" if document.always_include else None


def _order(document: Document, place: Place) -> int:
    """Give the order in the place: not negative, of ten digits at most."""
    if place == "always":
        return _PRIORITIES.index(document.include_priority)
    if place == "people" or document.prompt_order is None:
        return LAST_ORDER
    return min(max(document.prompt_order, 0), LAST_ORDER)


def _title(document: Document, place: Place) -> str:
    """Give the title as one line."""
    name = document.name or document.path.rpartition("/")[2]
    parts = [name] if place == "people" else [document.prompt_label or name, document.prompt_hint or ""]
    return " - ".join(part for part in (" ".join(part.split()) for part in parts) if part)


def _without_heading(text: str) -> str:
    """Give the text without the heading at its beginning."""
    return _HEADING.sub("", text, count=1) if _HEADING.match(text) else text


def _excerpt(text: str) -> str:
    return text if len(text) <= EXCERPT else text[:EXCERPT] + ELLIPSIS
