"""Rewrites an English first-person statement into the third person, where a rule can do that without changing what it
says; anything else is quoted."""

from __future__ import annotations

import re
from typing import Literal

from neve.observers.extractive.english.verbs import is_common_present, is_past_form, third_person_form
from neve.observers.extractive.english.vocabulary import ADVERBS, words

_UNSAFE = re.compile(
    r"\b(?:you|your|yours|yourself|you're|you've|you'll|you'd|we|us|our|ours|ourselves|we're|we've|we'll|we'd)\b", re.I
)
_AND_I = re.compile(r"my ((?:[\w-]+ ){0,2}[\w-]+) and i\b(?!')", re.IGNORECASE)
_FINITE = words("is are was were has have had does do did can will would could should may might must am")
_TOKEN = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?|[^A-Za-z]+")
_WOULD_VERBS = words(
    "love like prefer rather be say want appreciate never always have go do recommend suggest need hate choose"
)
_VERBS_IN_LY = words("fly apply reply rely comply supply imply multiply ally rally tally bully")
_NO_VERBS = words(
    "to and or not the a an of in on at for with who whom that as if than nor per by from into but so my me it its",
    "this these those he she they him her them what which where when how why there here",
)
"""Words that show behind "I" that the sentence is built in a way that a rule cannot rewrite."""
_QUOTATION = re.compile(r'("[^"]*")')
_FIRST_PERSON = frozenset({"i", "i'm", "im", "i've", "ive", "i'll", "i'd"})
_AUXILIARIES = frozenset({"am", "have", "haven't", "do", "don't"})
_JOINERS = frozenset({"and", "or", "nor", "but", "then"})
_OTHER_SUBJECTS = frozenset({"who", "which", "that", "when", "if", "because", "where", "while"})
"""Verbs behind them are not the speaker's and keep their form."""


def about(subject: str, sentence: str) -> str:
    """Rewrite a statement into the third person: ``I moved to Bergen with my dog`` -> ``User moved to Bergen with their
    dog``; a statement that speaks of "we" or "you" is kept as it was said: ``User said: We chose the blue one``."""
    if _UNSAFE.search(sentence) or _ASKS_WITHOUT_VERB.match(sentence) or _not_rewritable(sentence):
        return f"{subject} said: {sentence[:1].upper()}{sentence[1:]}"
    if (together := _AND_I.match(sentence)) and _is_noun_phrase(together[1]):
        return f"{subject} and their {together[1]}{_continued(subject, sentence[together.end() :])}"
    return _Rewriter(subject).rewrite(
        _INVERTED.sub(lambda found: f"{found[1]} {third_person_form(found[2].lower())}", sentence)
    )


_AS_SAID = re.compile(r"(?P<who>[^:\"]{1,80}) said: (?P<said>.+)", re.DOTALL)


def as_said(statement: str) -> tuple[str, str] | None:
    """Return the speaker and the words of a statement that could not be rewritten; None for another statement."""
    found = _AS_SAID.fullmatch(statement)
    return (found["who"], found["said"]) if found else None


_INVERTED = re.compile(r"\b(so|as|nor|neither) (am|do|have)(?= i\b)", re.IGNORECASE)
"""``and so am I``"""

_ASKS_WITHOUT_VERB = re.compile(r"no\s.*\b(?:i|i'm|i've|my)\b", re.IGNORECASE)
"""``No nuts please, I'm allergic``"""


def _is_noun_phrase(group: str) -> bool:
    """Say whether one to three words behind "my" are a noun phrase: "wife Ana", not "name is Olga". A word that ends in
    an "s" may be a verb."""
    words = group.lower().split()
    verbs = any(word in _FINITE or is_past_form(word) for word in words)
    return len(words) == 1 or (not verbs and not words[-1].endswith("s") and not words[1].endswith("s"))


def _not_rewritable(sentence: str) -> bool:
    """Say whether "I" stands where no verb follows it: "my dad and I, to be honest", "I and my wife"."""
    following = (found.lower() for found in _AFTER_I.findall(_QUOTATION.sub(" ", sentence)))
    return any(word in _NO_VERBS for word in following)


_AFTER_I = re.compile(r"\bi\b[\s,]*([a-z']*)", re.IGNORECASE)


