"""Tells whose words stand behind a paragraph, by the way a message is laid out (docs/rules/observe.md#own-words).
Behind a paragraph that only hands something over ("Please check my homework", "got this from a forum") stands another
person's text; behind one that only asks or orders, it is unclear."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from neve.observers.extractive.english.orders import PLEASE, REWORKS, is_order, is_question
from neve.observers.extractive.english.verbs import is_past_form
from neve.observers.extractive.english.vocabulary import FIRST_PERSON, any_of

SHORT = 200
"""Characters of a paragraph that may hand something over; a longer one tells a story of its own."""


MAX_PHATIC = 15
"""Characters behind the form of a greeting: ``How are you today?``"""


class Owner(IntEnum):
    """The author of the text that stands behind a paragraph."""

    USER = 0
    UNCLEAR = 1
    ANOTHER = 2


class Parts(NamedTuple):
    """A message up to where it is unclear whose it is, and up to where it is another person's."""

    surely_own: str
    own: str


SALUTATION = re.compile(r"^\s*(?:dear|hi|hello|hey)\s[^,\n]{1,40},\s*$", re.IGNORECASE | re.MULTILINE)
MARKED = re.compile(r"```|~~~|>|\"[^\"]*\"\s*$|“[^“”]*”\s*$", re.MULTILINE)
"""Handed over between marks, which say where it ends. A quotation that is not closed is read up to the next one alone,
and not from each to the end of the message."""
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"[^\n]+")
_CLAUSE_END = re.compile(r"(?<=[.!?…:])\s+|\n")
_GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|dear|good (?:morning|evening|afternoon)|thanks|thank you|thx|ok|okay|so|well|yes|no|oh)\b"
    r"(?:\s+(?:there|again|all|so much|a lot))?[\s,!.:…-]*)+",
    re.IGNORECASE,
)
TEXT_NOUN = any_of(
    "essay homework assignment story poem bio letter email e-mail mail message post comment article lyrics text",
    "paragraph sentence passage draft song speech caption tweet abstract excerpt chapter transcript resume résumé cv",
    "quote quotation grammar spelling wording english",
)
_MY_TEXT = any_of(TEXT_NOUN, "summary blurb pitch profile description diary journal entry")
"""Nouns that stand for a text behind "my" or "the"."""
_A_TEXT = rf"(?:{TEXT_NOUN}s?)\b(?! (?:short|office|code)\b)"
_THE_TEXT = re.compile(
    r"\b(?:my|our|the|this|these|his|her|their|[\w-]+'s)"
    rf"(?: (?!last\b|previous\b|earlier\b|next\b|first\b)[\w-]+){{0,3}}? {_MY_TEXT}s?\b(?! (?:short|office|code)\b)",
    re.IGNORECASE,
)
_INTO_A_TEXT = re.compile(
    rf"\b(?:in|into|for|on|with|about|from (?:the|an?)|an?|some|any|your)(?: [\w-]+){{0,3}}? {_MY_TEXT}s?\b",
    re.IGNORECASE,
)
"""Words about a text that is still to be written: ``What belongs in my cover letter?``"""
_ONLY_WHERE_IT_IS = re.compile(
    r"\b(?:get|got|receive|received|see|seen|delete|deleted|lose|lost|remember|send|sent|find)\b"
    r"|\benglish (?:word|name|version|menu|teacher|class|course)\b",
    re.IGNORECASE,
)
"""Words about a text that is not there to be read: ``Did you get my message?``"""
_BARE_TEXT = re.compile(
    rf"^(?:[\w'-]+ ){{0,3}}?{_A_TEXT}(?=\W*$"
    r"| (?:from|by|of|about|that|someone|somebody|i|check|help|feedback|correction)\b)",
    re.IGNORECASE,
)
_THIS = re.compile(r"\bthis\b", re.IGNORECASE)
_READS = any_of(
    "check read proofread proof-read correct edit improve rewrite rephrase reword paraphrase translate summarize",
    "summarise shorten polish transcribe review revise grade mark analyze analyse conjugate",
)
"""Things to do to a text, in a question or an order."""
_STANDS_ALONE = (
    r"(?=\W*$|,? (?:please|thanks|thank you|again|now|out|over|\w+ly|(?:to|into|in|from) (?!the\b|my\b|time\b)"
    r"|for (?:me|us|grammar|spelling|typos|mistakes|errors)|i (?:just )?(?:wrote|found|got|have)"
    rf"|and (?:{_READS}|fix|tell me what you think)|someone|somebody)\b)"
)
"""The end of a "this" that no noun follows."""
_READS_THIS = re.compile(
    rf"\b(?:{_READS}|fix|rate|look (?:over|through|at)|(?:go|read) (?:over|through)|(?:reply|respond) to)"
    rf"(?: all(?: of)?)? this\b{_STANDS_ALONE}"
    r"|\bwhat (?:do|does|did|could|would|might|can) this (?:mean|say)\b(?=\W*$|,? (?:please|in)\b)"
    r"|\bwhat this (?:means|says)\b",
    re.IGNORECASE,
)
"""``Proofread this``, ``what does this mean``; not ``Should I eat this?`` nor ``Check this flight``."""
_OF_A_THING = re.compile(r"\bthis\b(?!\W*$)", re.IGNORECASE)
_READS_IT = re.compile(rf"\b{_READS} (?:it|them)\b", re.IGNORECASE)
_OF_ONESELF = re.compile(r"^(?:\w+ )?(?:should|can|could|may|might|do|did|am|would|will|must|shall) i\b", re.IGNORECASE)
"""Asked of what the user is to do."""
_MAKES_IT = re.compile(rf"^{PLEASE}make (?:it|this)\b", re.IGNORECASE)
_IN_WORDS = re.compile(
    r"\b(?:sound|read|shorter|longer|clearer|nicer|friendlier|funnier|simpler|formal|informal|polite|professional"
    r"|concise|casual|natural|grammatical)\b",
    re.IGNORECASE,
)
"""Qualities that a text can be given: not ``Make it vegan``."""
_WHAT_ONE_DID = re.compile(
    r"\b(?:look|see|check|read|listen)(?: \w+)? what"
    r" (?!(?:is|was|are|were|did|do|does|has|have|had|can|could|would|should|to)\b)(?:(?:my|the|a) )?\w+"
    r" (?:just )?(?!did\b|had\b|ate\b)(?P<past>\w+)",
    re.IGNORECASE,
)
"""``Look what I found``"""
_PLIGHT = re.compile(
    r"\bthis (?:problem|issue|situation|trouble|pain|mess|feeling|work|app|thing|place|chat|service)\b"
    r"|\bis this (?:normal|safe|legal|dangerous|serious|bad|weird|common|fair|allowed|possible|an?)\b"
    r"|\b(?:help|advice|advise|deal|cope|handle|do|believe|happen)(?: \w+)?(?: with| on| about)? this\b"
    r"|\bthese\b|\bthe following\b",
    re.IGNORECASE,
)
"""Phrases in which "this" or "these" may as well stand for how the user is."""
_SOURCE = any_of(
    TEXT_NOUN,
    "forum website web internet net blog site page book newspaper magazine news chat channel group feed wiki",
    "wikipedia reddit facebook twitter instagram linkedin",
)
_HANDED = re.compile(
    r"\b(?P<past>wrote|written|drafted|sent|received|posted|texted|emailed|mailed|forwarded|copied|pasted)"
    r"(?: (?:me|us|you))? (?:this|these|the following)\b(?=\W*$"
    rf"|\s+(?:from|on|in|off|at|by|online|today|yesterday|somewhere|earlier)\b|(?: [\w-]+){{0,2}}? {_A_TEXT})"
    r"|\b(?:got|found|saw|seen) (?:this|these|the following)\b"
    rf"(?= (?:online|somewhere)\b| (?:from|on|in) (?:[\w'-]+ ){{0,2}}?{_SOURCE}s?\b|(?: [\w-]+){{0,2}}? {_A_TEXT})"
    rf"|^(?:here|this|these|(?:the )?following|below)(?:'s| is| are)\b(?!.*\b(?:my profile|quick|test)\b).*\b{_MY_TEXT}"
    r"|^(?:here|this)(?:'s| is) what (?!i (?:do|have|need|want)\b)",
    re.IGNORECASE,
)
_BARE_NAMED = re.compile(rf"^(?:my|our|the|an?|this) (?:[\w'-]+ ){{0,2}}?{_A_TEXT}\W*$", re.IGNORECASE)
_TAKEN_FROM = re.compile(
    r"^(?:just )?(?:copied|pasted|quoted|taken|seen|found|saw|read|forwarded|posted|written)"
    r" (?:from|on|in|by|at|online|somewhere)\b",
    re.IGNORECASE,
)
_TO_KEEP = re.compile(
    r"^\W*(?:please\s+)?(?:remember|memori[sz]e|save|store|note|jot|keep|bear|don't forget|do not forget|make a note"
    r"|know|update|fyi|for the record|important|some|a (?:few|bit))\b|\babout (?:me|myself|us)\b",
    re.IGNORECASE,
)
"""Openings of what the user wants to be known, which is their own."""
_PHATIC = re.compile(
    r"^(?:how are you|how's it going|what's up|are you there|anybody there|got a (?:minute|moment|second)"
    r"|(?:can|could|may) i (?:ask|tell)(?: you)? (?:something|a question|sth)"
    r"|(?:can|could|would|will) you (?:please )?help(?: me| us)?(?: out)?(?: with (?:something|a few things|sth))?"
    r"|let me (?:introduce|tell|explain)|let's (?:start|begin|talk))\b",
    re.IGNORECASE,
)
"""A greeting in the form of a question or an order."""
_WANTS_HELP = re.compile(
    r"\b(?:help|feedback|advice|opinion|thoughts|comments|questions?) (?:with|on|about|for)\b", re.IGNORECASE
)
_ON_IT = re.compile(r"\b(?:it|them)\b", re.IGNORECASE)
_SOME_TEXT = re.compile(rf"\b(?!grammar|spelling|wording|english){_A_TEXT}", re.IGNORECASE)
"""A text that is handed over: "My English is bad, correct it" hands over none."""
_STATES = re.compile(
    rf"^(?:{FIRST_PERSON}|he|she|it|it's|they|the|an?|there|there's|that|that's|this|here|here's|these|my|our"
    r"|someone|somebody|[A-Z]\w+ (?:is|has|was|said))\b",
    re.IGNORECASE,
)
_ASKER = re.compile(r"\b(?:i|i'm|i've|i'd|me|we|us|my|our)\b", re.IGNORECASE)
_REWORKS = re.compile(
    rf"^{PLEASE}{REWORKS}\b(?=\W*$| (?:to|into|in|from|please|for me|it|them|this|these|below)\b)", re.IGNORECASE
)
"""An order to rework that has no object but the text behind it: not ``Correct the dose``."""
_GIVES = re.compile(
    rf"^{PLEASE}(?:{REWORKS}|{_READS}|fix|explain|solve|answer|complete|continue|finish|classify|evaluate|rate|judge"
    r"|simplify|describe|debug)\b.*:$",
    re.IGNORECASE,
)
"""``Explain this:``; not ``Plan a menu:``"""


