"""Cuts a chat message into sentences that can be judged one by one: no code, no quotations, no bracketed asides, no
emoji, no greeting in front."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^\s*>.*$", re.MULTILINE)
_ASIDE = re.compile(r"\[[^\[\]\n]*\](?!\()")
_BULLET = re.compile(r"^\s*(?:[-*•‣]|\d{1,2}[.)])\s+")
_EMOJI = re.compile("[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0e\ufe0f\u200d\u20e3]+")
_BOUNDARY = re.compile(r"""(?<=[^\s])(?:[.!?…]+["'”’)]*|;)\s+(?=\S)""")
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|a\.m|p\.m|no|approx|inc|ltd|jr|sr|u\.s|u\.k)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_OPENER = re.compile(
    r"^(?:(?:hey|hi|hiya|hello|yo|yeah|yea|yep|yup|yes|oh|ohh|ooh|aw+|wow|whoa|well|so|ok|okay|sure|right|cool|great|nice"
    r"|awesome|perfect|absolutely|definitely|exactly|totally|indeed|true|thanks|thank you|thx|haha+|lol|ugh|hm+|btw"
    r"|by the way|anyway|also|and|but|plus|honestly|speaking of which|good morning|good evening)"
    r"(?:\s+(?:there|again|so much|a lot|everyone|all|man|dude|girl))*\s*(?:[,!.:…-]+\s*|\s+(?=i\b|i'|my\b|we\b|we'|our\b)))+",
    re.IGNORECASE,
)
_CLOSER = re.compile(r"[,\s]+(?:thanks|thank you|thx|please|lol|haha+|btw|you know|right|too)?[.!…\s]*$", re.IGNORECASE)
_QUESTION_TAIL = re.compile(
    r"(?:,|\s[-–—]|—|;|\s(?:and|so|but))\s*(?:(?:and|so|but|any|what|when|where|who|which|why|how|do|does|did|is|are|was|were"
    r"|can|could|would|should|will|have|has|right|isn't|aren't|don't|doesn't|won't|shall|got)\b)[^?]*\?+$",
    re.IGNORECASE,
)
LONGEST = 600
"""A longer "sentence" is pasted material, not something that was said."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """``text`` without its final mark. ``corrects``: it began with a word that takes something back."""

    text: str
    question: bool
    corrects: bool = False


def sentences(text: str, names: Collection[str] = ()) -> list[Sentence]:
    """The sentences of a message, in order. ``names`` are the speakers: a name called in front or behind is left out."""
    bare = _QUOTED_LINE.sub("", _FENCED.sub("\n", text.replace("’", "'")))
    found: list[Sentence] = []
    for line in _ASIDE.sub(" ", bare).splitlines():
        for part in _split(_BULLET.sub("", line)):
            sentence = _clean(part, names)
            if sentence and len(sentence.text) <= LONGEST:
                found.append(sentence)
    return found


def _split(line: str) -> list[str]:
    """At sentence ends that end one: not behind an abbreviation, nor at three dots that run on in lower case."""
    line = re.sub(r"\s+", " ", _EMOJI.sub(_as_stop, line)).strip()
    parts, start = [], 0
    for boundary in _BOUNDARY.finditer(line):
        end = boundary.end()
        head = line[start:end].rstrip()
        if _ABBREVIATION.search(head) or (head.endswith(("...", "…")) and line[end : end + 1].islower()):
            continue
        parts.append(head)
        start = end
    return [*parts, line[start:]]


def _as_stop(emoji: re.Match[str]) -> str:
    """An emoji ends a sentence when a capital follows; else it is a blank."""
    before = emoji.string[: emoji.start()].rstrip()
    after = emoji.string[emoji.end() :].lstrip()
    ends = bool(before) and before[-1] not in ".!?…,;:" and (not after or after[:1].isupper())
    return ". " if ends else " "


def _clean(part: str, names: Collection[str]) -> Sentence | None:
    text = part.strip(' \t"“”*_-–—')
    question = text.rstrip("\"'”)!.").endswith("?")
    if question and (tail := _QUESTION_TAIL.search(text)) and len(text[: tail.start()].split()) >= 4:
        text, question = text[: tail.start()], False
    text = text.rstrip('?!.…;, "”')
    text, corrects = _without_opener(text, names)
    text = _CLOSER.sub("", text).strip(" ,;:-")
    return Sentence(text, question, corrects) if text else None


_TAKES_BACK = re.compile(
    r"^(?:no|nope|sorry|wait|oops|correction|scratch that|my mistake|actually)\b[\s,:.!-]+", re.IGNORECASE
)


def _without_opener(text: str, names: Collection[str]) -> tuple[str, bool]:
    """The text without greetings, fillers and called names in front, and whether it takes something back."""
    called = "|".join(re.escape(name) for name in names if name)
    corrects = False
    while True:
        before = text
        text = _OPENER.sub("", text)
        if called:
            text = re.sub(rf"^(?:{called})\s*[,!.]+\s*|\s*,\s*(?:{called})$", "", text, flags=re.IGNORECASE)
        taken = _TAKES_BACK.sub("", text)
        corrects = corrects or taken != text
        text = taken
        if text == before:
            return text, corrects
