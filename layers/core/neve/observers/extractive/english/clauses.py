"""The clauses of a chat message as whole statements: what is about something that only the conversation explains, what
is only supposed, and the "I" that chat leaves out."""

from __future__ import annotations

import re

from neve.observers.extractive.english.verbs import is_past_form
from neve.observers.extractive.english.vocabulary import ADVERB, ADVERBS, FIRST_PERSON, TRAITS, any_of

_HYPOTHESIS = re.compile(
    r"^(?:imagine|suppose|what if|let's say|say i|pretend|assume|assuming)\b|\b(?:hypothetically|just kidding|j/k)\b"
    r"|\bif i were\b|^if\b.*(?:\b(?:would|could|were)\b|'d\b)"
    r"|\b(?:i|we)(?: have|'ve)? (?:almost|nearly) [a-z]+(?<!always)(?<!never)\b",
    re.IGNORECASE,
)
"""Also what nearly happened."""
_DANGLING = re.compile(
    r"^(?:(?:it|that|this|they|he|she|there|here)(?:'\w+)?|these|those|then|which|because|cause)\b"
    r"(?!\s+(?:is|are) (?:no|one|two|three|four|five|\d+)\b)",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(rf"\b{FIRST_PERSON}\b", re.IGNORECASE)


_HERS = "wife daughter mother mom mum sister grandma grandmother girlfriend aunt niece"
_HIS = "husband son father dad brother grandpa grandfather boyfriend uncle nephew"
_RELATIVE = re.compile(
    rf"\b[Mm]y (?:[\w-]+ )?(?P<who>(?P<she>{any_of(_HERS)})|(?P<he>{any_of(_HIS)})|partner|child|kid|baby|friend)\b"
    r"(?:,? (?P<name>[A-Z]\w+))?"
)
_ANOTHER = re.compile(
    r"\b(?:"
    + any_of(
        _HERS,
        _HIS,
        "partner spouse child children kid baby babies friend twin cousin fiance fiancee grandchild grandson",
        "granddaughter stepmother stepfather stepson stepdaughter parent sibling teacher nurse therapist",
        "vet boss manager colleague coworker neighbor neighbour classmate roommate flatmate nanny babysitter coach",
        "trainer tutor client customer patient guest tenant landlord landlady woman man girl boy lady guy person",
        "people somebody someone stranger toddler infant teenager student pupil",
        "cat kitten dog puppy pet horse pony rabbit hamster parrot",
        r"(?<!\b(?:to|at) the )(?:doctor|dentist)",
    )
    + r"s?|him|them|her(?=\W*$))\b",
    re.IGNORECASE,
)
"""Somebody else for whom "she" or "he" may stand, an animal too."""
_NO_NAME = re.compile(
    r"(?:I|OK|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Christmas|Easter"
    r"|January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
_BEGINS = re.compile(
    r"(?:"
    + FIRST_PERSON
    + "|"
    + ADVERB
    + "|"
    + any_of(
        "so and but well yes no today yesterday tonight tomorrow this last next on in at for since when while as if",
        "you the a an it it's there there's that that's here here's hi hey hello please sadly luckily unfortunately",
        "is are was can could do does what how because after before with",
    )
    + r")\b",
    re.IGNORECASE,
)
"""A first word that is no name, although it has a capital."""
_ILL = re.compile(
    r"^(?P<who>she|he)(?:'s| is| has (?=(?:an? |severe |bad )?[a-z]+ allergy\b))"
    rf"(?=\s*(?:(?:not|also|an?|type \d|severely|[a-z]+ly)\s+)*(?:{any_of(*TRAITS)}|[a-z]+ allergy)\b)",
    re.IGNORECASE,
)


def with_person(sentence: str, before: str) -> str:
    """What must not be missed of a relative whom the sentence before names: ``She's allergic to kiwi`` behind "My
    daughter Liv turned 6" -> ``My daughter Liv is allergic to kiwi``. Where that may speak of somebody else, too,
    nobody knows whom."""
    ill = _ILL.match(sentence)
    named = list(_RELATIVE.finditer(before)) if ill else []
    if ill is None or len(named) != 1 or _speaks_of_another(before, named[0]):
        return sentence
    other = "he" if ill["who"].lower() == "she" else "she"
    if named[0][other]:
        return sentence
    name = f" {named[0]['name']}" if named[0]["name"] else ""
    verb = "has" if "has" in ill[0].lower().split() else "is"
    return f"My {named[0]['who']}{name} {verb} {sentence[ill.end() :].lstrip()}"


def _speaks_of_another(sentence: str, relative: re.Match[str]) -> bool:
    """Whether of anybody or any animal beside the relative: ``My sister's cat``, ``My wife met Julia``."""
    head, rest = sentence[: relative.start()].lstrip(), sentence[relative.end() :]
    if rest.startswith("'s") or _ANOTHER.search(head) or _ANOTHER.search(rest):
        return True
    words = re.findall(r"[^\W\d_][\w']*", f"{head}{rest}")
    if head and (_BEGINS.match(head) or is_past_form(words[0].lower())):
        words = words[1:]
    return any(word[0].isupper() and not _NO_NAME.match(word) for word in words)


def is_hypothetical(sentence: str) -> bool:
    """What is only supposed, or said in jest."""
    return _HYPOTHESIS.search(sentence) is not None


def is_dangling(sentence: str) -> bool:
    """Whether the sentence is about something that an earlier one named."""
    return _DANGLING.search(sentence) is not None


def speaks_of_self(sentence: str) -> bool:
    """Whether the sentence has a first-person word in it."""
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
"""In front of a note: ``2pm took ibuprofen``."""


def without_dangling_start(sentence: str) -> str:
    """``It was tough, but I passed the exam`` -> ``I passed the exam``: a clause about "it" says nothing on its own."""
    clause = _SECOND_CLAUSE.search(sentence) if is_dangling(sentence) else None
    return sentence[clause.end() :] if clause else sentence


def with_subject(sentence: str) -> str:
    """The sentence with the "I" that chat leaves out: ``Finished the course`` -> ``I finished the course``."""
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
    """``Just sold my old phone``: a past form stands where the subject should, and not behind a figure: ``14 Rose
    Lane``."""
    if _NO_SUBJECT_LOST.search(sentence) or sentence[:1].isdigit():
        return False
    spoken = [word for word in re.findall(r"[a-z']+", sentence.lower()) if word not in ADVERBS]
    return len(spoken) > 1 and is_past_form(spoken[0]) and not spoken[0].endswith("n't")