class _Rewriter:
    """Walks over the words. The subject is named once; after that it is "they". Where it was named only beside another
    person or thing, "they" would mean both, and it is named again: "User's sister is a pilot and User is a nurse".

    ``_awaiting`` is the form that the next verb must agree with; ``_joined`` says that an everyday verb behind an "and"
    still belongs to the named subject: "lives in Bergen and works at the port". ``_state``: what came before tells what
    the subject is or has, so that a verb behind a "to" is an infinitive. ``_tells_past``: the subject's own verb was in
    the past, and what it does "and now" is not: "left the port and now works in Bergen"."""

    def __init__(self, subject: str) -> None:
        self._subject = subject
        self._named_as: Literal["", "owner", "object", "subject"] = ""
        self._awaiting: Literal["", "singular", "plural"] = ""
        self._conjugating = False
        self._joined = False
        self._state = False
        self._tells_past = False

    def mention(self) -> None:
        """Note that the subject has been named in what comes before."""
        self._named_as = "subject"

    def rewrite(self, sentence: str) -> str:
        parts = _QUOTATION.split(sentence)
        text = "".join(part if quoted % 2 else self._rewritten(part) for quoted, part in enumerate(parts))
        return text[:1].upper() + text[1:]

    def _rewritten(self, part: str) -> str:
        """Rewrite a part that holds no quotation: what is quoted stays as it was said."""
        tokens = _TOKEN.findall(part)
        out = []
        for at, token in enumerate(tokens):
            following = next((word.lower() for word in tokens[at + 1 :] if word[0].isalpha()), "")
            hyphened = tokens[at + 1 : at + 2] == ["-"] or tokens[at - 1 : at] == ["-"]
            out.append(token if hyphened else self._replacement(token, following))
        return "".join(out)

    def _replacement(self, token: str, following: str) -> str:
        word = token.lower()
        if word in _FIRST_PERSON:
            return self._first_person(word, following)
        if word in ("my", "me", "mine", "myself"):
            return self._other_form(word)
        if not word[0].isalpha():
            if any(mark in token for mark in ",;:("):
                self._joined = self._conjugating and token.rstrip().endswith(",")
            return token
        return self._verb(token, word, following)

    def _first_person(self, word: str, following: str) -> str:
        first = self._named_as != "subject"
        who, be, have = (self._subject, "is", "has") if first else ("they", "are", "have")
        self._named_as = "subject"
        self._conjugating = self._joined = self._tells_past = False
        if word in ("i'm", "im", "i've", "ive"):
            self._conjugating = self._state = first
            return f"{who} {have if word.endswith('ve') else be}"
        if word == "i'll":
            return f"{who} will"
        if word == "i'd":
            return f"{who} {'would' if following in _WOULD_VERBS else 'had'}"
        self._awaiting = "singular" if first else "plural"
        return who

    def _other_form(self, word: str) -> str:
        if word == "my":
            if self._named_as in ("object", "subject"):
                return "their"
            self._named_as = "owner"
            return f"{self._subject}'s"
        if word == "me":
            if self._named_as:
                return "them"
            self._named_as = "object"
            return self._subject
        return "theirs" if word == "mine" else "themselves"

    def _verb(self, token: str, word: str, following: str) -> str:
        if self._awaiting and _may_stand_before_a_verb(word):
            return token
        if self._awaiting == "plural":
            self._awaiting = ""
            return {"am": "are", "was": "were"}.get(word, token)
        if self._awaiting == "singular":
            self._awaiting = ""
            self._state = word in ("am", "have")
            self._conjugating = self._state or (third_person_form(word) != word and word not in _AUXILIARIES)
            self._tells_past = not self._conjugating
            return third_person_form(word)
        if word in _JOINERS:
            self._joined = self._conjugating or (self._tells_past and following == "now")
        elif word in _OTHER_SUBJECTS or (word == "to" and self._state):
            self._conjugating = self._joined = self._tells_past = False
        elif self._joined and word not in ADVERBS:
            self._joined = False
            return third_person_form(word) if is_common_present(word) else token
        return token


def _may_stand_before_a_verb(word: str) -> bool:
    return word in ADVERBS or word in ("no", "longer", "neither") or (word.endswith("ly") and word not in _VERBS_IN_LY)


def called(subject: str, sentence: str) -> str | None:
    """Return the wish to be called by a name: ``Call me Sam`` -> ``User wants to be called Sam``."""
    found = _CALL_ME.match(sentence)
    return f"{subject} wants to be called {found[1]}" if found else None


def to_remember(sentence: str) -> str:
    """Return what a statement asks to remember: ``Remember that my code is 4711`` -> ``my code is 4711``."""
    return _REMEMBER.sub("", sentence, count=1)


_REMEMBER = re.compile(
    r"^(?:please\s+)?(?:(?:can|could|would|will) you\s+(?:please\s+)?)?(?:just\s+)?"
    r"(?:note to self|remember|don't forget|do not forget|keep in mind|note|make a note"
    r"|bear in mind|important|for the record|fyi)(?:\s*[:,]\s*|\s+)(?:that\s+|this\b\s*[:,]?\s*)?",
    re.IGNORECASE,
)
_CALL_ME = re.compile(
    r"^(?:please\s+)?(?:you (?:can|may|should)\s+)?(?:just\s+)?(?:call me|i go by)\s+"
    r"(?!(?:an?|the|when|if|at|back|before|after|in|on|later|today|tonight|tomorrow|now|as)\b)(.+)$",
    re.IGNORECASE,
)


def _continued(subject: str, rest: str) -> str:
    rewriter = _Rewriter(subject)
    rewriter.mention()
    return rewriter.rewrite(rest)
