"""The search index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from neve.domain.indexing.passage import Passage, Source
from neve.domain.recall.query import TextQuery


class Owner(NamedTuple):
    tenant: str
    user: str


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Applied *inside* each leg, before the depth is counted. Empty tuple / None = no restriction.

    ``after`` and ``before`` bound ``observed_at`` (inclusive / exclusive). ``tags``, ``metadata`` (as
    ``domain.metadata.entries``): all of them. ``session_id`` = only that session; ``not_session_id`` = everything
    outside it. ``path_prefix`` matches whole segments. ``holds_at``: what holds at that time;
    ``in_force_at``: what was there by then and had not been superseded. ``about``: said by any of these participants.
    ``asked_in``: the session that is told; passages that are ``only_in`` another one are refused, whoever asks."""

    sources: tuple[Source, ...] = ()
    statuses: tuple[str, ...] = ("active",)
    kinds: tuple[str, ...] = ()
    tier: str | None = None
    category: str | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    path_prefix: str | None = None
    session_id: str | None = None
    not_session_id: str | None = None
    after: str | None = None
    before: str | None = None
    holds_at: str | None = None
    in_force_at: str | None = None
    exclude_ids: frozenset[str] = frozenset()
    exclude_fingerprints: frozenset[str] = frozenset()
    about: tuple[str, ...] = ()
    asked_in: str | None = None


class Candidate(NamedTuple):
    """The best passage of one item in one leg. ``score``: BM25 (>= 0) or raw cosine in [-1, 1]. ``version``: the rev of
    the row that it was made from. ``length``: index terms of the whole message that the passage is a part of."""

    item_id: str
    n: int
    score: float
    version: int
    fingerprint: str
    source: Source
    length: int


class FoundByWords(NamedTuple):
    """The result of the keyword leg. ``among``: how many passages the filter admits, of which ``candidates`` are the
    best; 0 where nothing was looked for."""

    candidates: list[Candidate]
    among: int


@dataclass(frozen=True, slots=True)
class IndexModel:
    """The embedding model that an index holds; vectors of another model are never compared with it."""

    tag: str
    dimensions: int


class SearchIndex(Protocol):
    """All methods raise StoreUnavailable. Results: best first, ties by item_id ascending, one candidate an item."""

    def model(self) -> IndexModel: ...

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> None:
        """Write passages. Idempotent; a passage whose ``document_version`` is below the stored one (or below a
        removal's) is ignored. A vector of the wrong dimensions raises ValueError."""

    def trim(self, owner: Owner, item_id: str, *, keep: int, version: int) -> None:
        """Remove the passages ``n >= keep`` of an item that are of no rev above ``version`` (keep=0: the whole item); a
        later upsert of one of those revs stays refused."""

    def erase(self, owner: Owner, *, at_most: int | None = None) -> int:
        """Remove everything of one user; returns how many passages that were. ``at_most``: may stop when as many are
        removed. As many, or more, say that there may be others; fewer, that there are none."""

    def search_text(self, owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords: ...

    def search_vector(self, owner: Owner, vector: bytes, where: SearchFilter, depth: int) -> list[Candidate]: ...

    def count(self, owner: Owner) -> int: ...
