"""A keyword query in the terms of the index, for every search engine and for texts that no index holds yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice

from neve.domain.recall.query import TextQuery
from neve.domain.terms import asked_terms, terms_in, whole_terms
from neve.domain.words import characters, pairs, plain_words, without_accents

MAX_TERMS = 300
MAX_PHRASE_WORDS = 600
"""The most terms, and words of its phrases, of one query; later ones are left out. With 32 excluded words and the
filter they stay below the 1,024 clauses that OpenSearch allows in a query, of which a phrase counts one a word. No
passage holds a longer phrase than this."""

CACHED_QUERIES = 64
"""A search asks three times for its terms: for the index, for what is too new for it, and for the order."""
PAIR = 2
LACKS_PHRASE = "lacks_phrase"
HOLDS_EXCLUDED = "holds_excluded"
REFUSALS = frozenset({LACKS_PHRASE, HOLDS_EXCLUDED})


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The terms of a query. ``groups``: alternatives, of which ``min_match`` must match; none of them is empty.
    ``phrases`` in plain words. ``excluded``: terms that the text must not hold. ``excluded_phrases``: plain words that
    must not follow each other in it. ``quoted``: plain words that a text is the likelier answer for having one behind
    the other."""

    groups: tuple[tuple[str, ...], ...]
    min_match: int
    phrases: tuple[tuple[str, ...], ...]
    excluded: tuple[str, ...]
    excluded_phrases: tuple[tuple[str, ...], ...] = ()
    quoted: tuple[tuple[str, ...], ...] = ()
    groups_of: Mapping[str, tuple[int, ...]] = field(init=False, repr=False, compare=False)
    """The numbers of the groups of each term: a hundred passages are held against them."""
    _each: frozenset[str] = field(init=False, repr=False, compare=False)
    _plain: bool = field(init=False, repr=False, compare=False)
    """Nothing is excluded, and no words have to follow each other."""

    def __post_init__(self) -> None:
        groups_of: dict[str, tuple[int, ...]] = {}
        for number, group in enumerate(self.groups):
            for term in group:
                groups_of[term] = (*groups_of.get(term, ()), number)
        object.__setattr__(self, "groups_of", groups_of)
        object.__setattr__(self, "_each", frozenset(groups_of))
        object.__setattr__(self, "_plain", not (self.phrases or self.excluded or self.excluded_phrases))

    @property
    def terms(self) -> list[str]:
        """Return the terms of the groups, each once."""
        return list(self.groups_of)

    @property
    def phrase_terms(self) -> list[str]:
        """Return the terms that a text with all phrases holds, wherever."""
        return whole_terms(chain.from_iterable(self.phrases))

    @property
    def matches_nothing(self) -> bool:
        """Say whether no word of the query is indexed, or a phrase has no word."""
        return not all(self.phrases) or not (self.groups or self.phrase_terms)

    def agrees_in_phrases(self, text: str) -> bool:
        return not self._broken_phrase(text)

    def refusal(self, text: str) -> str | None:
        """Say why no leg may answer with a text: it lacks a required phrase, or holds what is excluded. None: a leg
        may."""
        if self._plain:
            return None
        if self.excluded and not terms_in(text).isdisjoint(self.excluded):
            return HOLDS_EXCLUDED
        return self._broken_phrase(text)

    def share_of(self, text: str) -> float:
        """Return the share of the groups of which a text holds a term; 0.0 for a query that nothing can match and for a
        text that the index would not return for it."""
        if not self.groups:
            return 0.0
        held = terms_in(text)
        if not self._plain and (self.matches_nothing or self.refusal(text)):
            return 0.0
        met = {number for term in self._each & held for number in self.groups_of[term]}
        return len(met) / len(self.groups)

    def quotes(self, text: str) -> bool:
        """Say whether a text has what is quoted, or a part of it that is quoted by itself."""
        in_text = _in_a_row(plain_words(text)) if self.quoted else ""
        return any(_in_a_row(quoted) in in_text for quoted in self.quoted)

    def _broken_phrase(self, text: str) -> str | None:
        if not self.phrases and not self.excluded_phrases:
            return None
        in_text = _in_a_row(plain_words(text))
        if not all(_in_a_row(phrase) in in_text for phrase in self.phrases):
            return LACKS_PHRASE
        return HOLDS_EXCLUDED if any(_in_a_row(phrase) in in_text for phrase in self.excluded_phrases) else None


@lru_cache(maxsize=CACHED_QUERIES)
def query_terms(query: TextQuery) -> QueryTerms:
    """Turn a query into terms. An excluded word of more than two characters in a script that is read by pairs is
    excluded as a phrase: its pairs are in other words too."""
    groups: dict[int, list[str]] = {}
    for group, term in islice(_numbered(query), MAX_TERMS):
        groups.setdefault(group, []).append(term)
    spelt = [(word, characters(word)) for word in query.excluded]
    return QueryTerms(
        groups=tuple(map(tuple, groups.values())),
        min_match=min(query.min_match, len(groups)),
        phrases=tuple(_cut([plain_words(" ".join(phrase)) for phrase in query.phrases])),
        excluded=(
            *whole_terms(without_accents(word) for word, single in spelt if not single),
            *chain.from_iterable(pairs(single) for _, single in spelt if 0 < len(single) <= PAIR),
        ),
        excluded_phrases=tuple(tuple(single) for _, single in spelt if len(single) > PAIR),
        quoted=tuple(_cut(query.quoted)),
    )


def _numbered(query: TextQuery) -> Iterator[tuple[int, str]]:
    """Yield pairs of a group's number and a term of it, each once."""
    for number, group in enumerate(query.groups):
        for term in dict.fromkeys(chain.from_iterable(map(asked_terms, group))):
            yield number, term


def _cut(phrases: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    left = MAX_PHRASE_WORDS
    for phrase in phrases:
        if left > 0:
            yield tuple(phrase[:left])
            left -= len(phrase)


def _in_a_row(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "
