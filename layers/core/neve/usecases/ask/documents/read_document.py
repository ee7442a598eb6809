"""E11: a document as a tool that a language model calls reads it, page by page."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.records.documents import Document
from neve.domain.tokens import estimate, trim_to
from neve.ports.errors import StoreUnavailable
from neve.scope import UserScope
from neve.usecases.ask.documents.get_document import find_document

PAGE_TOKENS = 4_000
"""Tokens of one page (docs/rules/documents.md#pages), by the estimate, whatever counter the policy names."""
MAX_PAGE = 16 * PAGE_TOKENS
"""Characters that are looked at for one: more than the estimate lets through."""
STORE_ERROR = "hydrate:error"


@dataclass(frozen=True, slots=True)
class PageRead:
    """One page. ``text`` starts at the character ``offset``; ``next_offset`` None: it is the last page. ``document``
    None: there is none, or with ``degraded``, the store could not be asked."""

    path: str
    document: Document | None = None
    text: str = ""
    offset: int = 0
    next_offset: int | None = None
    degraded: tuple[str, ...] = ()


def read_page(scope: UserScope, path: str, offset: int = 0) -> PageRead:
    """Read one page, in two reads, one of an artifact, a third for a text that is an object. ``path`` in its normal
    form. A store that does not answer degrades the page. Raises user_closed."""
    try:
        document = find_document(scope, path, closed=True)
    except StoreUnavailable:
        return PageRead(path, degraded=(STORE_ERROR,))
    if document is None:
        return PageRead(path)
    text = trim_to(document.text[offset : offset + MAX_PAGE], PAGE_TOKENS, marker="", count=estimate)
    end = offset + len(text)
    return PageRead(path, document, text, offset, end if end < len(document.text) else None)
