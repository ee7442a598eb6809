"""Makes whole statements of the clauses of a chat message: recognises what only the conversation explains and what is
only supposed, and adds the "I" that chat leaves out."""

from __future__ import annotations

import re

from neve.observers.extractive.english.sentences import order_at
from neve.observers.extractive.english.verbs import is_past_form
from neve.observers.extractive.english.vocabulary import ADVERB, ADVERBS, FIRST_PERSON, TRAITS, any_of

_HYPOTHESIS = re.compile(
    r"^(?:imagine|suppose|what if|let's say|say i|pretend|assume|assuming)\b|\b(?:hypothetically|just kidding|j/k)\b"
    r"|\bif i were\b|^if\b.*(?:\b(?:would|could|were)\b|'d\b)"
    r"|\b(?:i|we)(?: have|'ve)? (?:almost|nearly) [a-z]+(?<!always)(?<!never)\b",
    re.IGNORECASE,
)
"""Words of what is only supposed, or nearly happened."""
_DANGLING = re.compile(
    r"^(?:(?:it|that|this|they|he|she|there|here)(?:'\w+)?|these|those|then|which|because|cause)\b"
    r"(?!\s+(?:is|are) (?:no|one|two|three|four|five|\d+)\b)",
    re.IGNORECASE,
)
_OF_WHOM = re.compile(r"(?:his|her|its|their)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(rf"\b{FIRST_PERSON}\b", re.IGNORECASE)


_ILL = re.compile(
    r"^(?:she|he)(?:'s| is| has (?=(?:an? |severe |bad )?[a-z]+ allergy\b))"
    rf"(?=\s*(?:(?:not|also|an?|type \d|severely|[a-z]+ly)\s+)*(?:{any_of(*TRAITS)}|[a-z]+ allergy)\b)",
    re.IGNORECASE,
)


def is_hypothetical(sentence: str) -> bool:
    """Say whether a sentence is only supposed, or said in jest."""
    return _HYPOTHESIS.search(sentence) is not None


def is_dangling(sentence: str) -> bool:
    """Say whether a sentence is about something that an earlier one named."""
    return _DANGLING.search(sentence) is not None


def needs_another(sentence: str) -> bool:
    """Say whether a sentence is dangling, or begins with a possession of a person whom an earlier one named: ``Her name
    is Pebble``."""
    return is_dangling(sentence) or _OF_WHOM.match(sentence) is not None


def is_ill(sentence: str) -> bool:
    """Say whether a sentence tells of "she" or "he" a trait that must not be missed; the sentence before names who that
    is."""
    return _ILL.match(sentence) is not None


def speaks_of_self(sentence: str) -> bool:
    """Say whether a sentence has a first-person word in it."""
    return _FIRST_PERSON.search(sentence) is not None


_SECOND_CLAUSE = re.compile(
    r"(?:,|\s[-–—]|;)(?:\s+(?:and|but|so))?\s+(?=(?:i|i'm|i've|we|we're|we've|my)\b)", re.IGNORECASE
)
_LOST_IM = re.compile(
    rf"^(?:{ADVERB}\s+)*"
    + any_of(
        "planning learning studying reading considering researching practicing practising training preparing finishing",
        r"gonna (?!be\b)|thinking (?:of|about)|working on|trying to|looking (?:for|into)|moving to|going to",
        "not sure (?:if|whether)|torn between|hoping to|getting ready|saving (?:up )?for|about to",
    )
    + r"\b",
    re.IGNORECASE,
)
_GERUND_SUBJECT = re.compile(
    r"^(?:\w+ )?\w+ing\b[^,;–—-]*\b"
    + any_of("is are was were helps? makes? gives? keeps? brings? feels? seems? can", "has been|have been")
    + r"\b",
    re.IGNORECASE,
)
_LOST_TRAIT = re.compile(
    r"^(?P<trait>(?:(?:type \d|lactose|gluten|severely|also) )?"
    + any_of(*TRAITS)
    + r")(?: here\b|(?=, (?:on|since|with|for|and i)\b))",
    re.IGNORECASE,
)
_LOST_IVE = re.compile(r"^been\s+(?:\w+ing|to|in|at|on)\b", re.IGNORECASE)
_LOST_I = re.compile(
    rf"^(?:{ADVERB}\s+)*"
    + any_of(
        "hate prefer love",
        "need to|have to|gotta|want to|live in|work (?:at|as|for)|can't stand|don't (?:eat|drink|like)",
    )
    + r"\s+[\"'\w]",
    re.IGNORECASE,
)
_NO_SUBJECT_LOST = re.compile(
    r"^\w+\s+(?:by|on me|is|are|was|were|has|have|had|will|did)\b|^(?:let|put|set|cut|read|shut|fed|fixed-|given)\b",
    re.IGNORECASE,
)
"""A noun, an order, or a passive, although its first word looks like a past form."""


_CLOCK = re.compile(
    r"^(?P<time>\d{1,2}(?:[:.]\d\d(?:\s?[ap]m)?|\s?[ap]m))(?:\s+[-–—]|[:,])?\s+(?=[a-z])", re.IGNORECASE
)
"""A time in front of a note: ``2pm took ibuprofen``."""


def without_dangling_start(sentence: str) -> str:
    """Cut off a clause about "it", which says nothing on its own: ``It was tough, but I passed the exam`` -> ``I passed
    the exam``."""
    clause = _SECOND_CLAUSE.search(sentence) if is_dangling(sentence) else None
    return sentence[clause.end() :] if clause else sentence


def with_subject(sentence: str) -> str:
    """Return the sentence with the "I" that chat leaves out: ``Finished the course`` -> ``I finished the course``."""
    if _FIRST_PERSON.match(sentence):
        return sentence
    if clock := _CLOCK.match(sentence):
        rest = sentence[clock.end() :]
        return sentence if with_subject(rest) == rest else f"At {clock['time']} {with_subject(rest)}"
    lowered = sentence[:1].lower() + sentence[1:]
    if trait := _LOST_TRAIT.match(sentence):
        return f"I'm {trait['trait'].lower()}{sentence[trait.end() :]}"
    if _LOST_IVE.search(sentence):
        return f"I've {lowered}"
    if _LOST_IM.search(sentence):
        return sentence if _GERUND_SUBJECT.search(sentence) else f"I'm {lowered}"
    return f"I {lowered}" if _LOST_I.search(sentence) or _starts_in_the_past(sentence) else sentence


def _starts_in_the_past(sentence: str) -> bool:
    """Say whether a past form stands where the subject should, and not behind a figure: ``Just sold my old phone``, not
    ``14 Rose Lane``."""
    if _NO_SUBJECT_LOST.search(sentence) or sentence[:1].isdigit():
        return False
    spoken = [word for word in re.findall(r"[a-z']+", sentence.lower()) if word not in ADVERBS]
    return len(spoken) > 1 and is_past_form(spoken[0]) and not spoken[0].endswith("n't")


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
_DENIES = re.compile(r"(?:n't|\bnot|\bnever)\b(?!.*\bany ?(?:more|longer)\b)", re.IGNORECASE)
_PEOPLE = re.compile(r"^(?:(?:my|our) (?:[\w-]+ ){0,2}[\w-]+|(?-i:[A-Z])[\w'-]+)$", re.IGNORECASE)


def whole_clauses(sentence: str) -> list[str]:
    """Return the clauses of a statement that have a subject of their own and mean something without the others: ``I'm a
    vet and my wife teaches`` are two, "I live in Rome and work at the port" is one, and so is "I like Rome, it's big".
    What hangs on another clause stays with it, and what takes a denial back with that; an order goes."""
    if order := order_at(sentence):
        sentence = sentence[: order.start()]
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
