"""Pages of lists that fit an answer.

Lambda throws an answer over 6 MB away, and 200 rows may be ten times that. A page therefore ends at ``MAX_BYTES``,
whatever limit was asked for: a short page is not the end of its list, only a missing cursor is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, Protocol, Self, TypeVar, get_args

from neve.http.operations import View

MAX_BYTES = 4 * 1024 * 1024
"""The bytes of the rows in an answer as Lambda hands it on, JSON within JSON (*chosen*: with one more row, at most 400
KB in the store and four times that when all of it is quotation marks, it stays below 6,291,556)."""
VIEW_BYTES = 6_000_000
"""The bytes of the parts of one view, likewise (*chosen*: of 6,291,556 the rest is for its other fields)."""
P = TypeVar("P", bound="Page")
V = TypeVar("V", bound=View)


class Paged(Protocol):
    """The query of a list."""

    @property
    def limit(self) -> int: ...
    @property
    def cursor(self) -> str | None: ...


class Page(View):
    """Base of a list's page, whose first field is its rows."""

    @classmethod
    def listing(cls, rows: Iterable[Any], cursor: str | None, *beside: Any) -> Self:
        """Show records as the rows of a page. ``cursor``: of the next page. ``beside``: what each is shown with."""
        name, field = next(iter(cls.model_fields.items()))
        [view] = get_args(field.annotation)
        return cls.model_validate({name: [view.of(row, *beside) for row in rows], "next_cursor": cursor})

    @property
    def rows(self) -> Sequence[View]:
        rows: Sequence[View] = getattr(self, next(iter(type(self).model_fields)))
        return rows


def fitting(query: Paged, read: Callable[[int, str | None], P]) -> P:
    """Read the page for the limit and the cursor of a query, or as many of its rows as fit, at least one. It is read
    again where not all fit, so that the cursor is the one behind the last row."""
    limit = query.limit
    while True:
        page = read(limit, query.cursor)
        fits = rows_that_fit(map(_bytes, page.rows))
        if fits == len(page.rows):
            return page
        limit = fits


def rows_that_fit(sizes: Iterable[int]) -> int:
    """Count the first rows that stay within ``MAX_BYTES`` together; 1 for a first row that does not."""
    rows = fits = 0
    for rows, total in enumerate(accumulate(sizes), start=1):
        fits = rows if total <= MAX_BYTES else fits
    return max(fits, min(rows, 1))


def parts_that_fit(parts: Iterable[V], beside: str = "") -> list[V]:
    """Give the first parts of a view, as many as stay within ``VIEW_BYTES`` with the text ``beside`` them. No more are
    made than one that does not."""
    fitting: list[V] = []
    left = VIEW_BYTES - _bytes_of(json.dumps(beside, ensure_ascii=False))
    for part in parts:
        left -= _bytes(part) + len(",")
        if left < 0:
            break
        fitting.append(part)
    return fitting


def lines_that_fit(text: str, beside: Iterable[View]) -> str:
    """Give the first lines of a text of a view, as many as stay within ``VIEW_BYTES`` with the parts ``beside`` it."""
    left = VIEW_BYTES - sum(_bytes(part) + len(",") for part in beside)
    if _bytes_of(json.dumps(text, ensure_ascii=False)) <= left:
        return text
    lines = text.splitlines(keepends=True)
    sizes = accumulate(_bytes_of(json.dumps(line, ensure_ascii=False)) for line in lines)
    return "".join(line for line, total in zip(lines, sizes, strict=True) if total <= left)


def _bytes(row: View) -> int:
    return _bytes_of(json.dumps(row.model_dump(mode="json", by_alias=True, exclude_none=True), ensure_ascii=False))


def _bytes_of(text: str) -> int:
    """Count the bytes of a text as a part of the answer's body, which is itself a text in JSON."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass"))
