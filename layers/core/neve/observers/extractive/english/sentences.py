"""Cuts a chat message into sentences that can be judged one by one: no code, no quotations, no bracketed asides, no
emoji, no greeting in front."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from neve.domain.languages import ENGLISH, language_of
from neve.domain.observe.unwanted import wanted_sentences
from neve.domain.privacy.detectors import REMOVED
from neve.observers.extractive.english.orders import is_order
from neve.observers.extractive.english.vocabulary import FIRST_PERSON, any_of

MAX_SENTENCE = 600
"""A longer "sentence" is pasted material, not something that was said, unless it can be read in parts: what was
dictated has no full stops."""

_GAP = "\ue000"
"""Stands for what the screen removed (docs/rules/privacy.md)."""
_STATE = re.compile(r"(?:i'm|i am|im|i have|i've got|my)\b", re.IGNORECASE)
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_ASIDE = re.compile(r"\[[^\[\]\n]*\](?!\()")
_BULLET = re.compile(r"^\s*(?:[-*•‣]|\d{1,2}[.)])\s+")
_EMPHASIS = re.compile(r"\*\*|__(?=\w)|(?<=\w)__")
"""Marks of emphasis in Markdown."""
_EMOJI = re.compile("\\s*[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0e\ufe0f\u200d\u20e3]+\\s*")
_EMOTICON = re.compile(r"[:;=](?<!\S[:;=])['-]?[()DPp/|]+(?=\s|$)")
_BOUNDARY = re.compile(r"""[.!?…](?<![.!?…]{2})(?:(?<=\S.)|[.!?…])[.!?…]*+["'”’)]*+\s++(?=\S)|;(?<=\S;)\s++(?=\S)""")
"""Both begin with the characters that are looked for, because a pattern that first looks behind is tried at every
place; and with the first mark of a run, because a page of dots would be read once for each of them."""
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|a\.m|p\.m|no|approx|inc|incl|excl|ltd|jr|sr|u\.s|u\.k"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)|\b[A-Z])\.$",
    re.IGNORECASE,
)

_BEFORE_A_SMALL_LETTER = re.compile(
    r"\b(?:rd|ave|blvd|ln|apt|dept|tel|min|max|temp|est|ca|resp|mg|kg|km|ml)\.$", re.IGNORECASE
)
"""They may end a sentence, too: ``12 Mill Rd. in Leeds``, "I live at 12 Mill Rd. It's old"."""
_MAX_ENDING = 12

