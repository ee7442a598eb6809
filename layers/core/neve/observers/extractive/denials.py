"""Finds what a statement asserts or denies: ``User is not allergic to nuts, that was a mistake`` denies what ``User is
allergic to nuts`` says (docs/rules/observe.md#extractive). Strict: the words have to be the same, in the same order,
but for a few that change nothing, so that "not allergic to nuts" leaves "allergic to nuts and fish" alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from neve.domain.same.meaning import one_spelling
from neve.domain.terms import stem
from neve.observers.extractive.english.vocabulary import any_of, words
from neve.observers.extractive.sameness import TEXT_CACHE_SIZE

_DENIAL = re.compile(
    r"^(?P<who>[\w-]+(?:'s)?(?: [\w'-]+){0,5}?)"
    r" (?:(?:(?:actually|currently|now) )?(?:is|are|has|does|do)(?: actually)?(?:n't| not)|(?:(?:is|are) )?no longer)"
    r"(?P<what> .+)$"
)
_ENDED_CLAUSE = re.compile(r"(\bany ?more\b|\bany longer\b|\bno longer [^,;]*(?=[,;])),? .*$", re.IGNORECASE)
"""``not vegetarian anymore, they eat fish again``: what comes behind is another statement."""
_LIKES = re.compile(r"\b(?:loves|enjoys|adores)\b")
_DISLIKES = re.compile(r"\b(?:hates|dislikes|detests|can't stand|cannot stand)\b")
"""Verbs that deny in one word that a person likes something."""
_ENDED = re.compile(r"(?:,? (?:any ?more|any longer|after all|at all))+$", re.IGNORECASE)
_EXCUSE = re.compile(
    r"[,;:]? (?:but |and |- )?(?:(?:that|it|this)(?: was|'s| is) (?:an? |my )?"
    + any_of("mistake error misunderstanding wrong untrue", "not true")
    + r"|they (?:was|were|are|made) "
    + any_of("wrong mistaken", "a mistake")
    + r"|sorry"
    r"|(?:because |since )?(?:the|my|their|all) (?:\w+ ){1,3}?"
    r"(?:came|was|were|is|are|says?|said|shows?|showed)(?: [\w-]+){1,5})$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w']+(?:[.:-]\w+)*|[^\s\w]")
_CHANGES_NOTHING = words("a an the is are now currently still actually again . , !")
_STRENGTH = words("really absolutely definitely truly also very severely mildly")
_ONE_FORM = {"has": "have", "does": "do"}


@dataclass(frozen=True, slots=True)
class Stance:
    """The assertion of a statement, or its denial. ``stems``: its words, stemmed, without what changes nothing."""

    stems: tuple[str, ...]
    denied: bool

    def opposes(self, other: Stance) -> bool:
        return self.denied != other.denied and self.stems == other.stems


@lru_cache(maxsize=TEXT_CACHE_SIZE)
def stance_of(text: str) -> Stance:
    """Find what a statement in the third person, without its mark, asserts or denies."""
    plain = _DISLIKES.sub("doesn't like", _LIKES.sub("likes", text))
    text = plain if plain.count("n't") < 2 else text
    match = _DENIAL.search(_ENDED_CLAUSE.sub(r"\1", without_excuse(text)))
    if match is None:
        return Stance(_stems(text, _CHANGES_NOTHING | _STRENGTH), denied=False)
    return Stance(_stems(match["who"] + _ENDED.sub("", match["what"]), _CHANGES_NOTHING), denied=True)


def without_excuse(text: str) -> str:
    """Cut off the excuse of a denial: ``User is not vegan, that was a mistake`` -> ``User is not vegan``."""
    return _EXCUSE.sub("", text.rstrip(" .!"))


def _stems(text: str, left_out: frozenset[str]) -> tuple[str, ...]:
    found = (_ONE_FORM.get(word, word) for word in _WORD.findall(one_spelling(text.casefold())) if word not in left_out)
    return tuple(stem(word) for word in found)
