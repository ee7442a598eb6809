"""Separates the user's own words in a message from those of others: a text to be translated or rewritten, what another
person says or wrote, and what a role says in a game."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from neve.domain.compact.extract import sentences_of
from neve.domain.observe.scenes import goes_on, is_over, is_role, set_among, set_by
from neve.domain.observe.unwanted import wanted_sentences
from neve.domain.records.markers import Scene
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.observers.extractive.english.days import DAY_NAME, MONTH_DAY
from neve.observers.extractive.english.handed_over import SALUTATION, TEXT_NOUN, parts_of
from neve.observers.extractive.english.orders import is_order, is_question
from neve.observers.extractive.english.source_code import outside_source_code
from neve.observers.extractive.english.vocabulary import FIRST_PERSON, any_of

_PLEASE = r"(?:(?:please|now|can you|could you|would you|help me(?: to)?)\s+)*"
_TASK = any_of(
    "translate paraphrase proofread rewrite rephrase reword correct edit summarize summarise conjugate complete finish",
    "continue improve polish shorten check classify analyze analyse transcribe write draft generate compose",
    "how (?:do|would|can) (?:you|i) say|is (?:this|it|the sentence|the following) (?:correct|right|grammatical)",
)
_GIVEN_TEXT = re.compile(rf"^\s*{_PLEASE}{_TASK}\b[^:\n]{{0,120}}(?::|\b(?:below|following)\b[^\n]*\n)", re.IGNORECASE)
"""A task, and behind the colon or the end of its line the text that it is about, to the end of the message."""
_HEAD = re.compile(r"^(?P<head>[^:\n]{1,80}):\s+(?P<said>.*)$")
_TOPIC = any_of(
    "remember note notes fyi important updates? news correction reminder context background edit also ps p.s question",
    "problem status plans? goals? facts? allergy allergies diet food health medications? medicine meds sleep mood pain",
    "symptoms? exercise work job hobby hobbies family home studies travel results? breakfast lunch dinner know mind",
    "record self today tomorrow yesterday tonight morning afternoon evening thing issue forget",
    rf"{DAY_NAME}|{MONTH_DAY}|\d{{1,2}}(?:[:.]\d\d)?\s?[ap]m|tl;?dr",
)
_OWN_HEAD = re.compile(
    rf"\b{FIRST_PERSON}\b|^\W*(?:[\w']+ )*?{_TOPIC}(?=\W*$| (?:of|for|from|to|about|with|that)\b)", re.IGNORECASE
)
"""Words before a colon that name no speaker: ``Work``, ``Quick update``, "Monday"."""
_SPEAKS = re.compile(
    r"\b"
    + any_of("says? said reads? wrote writes? states? claims? goes begins? sings? asked told replied quote quoted put")
    + r"\b[^:]*$",
    re.IGNORECASE,
)
_SOMEBODY = re.compile(
    r"\b"
    + any_of(
        "wife husband partner mother mom father dad sister brother friend boss colleague doctor teacher client",
        "customer interviewer narrator speaker character man woman user assistant",
    )
    + rf"\b|\b{TEXT_NOUN}s?\b(?! short\b)",
    re.IGNORECASE,
)
"""Words that call a person by what they are to others, and texts: ``Family doctor``, ``Sentence 3``"""
_WORD = re.compile(r"[^\W_][\w'-]*")
_MIN_WORDS_OF_HEAD = 2
"""A single word may be a name, and two where nobody writes capitals."""
_OF_SELF = re.compile(rf"\b{FIRST_PERSON}\b", re.IGNORECASE)
_SAYS = any_of("say says said read reads wrote write writes texted emailed messaged sent posted asked told replied")
_INTRODUCES = re.compile(
    rf"^(?=.{{1,200}}$)(?!.*\b(?:i|we|i've|we've)(?: \w+)? {_SAYS}\b)(?:.*\b(?<!\bmy )(?P<written>"
    + any_of("email e-mail message letter review post comment transcript article lyrics")
    + rf")\b|.*\b{_SAYS}\b)[^:\n]{{0,60}}:\s*$",
    re.IGNORECASE,
)
"""A line that ends in a colon, behind which somebody else speaks: ``My friend wrote me this:``"""
_SIGN_OFF = re.compile(
    r"^\s*(?:(?:kind|best|warm) (?:regards|wishes)|all the best|best|regards|sincerely|cheers|love"
    r"|yours(?: \w+)?|thanks|thank you),?\s*$",
    re.IGNORECASE,
)
_LOG_LINE = re.compile(
    r"^\W*(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d\s"
    r"|(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE|CRITICAL)\b[\]:]?\s)"
)
_TIME = r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:\s?[ap]\.?m\b\.?)?"
_CHAT_LINE = re.compile(
    rf"^\W*(?:\d[\d/.-]{{5,9}},?\s+)?{_TIME}\]?(?:\s+[-–—])?\s+(?P<head><[^<>]{{1,40}}>|[^:\n]{{1,40}}:)\s+(?P<said>.*)$"
    r"|^(?!(?:today|yesterday|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b)"
    rf"(?P<name>[^\W\d_][\w.-]*(?: [\w.-]+){{0,2}})(?:, {_TIME}| [\[(]{_TIME}[\])]):\s+(?P<then>.*)$",
    re.IGNORECASE,
)
"""A line of a chat that was pasted: ``[12/03/26, 10:02:11] Mary: …``, ``10:02 <mary> …``, ``Mary, 10:02: …``"""
_MAIL_HEADER = re.compile(r"^\s*From:\s.*@", re.IGNORECASE)
_QUOTED_ALONE = re.compile(
    r'(?:^|(?<=[.!?]\s))[ \t]*(?:"[^"\n]*"|“[^“”\n]*”)(?=[.!?]*(?:\s*$|\s+[A-Z"“]))', re.MULTILINE
)
"""A quotation that is no part of a sentence."""
_QUOTATION = re.compile(r'"[^"]*"')
_QUOTES_OF_OTHERS = re.compile(r'"[^"]*\b' + FIRST_PERSON + r'\b[^"]*"', re.IGNORECASE)


def own_words(text: str, *, surely: bool = False) -> str:
    """Return a message without the text that it only hands over, and without lines that another person speaks.
    ``surely``: also without what stands behind a question or an order, where nobody knows whose it is."""
    task = _GIVEN_TEXT.search(text)
    if task:
        return ""
    parts = parts_of(text)
    text = parts.surely_own if surely else parts.own
    lines = _drop_letters(list(outside_source_code(_without_quotations(text).splitlines())))
    return "\n".join(
        line for line in _drop_introduced(lines) if not (_LOG_LINE.match(line) or _spoken_by_another(line))
    )


def _without_quotations(text: str) -> str:
    """Remove the quotations in which a first person speaks, unless nothing else is left."""
    left = _QUOTED_ALONE.sub(lambda quoted: "" if _OF_SELF.search(quoted[0]) else quoted[0], text)
    return left if any(map(str.isalnum, left)) else text


def _drop_letters(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines without a letter behind other words, from its salutation to its signature, or to the end. A
    message that begins with a salutation is a letter to the assistant."""
    inside = begun = False
    signed = 0
    for line in lines:
        if not inside and begun and SALUTATION.match(line):
            inside = True
        if not inside:
            begun = begun or bool(line.strip())
            yield line
        signed += bool(signed and line.strip()) or bool(inside and _SIGN_OFF.match(line))
        if signed > 1:
            inside, signed = False, 0


