"""Passwords, by the words before them: as settings are written (``password=...``), as people say it ("my password is
..."), and in an address (``https://user:...@host``). In nine more languages by the noun alone, where letters and digits
follow it.

What follows the words is often no password ("my password is wrong", ``password: str``), so plain words count only where
the sentence ends behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neve.domain.privacy.folded import folded
from neve.domain.privacy.labels import ASIDE, CLOSING, OPENING
from neve.domain.privacy.spans import Span, is_placeholder

_NOUN = r"(?:pass(?:word|wd|phrase|code)|pwd)"
_IS = r"(?:(?:(?:is|was|has been) )?(?:now )?(?:set|changed|reset) to|is|was|'s|\u2019s|will be|to|equals)"
_SPACE = r"[ \t\x1f]{1,3}"

_ASSIGNED = re.compile(
    rf"(?i){_NOUN}[0-9]?(?:[\"'`*\\]{{0,4}})[ \t]{{0,3}}(?:=>|:=|:|=)[ \t\x1f*]{{0,3}}"
    r"(?:\\{0,3}\"([^\"\n]{1,256}?)\\{0,3}\"|'([^'\n]{1,256})'|`([^`\n]{1,256})`|([^\s\"'`<>&]{3,256}))"
)
_WHOSE = rf"(?:{_SPACE}(?:for|of|on|at|to)(?:{_SPACE}[^\s.,;:!?\"]{{1,40}}){{1,5}}?(?=[ \t\x1f]))?"
"""Ends with its word: "the password for Anna's account" says nothing of what it is."""
_PASSWORD_PHRASE = re.compile(
    rf"(?i)\b{_NOUN}{_WHOSE}(?:{_SPACE})?({_IS})"
    rf"(?:{_SPACE}(?:now|just|still|simply|currently))?(?:{_SPACE}|[ \t]?:[ \t]?)"
    r"(?:\"([^\"\n]{1,256})\"|'([^'\n]{1,256})'|`([^`\n]{1,256})`|\u201c([^\u201d\n]{1,256})\u201d|([^\s\"'`<>]{3,256}))"
)
_PHRASE = re.compile(
    rf"(?i)\bpass[ -]?phrase{_SPACE}is{_SPACE}((?:[a-z0-9-]{{2,24}}{_SPACE}){{2,11}}[a-z0-9-]{{2,24}})(?=[.!?,;\n]|$)"
)
_PIN = re.compile(
    rf"(?i)\bpin(?:[ _-](?:number|no|code))?\b{ASIDE}{CLOSING}(?:[ \t]{{1,2}}(?:is|was)\b[ \t]?:?|[ \t]?[:=]){OPENING}"
    r"([0-9]{4,8})\b"
)
_NOUN_ELSEWHERE = (
    "passwort|kennwort|contrase(?:ñ|ñ?)a|mot de passe|senha|palavra-passe|парол[ьяю]"
    "|密码|密碼|パスワード|비밀번호"
    "|كلمة (?:المرور|السر)|पासवर्ड"
)
"""German, Spanish, French, Portuguese, Russian, Chinese, Japanese, Korean, Arabic, Hindi."""
_ELSEWHERE_BY = (
    *("passwort", "kennwort", "contrase", "mot de passe", "senha", "palavra-passe", "парол", "密码", "密碼"),
    *("パスワード", "비밀번호", "كلمة ", "पासवर्ड"),
)
"""The beginnings of these words, in small letters (``folded``)."""
_IS_ELSEWHERE = "(?:ist|lautet|war|es|est|era|é)(?=[ \t])|是|为|為|は|은|는|هي|هو"
_ELSEWHERE = re.compile(
    rf"(?i)(?:{_NOUN_ELSEWHERE})(?:(?:[ \t]{{1,3}}[^\s.,;:：=!?\"]{{1,24}}){{0,4}}?"
    rf"[ \t]{{0,3}}(?:[:：=–—]|{_IS_ELSEWHERE})[ \t\u3000\x1f]{{0,3}}|[ \t\x1f]{{1,3}})"
    "[\"'`«„“「]?((?=[!-~]{0,63}[0-9])(?=[!-~]{0,63}[A-Za-z])[!-~]{4,256})"
)
_IN_ADDRESS = re.compile(r"://[^\s/:@\"'<>]{0,128}:([^\s/@\"'<>]{1,256})@")

_CLAUSE_END = re.compile(
    r"(?i)[ \t]*(?:$|\n|[.,;:!?)\]\"\x1f]|'(?!s\b)|[ \t](?:and|but|please|so|btw|for|thanks|ok|okay)\b)"
)
_CODE = re.compile(
    r"[A-Za-z_][\w.]*[(\[]|(?:self|this|os|config|settings|args|request|user|env|process)\.|[$%{]+[\w{.]|<"
)
_TRAILING = ".,;:!?)]}*"

_WORDS_ABOUT_A_PASSWORD = """
a about above accepted actually again all allowed almost already also always an ancient and any asked at available bad
because been being below between blank blocked both breached broken can cannot case-sensitive changed checked chosen
complex complicated compromised confirm confirmation continue correct correctly cracked created currently default
different disabled done due easy either emailed empty encrypted enforced enough entered exactly expired expiring
exposed false fine for forgotten from generated getting given going gone good guessed hacked hard hashed her here
hidden hint his i if important in incorrect insecure invalid it its just known leaked like locked long longer lost low
mailed managed manager mandatory masked memorable missing must my needed needs neither never new nil no none not
nothing null ok okay old on one only optional our out outdated phished plain plaintext please printed private probably
protected pwned random really recorded rejected required reset resetting reused revealed revoked rotated safe salted
same saved secret secure sent set shared short shorter should similar simple so somehow something somewhere stale
still stolen stored str string strong stronger temporary texted that the their there these this to too true unchanged
undefined unique unknown unsafe unset updated used using valid very visible weak weaker what when where which why will
with working wrong yes your
"""
_NO_PASSWORD = frozenset(_WORDS_ABOUT_A_PASSWORD.split())
"""Words that are said of a password, and stand in place of one in code."""


def is_no_secret(value: str) -> bool:
    """Say whether a value is a word that is said of a password, or stands in place of one: ``required``, ``str``."""
    return value.lower() in _NO_PASSWORD


def find(text: str) -> Iterator[Span]:
    small = folded(text)
    if "pass" in small or "pwd" in small:
        for found in _ASSIGNED.finditer(text):
            yield from _value(found, 1, written=True)
        for found in _PASSWORD_PHRASE.finditer(text):
            yield from _value(found, 2, stated=found[1].lower() != "to")
    for found in _ELSEWHERE.finditer(text) if any(noun in small for noun in _ELSEWHERE_BY) else ():
        if not is_placeholder(found[1]):
            yield Span(*_strip_marks(text, *found.span(1)), "password")
    for pattern, word in ((_PHRASE, "pass"), (_PIN, "pin"), (_IN_ADDRESS, "://")):
        for found in pattern.finditer(text) if word in small else ():
            if not is_placeholder(found[1]):
                yield Span(*found.span(1), "password")


def _value(found: re.Match[str], first: int, *, written: bool = False, stated: bool = False) -> Iterator[Span]:
    """Find the group that matched, from ``first`` on; the last one is without quotes. A plain word counts where it is
    ``written`` as a setting, or ``stated`` and the last of its clause."""
    group = found.lastindex or first
    start, end = found.span(group)
    quoted = group != found.re.groups
    if is_placeholder(found[group]):
        return
    if not quoted:
        start, end = _strip_marks(found.string, start, end)
    value = found.string[start:end]
    if not value or _CODE.match(value) or is_no_secret(value):
        return
    counts = written or _is_strong(value) or (stated and _CLAUSE_END.match(found.string, end) is not None)
    if quoted or (len(value) > 2 and counts):
        yield Span(start, end, "password")


def _strip_marks(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out the marks of the sentence or the emphasis around a password. A last mark behind another sign is left to
    the password (``pa$$!``)."""
    while start < end and text[start] in "(*":
        start += 1
    while end > start and text[end - 1] in _TRAILING:
        end -= 1
    return start, end


def _is_strong(value: str) -> bool:
    """Say whether it is no word: it has digits or signs, or capitals behind the first letter."""
    return not value.replace("-", "").replace("'", "").replace("\u2019", "").isalpha() or not (
        value.islower() or value[1:].islower() or value.isupper()
    )