_INTERJECTION = any_of(
    "hey hi hiya hello yo yeah yea yep yup yes oh ohh ooh aw+ wow woah whoa well so ok okay sure right cool great",
    "nice awesome perfect absolutely definitely exactly totally indeed true thanks thx haha+ lol ugh hm+ btw anyway",
    "also and but plus honestly",
    "thank you|by the way|speaking of which|good morning|good evening",
)
_OPENER = re.compile(
    rf"^(?:{_INTERJECTION}(?:\s+(?:there|again|so much|a lot|everyone|all|man|dude|girl))*\s*"
    r"(?:[,!.:…-]+\s*|\s+(?=i\b|i'|my\b|we\b|we'|our\b)))+",
    re.IGNORECASE,
)
_GREETED_NAME = re.compile(
    r"^(?:[Hh]ey|[Hh]i|[Hh]ello|[Tt]hanks(?: so much| a lot)?|[Tt]hank you(?: so much)?|[Ww]ow|[Yy]eah|[Yy]es|[Yy]ep"
    r"|[Aa]ww?|[Cc]ongrats),?\s+[A-Z][a-z]+\s*[,!.]+\s*"
)
_CLOSER = re.compile(
    r"[,\s]+(?:thanks|thank you|thx|please|lol|haha+|btw|you know|right"
    r"|(?:and |so )?(?:please )?(?:remember|note|don't forget|keep in mind) (?:that|this|it))?[.!…\s]*$",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^(?!.*\b(?:remember|note|important|record|fyi|mind|forget)\b.*:)(?P<head>[^\s:]+(?: [^\s:]+){0,4}?):\s+"
    rf"(?={FIRST_PERSON}\b)",
    re.IGNORECASE,
)
"""What stands before the colon in notes about oneself: ``Allergies: I can't eat nuts``."""
_QUESTION_TAIL = re.compile(
    r"(?:,|\s[-–—]|—|;|\s(?:and|so|but))\s*"
    + any_of(
        "and so but any what when where who which why how do does did is are was were can could would should will have",
        "has right isn't aren't don't doesn't won't shall got",
    )
    + r"\b[^?]*\?+$",
    re.IGNORECASE,
)
_RUN_ON = re.compile(
    rf",?\s+(?=(?:and|but|so|also|then|because)\s+(?:(?:and|so|also|then)\s+)?{FIRST_PERSON}\b)", re.IGNORECASE
)
_CONDITION = re.compile(r"(?:(?:and|but|so|or|ok|okay|hey|hi),? )?(?:if|unless|in case)\b", re.IGNORECASE)
"""``If I move to Spain, do I need a visa?`` only asks."""
_MIN_WORDS_BEFORE_TAIL = 4
_MIN_WORDS_OF_STATE = 2
"""``I'm vegan, what can I eat?``"""
_GROUND = (
    r"^(?:(?:as|being) (?P<am>(?:an?|someone)\s(?!"
    + any_of("example result rule test whole start side next first last final reminder user")
    + r"\b)[^,?]{2,60})|(?:since|because|given that|considering(?: that)?|seeing as)\s+"
    r"(?P<since>(?:i|i'm|i've|we|we're|my)\s[^,?]{2,80}))"
)
_ONLY_GROUND = re.compile(_GROUND + "$", re.IGNORECASE)
_STATEMENT_FIRST = re.compile(_GROUND + r",\s[^?]*\?+$", re.IGNORECASE)
_ASKS_BACK = re.compile(
    r"^(?P<said>.*?),\s*(?:(?:[\w']+,? ){0,2}(?:right|huh)|correct|no|yes|eh)\s*\?+$", re.IGNORECASE
)
_OF_SELF = re.compile(rf"\b{FIRST_PERSON}\b", re.IGNORECASE)
"""``I need a visa, right?`` says something; ``bats are blind, right?`` only asks."""
_TAKES_BACK = re.compile(
    r"^(?:(?:(?:oh|ah|um|uh|er|ok|okay|well)\s+)?"
    r"(?:correction|scratch that|my mistake|oops|wait|sorry(?! to| about| for| you| that| i'm| i was))\b[\s,:.!-]+"
    r"|(?:no|nope|actually)\b[\s,:.!-]+(?=(?:it|that|he|she)'s\b"
    r"|(?:it|that|he|she|they|my|the|our)\b.*\b(?:is|are|was|were|isn't)\b|i(?:'m| am) (?:not|an?|from|allergic)\b"
    r"|i (?:meant|prefer|said|live|work|don't|moved|changed)\b))",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"^(?:(?:nope|actually)\b[\s,:.!-]+|no\b\s*[,:.!;–—-]+\s*|no\s+(?=(?:wait|sorry|actually|i|i'm|i've|it|it's|that's|he's|she's|we|they)\b))(?=\w)",
    re.IGNORECASE,
)
"""``No nuts, please`` asks for something: "no" takes back only before a mark or a clause."""
_COURTESY = re.compile(
    r"^no (?:problems?|worries|thanks|thank you|rush|offen[cs]e|doubt)\b\s*[,:.!;–—-]+\s*", re.IGNORECASE
)
_EVIDENCE = re.compile(
    r"^(?P<head>actually,?\s+)?(?:(?:it )?turns out|apparently|as it turns out"
    r"|(?:the|my) (?:\w+ )?(?:doctors?|gp|allergist|specialist|dentist|nurse|tests?|results?)"
    r" (?:says?|said|shows?|showed|confirms?|confirmed|told me))(?:,|\s+that)?\s+(?=(?:i|i'm|i've|my|we|we're)\b)",
    re.IGNORECASE,
)
"""Words that say where a statement was learnt: ``It turns out I'm not allergic`` says that one is not."""
_JEST = re.compile(r"^(?:\w+,?\s+)?(?:(?:i'm|i was) )?(?:just |only )?(?:kidding|joking|jk|j/k)\b", re.IGNORECASE)
_ASKED_TO_REMEMBER = re.compile(
    r"^(?:please\s+)?(?:can|could|would|will) you (?:please )?(?:remember|note|keep in mind)"
    r"(?:\s*:| that (?:i|i'm|my|we|our|the|he|she|they|his|her|their|[a-z]+'s)\b)",
    re.IGNORECASE,
)
_CODE = re.compile(r"\w\.\w+\([^)]*\)|\w\(\w+=|^\s*(?:return|import|raise|def|class)\s+\S*[.(]|^\s*File \"")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. ``text``: as it is read, without its final mark; ``said``: the whole of it, as it was said, but for
    a greeting or an interjection in front. ``corrects``: it began with a word that takes something back, and goes on
    with a statement; ``takes_back``: with such a word, whatever follows. ``doubtful``: it may be another person's.
    ``played``: it is said to a listener who plays a part."""

    text: str
    question: bool
    corrects: bool = False
    takes_back: bool = False
    said: str = ""
    doubtful: bool = False
    played: bool = False


def sentences(text: str, names: Collection[str] = ()) -> list[Sentence]:
    """Return the sentences of a message, in order. ``names`` are the speakers: a name that is called is left out."""
    bare = _QUOTED_LINE.sub("", _FENCED.sub("\n", text.replace("’", "'"))).replace(REMOVED, _GAP)
    lines = filter(str.strip, _ASIDE.sub(" ", bare).splitlines())
    spoken = (part for line in lines for part in _split(_BULLET.sub("", line)))
    wanted = wanted_sentences([part for whole in spoken for part in _in_parts(whole)])
    parts = [part for part in _drop_jests(wanted) if not _is_unreadable(part)]
    cleaned = ((_clean(part, names), part) for part in parts)
    return [replace(sentence, said=_as_said(part, names)) for sentence, part in cleaned if sentence]


def _as_said(part: str, names: Collection[str]) -> str:
    text = _drop_quotation_marks(_EMPHASIS.sub("", part).strip(" \t*_-–—").rstrip(";,:"))
    while (bare := _drop_called_name(_COURTESY.sub("", _OPENER.sub("", _GREETED_NAME.sub("", text))), names)) != text:
        text = bare
    return text


def _in_parts(sentence: str) -> list[str]:
    """Cut a long sentence where the speaker goes on to something else about themselves."""
    return _RUN_ON.split(sentence) if len(sentence) > MAX_SENTENCE else [sentence]


def _is_unreadable(part: str) -> bool:
    """Say whether a sentence is pasted, code, a stump around what was redacted, or not English."""
    return len(part) > MAX_SENTENCE or _GAP in part or _CODE.search(part) is not None or language_of(part) != ENGLISH


def _drop_jests(spoken: list[str]) -> list[str]:
    """Remove sentences that were taken back as a joke: ``I'm the Pope. Just kidding.``"""
    jests = {n for n, part in enumerate(spoken) if _JEST.search(part)}
    return [part for n, part in enumerate(spoken) if n not in jests and n + 1 not in jests]


