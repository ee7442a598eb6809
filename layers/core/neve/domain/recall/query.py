"""Shaping of the keyword query (docs/rules/recall.md#query): content words, required phrases, excluded words,
alternatives."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

from neve.domain.languages import latin_language, query_stop_words
from neve.domain.recall.small_talk import EMOTICON, told_words
from neve.domain.terms import asked_stems, asked_terms, terms_in, whole_terms, without_particle
from neve.domain.words import (
    NAMES_IN_CAPITALS,
    QUERY_STOP_WORDS,
    characters,
    chunks,
    fold,
    folded_word,
    pairs,
    parts,
    plain_words,
    without_accents,
)

MAX_WORDS = 150
"""Words of one query that are searched, the parts of compounds included; later ones are left out, of a pasted text
earlier ones."""
MAX_OPERATORS = 32
"""Phrases, and excluded words, of one query. With MAX_WORDS in five fields and one for code this stays below the
1,024 clauses that OpenSearch allows in a query."""


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A keyword query. ``groups``: each inner tuple is a set of alternatives (``a OR b``), a plain word is a group of
    one; at least ``min_match`` groups must match, in any field. ``phrases`` must all occur in ``text`` as consecutive
    words, as written (no stemming); ``excluded`` words must not occur in ``text``, in any inflection. ``quoted``: what
    is quoted in a text that is no query; what says it in these words is the likelier answer."""

    groups: tuple[tuple[str, ...], ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[str, ...] = ()
    min_match: int = 1
    quoted: tuple[tuple[str, ...], ...] = ()

    @property
    def narrow(self) -> bool:
        """Say whether the query has operators that leave something out."""
        return bool(self.phrases or self.excluded)


@dataclass(frozen=True, slots=True)
class ShapedQuery:
    """A query as the legs search it. ``terms``: the words that are searched, case-folded, each once, without the parts
    of compounds. ``told``: how many words say what it is about (docs/rules/recall.md#small-talk)."""

    text_query: TextQuery
    terms: tuple[str, ...]
    told: int

    @property
    def has_content(self) -> bool:
        """Say whether any word says what the query is about."""
        return self.told > 0


class _Operand(NamedTuple):
    """One word or quoted phrase of a query."""

    chunks: tuple[str, ...]
    quoted: bool


_Clause = list[_Operand]
"""One operand, or the alternatives of an ``OR``."""

_ITEM = re.compile(r'(?P<minus>-?)"(?P<quoted>[^"]*)"|(?P<word>\S+)')
_QUOTED = re.compile(r'"([^"]*)"')
_LIST = re.compile(r"\n\s*-")
_STRAIGHT = str.maketrans(dict.fromkeys("“”„‟«»", '"'))


def shape(query: str, *, operators: bool = True, last_first: bool = False) -> ShapedQuery:
    """Choose the content words of a query; stop words are left out unless nothing else remains. ``"a phrase"`` is
    required; ``-word`` excludes (a minus before a letter, and not at the beginnings of lines: that is a list;
    ``-"several words"`` is ignored); ``a OR b`` are alternatives (a phrase among them is not required). Compounds are
    kept whole, with their parts as alternatives; a run of a script without spaces is taken by pairs of characters. No
    words: no groups. Without ``operators`` each word is one like any other, and what stands in quotes is ``quoted``.
    ``last_first``: of more than ``MAX_WORDS`` the last are searched, and nothing is taken for quoted."""
    folded = fold(query).translate(_STRAIGHT)
    clauses, unwanted = _parse(folded, operators=operators)
    quoted = () if operators or last_first else (tuple(plain_words(item[1])) for item in _QUOTED.finditer(folded))
    stop_words = query_stop_words(latin_language(query, [chunk for chunk, _ in _in_order(clauses)]))
    found = _groups(clauses, stop_words, last_first=last_first) or _groups(clauses, (), last_first=last_first)
    groups = _first_words([_with_parts(words, group) for words, group in found.items()], MAX_WORDS)
    searched = set(chain.from_iterable(groups))
    phrases = (tuple(plain_words(" ".join(o.chunks))) for [o] in _single(clauses) if o.quoted)
    excluded = (folded_word(operand.chunks[0]) for operand in unwanted if len(operand.chunks) == 1)
    return ShapedQuery(
        TextQuery(
            groups=groups,
            phrases=tuple(dict.fromkeys(phrases))[:MAX_OPERATORS],
            excluded=tuple(dict.fromkeys(excluded))[:MAX_OPERATORS],
            quoted=tuple(dict.fromkeys(filter(None, quoted)))[:MAX_OPERATORS],
        ),
        terms=tuple(word for word in dict.fromkeys(chain.from_iterable(found)) if word in searched),
        told=len(set(told_words(_as_written(chunk, at_start=first) for chunk, first in _in_order(clauses)))),
    )


def _parse(text: str, *, operators: bool) -> tuple[list[_Clause], list[_Operand]]:
    """Split a query into its clauses and its excluded operands; without operators every word is a clause."""
    if not operators:
        words = (word for word in text.split() if not EMOTICON.fullmatch(word))
        return [[_Operand(tuple(found), quoted=False)] for word in words if (found := chunks(word))], []
    clauses: list[_Clause] = []
    unwanted: list[_Operand] = []
    joining = False
    behind = 0
    for item in _ITEM.finditer(text):
        word, quoted = item["word"], item["quoted"]
        in_a_list = "\n" in text[behind : item.start()] or (behind == 0 and _LIST.search(text) is not None)
        behind = item.end()
        if word in ("OR", "|"):
            joining = bool(clauses)
            continue
        operand = _Operand(tuple(chunks(quoted if word is None else word)), word is None)
        if not operand.chunks or (word is not None and EMOTICON.fullmatch(word)):
            continue
        if not in_a_list and (item["minus"] or (word is not None and _excludes(word))):
            unwanted.append(operand)
        elif joining:
            clauses[-1].append(operand)
        else:
            clauses.append([operand])
        joining = False
    return clauses, unwanted


def _excludes(word: str) -> bool:
    return word[0] == "-" and word[1:2].isalpha()


def _single(clauses: Sequence[_Clause]) -> Iterator[_Clause]:
    return (clause for clause in clauses if len(clause) == 1)


def _in_order(clauses: Sequence[_Clause]) -> Iterator[tuple[str, bool]]:
    """Yield every chunk, and whether it begins the query."""
    found = (chunk for clause in clauses for operand in clause for chunk in operand.chunks)
    return ((chunk, number == 0) for number, chunk in enumerate(found))


def _groups(
    clauses: Sequence[_Clause], stop_words: Collection[str], *, last_first: bool
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the chunks of each group by its words, each group once."""
    groups = list(_each_group(clauses, stop_words))
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for words, group in reversed(groups) if last_first else groups:
        found.setdefault(words, group)
    return found


def _each_group(
    clauses: Sequence[_Clause], stop_words: Collection[str]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield words and chunks of the groups, in order. Alternatives are the user's choice and stay, stop words or
    not."""
    for position, clause in enumerate(clauses):
        found = [piece for operand in clause for chunk in operand.chunks for piece in _pieces(chunk)]
        if len(clause) > 1:
            yield tuple(map(folded_word, found)), tuple(found)
            continue
        at_start = position == 0
        for chunk in found:
            word = folded_word(chunk)
            if word not in stop_words or _is_name(chunk, at_start=at_start):
                yield (word,), (chunk,)
            at_start = False


def _pieces(chunk: str) -> Sequence[str]:
    """Return what of a chunk is searched: of Korean what stands before the particle, or the beginning that holds it."""
    if not (single := characters(chunk)):
        return (chunk,)
    return pairs(single[: max(len(without_particle(chunk)), PAIR)])


def _as_written(chunk: str, *, at_start: bool) -> str:
    """Return the chunk as a word; a name in capitals as it stands, so that it is no stop word."""
    return chunk if _is_name(chunk, at_start=at_start) else folded_word(chunk)


def _is_name(chunk: str, *, at_start: bool) -> bool:
    return not at_start and chunk[0].isupper() and folded_word(chunk) in NAMES_IN_CAPITALS


def _with_parts(words: Sequence[str], group: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a group followed by the parts of its compounds that mean something alone."""
    pieces = [part for chunk in group for part in parts(chunk) if len(part) > 1 and part not in QUERY_STOP_WORDS]
    return tuple(dict.fromkeys([*words, *pieces]))


def _first_words(groups: Sequence[tuple[str, ...]], limit: int) -> tuple[tuple[str, ...], ...]:
    """Return the groups up to ``limit`` words; the last one may be cut."""
    limited: list[tuple[str, ...]] = []
    for group in groups:
        if not limit:
            break
        limited.append(group[:limit])
        limit -= len(limited[-1])
    return tuple(limited)


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
    for group, term in islice(_numbered(query, asked_terms), MAX_TERMS):
        groups.setdefault(group, []).append(term)
    room = MAX_TERMS - sum(map(len, groups.values()))
    for group, term in islice(_numbered(query, asked_stems), room):
        if group in groups:  # else English has no term for it, and its share of the query would change
            groups[group].append(term)
    spelt = [(word, characters(without_particle(word))) for word in query.excluded]
    return QueryTerms(
        groups=tuple(map(tuple, groups.values())),
        min_match=min(query.min_match, len(groups)),
        phrases=tuple(_cut([plain_words(" ".join(phrase)) for phrase in query.phrases])),
        excluded=(
            *whole_terms(without_accents(word) for word, single in spelt if not single),
            *chain.from_iterable(asked_stems(word) for word, single in spelt if not single),
            *chain.from_iterable(pairs(single) for _, single in spelt if 0 < len(single) <= PAIR),
        ),
        excluded_phrases=tuple(tuple(single) for _, single in spelt if len(single) > PAIR),
        quoted=tuple(_cut(query.quoted)),
    )


def _numbered(query: TextQuery, terms_of: Callable[[str], Iterable[str]]) -> Iterator[tuple[int, str]]:
    """Yield pairs of a group's number and a term of it, each once."""
    for number, group in enumerate(query.groups):
        for term in dict.fromkeys(chain.from_iterable(map(terms_of, group))):
            yield number, term


def _cut(phrases: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    left = MAX_PHRASE_WORDS
    for phrase in phrases:
        if left > 0:
            yield tuple(phrase[:left])
            left -= len(phrase)


def _in_a_row(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "
