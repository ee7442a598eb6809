"""The unit of the search index: a passage, and what its versions are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    MEMORY = "memory"
    DOCUMENT = "document"
    EVENT = "event"


MAX_FOLLOWING = 2
"""Passages behind one whose words it carries."""
_VERSIONS_OF_A_REV = 2 * (MAX_FOLLOWING + 1)
_REVS_OF_AN_EPOCH = 1 << 32
"""More than any row has."""


def version_at(epoch: int) -> int:
    """Give the version of passages that were made of a log when so much had left it: rev 1, above those of any earlier
    epoch."""
    return epoch * _REVS_OF_AN_EPOCH + 1


def removal_version(rev: int) -> int:
    """Give the document version of a removal: that of the newest document of the rev, below those of the next one. A
    row that is gone for good is removed as its next rev, so that nothing of its last one comes back."""
    return _VERSIONS_OF_A_REV * (rev + 1) - 1


def rev_of(document_version: int) -> int:
    """Give the rev of a row that a stored document was made from; 1 for an event."""
    return document_version // _VERSIONS_OF_A_REV % _REVS_OF_AN_EPOCH


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A passage of the same session, ``distance`` places behind another one (negative: before it), and the other parts
    of its message."""

    distance: int
    text: str
    rest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit of the search index. ``_id`` is ``<item_id>#<n>``; ``version`` is the row's rev; of an event
    ``version_at`` an epoch of its log. ``following_known``: how many of the ``MAX_FOLLOWING`` passages behind it are
    there already.

    ``text`` is what the keyword leg reads, with the speaker's name in front where there is one; ``rest`` are the
    other parts of its message, of which only the length counts. ``date_text`` counts like the text, ``neighbours`` as
    ``domain.recall.weighted_counts`` says. ``metadata``: as ``domain.metadata.entries``. ``created_at``: of its
    row; None: when it was observed. ``vector`` is float32 little-endian bytes. ``about``: the participants who said it.
    ``only_in``: the session outside of which nobody is told of it."""

    item_id: str
    n: int
    version: int
    source: Source
    text: str
    fingerprint: str
    kind: str
    status: str
    scope: str
    tier: str
    observed_at: str
    vector: bytes | None = None
    rest: tuple[str, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    date_text: str = ""
    session_id: str | None = None
    category: str | None = None
    group: str | None = None
    path: str | None = None
    tags: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    seq_from: int | None = None
    seq_to: int | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    created_at: str | None = None
    superseded_at: str | None = None
    following_known: int = MAX_FOLLOWING
    about: tuple[str, ...] = ()
    only_in: str | None = None

    @property
    def document_version(self) -> int:
        """Give the version by which an index orders writes of one document: a newer rev, then more neighbours, then a
        vector. 6·rev + 2·following + 1 with a vector (docs/rules/indexing.md#versions), so that words which come late
        take no vector away."""
        return _VERSIONS_OF_A_REV * self.version + 2 * self.following_known + (self.vector is not None)
