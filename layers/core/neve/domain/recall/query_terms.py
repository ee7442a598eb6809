"""A keyword query in the terms of the index, for every search engine and for texts that no index holds yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from neve.domain.recall.query import ShapedQuery, TextQuery, contains_phrase
from neve.domain.terms import terms, whole_terms
from neve.domain.words import plain_words

MAX_TERMS = 300
MAX_PHRASE_WORDS = 600
"""Of one query; later ones are left out. With 32 excluded words and the filter they stay below the 1,024 clauses that
OpenSearch allows in a query, of which a phrase counts one a word. No passage holds a longer phrase than this."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """``groups``: alternatives, of which ``min_match`` must match; none of them is empty. ``phrases`` in plain words.
    ``excluded``: terms that the text must not hold."""

    groups: tuple[tuple[str, ...], ...]
    min_match: int
    phrases: tuple[tuple[str, ...], ...]
    excluded: tuple[str, ...]

    @property
    def terms(self) -> list[str]:
        """Those of the groups, each once."""
        return list(dict.fromkeys(chain.from_iterable(self.groups)))

    @property
    def phrase_terms(self) -> list[str]:
        """What a text with all phrases holds, wherever."""
        return whole_terms(chain.from_iterable(self.phrases))


def query_terms(query: TextQuery) -> QueryTerms | None:
    """None for a query that nothing can match: no word in it that is indexed, or a phrase without any word."""
    groups: dict[int, list[str]] = {}
    for group, term in islice(_numbered(query), MAX_TERMS):
        groups.setdefault(group, []).append(term)
    phrases = [plain_words(" ".join(phrase)) for phrase in query.phrases]
    asked = QueryTerms(
        groups=tuple(map(tuple, groups.values())),
        min_match=min(query.min_match, len(groups)),
        phrases=tuple(_cut(phrases)),
        excluded=tuple(whole_terms(query.excluded)),
    )
    return asked if all(phrases) and (asked.groups or asked.phrase_terms) else None


def share_of_terms(shaped: ShapedQuery, text: str) -> float:
    """Share of the query's groups of which a text holds a term; 0.0 for a query that nothing can match and for a text
    that the index would not return for it (an excluded word, a missing phrase)."""
    asked = query_terms(shaped.text_query)
    if asked is None or not asked.groups:
        return 0.0
    held = set(terms(text))
    if not held.isdisjoint(asked.excluded) or not all(contains_phrase(text, phrase) for phrase in asked.phrases):
        return 0.0
    return sum(not held.isdisjoint(group) for group in asked.groups) / len(asked.groups)


def _numbered(query: TextQuery) -> Iterator[tuple[int, str]]:
    """Pairs of a group's number and a term of it, each once."""
    for number, group in enumerate(query.groups):
        for term in dict.fromkeys(chain.from_iterable(map(terms, group))):
            yield number, term


def _cut(phrases: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    left = MAX_PHRASE_WORDS
    for phrase in phrases:
        if left > 0:
            yield tuple(phrase[:left])
            left -= len(phrase)
