"""Says whether a conversation is one between people. A second speaker with a name may be a person, or an assistant that
was given a name: what counts is whether they tell of a life of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.observers.extractive.english.clauses import is_hypothetical, speaks_of_self, with_subject
from neve.observers.extractive.english.sentences import Sentence, sentences
from neve.observers.extractive.english.vocabulary import any_of
from neve.observers.extractive.judgement import judge

_TOOLS = (EventType.TOOL_CALL, EventType.TOOL_RESULT)

_OF_A_LIFE = re.compile(
    r"\bwhen (?:i|we) (?:was|were)\b|\b(?:my|our)\s+(?:[\w-]+\s+){0,2}"
    + any_of(
        "wife husband partner fiancé fiancée girlfriend boyfriend mother mom mum father dad parents sister brother son",
        "daughter kids children baby grandma grandpa grandmother grandfather aunt uncle cousin niece nephew family",
        "friend friends roommate flatmate neighbor neighbour boss colleague colleagues coworker dog cat home house",
        "apartment flat garden kitchen car bike birthday wedding childhood health hair doctor school college",
        "hometown hobby vacation holiday job career",
    )
    + r"s?\b",
    re.IGNORECASE,
)
"""People, animals and things that a person has, and an assistant does not."""
_THEN = re.compile(
    r"\b(?:yesterday|ago|recently|as a kid|(?:last|past|this) "
    r"(?:night|morning|week|weekend|month|year|summer|winter|spring|fall|autumn|\w+day))\b",
    re.IGNORECASE,
)
_DID = re.compile(
    r"\bi(?:'m|'ve|'d|'ll| am| have| will)?(?: \w+)? (?:an ai\b|found|check|look|search|read|ma[dk]e|ran|took|take|put"
    r"|creat|wrote|draft|compil|prepar|noted|updat|add|us(?:e|ing)|book|sen[dt]|compar|review|suggest|recommend|hope"
    r"|love that)",
    re.IGNORECASE,
)
"""Things that an assistant says it does."""
_SERVES = re.compile(
    r"\b(?:how|what) (?:can|may|could) i (?:help|assist|do for)\b"
    r"|\b(?:would you like|do you want|if you'd like|if you want) me to\b"
    r"|\b(?:shall|should) i (?:book|send|add|set|order|hold|check|look|draft|write|remind|start|go ahead)\b"
    r"|\banything else (?:i can help|you)\b|\blet me (?:check|look|pull|see what)\b"
    r"|\bi can (?:also )?(?:book|hold|send|draft|look|check|help you|remind|set|add|write|order|suggest|explain)\b"
    r"|\b(?:i'll|i will|i've|i have) (?:note|noted|remember|make a note|made a note|keep (?:it|that|my|answers|them))\b"
    r"|^(?:noted|understood|certainly|here (?:is|are) (?:the|your|some|a few|two|three)|here's (?:what|how|your))\b",
    re.IGNORECASE,
)
_YOU = re.compile(r"\b(?:you|your|you're|yours)\b", re.IGNORECASE)


def among_people(events: Sequence[Event]) -> bool:
    """Say whether the second speaker (``assistant_response``) is a person: has a name, uses no tools, and tells more of
    a life of their own than they offer services. Without a sign of either it is an assistant, as its events are
    called."""
    answers = [event for event in events if event.event_type is EventType.ASSISTANT_RESPONSE]
    if not any(event.name for event in answers) or any(event.event_type in _TOOLS for event in events):
        return False
    names = {event.name for event in events if event.name}
    spoken = [sentence for event in answers for sentence in sentences(event_text(event), names)]
    return sum(map(_is_about_a_life, spoken)) > sum(map(_serves, spoken))


def _is_about_a_life(sentence: Sentence) -> bool:
    text = with_subject(sentence.text)
    if sentence.question or is_hypothetical(text) or _YOU.search(text) or not speaks_of_self(text):
        return False
    verdict = judge(text, dated=False, corrects=False, among_people=True, casual=False)
    return any(sign.search(text) for sign in (_OF_A_LIFE, _THEN)) or (verdict is not None and not _DID.search(text))


def _serves(sentence: Sentence) -> bool:
    return _SERVES.search(sentence.text) is not None
