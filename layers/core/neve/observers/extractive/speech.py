"""Separates the user's own words in a message from those of others: a text to be translated or rewritten, what another
person says or wrote, and what a role says in a game."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from neve.domain.compact.extract import sentences_of
from neve.domain.librarian.looking import names_in
from neve.domain.observe.scenes import goes_on, is_over, is_role, set_among, set_by
from neve.domain.observe.unwanted import wanted_sentences
from neve.domain.records.markers import Scene
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.observers.extractive.english.handed_over import SALUTATION, TEXT_NOUN, parts_of
from neve.observers.extractive.english.headings import is_heading
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
_OWN_HEAD = re.compile(
    rf"\b{FIRST_PERSON}\b|^\W*(?:{_PLEASE})"
    + any_of(
        "remember note fyi important update correction reminder context background edit also ps p.s question problem",
        "status plan goal fact facts",
        "for the record|note to self|keep in mind|one thing|one more thing|just so you know",
        "bear in mind|make a note|don't forget|do not forget",
        "the (?:problem|thing|issue|plan)|my (?:question|problem)",
    )
    + r"\b",
    re.IGNORECASE,
)
_SPEAKS = re.compile(
    r"\b"
    + any_of("says? said reads? wrote writes? states? claims? goes begins? sings? asked told replied quote quoted put")
    + r"\b[^:]*$",
    re.IGNORECASE,
)
_SOMEBODY = re.compile(
    r"\b"
    + any_of(
        "wife husband partner girlfriend boyfriend mother mom mum father dad sister brother son daughter aunt uncle",
        "cousin friend boss manager colleague coworker neighbor neighbour teacher doctor nurse therapist patient",
        "client customer guest host waiter interviewer interviewee narrator speaker character man woman boy girl",
        "person user assistant bot player participant witness",
    )
    + r"\b",
    re.IGNORECASE,
)
"""Words that call a person by what they are to others: ``Family doctor``"""
_A_TEXT = re.compile(rf"\b{TEXT_NOUN}s?\b(?! short\b)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_][\w'-]*")
_TOLD = re.compile(
    r"\b(?:update|updates|news|note|notes|plan|plans|question|reminder|facts?|context)\s*$", re.IGNORECASE
)
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
    r'(?:^|(?<=[.!?]\s))[ \t]*(?:"[^"\n]*"|“[^“”\n]*”)(?=[.!?]*(?:\s*$|\s+[A-Z"“]))',
    re.MULTILINE,
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
    if match is None or _OF_SELF.search(match["said"]) is None or is_heading(match["head"]):
        return False
    if _OWN_HEAD.search(match["head"]):
        return _SPEAKS.search(match["head"]) is not None
    return _may_speak(match["head"])


def _may_speak(head: str) -> bool:
    """Say whether the words before a colon can be a name or a person, or show that a text of another follows. ``By the
    way`` and ``Change of plan`` do not."""
    words = _WORD.findall(head)
    if _TOLD.search(head):
        return False
    few = len(words) < _MIN_WORDS_OF_HEAD or (len(words) == _MIN_WORDS_OF_HEAD and head.islower())
    if few or all(word[0].isupper() or word[0].isdigit() for word in words):
        return True
    return any(form.search(head) for form in (_SPEAKS, _SOMEBODY, _A_TEXT)) or is_question(head) or is_order(head)


def quotes_another(sentence: str) -> bool:
    """Say whether the first person speaks in a sentence inside a quotation only."""
    return _QUOTES_OF_OTHERS.search(sentence) is not None and _OF_SELF.search(_QUOTATION.sub("", sentence)) is None


def own_events(events: Sequence[Event]) -> list[Event]:
    """Return what a session says of the user: their messages without text that they hand over, scenes that they play,
    and what they asked not to have remembered. A message of which nothing is left is left out; what others said
    stays."""
    parts: set[str] = set()
    scene: Scene | None = None
    left: list[Event] = []
    for event in events:
        if event.event_type is not EventType.USER_MESSAGE:
            left.append(event)
            continue
        spoken, (own, scene) = sentences_of(event_text(event)), _own(event, parts, scene)
        if own:
            left.append(event if own == spoken else replace(event, content="\n".join(own)))
    return left


def _own(event: Event, parts: set[str], scene: Scene | None) -> tuple[list[str], Scene | None]:
    """Return the user's sentences up to the one with which a scene begins, or goes on: one in which the user speaks as
    a part of it; and the scene that goes on behind it. ``parts``: the names in the scenes so far. ``scene``: from
    before."""
    spoken = wanted_sentences(sentences_of(own_words(event_text(event), surely=True)))
    scene = goes_on(scene, event.created_at)
    own: list[str] = []
    for n, sentence in enumerate(spoken):
        begun = set_by(sentence, event.created_at)
        if scene and is_over(sentence):
            scene = None
        elif begun and not begun.both:
            scene = begun
        elif is_role(sentence):
            parts.update(name for one in spoken[n:] for name in names_in(one))
            return own, set_among(spoken[n:], event.created_at) or scene
        elif _speaks_as(sentence, parts):
            return own, scene
        elif scene is None and not quotes_another(sentence):
            own.append(sentence)
    return own, scene


def _speaks_as(sentence: str, parts: set[str]) -> bool:
    return any(re.search(rf"\b(?:I am|I'm|[Mm]y name is) {re.escape(name)}\b", sentence) for name in parts)
