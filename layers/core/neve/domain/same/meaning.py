"""Tells what a statement says, apart from the words in which it says it: two statements with the same meaning are the
same statement, and are kept once (docs/rules/facts.md#the-same-statement). Pure.

A meaning is exact: it is made of words that mean the same by one list, and of all that must not differ (a negation, a
number, a date, a name, who does what to whom). So it can be looked up, and none is the same as another by being
near."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

CACHED = 4_096
"""*Chosen*: the same facts are compared with pass after pass."""
LONGEST = 400
"""*Chosen*, characters: what is longer is no single statement that is said again in other words."""
_BRITISH = re.compile(r"\b(fav|col|flav|neighb|hon|hum|behavi|lab)our", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a statement. ``who``: whose words they are, where a line names somebody else than the user.
    ``terms``: the words that carry it, each as the first of its group, with the role that it has; ``order``: of those
    that could change places. ``denied``: whether clauses deny something; ``how``: that it was, will be, may be, is now
    and then. ``exact``: the words as they stand, of what cannot be taken apart. ``figures``: its numbers and days;
    ``names``: its words with a capital."""

    who: str
    terms: frozenset[str] = frozenset()
    order: tuple[str, ...] = ()
    denied: frozenset[bool] = frozenset()
    how: frozenset[str] = frozenset()
    exact: str = ""
    figures: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    @property
    def said(self) -> frozenset[str]:
        """Give all that is said: the terms, and how they hold."""
        return self.terms | self.how

    @property
    def key(self) -> tuple[object, ...]:
        """Give what is equal for statements that are the same."""
        return (
            self.who,
            self.exact,
            tuple(sorted(self.terms)),
            self.order,
            tuple(sorted(self.denied)),
            tuple(sorted(self.how)),
        )


def say_the_same(one: str, other: str) -> bool:
    """Say whether two statements are the same, in whatever words. Symmetric and transitive."""
    return meaning_of(one).key == meaning_of(other).key


def place_of(text: str) -> str:
    """Hash what a statement says (sha256, hex): statements that are the same have one place."""
    return hashlib.sha256(repr(meaning_of(text).key).encode("utf-8", "backslashreplace")).hexdigest()


def may_be_the_same(one: str, other: str) -> bool:
    """Say whether somebody who knows better may take two statements for the same: not where one denies what the other
    says or is its opposite, where the parts have changed places, or where each has a number, a date or a name that the
    other lacks."""
    from neve.domain.same import reading  # see there

    here, there = meaning_of(one), meaning_of(other)
    if here.key == there.key:
        return True
    if here.who != there.who or (True in here.denied) != (True in there.denied):
        return False
    if ("ended" in here.how) != ("ended" in there.how):
        return False
    if any(a - b and b - a for a, b in ((here.figures, there.figures), (here.names, there.names))):
        return False
    if (here.terms != there.terms or here.order != there.order) and _bare(here) == _bare(there) != frozenset():
        return False
    return not reading.are_opposed(here.said - there.said, there.said - here.said)


def _bare(meaning: Meaning) -> frozenset[str]:
    """Give the terms without the roles that they play."""
    return frozenset(term.rpartition(" ")[2] for term in meaning.terms)


@lru_cache(maxsize=CACHED)
def meaning_of(text: str) -> Meaning:
    """Find what a statement says."""
    from neve.domain.same import reading  # see there

    return reading.read(text)


def one_spelling(text: str) -> str:
    """Write ``favourite`` and ``favorite`` as one word, for comparison only."""
    return _BRITISH.sub(r"\1or", text)
