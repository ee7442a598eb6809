"""Reads what an English statement means (docs/rules/facts.md#the-same-statement). Apart from ``meaning``, because its
patterns take 50 ms to compile, and most processes never compare a statement.

Every step drops or joins what says the same, or keeps what must not differ: a word too few in the lists is a statement
kept twice, and never two that are taken for one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from neve.domain.languages import ENGLISH, language_of
from neve.domain.same.meaning import LONGEST, Meaning, one_spelling
from neve.domain.same.vocabulary import (
    AGENTS,
    ANTONYMS,
    DAYS,
    DEGREES,
    DEICTIC,
    GROUPS,
    IRREGULAR,
    KIN,
    MONTHS,
    NOBODY,
    NUMBERS,
    PHRASES,
    ROLES,
    WITHOUT_MEANING,
    words,
)
from neve.domain.terms import stem
from neve.domain.words import fold, is_emoji, without_accents

_JOINED_TERMS = 4
"""Terms from which on the order of what an "and" joins counts: ``a red car and a blue bike``."""

# --- how a statement is written -----------------------------------------------------------------

_MARK = re.compile("^\\s*(?:🔴|✅|🟡|🟢)\ufe0f?\\s*|^correction: ", re.IGNORECASE)
_REMEMBER = re.compile(r"^\W*(?:please\s+)?(?:remember|don't forget|keep in mind|note)(?:\s+that|\s+this|:)+\s*", re.I)
_SPOKEN = re.compile(r'^(?P<who>[^\s"→:][^"→:]{0,80}?)(?: said: |: ")(?P<said>[^"→]*)"?$')
_DAY_BEHIND = re.compile(r" \(\d{4}-\d\d-\d\d\)\s*$")
_MEANS = re.compile(r"\(meaning ([^()]*)\)")
_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?")
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATES = re.compile(
    rf"\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{_MONTH})\b(?:,? (?P<y1>\d{{4}}))?"
    rf"|\b(?P<m2>{_MONTH}) (?:the )?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y2>\d{{4}}))?"
)
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d\d))? ?(?:([ap])\.?m\b\.?|o'?clock\b)|\b(\d{1,2}):(\d\d)\b")
_BEFORE_A_UNIT = re.compile(r"(?<=\d)(?=[a-z])")
_MONEY = {"€": "euro", "$": "dollar", "£": "pound", "¥": "yen"}
_POSSESSIVE = re.compile(r"'s\b", re.IGNORECASE)
_GOT = re.compile(r"(?:\b(?:have|has)|'ve|'s) got\b")
_WORD = re.compile(
    r"~\w+|\d+(?:[.,:-]\d+)*|[^\W_]+(?:\+\+|#)|[^\W_]+(?:[@/._\\#+&][^\W_]+)+|[^\W_]+(?:'[^\W_]+)?|[^\s\w]"
)

# --- what it says of what it tells --------------------------------------------------------------

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|\w+n't|un(?:able|willing)|refuses?|avoids?|lacks?"
    r"|doubts?|gone)\b"
)
_NO = re.compile(r"not|no|never|none|nobody|nothing|neither|nor|cannot|\w+n't")
_CLAUSES = re.compile(r"[,;:](?!\d)|\bbut\b|\bthough\b|\balthough\b|\bbecause\b|\bwhile\b|\bso that\b|\s[-–—]\s")
_JOINED = re.compile(r"\b(?:and|or|while|but|though|although|whereas|because|so)\b|[,;](?!\d)")
_RELATIVES = KIN | {word for group in GROUPS if group[0] in KIN for word in group}
_SOMEBODY = rf"(?:i|user|we|they|he|she|who|and|has|have|had|'ve|{'|'.join(sorted(_RELATIVES))})"
_PAST_FORMS = "|".join(sorted(form for form in IRREGULAR if form not in ("was", "were")))
_PAST = re.compile(
    rf"\b{_SOMEBODY}(?: (?:has|have|just|recently|finally|once|already|also|only))*"
    rf" (?!(?:married|interested|named|called|diagnosed|need|based)\b)(?:\w{{2,}}ed|{_PAST_FORMS})\b"
    r"|\b(?:was|were)\b(?! (?:born|called|named|diagnosed|raised))|\bgot\b(?! (?:married|divorced|engaged)\b)"
)
_AGENT = re.compile(
    rf"(?:\b(?:is|am|are|works as)|'m|'s) (?:an?|the) (?P<of>(?:[\w-]+ ){{0,3}}?)(?P<one>{'|'.join(AGENTS)})\b"
)
_IS = re.compile(
    r"\b(?:is|are|am|was|were)\b(?! \w+(?:ing|ed)\b)|\b(?:i'm|(?:it|that|he|she|there)'s)\b(?! \w+(?:ing|ed)\b)"
    r"|\b(?:has|have|named|where)\b"
    r"|\bcalled\b(?! (?:user|my|the|his|her|their|an?)\b)"
    r"|~is\b"
)
_ARTICLES = frozenset(("a", "an", "the"))
_PLACES = words("in at near around by for on to from into with of")
_BEFORE_A_SUBJECT = words(", ; : and or but that which who where what when how because if while as than with")
_TURNS = words("off against without except")
"""Words that turn a statement round by themselves."""
_ALWAYS_ROLES = words("about unless if than before after until since against without except")

_HEADS: dict[str, str] = {}
for _group in GROUPS:
    for _word in _group:
        _HEADS.setdefault(stem(_word), _group[0])
_KNOWN = frozenset(_HEADS.values()) | KIN | NOBODY | WITHOUT_MEANING | ROLES.keys() | {stem(word) for word in NOBODY}
_OPPOSITES = frozenset(frozenset(_HEADS.get(stem(word), stem(word)) for word in pair) for pair in ANTONYMS) | set(
    map(frozenset, ANTONYMS)
)


def read(text: str) -> Meaning:
    """Find what a statement says. Of what is not English, or too long, or has no word that carries anything, the words
    in their order are what it says."""
    said = _DAY_BEHIND.sub("", _MARK.sub("", " ".join(fold(text).split())))
    who = ""
    if spoken := _SPOKEN.match(said):
        who, said = spoken["who"].casefold(), spoken["said"]
    who, said = "" if who == "user" else who, _REMEMBER.sub("", said)
    names, plain = frozenset(_names(said)), said.casefold()
    days = [day for part in _MEANS.findall(plain) for day in _DAY.findall(part)]
    if len(text) <= LONGEST and language_of(_POSSESSIVE.sub("", said)) == ENGLISH:
        found = _meaning(who, _MEANS.sub(" ", plain), days, names)
        if len(found.terms) > 1 or (found.terms and DEICTIC.isdisjoint(_WORD.findall(plain))):
            return found
    exact = " ".join(word for word in _WORD.findall(plain) if word not in ".!")
    return Meaning(who, exact=exact, figures=frozenset(days), names=names)


def are_opposed(one: frozenset[str], other: frozenset[str]) -> bool:
    """Say whether what only one statement says is the opposite of what only the other one does, or turns it round."""
    return not _TURNS.isdisjoint(one ^ other) or any(frozenset((a, b)) in _OPPOSITES for a in one for b in other)


def _meaning(who: str, plain: str, days: Sequence[str], names: frozenset[str]) -> Meaning:
    plain, past = _one_wording(plain)
    clauses = [clause for clause in _CLAUSES.split(plain) if clause.strip()]
    denied = [_NEGATION.search(clause) is not None for clause in clauses]
    how = {"past"} if past else set()
    terms: list[str] = []
    for clause, denies in zip(clauses, denied, strict=True):
        for term in _terms(clause):
            if term.startswith("~"):
                how.add(term[1:])
            else:
                terms.append(f"not {term}" if denies and not all(denied) else term)
    terms = _without_doubles(terms)
    figures = frozenset(days) | {term for term in terms if term[:1].isdigit() or term in DAYS or term in MONTHS}
    if "ended" in how or "die" in terms or any(term.startswith("since ") for term in terms):
        how.discard("past")
    if figures:
        how.discard("will")  # "starts on Monday" is as good as "will start on Monday"
    terms = _counted(terms)
    return Meaning(
        who,
        frozenset((*terms, *days)),
        _order(plain, terms),
        frozenset(denied),
        frozenset(how),
        figures=figures,
        names=names,
    )


def _one_wording(plain: str) -> tuple[str, bool]:
    """Write phrases, dates and times of the day in one way, and say whether it is told as past."""
    for sign, name in _MONEY.items():
        plain = plain.replace(sign, f" {name} ")
    plain = _GOT.sub(" has", one_spelling(plain))
    plain = _BEFORE_A_UNIT.sub(" ", _CLOCK.sub(_time, _DATES.sub(_date, plain)))
    past = _PAST.search(plain) is not None
    plain = _AGENT.sub(lambda found: f" {AGENTS[found['one']]} {found['of']}", plain)
    plain = " ".join(plain.split())
    for parts, pattern, becomes in PHRASES:
        if not any(part in plain for part in parts):
            continue
        plain, changed = pattern.subn(f" {becomes} ", plain)
        plain = " ".join(plain.split()) if changed else plain
    return plain, past


def _date(found: re.Match[str]) -> str:
    month, day = MONTHS[found["m1"] or found["m2"]], int(found["d1"] or found["d2"])
    year = found["y1"] or found["y2"]
    return f" {year + '-' if year else ''}{month}-{day:02} "


def _time(found: re.Match[str]) -> str:
    hour, minute = int(found[1] or found[4]), found[2] or found[5] or "00"
    if found[3] == "p" and hour < 12:
        hour += 12
    elif found[3] == "a" and hour == 12:
        hour = 0
    return f" {hour}{'' if minute == '00' else f'.{minute}'} "


# --- terms --------------------------------------------------------------------------------------


def _terms(clause: str) -> Iterator[str]:
    """Give the terms of a clause in order, each with the role that the word before it gives it."""
    said, denied = _WORD.findall(clause), _NEGATION.search(clause) is not None
    roles = {ROLES[word] for word in said if word in ROLES} & ({"from", "to"} | _ALWAYS_ROLES)
    told = _ALWAYS_ROLES | ({"from", "to"} if {"from", "to"} <= roles else set())
    role = ""
    for n, word in enumerate(said):
        if ROLES.get(word) in told:
            role = ROLES[word]
            continue
        bare = without_accents(word.partition("'")[0])
        if role == "than" and bare in ("i", "me", "user"):
            yield "than user"
            role = ""
        elif word.startswith("~") or is_emoji(word):
            yield word
        elif (
            bare[:1].isalnum()
            and not _NO.fullmatch(word)
            and (bare not in WITHOUT_MEANING or (denied and bare in DEGREES))
        ):
            owns = word.endswith("'s") or (n > 1 and said[n - 1] == "of" and _head(said[n - 2]) in KIN)
            yield " ".join(part for part in (role, "of" if owns else "", _head(bare)) if part)
            role = ""
    if role:
        yield role


def _head(word: str) -> str:
    """Give the word that stands for all that mean the same."""
    word = NUMBERS.get(word, word)
    word = IRREGULAR.get(word, word)
    if word.removesuffix("s") in DAYS:
        return word.removesuffix("s")
    if word in MONTHS or word[:1].isdigit():
        return word
    root = stem(word)
    return _HEADS.get(root, root)


def _without_doubles(terms: list[str]) -> list[str]:
    """Drop what another word of the statement says already: whose something is, where there is nobody else, and that an
    answer is wished for."""
    if sum(term.startswith("of ") or term in KIN for term in terms) < 2:
        terms = [term.removeprefix("of ") for term in terms]
    return [term for term in terms if term not in ("prefer", "keep", "give")] if "reply" in terms else terms


def _counted(terms: list[str]) -> list[str]:
    """Join each of several numbers with what it counts: ``two dogs and three cats``."""
    if sum(term.isdigit() for term in terms) < 2:
        return terms
    return [f"{term} {after}" if term.isdigit() else term for term, after in zip(terms, [*terms[1:], ""], strict=True)]


def _order(plain: str, terms: list[str]) -> tuple[str, ...]:
    """Give the order of what could change places: of relatives and what may be names where something is done, of the
    user to whom they do it, and of everything where much is joined."""
    if _JOINED.search(plain) and len(terms) >= _JOINED_TERMS:
        return tuple(terms)
    said = [word for word in _WORD.findall(plain) if word not in _ARTICLES]
    people: list[str] = []
    for n, word in enumerate(said):
        bare, before = word.removesuffix("'s"), said[n - 1] if n else ""
        after = said[n + 1].removesuffix("'s") if n + 1 < len(said) else ""
        if bare in ("me", "us", "user") and bare == word:
            if people and before not in _BEFORE_A_SUBJECT:
                people.append("to user")
        elif before == "to" and _may_be_a_name(bare, after):
            people.append(f"to {_head(bare)}")
        elif (_may_be_a_name(bare, after) and before not in _PLACES) or (
            _head(bare) in KIN and not _may_be_a_name(after, "")
        ):
            people.append(_head(bare))
    if len(people) < 2:
        return ()
    if _IS.search(plain) and len(people) == 2 and "that" not in said:
        return ("to user",) if "to user" in people else ()
    placed = [one for one in people if one.startswith("to ") and one != "to user"]
    return (*(one for one in people if one not in placed), *sorted(placed))


def _names(said: str) -> Iterator[str]:
    """Give the words with a capital, but for those that begin a sentence and are known, or are plurals."""
    found_words = list(re.finditer(r"[^\W_]+(?:'[^\W\d_]+)?", said))
    for n, found in enumerate(found_words):
        before, plain = said[: found.start()].rstrip(), found[0].casefold().partition("'")[0]
        if not found[0][0].isupper() or plain in ("i", "user") or plain in MONTHS or plain in DAYS:
            continue
        if not before or before[-1] in '.!?:"“':
            follows = found_words[n + 1][0] if n + 1 < len(found_words) else ""
            many = plain.endswith("s") and not follows.endswith(("s", "ed")) and follows not in IRREGULAR
            if many or plain in WITHOUT_MEANING or plain in _KNOWN or _head(plain) in _KNOWN:
                continue
        yield without_accents(plain)


def _may_be_a_name(word: str, after: str) -> bool:
    """Say whether a word may name somebody, however it is written: many write without capitals in chats. One with an
    "s" is taken for a plural, unless a verb of one person follows."""
    if not word.isalpha() or word in _KNOWN or _head(word) in _KNOWN:
        return False
    return not word.endswith("s") or after.endswith(("s", "ed")) or after in IRREGULAR