def _split(line: str) -> list[str]:
    """Split a line at its sentence ends: not behind an abbreviation, nor at dots that run on in lower case. A single
    dot runs on, too, if the line has capitals and no sentence begins with the next word."""
    line = _EMOTICON.sub("", " ".join(line.split()))
    line = line.strip() if line.isascii() else _EMOJI.sub(_as_stop, line).strip()
    parts, start = [], 0
    for boundary in _BOUNDARY.finditer(line):
        end = boundary.end()
        ending = line[max(start, end - _MAX_ENDING) : end].rstrip()
        small = line[end : end + 1].islower()
        if _ABBREVIATION.search(ending) or (small and _runs_on(ending)):
            continue
        parts.append(line[start:end].rstrip())
        start = end
    return [*parts, line[start:]]


def _runs_on(ending: str) -> bool:
    """Say whether a sentence goes on behind a mark that a word in lower case follows."""
    return ending.endswith(("...", "…")) or _BEFORE_A_SMALL_LETTER.search(ending) is not None


def _as_stop(emoji: re.Match[str]) -> str:
    """Return what an emoji stands for: a full stop where a capital follows; else a blank."""
    line, start, end = emoji.string, emoji.start(), emoji.end()
    ends = start > 0 and line[start - 1] not in ".!?…,;:" and (end == len(line) or line[end].isupper())
    return ". " if ends else " "


