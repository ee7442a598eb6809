"""Scenes that are played in a conversation: what begins one, who has a part in it, and what ends it
(docs/rules/observe.md#scenes)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta

from neve.domain.records.markers import Scene
from neve.domain.times import parse
from neve.observers.extractive.english.orders import PLEASE
from neve.observers.extractive.english.vocabulary import any_of

PAUSE = timedelta(hours=12)
"""Nobody goes on with a scene that was left for so long."""
_QUOTATION = re.compile(r'"[^"]*"')
_ROLE = re.compile(
    r"\brole-?\s?play\b|^\s*(?:let's (?:play|pretend)|pretend|imagine|suppose|bedtime story|once upon a time)\b"
    r"|^\s*(?:you are|you're) (?:an?|my|the) .*\b(?:i am|i'm|i will|i want)\b"
    r"|\bin (?:my|our|the|this|a) (?:\w+ )?(?:game|story|novel|dream|campaign|movie|film|book|scene|role|play|show)\b"
    r"|^\s*(?:my|our|the) (?:\w+ )?(?:character|hero|heroine|protagonist|narrator)\b"
    r"|\b(?:i'm|i am) (?:your|the) (?:patient|customer|student|parrot|boss|prisoner|apprentice)\b",
    re.IGNORECASE,
)
_PARTS_FOR_BOTH = re.compile(
    rf"^(?:(?:ok|okay|so|now|hi|hey),? )*{PLEASE}"
    r"(?:let's|can we|could we|shall we|i(?:'d like| want) to|start(?: an?| the)?|do an?)?"
    r"(?: \w+){0,3}? ?\brole-?\s?play(?:ing)?\b(?! (?:games?|video|is|was)\b)"
    rf"|^{PLEASE}(?:let's pretend|pretend(?: that)? (?:we|i)\b)"
    r"|^\s*(?:you are|you're|you will be|you'll be|you play|pretend (?:that )?you(?:'re| are)"
    r"|imagine (?:that )?you(?:'re| are)) (?:an?|my|the) .*"
    r"\b(?:i am|i'm|i will be|i'll be|i play) (?:an?|your|the|one)\b"
    r"|^\s*(?:and )?(?:i'm|i am|i'll be|i will be|i play) (?:your|the) "
    r"(?:patient|customer|client|guest|student|parrot|boss|prisoner|apprentice)\b",
    re.IGNORECASE,
)
_PART_FOR_THE_LISTENER = re.compile(
    rf"^{PLEASE}(?:i want you to |from now on,? |for (?:now|today|this chat),? )?(?:you )?"
    r"(?:(?:act|behave|pose|talk to me|speak to me|answer|respond) (?:as|like)(?: if you (?:are|were))?"
    r"|(?:play|take(?: on)?|assume) the (?:role|part|persona) of|pretend (?:to be|(?:that )?you(?:'re| are))"
    r"|imagine (?:that )?you(?:'re| are)|be my)"
    r" (?!guest\b)(?:an?|my|the|our|[a-z]+)\b",
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
    """Whether a message may set a scene: most cannot, and are not read for it."""
    return _MAY_SET.search(text.replace("’", "'")) is not None


def is_role(sentence: str) -> bool:
    """Whether it sets or plays a scene; what follows in the message belongs to it."""
    bare = _QUOTATION.sub('""', sentence)
    return _ROLE.search(bare) is not None or _PARTS_FOR_BOTH.search(bare) is not None


def set_by(sentence: str, at: str) -> Scene | None:
    """The scene that goes on behind it. ``at``: when it was said."""
    bare = _QUOTATION.sub('""', sentence)
    if _PARTS_FOR_BOTH.search(bare):
        return Scene(at, both=True)
    return Scene(at, both=False) if _PART_FOR_THE_LISTENER.match(bare) else None


def set_among(spoken: Iterable[str], at: str) -> Scene | None:
    """By the sentences of a message: one in which both have a part, else one in which the listener has."""
    scenes = [scene for sentence in spoken if (scene := set_by(sentence, at))]
    return max(scenes, key=lambda scene: scene.both, default=None)


def is_over(sentence: str) -> bool:
    """``Let's stop the role-play``, ``In real life I …``"""
    return _OVER.search(sentence) is not None


def goes_on(scene: Scene | None, at: str) -> Scene | None:
    """A scene as it stands at ``at``, in stored form."""
    if scene is None or parse(at) - parse(scene.at) > PAUSE:
        return None
    return Scene(at, scene.both)
