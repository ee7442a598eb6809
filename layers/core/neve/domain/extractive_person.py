"""Rewrites an English first-person statement into the third person, where a rule can do that without changing what it
says; anything else is quoted."""

from __future__ import annotations

import re

from neve.domain.extractive_verbs import is_common_present, third_person_form

_UNSAFE = re.compile(
    r"\b(?:you|your|yours|yourself|you're|you've|you'll|you'd|we|us|our|ours|ourselves|we're|we've|we'll|we'd)\b", re.I
)
_TOKEN = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?|[^A-Za-z]+")
_ADVERBS = frozenset(
    [
        "really",
        "also",
        "just",
        "still",
        "always",
        "usually",
        "finally",
        "recently",
        "already",
        "actually",
        "even",
        "never",
        "now",
        "only",
        "so",
        "absolutely",
        "totally",
        "truly",
        "definitely",
        "probably",
        "often",
        "sometimes",
        "kinda",
        "mostly",
        "generally",
        "typically",
        "currently",
        "simply",
        "rarely",
        "mainly",
        "personally",
        "once",
        "ever",
        "then",
        "kind",
        "sort",
        "of",
        "hardly",
        "barely",
    ]
)
_WOULD_VERBS = frozenset(
    [
        "love",
        "like",
        "prefer",
        "rather",
        "be",
        "say",
        "want",
        "appreciate",
        "never",
        "always",
        "have",
        "go",
        "do",
        "recommend",
        "suggest",
        "need",
        "hate",
        "choose",
    ]
)
_JOINERS = frozenset({"and", "or", "but", "then"})


def about(subject: str, sentence: str) -> str:
    """``I moved to Bergen with my dog`` -> ``User moved to Bergen with their dog``; a statement that speaks of "we" or
    "you" is kept as it was said: ``User said: We chose the blue one``."""
    if _UNSAFE.search(sentence):
        return f"{subject} said: {sentence[:1].upper()}{sentence[1:]}"
    return _Rewriter(subject).rewrite(sentence)


class _Rewriter:
    """Walks over the words. The subject is named once; after that it is "they"."""

    def __init__(self, subject: str) -> None:
        self._subject = subject
        self._named = False
        self._singular_verb = False
        self._after_joiner = False

    def rewrite(self, sentence: str) -> str:
        tokens = _TOKEN.findall(sentence)
        out = []
        for at, token in enumerate(tokens):
            following = next((word.lower() for word in tokens[at + 1 :] if word[0].isalpha()), "")
            out.append(self._word(token, following))
        text = "".join(out)
        return text[:1].upper() + text[1:]

    def _word(self, token: str, following: str) -> str:
        word = token.lower()
        if word in ("i", "i'm", "im", "i've", "ive", "i'll", "i'd"):
            return self._first_person(word, following)
        if word in ("my", "me", "mine", "myself"):
            return self._possession(word)
        if not word[0].isalpha():
            if any(mark in token for mark in ",;:("):
                self._after_joiner = False
            return token
        return self._verb(token, word)

    def _first_person(self, word: str, following: str) -> str:
        first = not self._named
        who = self._name() if first else "they"
        be, have = ("is", "has") if first else ("are", "have")
        if word in ("i'm", "im"):
            return f"{who} {be}"
        if word in ("i've", "ive"):
            return f"{who} {have}"
        if word == "i'll":
            return f"{who} will"
        if word == "i'd":
            return f"{who} {'would' if following in _WOULD_VERBS else 'had'}"
        self._singular_verb = first
        self._plural_be = not first
        return who

    _plural_be = False

    def _possession(self, word: str) -> str:
        if word == "my":
            return "their" if self._named else f"{self._name()}'s"
        if word == "me":
            return "them" if self._named else self._name()
        return "theirs" if word == "mine" else "themselves"

    def _verb(self, token: str, word: str) -> str:
        """The verb behind the subject, and everyday verbs joined to it by "and"."""
        if self._plural_be:
            self._plural_be = word in _ADVERBS
            return {"am": "are", "was": "were"}.get(word, token)
        if self._singular_verb:
            if word in _ADVERBS or word.endswith("ly"):
                return token
            self._singular_verb = False
            self._conjugating = third_person_form(word) != word
            return third_person_form(word)
        if word in _JOINERS:
            self._after_joiner = self._conjugating
            return token
        if self._after_joiner:
            self._after_joiner = word in _ADVERBS
            if is_common_present(word):
                return third_person_form(word)
        return token

    _conjugating = False

    def _name(self) -> str:
        self._named = True
        return self._subject
