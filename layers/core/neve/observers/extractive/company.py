"""Says whether a conversation is one between people. A second speaker with a name may be a person, or an assistant that
was given a name: what counts is whether they tell of a life of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.observers.extractive.classifier import Kind
from neve.observers.extractive.english.clauses import (
    is_hypothetical,
    speaks_of_self,
    with_subject,
)
from neve.observers.extractive.english.sentences import Sentence, sentences
from neve.observers.extractive.english.vocabulary import ADVERB, any_of
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
_DID_A_TASK = re.compile(
    rf"\b(?:i|i'm|i've|i'd|i'll|i am|i have|i will|we|we've|we have)(?:\s+(?:{ADVERB}|going to|gonna|been))*\s+"
    + any_of(
        "find set found check checked checking look looked looking search searched searching read see saw seen make",
        "made did done do get got had have hear heard take took put pull pulled create created write wrote draft",
        "drafted compile compiled prepare prepared note noted update updated add added use used need want go show give",
        "gave work working plan review reviewed call called try tried trying think discovered received keep send sent",
        "book came remind hold include included propose start designed built changed learn learning",
    )
    + r"\b",
    re.IGNORECASE,
)
_AT_WORK = re.compile(
    r"\b(?:"
    + any_of(
        "ai assistant bot chatbot virtual helping assisting trained suggest recommend double-check",
        "language model|our (?:conversation|chat)",
    )
    + "|"
    + any_of(
        "test migration deployment build query script code file spreadsheet table column title paragraph draft slogan",
        "layout theme formula setting list page link deadline connection ticket order document option version report",
        "error result request number answer detail subscription database server",
    )
    + r"s?)\b",
    re.IGNORECASE,
)
"""Words for an assistant itself, and for the things that it works on for a user."""
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
    if sentence.question or is_hypothetical(text) or _AT_WORK.search(text):
        return False
    if _YOU.search(text) or not speaks_of_self(text):
        return False
    if _OF_A_LIFE.search(text) or _THEN.search(text):
        return True
    verdict = judge(text, dated=False, corrects=False, among_people=True, casual=False)
    return verdict is not None and (verdict.kind is Kind.SELF or not _DID_A_TASK.search(text))


def _serves(sentence: Sentence) -> bool:
    did_for_you = _DID_A_TASK.search(sentence.text) is not None and _YOU.search(sentence.text) is not None
    return did_for_you or _SERVES.search(sentence.text) is not None
