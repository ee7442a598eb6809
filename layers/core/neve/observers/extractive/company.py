"""Whether a conversation is one between people. A second speaker with a name may be a person, or an assistant that was
given a name: what counts is whether they tell of a life of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from neve.domain.records import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.observers.extractive.chatter import is_hypothetical, speaks_of_self, with_subject, without_dangling_start
from neve.observers.extractive.cues import assistant_did, judge
from neve.observers.extractive.sentences import Sentence, sentences
from neve.observers.extractive.vocabulary import ADVERB, FAMILY, any_of

_TOOLS = (EventType.TOOL_CALL, EventType.TOOL_RESULT)
_OF_A_PERSON = frozenset({"identity", "preference", "family"})
_OF_ANYBODY = frozenset({"habit", "event", "done", "decision", "ongoing", "plan"})
"""Kinds of statements that an assistant makes, too, about the work that it was given."""

_LIVED = re.compile(
    rf"\b(?:i|we|i've|we've|i have|we have)(?:\s+{ADVERB})*\s+"
    + any_of(
        "went visited attended met cooked baked ran hiked camped traveled travelled flew drove swam played painted",
        "watched celebrated volunteer volunteered perform performed participated competed danced slept ate drank moved",
        "adopted married graduated quit bought sold joined won lost broke hosted grew lived studied felt carved sewed",
        "rescued fostered decorated planted borrowed loved enjoyed missed wore caught taught raised coached",
        "got (?:married|engaged|divorced|promoted|hired|fired|accepted|home)|took (?:my|our|part|up)|ran into|used to",
    )
    + rf"\b|\b(?:i'm|i am|we're|we are|i feel|i felt|i've been)(?:\s+{ADVERB})*\s+"
    + any_of(
        "flying traveling travelling moving hosting training volunteering performing studying practicing mentoring",
        "exhausted tired nervous stressed heartbroken pregnant sick scared lonely",
        "busy (?:at|with my)|off to|excited and|a mix of|down to join",
    )
    + rf"\b|\bwhen (?:i|we) (?:was|were)\b|\bour\s+(?:\w+\s+)?{FAMILY}\b|\bmy\s+(?:[\w-]+\s+){{0,2}}(?:{FAMILY}|"
    + any_of(
        "job house home apartment flat garden yard kitchen car bike birthday wedding anniversary childhood health hair",
        "doctor school college hometown hobby hobbies vacation holiday dream dreams life passion career business",
        "studio store shop favorite favorites favourite favourites class classes goal goals own",
    )
    + r")\b",
    re.IGNORECASE,
)
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
"""What an assistant is, and what it works on for somebody."""
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
    """Whether the second speaker (``assistant_response``) is a person: has a name, uses no tools, and tells more of a
    life of their own than they offer services. Without a sign of either it is an assistant, as its events are
    called."""
    answers = [event for event in events if event.event_type is EventType.ASSISTANT_RESPONSE]
    if not any(event.name for event in answers) or any(event.event_type in _TOOLS for event in events):
        return False
    names = {event.name for event in events if event.name}
    said = [sentence for event in answers for sentence in sentences(event_text(event), names)]
    return sum(map(_tells_of_a_life, said)) > sum(map(_serves, said))


def _tells_of_a_life(sentence: Sentence) -> bool:
    text = with_subject(without_dangling_start(sentence.text))
    if sentence.question or is_hypothetical(text) or assistant_did(text) or _AT_WORK.search(text):
        return False
    if _YOU.search(text) or not speaks_of_self(text):
        return False
    if _LIVED.search(text) or _THEN.search(text):
        return True
    cue = judge(text, dated=False, corrects=False, among_people=True, casual=False)
    if cue and cue.kind in _OF_ANYBODY:
        return not _DID_A_TASK.search(text)
    return cue is not None and cue.kind in _OF_A_PERSON


def _serves(sentence: Sentence) -> bool:
    did_for_you = assistant_did(sentence.text) and _YOU.search(sentence.text) is not None
    return did_for_you or _SERVES.search(sentence.text) is not None
