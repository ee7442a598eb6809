"""Recognises scenes that are played in a conversation: what begins one, who has a part in it, and what ends it
(docs/rules/observe.md#scenes)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta

from neve.domain.english import PLEASE, any_of
from neve.domain.records.markers import Scene
from neve.domain.times import parse

PAUSE = timedelta(hours=12)
"""After so long a pause a scene is over."""
_QUOTATION = re.compile(r'"[^"]*"')
_PEOPLE = (
    any_of("guest receptionist concierge waiter waitress customer chef bartender barista host hostess"),
    any_of("customer client shopkeeper cashier seller salesman salesperson buyer agent vendor clerk owner"),
    any_of("doctor patient nurse therapist psychologist psychiatrist dentist pharmacist surgeon"),
    any_of("teacher student pupil tutor professor headmaster"),
    any_of("interviewer interviewee candidate applicant recruiter boss employee manager"),
    any_of("landlord landlady tenant"),
    any_of("guide tourist traveller traveler pilot passenger officer agent attendant"),
    any_of("judge lawyer detective suspect witness criminal"),
    any_of(
        "player wizard witch knight king queen prince princess dragon pirate captain sailor hero villain prisoner",
        "guard warrior elf goblin vampire parrot master apprentice",
        "dungeon master|game master",
    ),
)
"""Who meets at one place, or in one game: a part for each of two."""
_PRAISING = any_of("great good best better amazing awesome wonderful fantastic excellent brilliant lovely")
_ADJECTIVES = rf"(?:(?!{_PRAISING}\b)[\w'-]+ ){{0,3}}?"
_YOU_AND_I = "|".join(
    rf"(?:an?|my|the) {_ADJECTIVES}{people}\b.*\b(?:i am|i'm|i will be|i'll be|i play)"
    rf" (?:an?|your|the|one) {_ADJECTIVES}{people}\b"
    for people in _PEOPLE
)
_NO_PRAISE = (
    r"(?!(?:(?:real|true|absolute|total|very) )?"
    rf"(?:{_PRAISING}|lifesaver|genius|star|legend|gem|angel|treasure|blessing)\b)"
)
_MY_PART = any_of("patient customer client guest student parrot boss prisoner apprentice")
_I_AM = (
    rf"(?:your {_MY_PART}\b(?=\W*$)|the (?!boss\b){_MY_PART}\b(?=\W*$)"
    rf"|(?:your|the) {_MY_PART},?(?: and)? (?:you're|you are|you'll be|you will be|you play) (?:an?|my|the)\b)"
)
"""``I'm the patient``; not "I'm the patient one in my family"."""
_ROLE = re.compile(
    r"(?<!\babout )\brole-?\s?play\b(?! (?:less|more often|games?)\b)"
    r"|^\s*(?:let's (?:play|pretend)|pretend|imagine|suppose|bedtime story|once upon a time)\b"
    rf"|^\s*(?:you are|you're) (?:an?|my|the) {_NO_PRAISE}.*\b(?:i am|i'm|i will|i want)\b"
    r"|\bin (?:my|our|the|this|a) (?:\w+ )?(?:game|story|novel|dream|campaign|movie|film|book|scene|role|play|show)\b"
    r"|^\s*(?:my|our|the) (?:\w+ )?(?:character|hero|heroine|protagonist|narrator)\b"
    rf"|\b(?:i'm|i am) {_I_AM}",
    re.IGNORECASE,
)
_ROLE_PLAY = r"role-?\s?play(?:ing)?\b"
_WITH_OR_AS = r"(?:with (?:me|you)\b|as (?:an?|the|my|your|if)\b|where\b|in which\b|an? (?!bit\b|little\b|lot\b))"
_PARTS_FOR_BOTH = re.compile(
    rf"^(?:(?:ok|okay|so|now|hi|hey),? )*{PLEASE}(?:"
    r"(?:let's|can we|could we|shall we|start|begin|do|play)"
    r"(?: (?:do|have|start|try|begin|continue|play))?(?: (?:an?|the|our|some|another)(?: \w+)?)? "
    rf"{_ROLE_PLAY}(?! (?:games?|video|is|was|less|later|tomorrow|another time)\b)"
    r"|i(?:'d like| want) to (?:(?:do|have|start|try|begin|continue|play) )?(?:(?:an?|the|our|some|another) )?"
    rf"{_ROLE_PLAY}(?=\W*$|,? (?:now\b|please\b|{_WITH_OR_AS}))"
    rf"|{_ROLE_PLAY}(?=\W*$|:|,? (?:{_WITH_OR_AS}|that\b|scenario\b|time\b)))"
    rf"|^{PLEASE}(?:let's pretend|pretend)(?: that)? (?:we|i)(?:'re|'m| are| am) (?:an?|the|your|my|(?!on|in|at)\w+s)\b"
    r"|^\s*(?:pretend|imagine) (?:that )?you(?:'re| are) (?:an?|my|the) .*"
    r"\b(?:i am|i'm|i will be|i'll be|i play) (?:an?|your|the|one)\b"
    r"|^\s*(?:let's (?:play|pretend)|pretend|imagine)\b.*\byou(?:'re| are|'ll be| will be| play) .*"
    r"\b(?:i am|i'm|i will be|i'll be|i play) "
    r"|^\s*let's (?:play|pretend)\b.*\b(?:i am|i'm|i will be|i'll be|i play) .*\byou(?:'re| are|'ll be| will be| play) "
    rf"|^\s*(?:you are|you're|you will be|you'll be|you play) (?:{_YOU_AND_I})"
    rf"|^\s*(?:and )?(?:i'm|i am|i'll be|i will be|i play) {_I_AM}",
    re.IGNORECASE,
)
_PART_FOR_THE_LISTENER = re.compile(
    rf"^{PLEASE}(?:i want you to |from now on,? |for (?:now|today|this chat),? )?(?:you )?"
    r"(?:(?:talk to me|speak to me|answer|respond) as(?: if you (?:are|were))? (?:an?|my|the|our)"
    r"|(?:(?:act|behave|pose) (?:as|like)(?: if you (?:are|were))?"
    r"|(?:play|take(?: on)?|assume) the (?:role|part|persona) of|pretend (?:to be|(?:that )?you(?:'re| are))"
    r"|imagine (?:that )?you(?:'re| are)) (?:an?|my|the|our|(?-i:[A-Z]\w+))"
    r"|be my (?!guest\b)[a-z]+)\b",
    re.IGNORECASE,
)
_PLAYED = any_of("playing acting pretending game scene character role persona play act", r"role-?\s?play(?:ing)?")
_OVER = re.compile(
    rf"\b(?:stop|end|ends|finish|quit|leave|exit|enough(?: of| with)?|no more|done(?: with)?|drop|forget)"
    rf"(?: \w+){{0,2}}? {_PLAYED}\b|\b{_PLAYED} (?:is|it's) over\b|^\W*(?:end scene|ooc)\b"
    r"|\bout of (?:character|role)\b"
    r"|\bin real life\b|\bback to (?:reality|real life|normal)\b|\bbe yourself again\b",
    re.IGNORECASE,
)


