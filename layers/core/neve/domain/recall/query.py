"""Shaping of the keyword query (docs/rules/recall.md#query): content words, required phrases, excluded words,
alternatives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from neve.domain.recall.small_talk import EMOTICON, told_words
from neve.domain.words import (
    NAMES_IN_CAPITALS,
    QUERY_STOP_WORDS,
    characters,
    chunks,
    fold,
    pairs,
    parts,
    plain_words,
    whole,
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
    found = _groups(clauses, keep_stop_words=False, last_first=last_first)
    found = found or _groups(clauses, keep_stop_words=True, last_first=last_first)
    groups = _first_words([_with_parts(words, group) for words, group in found.items()], MAX_WORDS)
    searched = set(chain.from_iterable(groups))
    phrases = (tuple(plain_words(" ".join(o.chunks))) for [o] in _single(clauses) if o.quoted)
    excluded = (whole(operand.chunks[0]) for operand in unwanted if len(operand.chunks) == 1)
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
    clauses: Sequence[_Clause], *, keep_stop_words: bool, last_first: bool
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the chunks of each group by its words, each group once."""
    groups = list(_each_group(clauses, keep_stop_words=keep_stop_words))
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for words, group in reversed(groups) if last_first else groups:
        found.setdefault(words, group)
    return found


def _each_group(
    clauses: Sequence[_Clause], *, keep_stop_words: bool
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield words and chunks of the groups, in order. Alternatives are the user's choice and stay, stop words or
    not."""
    for position, clause in enumerate(clauses):
        found = [piece for operand in clause for chunk in operand.chunks for piece in _pieces(chunk)]
        if len(clause) > 1:
            yield tuple(map(whole, found)), tuple(found)
            continue
        at_start = position == 0
        for chunk in found:
            word = whole(chunk)
            if keep_stop_words or word not in QUERY_STOP_WORDS or _is_name(chunk, at_start=at_start):
                yield (word,), (chunk,)
            at_start = False


def _pieces(chunk: str) -> Sequence[str]:
    return pairs(single) if (single := characters(chunk)) else (chunk,)


def _as_written(chunk: str, *, at_start: bool) -> str:
    """Return the chunk as a word; a name in capitals as it stands, so that it is no stop word."""
    return chunk if _is_name(chunk, at_start=at_start) else whole(chunk)


def _is_name(chunk: str, *, at_start: bool) -> bool:
    return not at_start and chunk[0].isupper() and whole(chunk) in NAMES_IN_CAPITALS


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