def _clean(part: str, names: Collection[str]) -> Sentence | None:
    text = _drop_quotation_marks(_EMPHASIS.sub("", part).strip(" \t*_-–—"))
    question = text.rstrip("\"')!.").endswith("?") and _ASKED_TO_REMEMBER.search(text) is None
    tail = _QUESTION_TAIL.search(text) if question and not _CONDITION.match(text) else None
    if tail and _says_something(text[: tail.start()]):
        text, question = _without_ground(text[: tail.start()]), False
    elif question and (statement := _statement_first(text)):
        text, question = statement, False
    elif question and (tag := _ASKS_BACK.match(text)):
        text, question = tag["said"], _OF_SELF.search(tag["said"]) is None
    text, corrects, takes_back = _without_opener(text.rstrip("?!.…;, "), names)
    text = _without_heading(_CLOSER.sub("", text).strip(" ,;:-"))
    only_a_name = any(name.lower().startswith(text.lower()) for name in names)
    return Sentence(text, question, corrects, takes_back) if text and not only_a_name else None


def _without_heading(text: str) -> str:
    head = _HEADING.match(text)
    own = head is not None and (head["head"].lower() == "about me" or not _OF_SELF.search(head["head"]))
    return text[head.end() :] if head and own and not is_order(text) else text


def _says_something(head: str) -> bool:
    """Say whether the words before the question are a statement: they are long enough, or tell what the speaker is or
    has."""
    return len(head.split()) >= (_MIN_WORDS_OF_STATE if _STATE.match(head) else _MIN_WORDS_BEFORE_TAIL)


def _statement_first(question: str) -> str | None:
    """Return what a question says of its speaker: ``As a vegan, what can I eat?`` -> ``I'm a vegan``."""
    match = _STATEMENT_FIRST.match(question)
    return _said_by(match) if match else None


def _without_ground(head: str) -> str:
    """Return a ground as a statement: ``Since I'm diabetic`` -> ``I'm diabetic``; "as a child I …" is no ground."""
    match = _ONLY_GROUND.match(head.strip())
    return _said_by(match) if match and not _OF_SELF.search(match["am"] or "") else head


def _said_by(match: re.Match[str]) -> str:
    return f"I'm {match['am']}" if match["am"] else str(match["since"])


def _drop_quotation_marks(text: str) -> str:
    """Remove quotation marks around a text, and one whose partner is in another sentence."""
    text = text.replace("“", '"').replace("”", '"')
    if text.count('"') % 2 or (text.count('"') == 2 and text[0] == text[-1] == '"'):
        text = text.replace('"', "")
    return text


def _without_opener(text: str, names: Collection[str]) -> tuple[str, bool, bool]:
    """The text without greetings, fillers and called names in front; whether it takes something back and goes on with a
    statement; and whether it takes something back at all."""
    corrects = takes_back = False
    while True:
        before = text
        text = _COURTESY.sub("", _OPENER.sub("", _GREETED_NAME.sub("", text)))
        text = _EVIDENCE.sub(lambda found: found["head"] or "", text)
        text = _drop_called_name(text, names)
        taken = _TAKES_BACK.sub("", text)
        corrects = corrects or taken != text
        bare = _DENIAL.sub("", taken)
        takes_back = takes_back or bare != text
        text = bare
        if text == before:
            return text, corrects, takes_back


def _drop_called_name(text: str, names: Collection[str]) -> str:
    """Remove a name that is called at the beginning or the end."""
    called = "|".join(re.escape(name) for name in names if name)
    if not called:
        return text
    return re.sub(rf"^(?:{called})\s*[,!.]+\s*|\s*,\s*(?:{called})$", "", text, flags=re.IGNORECASE)
