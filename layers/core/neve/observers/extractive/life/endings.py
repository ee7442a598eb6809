"""Recognises statements that end a state of a person's life without saying what comes after it: ``User quit their job``
(docs/rules/observe.md#extractive). They mean something only beside the fact that they end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from neve.observers.extractive.english.vocabulary import words
from neve.observers.extractive.life.forms import SPEAKER
from neve.observers.extractive.sameness import content_of

_NAME = r"[^\W\da-z_][\w'-]*"
_WHO = r"^(?P<who>[\w-]+)(?: has| have)?(?: (?:just|finally|recently|already|now))*"
_WHAT = (
    r"(?P<what>[^,;:.()]+?)(?= (?:and|but|because|since|so|to|in|on|for|after|before|last|this|any ?more|any longer"
    r"|again|now|yesterday|today|ago|when|with)\b|[,;:.(]| \(|$)"
)
"""The thing that is ended, up to whatever else is said of it."""
_WHAT_NO_LONGER = (
    r"(?P<what>[^,;:.()]+?)(?= (?:and|but|because|since|so|any ?more|any longer|now|after|before|last"
    r"|in (?:(?:19|20)\d\d|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec))|[,;:.(]| \(|$)"
)
"""The thing that is ended, with its place: a person who no longer lives in Rome may live in Lyon."""
_PARTED = r"(?:broke up|broken up|split up|(?:got |gotten )?(?:separated|divorced)|called off (?:the|our|their) \w+)"
_TOOK_LEAVE = r"(?:was|were|got|has been|been) (?:fired|laid off|let go|made redundant|dismissed|sacked)"


_A_WHILE = r"(?=.* (?:for (?!good\b)|early\b|late\b|at \d|today\b|tonight\b|this (?:morning|evening|afternoon)\b))"
_PARTNER = r"(?:wife|husband|partner|spouse|fianc[eé]e?|girlfriend|boyfriend)"


@dataclass(frozen=True, slots=True)
class Ending:
    """``slots``: which it may end, the likeliest first; none = any. The group ``what`` has to be said by what is ended,
    or to be what its slot is called. ``plain``: it is worth a line by itself.
    ``beside``: what it ends, where it does not end all that fill the slot."""

    pattern: re.Pattern[str]
    slots: tuple[str, ...] = ()
    plain: bool = False
    beside: re.Pattern[str] = re.compile("")


_WORK = ("employer", "job")
_EMPLOYED = re.compile(r"\bworks?\b|\bjob\b| (?:at|for) ")
"""Words of being employed: a nurse who quits is a nurse still, and works as one no longer."""
_LOVE = ("partner", "marriage")
_EATS = (
    r"^(?P<who>[\w-]+)(?: has| now)*"
    r" (?:eats?|is eating|(?:started|began|resumed|went back to) (?:eating|to eat))(?: (?:some|red|a little))*"
)
_AGAIN = r"\b[\w ]*? (?:again|now)\b"
ENDINGS = (
    Ending(re.compile(r"^(?P<who>[\w-]+) wants to be called\b"), ("name",)),
    Ending(
        re.compile(
            rf"{_WHO} (?:{_TOOK_LEAVE}(?= \(|$|[,;.]| (?:and|in|on|last|this|today|yesterday)\b)|resigned(?! from)"
            r"|retired(?! (?:the|an?|their|our|this|that|from)\b)|(?:changed|switched) (?:jobs|employers|companies)"
            r"|(?:is|am|are)(?: now)? (?:retired|unemployed|out of work|between jobs|jobless)\b)"
        ),
        _WORK,
        True,
        _EMPLOYED,
    ),
    Ending(
        re.compile(
            rf"{_WHO} (?:quit|left(?!{_A_WHILE})|resigned from|retired from|gave up|lost"
            rf"|{_TOOK_LEAVE} (?:from|by|at)) {_WHAT}"
        ),
        _WORK,
        beside=_EMPLOYED,
    ),
    Ending(re.compile(rf"{_WHO} (?:left(?!{_A_WHILE})|moved (?:out of|away from)) {_WHAT}"), ("home",)),
    Ending(
        re.compile(
            rf"^(?P<who>[\w-]+)(?: and their (?:{_PARTNER}|(?P<what>\w+)))?(?: said: We(?:'ve| have)?)?"
            rf"(?: has| have)?(?: just| \w+ly)? {_PARTED}(?! with the\b)"
            rf"(?:(?: with| from) (?:their (?:{_PARTNER}|(?P<their>\w+))|(?P<from>{_NAME})))?"
        ),
        _LOVE,
        plain=True,
    ),
    Ending(re.compile(rf"^(?P<what>{_NAME}) and (?P<who>[\w-]+) (?:have |\w+ly )?{_PARTED}"), _LOVE, plain=True),
    Ending(
        re.compile(r"^(?:(?P<who>[\w-]+)'s )?(?P<what>\w+) (?:left|dumped|broke up with) (?:User|them)$"), _LOVE, True
    ),
    Ending(
        re.compile(
            r"^(?P<who>[\w-]+) is(?: now)? (?:single|divorced|widowed|a widow|a widower)(?=$|[,.;]| (?:now|again)\b)"
        ),
        _LOVE,
    ),
    Ending(re.compile(rf"{_EATS} (?:meat|chicken|beef|pork){_AGAIN}"), ("diet",), plain=True),
    Ending(re.compile(rf"{_EATS} (?:fish|seafood){_AGAIN}"), ("diet",), True, re.compile("vega|vegeta")),
    Ending(re.compile(rf"{_EATS} (?:dairy|cheese|eggs){_AGAIN}"), ("diet",), True, re.compile("vegan")),
    Ending(re.compile(rf"{_EATS} (?P<what>\w+){_AGAIN}"), ("eats",)),
    Ending(
        re.compile(
            rf"{_WHO}(?: said: We(?:'ve| have)?)? (?:sold|traded in|got rid of|gave away|scrapped|replaced|swapped)"
            rf" (?:the|their|our) {_WHAT}"
        ),
        ("thing", "pet"),
    ),
    Ending(re.compile(r"^(?:(?P<who>[\w-]+)'s )?(?P<what>\w+)(?: has)? (?:died|passed away)\b"), ("pet", "partner")),
    Ending(
        re.compile(
            rf"{_WHO} (?:(?:(?:is|are) )?no longer|(?:is|are|do|does)(?:n't| not)(?=.* (?:any ?more|any longer)\b)"
            rf"|stopped|gave up) {_WHAT_NO_LONGER}"
        )
    ),
)
_CALLED = {"employer": "job position company", "job": "job position", "home": ""}
_IT = words("it being be")


def ends(text: str, slots: Sequence[str], old: str) -> bool:
    """Say whether a statement ends another one, ``old``, which fills ``slots``."""
    return any(_ends(ending, text, slot, old) for ending in ENDINGS for slot in slots)


def slots_left_empty(text: str, who: str = SPEAKER) -> tuple[str, ...]:
    """Return the slots that are empty since a statement that names nothing in them: ``User quit their job``."""
    slots = dict.fromkeys(f"{who}: {slot}" for ending in ENDINGS for slot in ending.slots)
    return tuple(slot for slot in slots if any(one.slots and _ends(one, text, slot, "") for one in ENDINGS))


def is_plain_ending(text: str) -> bool:
    """Say whether a statement ends something in so many words that it needs nothing beside it: ``User was laid
    off``."""
    return any(ending.plain and _of_speaker(ending.pattern.search(text)) for ending in ENDINGS)


def _of_speaker(match: re.Match[str] | None) -> bool:
    return match is not None and (match.groupdict().get("who") or SPEAKER) == SPEAKER


def _ends(ending: Ending, text: str, slot: str, old: str) -> bool:
    match = ending.pattern.search(text)
    if match is None or (old and not ending.beside.search(old)):
        return False
    named = match.groupdict()
    who, _, kind = slot.partition(": ")
    if (named.get("who") or SPEAKER) != who or (ending.slots and kind.split()[0] not in ending.slots):
        return False
    said = [part for part in (named.get("what"), named.get("from"), named.get("their")) if part]
    if not said:
        return True
    what = content_of(" ".join(said)).words - _IT
    return bool(what) and what <= content_of(f"{old} {_CALLED.get(kind, kind)}").words
