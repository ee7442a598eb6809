"""Recognises English clauses that ask for something or order it, as far as their first words tell."""

from __future__ import annotations

import re

from neve.domain.english import PLEASE as PLEASE
from neve.observers.extractive.english.vocabulary import any_of

ORDER_VERB = any_of(
    "write draft summarize summarise translate explain plan find fix debug create make build design review compare",
    "list suggest recommend book schedule prepare analyze analyse calculate convert rewrite improve refactor implement",
    "add update check research organize organise generate edit proofread order cancel arrange",
    "show me|give me|tell me about|set up",
)
REWORKS = any_of(
    "translate paraphrase proofread proof-read rewrite rephrase reword correct edit summarize summarise conjugate",
    "shorten polish transcribe",
    "make it|make this",
)
"""Verbs for work on a text that is there already."""
_MORE_VERBS = any_of(
    "describe define rate grade judge simplify solve read look see tell give show complete continue finish help",
    "classify compose transcribe mark evaluate clean turn put fill",
)
_ORDER = re.compile(
    rf"^{PLEASE}(?:{ORDER_VERB}|{REWORKS}|{_MORE_VERBS})\b(?! (?:is|are|was|were|has|had)\b)", re.IGNORECASE
)
_ASKED = re.compile(
    r"^(?:please|pls|can you|could you|would you|will you|i(?:'d| would) like you to|let's)\b", re.IGNORECASE
)
_QUESTION = re.compile(
    r"^(?:what|what's|how|how's|why|when|where|who|who's|which|is|are|am|was|were|do|does|did|can|could|would|will"
    r"|should|may|has|have you|any)\b",
    re.IGNORECASE,
)


_FROM_NOW_ON = re.compile(
    r"\b(?:always|never|from now on|whenever|every time|each time|in (?:the )?future|any ?time|when i|if i"
    r"|by default)\b",
    re.IGNORECASE,
)


def says_always(clause: str) -> bool:
    """Say whether a clause orders something for always: ``Always explain the difference``, ``Whenever I ask …``."""
    return _FROM_NOW_ON.search(clause) is not None


def is_order(clause: str) -> bool:
    """Say whether a clause orders something: ``Explain recursion``, ``Can you check it``."""
    return _ORDER.match(clause) is not None or _ASKED.match(clause) is not None


def is_question(clause: str) -> bool:
    """Say whether a clause is a question, by its mark, or by its first word where chat leaves the mark out."""
    return clause.rstrip("\"')!. ").endswith("?") or _QUESTION.match(clause) is not None