def parts_of(text: str) -> Parts:
    """Cut a message at the first of its paragraphs behind which the user does not go on in words of their own. Only a
    message that begins by asking leaves it unclear: a user who has told of themselves first goes on to do so."""
    unclear_from = len(text)
    told = False
    start = 0
    for blank in _BLANK_LINE.finditer(text):
        paragraph = text[start : blank.start()].strip()
        owner = owner_behind(paragraph)
        if not told:
            unclear_from = min(unclear_from, _line_handed_over(text, start, blank.start()))
        if owner is Owner.ANOTHER and not _says_where_it_ends(text, blank.end()):
            return _cut(text, unclear_from, blank.start())
        if owner is Owner.UNCLEAR and not told:
            unclear_from = min(unclear_from, blank.start())
        told = told or (owner is Owner.USER and bool(_GREETING.sub("", paragraph)))
        start = blank.end()
    if not told:
        unclear_from = min(unclear_from, _line_handed_over(text, start, len(text)))
    return _cut(text, unclear_from, len(text))


def _line_handed_over(text: str, start: int, end: int) -> int:
    """Return where the first line that is no greeting ends, if it hands something over; else the end of the text. A
    mere line break leaves it unclear whose the next line is."""
    for line in _LINE.finditer(text, start, end):
        if _GREETING.sub("", line[0].strip()):
            more = line.end() < end and not _says_where_it_ends(text, line.end() + 1)
            return line.end() if more and owner_behind(line[0]) is Owner.ANOTHER else len(text)
    return len(text)


