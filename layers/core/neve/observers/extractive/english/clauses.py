"""Makes whole statements of the clauses of a chat message: recognises what only the conversation explains and what is
only supposed, and adds the "I" that chat leaves out."""

from __future__ import annotations

import re

from neve.observers.extractive.english.verbs import is_only_past
from neve.observers.extractive.english.vocabulary import ADVERBS, FIRST_PERSON, words

_HYPOTHESIS = re.compile(
    r"^(?:imagine|suppose|what if|let's say|say i|pretend|assume|assuming)\b|\b(?:hypothetically|just kidding|j/k)\b"
    r"|\bif i were\b|^if\b.*(?:\b(?:would|could|were)\b|'d\b)"
    r"|\b(?:i|we)(?: have|'ve)? (?:almost|nearly) [a-z]+(?<!always)(?<!never)\b",
    re.IGNORECASE,
)
"""Words of what is only supposed, or nearly happened."""
_DANGLING = re.compile(
    r"^(?:(?:it|that|this|they|he|she|there|here)(?:'\w+)?|these|those|then|which|because|cause|his|her|its|their)\b"
    r"(?!\s+(?:is|are) (?:no|one|two|three|four|five|\d+)\b)",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(rf"\b{FIRST_PERSON}\b", re.IGNORECASE)


def is_hypothetical(sentence: str) -> bool:
    """Say whether a sentence is only supposed, or said in jest."""
    return _HYPOTHESIS.search(sentence) is not None


def needs_another(sentence: str) -> bool:
    """Say whether a sentence begins with a word for what an earlier one named: ``Her name is Pebble``."""
    return _DANGLING.search(sentence) is not None


def speaks_of_self(sentence: str) -> bool:
    """Say whether a sentence has a first-person word in it."""
    return _FIRST_PERSON.search(sentence) is not None


def with_subject(sentence: str) -> str:
    """Return the sentence with the "I" that chat leaves out: ``Finished the course`` -> ``I finished the course``."""
    first, *rest = [word for word in re.findall(r"[a-z']+|\d+", sentence.lower()) if word not in ADVERBS] or [""]
    if not rest or rest[0] in _OF_A_NOUN or not (is_only_past(first) or first in _LOST_PRESENT):
        return sentence
    subject = "I've" if first == "been" else "I"
    return f"{subject} {sentence[:1].lower()}{sentence[1:]}"


_LOST_PRESENT = words("hate prefer love need have want live work")
_OF_A_NOUN = words("by on is are was were has have had will did")
"""Words behind a noun or a passive, although it looks like a past form."""

_SUBJECT = rf"(?:{FIRST_PERSON}|(?:he|she|they|it|that|this|there)(?:'\w+)?)\s"
_NEXT_CLAUSE = re.compile(
    rf"(?:\s*[,;]|\s[-–—])\s+(?:(?:and|but|so|then)\s+)*(?=(?:(?:now|also|then|still|sadly)\s+)?{_SUBJECT})"
    rf"|\s+(?:and|but|so)\s+(?:then\s+)?(?=(?:(?:now|also)\s+)?{_SUBJECT})"
    r"|,\s+(?=(?-i:[A-Z][a-z]+) (?:is|was|has|left|moved|went|came|died|took|got|works?|lives?|loves?|likes?)\b)",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"\b(?:if|when|whenever|unless|until|while|because|since|although|though|as|that|whether)\b[^,;]*$", re.IGNORECASE
)
_OF_THE_OTHER = re.compile(r"\b(?:it|it's|them|that|those|these|one|so|neither)\b|\b(?:not|too)$", re.IGNORECASE)
_ORDER = re.compile(
    r"(?:,|\s[-–—])\s*(?:(?:and|so)\s+)?"
    r"(?:please \w|(?:don't|do not|never) (?:\w+ (?:me|us|it|them|any|the)\b|use)).*$",
    re.IGNORECASE,
)
"""What the listener is told to do, behind what is said of oneself."""
_DENIES = re.compile(r"(?:n't|\bnot|\bnever)\b(?!.*\bany ?(?:more|longer)\b)", re.IGNORECASE)
_PEOPLE = re.compile(r"^(?:(?:my|our) (?:[\w-]+ ){0,2}[\w-]+|(?-i:[A-Z])[\w'-]+)$", re.IGNORECASE)


def whole_clauses(sentence: str) -> list[str]:
    """Return the clauses of a statement that have a subject of their own and mean something without the others: ``I'm a
    vet and my wife teaches`` are two, "I live in Rome and work at the port" is one, and so is "I like Rome, it's big".
    What hangs on another clause stays with it, and what takes a denial back with that; an order goes."""
    sentence = _ORDER.sub("", sentence)
    found: list[str] = []
    start = 0
    for joint in _NEXT_CLAUSE.finditer(sentence):
        head = sentence[start : joint.start()]
        if not (_PEOPLE.match(head) or _SUBORDINATE.search(head)):
            found.append(head)
            start = joint.end()
    found.append(sentence[start:])
    alone = [clause for n, clause in enumerate(found) if not n or not _OF_THE_OTHER.search(clause)]
    return [sentence] if len(alone) < len(found) and _DENIES.search(alone[0]) else alone