_MAY_SET = re.compile(
    r"role-?\s?play|pretend|imagine|\b(?:act|behave|pose|talk|speak|answer|respond)\b|\b(?:role|part|persona) of\b"
    r"|\bbe my\b|\byou(?:'ll be| are|'re| will be| play)\b|\bi(?:'m| am|'ll be| will be| play) (?:your|the)\b",
    re.IGNORECASE,
)


def may_set(text: str) -> bool:
    """Say whether a message may set a scene: most cannot, and are not read for it."""
    return _MAY_SET.search(text.replace("’", "'")) is not None


def is_role(sentence: str) -> bool:
    """Say whether a sentence sets or plays a scene; what follows in the message belongs to it."""
    bare = _QUOTATION.sub('""', sentence)
    return _ROLE.search(bare) is not None or _PARTS_FOR_BOTH.search(bare) is not None


def set_by(sentence: str, at: str) -> Scene | None:
    """Return the scene that goes on behind the sentence. ``at``: when it was said."""
    bare = _QUOTATION.sub('""', sentence)
    if _PARTS_FOR_BOTH.search(bare):
        return Scene(at, both=True)
    return Scene(at, both=False) if _PART_FOR_THE_LISTENER.match(bare) else None


def set_among(spoken: Iterable[str], at: str) -> Scene | None:
    """Return the scene that the sentences of a message set: one in which both have a part, else one in which the
    listener has."""
    scenes = [scene for sentence in spoken if (scene := set_by(sentence, at))]
    return max(scenes, key=lambda scene: scene.both, default=None)


def is_over(sentence: str) -> bool:
    """Say whether a sentence ends a scene: ``Let's stop the role-play``, ``In real life I …``"""
    return _OVER.search(sentence) is not None


def goes_on(scene: Scene | None, at: str) -> Scene | None:
    """Return the scene as it stands at ``at``, in stored form."""
    if scene is None or parse(at) - parse(scene.at) > PAUSE:
        return None
    return Scene(at, scene.both)