def _says_where_it_ends(text: str, start: int) -> bool:
    return MARKED.match(text, start) is not None or SALUTATION.match(text, start) is not None


def _cut(text: str, unclear_from: int, end: int) -> Parts:
    return Parts(text[: min(unclear_from, end)], text[:end])


def owner_behind(paragraph: str) -> Owner:
    """Tell who wrote the text behind a paragraph. A greeting, and what the user states, hands nothing over."""
    if not paragraph or len(paragraph) > SHORT:
        return Owner.USER
    clauses = [_GREETING.sub("", clause.strip()) for clause in _CLAUSE_END.split(paragraph)]
    about_it = [one for one in clauses if _ON_IT.search(one) and (is_question(one) or is_order(one))]
    if about_it and _SOME_TEXT.search(paragraph):
        return Owner.ANOTHER if any(_READS_IT.search(one) for one in about_it) else Owner.UNCLEAR
    owners = [_owner_behind(clause) for clause in clauses if clause]
    if Owner.ANOTHER in owners or not owners:
        return max(owners, default=Owner.USER)
    return min(owners)


def _owner_behind(clause: str) -> Owner:
    if _TO_KEEP.search(clause) or _is_phatic(clause):
        return Owner.USER
    if is_question(clause) or is_order(clause):
        return Owner.ANOTHER if hands_over(clause) else Owner.UNCLEAR
    if _STATES.match(clause):
        if _WANTS_HELP.search(clause) and _THE_TEXT.search(clause):
            return Owner.UNCLEAR
        return Owner.ANOTHER if _is_handed(clause) else Owner.USER
    return Owner.ANOTHER if _BARE_TEXT.match(clause) or _is_handed(clause) or _TAKEN_FROM.match(clause) else Owner.USER