def _drop_introduced(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines without what is said behind a line that lets another person speak: up to the end of the
    paragraph, and to the end of the message if that text is written or has the head of a mail."""
    introduced = written = spoken = False
    for line in lines:
        if not line.strip():
            introduced = introduced and (written or not spoken)
        elif introduced:
            spoken = True
        if not introduced:
            yield line
        if head := _INTRODUCES.match(line):
            introduced, spoken, written = True, False, written or head["written"] is not None
        elif _MAIL_HEADER.match(line):
            introduced = written = True


def _spoken_by_another(line: str) -> bool:
    bare = _QUOTATION.sub('""', line)
    if (chat := _CHAT_LINE.match(bare)) and _OF_SELF.search(chat["said"] or chat["then"] or ""):
        return chat["head"] is None or _OWN_HEAD.search(chat["head"]) is None
    match = None if is_role(bare) else _HEAD.match(bare)
    return match is not None and _OF_SELF.search(match["said"]) is not None and _may_speak(match["head"])


def _may_speak(head: str) -> bool:
    """Say whether the words before a colon can be a name or a person, or show that a text of another follows. ``By the
    way`` and ``Change of plan`` do not."""
    if _SPEAKS.search(head) or _OWN_HEAD.search(head):
        return _SPEAKS.search(head) is not None
    words = _WORD.findall(head)
    few = len(words) < _MIN_WORDS_OF_HEAD or (len(words) == _MIN_WORDS_OF_HEAD and head.islower())
    named = few or all(word[0].isupper() or word[0].isdigit() for word in words)
    return named or _SOMEBODY.search(head) is not None or is_question(head) or is_order(head)


def quotes_another(sentence: str) -> bool:
    """Say whether the first person speaks in a sentence inside a quotation only."""
    return _QUOTES_OF_OTHERS.search(sentence) is not None and _OF_SELF.search(_QUOTATION.sub("", sentence)) is None


def own_events(events: Sequence[Event]) -> list[Event]:
    """Return what a session says of the user: their messages without text that they hand over, scenes that they play,
    and what they asked not to have remembered. A message of which nothing is left is left out; what others said
    stays."""
    scene: Scene | None = None
    left: list[Event] = []
    for event in events:
        if event.event_type is not EventType.USER_MESSAGE:
            left.append(event)
            continue
        spoken = sentences_of(event_text(event))
        wanted = wanted_sentences(sentences_of(own_words(event_text(event), surely=True)))
        said, scene = outside_scenes(wanted, goes_on(scene, event.created_at), event.created_at)
        if own := [wanted[n] for n, played in said if not played]:
            left.append(event if own == spoken else replace(event, content="\n".join(own)))
    return left


def outside_scenes(spoken: Sequence[str], scene: Scene | None, at: str) -> tuple[list[tuple[int, bool]], Scene | None]:
    """Return the places of the user's own sentences in a message, up to the one with which a role begins, each with
    whether it is said to a listener who plays a part; and the scene behind the message. In a scene in which both have
    a part the user does not speak for themselves."""
    own: list[tuple[int, bool]] = []
    for n, sentence in enumerate(spoken):
        begun = set_by(sentence, at)
        if scene and is_over(sentence):
            scene = None
        elif is_role(sentence):
            return own, set_among(spoken[n:], at) or scene
        elif begun:
            scene = begun
        elif not (quotes_another(sentence) or (scene and scene.both)):
            own.append((n, scene is not None))
    return own, scene