def _is_phatic(clause: str) -> bool:
    found = _PHATIC.match(clause)
    return found is not None and _THIS.search(clause) is None and len(clause) - found.end() <= MAX_PHATIC


def hands_over(clause: str) -> bool:
    """Say whether a question or an order is about a text that it points at: ``Is this bio ok?``, ``Fix my essay``."""
    if _THE_TEXT.search(clause) and not (_INTO_A_TEXT.search(clause) or _ONLY_WHERE_IT_IS.search(clause)):
        return True
    if _PLIGHT.search(clause):
        return False
    if _of_the_past(_WHAT_ONE_DID, clause) or (_READS_THIS.search(clause) and not _OF_ONESELF.match(clause)):
        return True
    if _ASKER.search(clause):
        return False
    if _MAKES_IT.match(clause):
        return _IN_WORDS.search(clause) is not None
    return not _OF_A_THING.search(clause) and any(form.match(clause) for form in (_GIVES, _REWORKS))


def _is_handed(clause: str) -> bool:
    """Say whether a clause hands a text over: ``My boss wrote me this``, ``Here's the letter``."""
    return _of_the_past(_HANDED, clause) or _BARE_NAMED.match(clause) is not None


def _of_the_past(form: re.Pattern[str], clause: str) -> bool:
    return any(found["past"] is None or is_past_form(found["past"].lower()) for found in form.finditer(clause))
