"""Finds what the gate takes out of texts: numbers, secrets and contacts, each class by its patterns
(docs/rules/privacy.md#classes). Forms are facts of their issuers; what has no form is known by the words before it.

Every pattern starts at a border that its own characters do not cross, or is short: a text is read once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from neve.domain.tenants.policy import PiiClass

BETWEEN_BLOCKS = "\x1f"
"""Stands between the blocks of one event while they are read together."""
REMOVED = "[removed]"
SHORT = "[*]"
"""The marker where ``REMOVED`` would be longer than what it stands for: no text grows, so what fitted a limit fits it
still."""
_PLACEHOLDER = re.compile(r"\[removed\]|\[\*\]|^[*x•.…]+$")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text: ``text[start:end]`` is of class ``kind``."""

    start: int
    end: int
    kind: PiiClass


Places = Iterable[tuple[int, int]]


def _last_group(found: re.Match[str]) -> Places:
    return (found.span(found.re.groups),)


@dataclass(frozen=True, slots=True)
class Pattern:
    """``words``: whatever ``regex`` finds holds one of them, in small letters, so that a text without is not searched:
    to look for words takes less than a tenth of the time. Without any, every text is. ``values``: where in a match
    the value stands; nowhere, where it only looks alike."""

    regex: re.Pattern[str]
    words: tuple[str, ...] = ()
    values: Callable[[re.Match[str]], Places] = _last_group


def find(text: str, kinds: Collection[PiiClass]) -> Iterator[Span]:
    """Find what is of these classes; spans may overlap."""
    small = folded(text)
    for kind, patterns in PATTERNS.items():
        searched = _without_ids(text) if kind == "card_number" else text
        for pattern in patterns if kind in kinds else ():
            if not pattern.words or any(word in small for word in pattern.words):
                for found in pattern.regex.finditer(searched):
                    yield from (Span(start, end, kind) for start, end in pattern.values(found))


def folded(text: str) -> str:
    """Write a text in small letters: every letter of ASCII that a pattern which ignores case matches stands in it as a
    small one: ``ſ`` is an s to it, ``İ`` and ``ı`` are an i, the sign of kelvin is a k."""
    if text.isascii():
        return text.lower()
    return text.casefold().replace("i\u0307", "i").replace("ı", "i")


def is_placeholder(value: str) -> bool:
    """Say whether a value is what an earlier screening, or a person, put in place of one."""
    return bool(_PLACEHOLDER.search(value))


def is_no_secret(value: str) -> bool:
    """Say whether a value is a word that is said of a password, or stands in place of one: ``required``, ``str``."""
    return value.lower() in _NO_PASSWORD


# The signs between the words that name a number and the number: in a sentence, on a form, in Markdown, in a table, in
# JSON and in JSON within JSON. Bounded, so that a text is read once.
_ASIDE = r"(?:[ \t]?\([^()\n]{1,24}\))?"
"""``Social Security Number (SSN): ...``"""
_MARKS = r"\"'`*\\\x1f"
"""Around a name or a value: quotes, emphasis, escapes, the border between two blocks."""
_CLOSING = rf"[{_MARKS}]{{0,4}}"
_OPENING = rf"[ \t{_MARKS}]{{0,5}}"
_UP_TO_NUMBER = rf"{_ASIDE}[ \t.:#=|){_MARKS}]{{0,6}}(?:(?:is|was)\b[ \t:#{_MARKS}]{{0,4}})?"


# --- payment cards ---------------------------------------------------------------------------------

# Digits that a network issues, with a valid check digit (Luhn), in groups as people write them.
_GAP = rf" \t\u00a0\u2007\u2009\u202f\-\u2010-\u2015{BETWEEN_BLOCKS}"
# Not the decimals of a number: 0.4111111111111111 is none. The digit comes first, what may not stand before it behind:
# digits are found far quicker than places. No run is shorter than a card.
_RUN = re.compile(rf"\d(?<![0-9][.,]\d)(?<!\d\d)(?=[\d{_GAP}]{{12}})\d*(?:[{_GAP}]{{1,3}}\d+)*")
_POINTED = re.compile(
    r"\d(?<![0-9][.,]\d)(?<!\d\d)"
    r"(?:\d{3}(\.|%20)\d{4}(?:\1\d{4}){2}(?:\1\d{3})?|\d{3}(\.|%20)\d{6}\2\d{4,5})(?![.,]?\d)"
)
"""Points, and spaces as an address has them, stand in many numbers that are no cards: only as a card is printed."""
_HEX = re.compile(
    r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{32,}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Fa-f]))"
)
"""MD5, SHA-1, SHA-256, and UUIDs with their dashes or without: one in some thousands has the digits of a card."""
_GROUP = re.compile(r"\d+")
_DIGIT = re.compile(r"\d")
_MIN_CARD, _MAX_CARD = 13, 19

_ISSUED = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})"  # Visa
    r"|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|3(?:0[0-5]|095|[689]\d)\d{11,13}"  # Diners
    r"|35(?:2[89]|[3-8]\d)\d{12,15}"  # JCB
    r"|220[0-4]\d{12,15}"  # Mir
    r"|(?:50|5[6-9]|6\d)\d{14,17}"  # Maestro, Discover, UnionPay
)
"""The numbers that are issued, by the ranges that ISO/IEC 7812 gives to networks, and the lengths that these issue.
Without them a tenth of all long numbers, times in milliseconds among them, would pass for a card."""

_PRINTED = frozenset(
    {
        *((n,) for n in range(_MIN_CARD, _MAX_CARD + 1)),
        *((4, 4, 4, 4), (4, 4, 4, 4, 3), (4, 6, 5), (4, 6, 4), (4, 4, 4, 1), (6, 13), (8, 8), (4, 12), (6, 10)),
    }
)
"""The numbers of digits that the groups of a card have; (n,) is one without gaps."""
_FIRST = frozenset(sizes[0] for sizes in _PRINTED)
_MAX_GROUPS = max(map(len, _PRINTED))
_SECURITY_CODE = re.compile(rf"(?i)\b(?:cvv2?|cvc2?|security code)\b{_UP_TO_NUMBER}(\d{{3,4}})\b")


def _without_ids(text: str) -> str:
    return _HEX.sub(lambda run: "x" * len(run[0]), text) if _DIGIT.search(text) is not None else text


def _cards(run: re.Match[str]) -> Places:
    """Find cards in groups of digits with gaps between: the whole run, whatever its groups, or what is grouped as on a
    card. What is left on either side of one is read like a run of its own; of a long number, a part is never taken."""
    groups = [group.span() for group in _GROUP.finditer(run.string, *run.span())]
    sizes = tuple(last - first for first, last in groups)

    def is_card(begin: int, end: int) -> bool:
        if not _MIN_CARD <= sum(sizes[begin : min(end, begin + _MAX_CARD + 1)]) <= _MAX_CARD:
            return False
        return _is_card_number("".join(run.string[start:end] for start, end in groups[begin:end]))

    def next_grouped(begin: int) -> tuple[int, int]:
        """Find from where to where the first card is that is grouped as one; the end twice when there is none."""
        for at in range(begin, len(groups)):
            for behind in range(min(at + _MAX_GROUPS, len(groups)), at, -1) if sizes[at] in _FIRST else ():
                if sizes[at:behind] in _PRINTED and is_card(at, behind):
                    return at, behind
        return len(groups), len(groups)

    begin, end = 0, len(groups)
    while begin < end:
        at, behind = (end, end) if is_card(begin, end) else next_grouped(begin)
        if is_card(begin, at):
            yield groups[begin][0], groups[at - 1][1]
        if at < behind:
            yield groups[at][0], groups[behind - 1][1]
        begin = behind


def _pointed_card(found: re.Match[str]) -> Places:
    return (found.span(),) if _is_card_number(re.sub(r"%20|\.", "", found[0])) else ()


def _is_card_number(written: str) -> bool:
    from stdnum import luhn  # with all that it brings a tenth of the start of a function: only for what looks like one

    digits = written if written.isascii() else "".join(str(int(digit)) for digit in written)
    return _ISSUED.fullmatch(digits) is not None and luhn.checksum(digits) == 0


# --- numbers of the United States ------------------------------------------------------------------

# Social security numbers, and taxpayer numbers written like them: with dashes or spaces, or nine digits together behind
# words that say what they are.
_DASH = r"[ \-\u2010-\u2015]"
_SSN = re.compile(rf"([0-9](?<![\d\-][0-9])[0-9]{{2}}){_DASH}([0-9]{{2}}){_DASH}([0-9]{{4}})(?![\d\-]\d|\d)")
_NAMED_SSN = re.compile(
    rf"(?i)\b(?:ssn|social[ -]security(?:[ -](?:number|no|num))?|itin)\b{_UP_TO_NUMBER}([0-9]{{9}})(?!\d)"
)
_ADVERTISED = frozenset({"078051120", "219099999", "457555462"})
"""Printed in advertisements and no longer valid. Written as a social security number they are treated as one."""


def _ssn(found: re.Match[str]) -> Places:
    """Check that nine digits are in a range of social security or taxpayer numbers."""
    from stdnum.us import itin, ssn

    digits = "".join(found.groups())
    if digits in _ADVERTISED or ssn.is_valid(digits) or itin.is_valid(digits):
        yield found.span() if found.re is _SSN else found.span(1)


# --- passwords -------------------------------------------------------------------------------------

# By the words before them: as settings are written (``password=...``), as people say it ("my password is ..."), and in
# an address (``https://user:...@host``). In nine more languages by the noun alone, where letters and digits follow it.
# What follows the words is often no password ("my password is wrong", ``password: str``), so plain words count only
# where the sentence ends behind them.
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
    rf"(?i)\bpin(?:[ _-](?:number|no|code))?\b{_ASIDE}{_CLOSING}"
    rf"(?:[ \t]{{1,2}}(?:is|was)\b[ \t]?:?|[ \t]?[:=]){_OPENING}([0-9]{{4,8}})\b"
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
_IN_CODE = re.compile(
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


def _assigned(found: re.Match[str]) -> Places:
    return _password(found, 1, written=True)


def _said(found: re.Match[str]) -> Places:
    return _password(found, 2, stated=found[1].lower() != "to")


def _password(found: re.Match[str], first: int, *, written: bool = False, stated: bool = False) -> Places:
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
    if not value or _IN_CODE.match(value) or is_no_secret(value):
        return
    counts = written or _is_strong(value) or (stated and _CLAUSE_END.match(found.string, end) is not None)
    if quoted or (len(value) > 2 and counts):
        yield start, end


def _bare(found: re.Match[str]) -> Places:
    return () if is_placeholder(found[1]) else (_strip_marks(found.string, *found.span(1)),)


def _whole(found: re.Match[str]) -> Places:
    return () if is_placeholder(found[1]) else (found.span(1),)


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


# --- API keys, tokens and private keys -------------------------------------------------------------

# By the form that their issuer gives them, or by the words before them. The forms are those that maintained detectors
# of secrets know (ADR 33 has which, and why none of them runs here); a test holds them against one.
_IN_KEYS = r"A-Za-z0-9_\-"
_FORMS = (
    r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])",  # AWS
    r"nv_[0-9A-Za-z]{8,64}_[0-9A-Za-z]{16,128}",  # Neve
    r"(?:gh[pousr]_[A-Za-z0-9_]{36,255}|github_pat_[A-Za-z0-9_]{22,255})",
    rf"(?:glpat|gldt|glft|glsoat|glrt|glcbt|glimt|glptt|glagent|gloas)-[{_IN_KEYS}]{{20,1024}}",
    rf"GR1348941[{_IN_KEYS}]{{20,50}}",
    rf"sk-[{_IN_KEYS}]{{20,512}}",  # OpenAI, Anthropic, OpenRouter, DeepSeek
    r"(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,255}",  # Stripe
    r"whsec_[0-9A-Za-z+/=]{16,255}",
    r"xox[a-z](?:-[0-9A-Za-z]{1,255}){2,6}",  # Slack
    r"xapp-[0-9]-[0-9A-Za-z\-]{20,255}",
    rf"AIza[{_IN_KEYS}]{{35}}",  # Google
    rf"ya29\.[{_IN_KEYS}]{{20,512}}",
    rf"GOCSPX-[{_IN_KEYS}]{{20,64}}",
    r"hf_[A-Za-z0-9]{30,64}",
    r"npm_[A-Za-z0-9\-]{36}",
    rf"pypi-Ag[{_IN_KEYS}]{{60,512}}",
    rf"SG\.[{_IN_KEYS}]{{20,24}}\.[{_IN_KEYS}]{{39,50}}",  # SendGrid
    r"(?:AC|SK)[a-z0-9]{32}(?![0-9A-Za-z])",  # Twilio
    rf"sq0(?:csp|atp|idp)-[\\{_IN_KEYS}]{{22,43}}",  # Square
    r"EAAA[A-Za-z0-9_\-]{56,64}",
    rf"[MNO][{_IN_KEYS}]{{23,27}}\.[{_IN_KEYS}]{{6}}\.[{_IN_KEYS}]{{27,38}}",  # Discord
    r"[0-9]{8,10}:[0-9A-Za-z_\-]{35}(?![0-9A-Za-z_\-])",  # Telegram
    r"[0-9a-z]{32}-us[0-9]{1,2}(?![0-9A-Za-z])",  # Mailchimp
    r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    r"do[opr]_v1_[0-9a-f]{64}",
    r"dp\.(?:pt|st|ct|sa)\.[0-9A-Za-z.]{40,64}",
    r"(?:AKC[a-zA-Z0-9]{10,200}|AP[0-9A-F][a-zA-Z0-9]{60,200})",  # Artifactory
    r"[A-Za-z0-9+/]{86,88}==",  # Azure storage
    r"eyJ[A-Za-z0-9_\-]{8,8192}\.[A-Za-z0-9_\-]{8,16384}(?:\.[A-Za-z0-9_\-]{0,8192})?",  # JWT
)
_BORDER = r"(?:(?<![A-Za-z0-9_\-])|(?<=\\[nrt]))"
"""The border before a key, also behind a line break as JSON within JSON has it."""
_BY_FORM = re.compile(_BORDER + "(?:" + "|".join(_FORMS) + ")")
_TOKEN = re.compile(r"[A-Za-z0-9_\-+/.=:\\]{13,}")
"""The texts that may hold a key: no form is shorter. Prose has few, which makes it three times as fast."""
_WEBHOOK = re.compile(r"(?i)https://hooks\.slack\.com/services/(T\w{1,64}/B\w{1,64}/\w{1,128})")
_AWS_SECRET = re.compile(r"(?i)aws.{0,20}?(?:key|pwd|pw|password|pass|token).{0,20}?\b([0-9a-z/+]{40})\b")
_NPM = re.compile(r"(?i)(?:_authToken|npm[ _-]?token).{0,5}?(?:NpmToken\.)?([a-z0-9-]{36})")
_PRIVATE_KEY = re.compile(
    r"(?:-----)?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(?:-+|(?=[A-Za-z0-9+/\\]{10}))"
    r"(?:[A-Za-z0-9+/=\s\\]|(?:Proc-Type|DEK-Info|Version|Comment)[^\n]{0,200})*"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_PUTTY_KEY = re.compile(r"PuTTY-User-Key-File-[23]:.{1,40}\n?Encryption:[A-Za-z0-9+/=\s:\-]*")
_NAMED_KEY = re.compile(
    r"(?i)(?:(?:api|access|auth|authentication|secret|client|private|service|account|signing|encryption|refresh|bearer)"
    r"[ _\-]?(?:key|token|secret)|(?<![A-Za-z])(?:secret|token|bearer|basic|authtoken))[\"'`*]{0,2}"
    r"(?:[ \t\x1f]{0,3}(?:=>|:=|:|=)[ \t\x1f*]{0,3}|[ \t\x1f]{1,3}(?:(?:is|was|to)[ \t\x1f]{1,3})?)"
    r"(?:(?:bearer|basic|token)[ \t])?[\"'`]?([A-Za-z0-9_\-.+/~=]{8,1024})"
)
_UNDOUBTED = re.compile(r"(?i)(?:api|access|secret|auth|client|private)[ _\-]?(?:key|token|secret)")


def _by_form(token: re.Match[str]) -> Places:
    return (found.span() for found in _BY_FORM.finditer(token.string, *token.span()))


def _named_key(found: re.Match[str]) -> Places:
    """Keep a value that looks like a secret: letters and digits together. Behind words that may mean something else
    (``token 4``, the name of a secret), also long, and of capitals and small letters, or of hexadecimal digits
    alone."""
    value = found[1].rstrip(".-/~")
    if is_placeholder(value) or not (any(c.isdigit() for c in value) and any(c.isalpha() for c in value)):
        return
    mixed = any(c.isupper() for c in value) and any(c.islower() for c in value)
    long = len(value) >= 20 and value.count("/") <= 2 and (mixed or re.fullmatch(r"[0-9a-fA-F]+", value) is not None)
    if long or _UNDOUBTED.match(found[0]) is not None:
        yield found.start(1), found.start(1) + len(value)


# --- medical records -------------------------------------------------------------------------------

_RECORD_NUMBER = re.compile(
    r"(?i)\b(?:mrn|(?:medical[ -]records?|patient|hospital|chart)[ -](?:number|no|num|id|#)|nhs[ -](?:number|no))"
    rf"(?![a-z]){_UP_TO_NUMBER}"
    r"([a-z]{0,4}-?[0-9](?:[0-9a-z]|[ -](?=[0-9a-z]*[0-9])){3,18})(?![0-9a-z])"
)


def _record_number(found: re.Match[str]) -> Places:
    return (found.span(1),) if sum(c.isdigit() for c in found[1]) >= 4 else ()


# --- telephones ------------------------------------------------------------------------------------

# International numbers, those of North America, of Germany, Austria and Switzerland, of the United Kingdom, Ireland and
# France as they are written there, and any behind a word that says what it is. Most numbers are no telephone's: without
# ``+`` or such a word only the groups of such a country count, and not behind a word that names another number.
_BEHIND = r"(?![\w/]|[.,:-]\d)"
"""A number ends here: what follows is no part of the number."""
_BEFORE = r"(?<![\w+./#:$€£=-])"
_COUNTRY = (
    r"(?:1|7|2(?:0|7|[1-689]\d)|3(?:[0-469]|[578]\d)|4(?:[013-9]|2\d)|5(?:[1-8]|[09]\d)|6(?:[0-6]|[789]\d)"
    r"|8(?:[1246]|[0578]\d)|9(?:[0-58]|[679]\d))"
)
"""A country's (*given*, ITU E.164)."""
_SEP = r"[ \t\u00a0\-]?"
_REST = r"(?:[ \t\u00a0.\-/]{0,2}(?:\(\d{1,5}\)|\d)){6,14}"
_INTERNATIONAL = re.compile(rf"(?<![\w+])\(?\+{_SEP}({_COUNTRY})\)?{_REST}{_BEHIND}")
_DIALLED = re.compile(rf"{_BEFORE}00({_COUNTRY})(?=\d*[ \-/(]){_REST}{_BEHIND}")
"""Numbers with ``00`` in front, and a gap somewhere: many ids begin with zeros."""
_NATIONAL = (
    re.compile(  # North America
        rf"{_BEFORE}(?:1[ .\-])?"
        rf"(?:\([2-9]\d\d\)[ \-]?[2-9]\d\d[ .\-]\d{{4}}|[2-9]\d\d([.\-])[2-9]\d\d\1\d{{4}}){_BEHIND}"
    ),
    re.compile(rf"{_BEFORE}0[1-9](?:([ .\-])\d\d)(?:\1\d\d){{3}}{_BEHIND}"),  # France
    re.compile(  # United Kingdom, Ireland
        rf"{_BEFORE}(?:\(0\d{{2,4}}\) ?\d{{3,4}}[ \-]?\d{{3,4}}|0[1-9]\d[ \-]\d{{3,4}}[ \-]\d{{4}}"
        rf"|0[1-9]\d{{2}}[ \-]\d{{3}}[ \-]\d{{4}}|0[17]\d{{3}}[ \-]\d{{5,6}}|0[17]\d{{3}} \d{{3}} \d{{3}}){_BEHIND}"
    ),
    re.compile(  # Germany, Austria, Switzerland
        rf"{_BEFORE}(?:\(0[1-9]\d{{1,4}}\)|0[1-9]\d{{1,4}}) ?[/\-]? ?"
        rf"(?:(?<=[ /)\-])\d{{5,9}}|(?<=[ /)\-])\d{{2,4}}(?:[ \-]\d{{2,4}}){{1,3}}){_BEHIND}"
    ),
)
_NAMED_PHONE = re.compile(
    r"(?i)\b(?:(?:tele|mobile |cell ?|home |work )?phone|mobile|cell|tel|fax|whatsapp|handy|mobil|telefon|tel[eé]fono"
    r"|t[eé]l[eé]phone|portable|celular|ruf(?=nummer)|(?:call|text|ring|reach|phone) (?:me|us|him|her|them)"
    r"|erreichbar|ruf (?:mich|uns) an|(?:call|dial|ring)(?= [+(]?[0-9])|my (?:new |old )?number|meine (?:neue )?nummer)"
    r"(?:[ \-]?(?:number|no|nr|num|nummer))?"
    rf"(?![a-z]){_UP_TO_NUMBER}(?:(?:at|on|under|unter|es|est|lautet|ist)[ :]{{1,2}})?"
    rf"([+(]?\d(?:[ .\-/()]{{0,2}}\d){{6,14}})(?:\)?){_BEHIND}"
)
_PHONE_WORDS = (
    *("phone", "mobil", "cell", "tel", "fax", "whatsapp", "handy", "portable", "celular", "rufnummer"),
    *("call", "dial", "text", "ring", "reach", "number", "nummer", "erreichbar", "ruf", "tél"),
)
_DATE = re.compile(r"(?:19|20)\d\d[ .\-/]\d\d?[ .\-/]\d\d?|\d\d?[ .\-/]\d\d?[ .\-/](?:19|20)\d\d")
_ANOTHERS = re.compile(
    r"(?i)(?:\b(?:order|invoice|ticket|ref|reference|id|ids|sku|serial|account|acct|isbn|issn|case|batch|lot|part|item"
    r"|seq|version|build|commit|tracking|parcel|flight|room|model|code|zip|plz|port|amount|total|price|usd|eur"
    r"|rechnung|bestellung|auftrag|artikel|konto|vertrag)|(?:rechnungs|auftrags|bestell|kunden|konto|artikel|vertrags"
    r"|serien|sendungs)-?(?:nr|nummer))[\"'`*]{0,2}[ ]?(?:no|nr|num|number|nummer)?[.:#]{0,2}[ \t\"'`*=#]{0,4}$"
)
_AMERICAN = re.compile(r"1[2-9]\d\d[2-9]\d{6}")


def _international(found: re.Match[str]) -> Places:
    """Check that the digits may be dialled, unlike ``+10 000 000 000`` and the decimal number ``+40.712800000``."""
    written = found[0]
    digits = re.sub(r"[^0-9]", "", written)
    digits = digits.removeprefix("00") if found.re is _DIALLED else digits
    dialled = _AMERICAN.fullmatch(digits) if digits.startswith("1") else not digits.endswith("000000")
    decimal = written.count(".") == 1 and not any(sign in written for sign in " -/(\t\u00a0")
    if 9 <= len(digits) <= 15 and dialled and not decimal:
        yield found.span()


def _national(found: re.Match[str]) -> Places:
    """Leave out days, and numbers of which the words before say that they are of another kind."""
    before = found.string[max(0, found.start() - 40) : found.start()]
    return () if _is_date(found[0]) or _ANOTHERS.search(before) else (found.span(),)


def _named_phone(found: re.Match[str]) -> Places:
    return () if _is_date(found[1]) else (found.span(1),)


def _is_date(written: str) -> bool:
    return _DATE.match(written.strip("()")) is not None


# --- e-mail addresses ------------------------------------------------------------------------------

_AT = re.compile("@|%40")
_MAX_NAME = 64
"""Characters before the sign (RFC 5321, 4.5.3.1.1)."""
_IN_NAMES = frozenset(".+%&~'-_")
_BEGINS_NO_NAME = ".%&~'-"
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_HOST = re.compile(
    rf"{_LABEL}(?:\.{_LABEL}){{0,8}}\.(?:xn--[a-z0-9-]{{2,59}}|[^\W\d_]{{2,24}})(?![\w-])", re.IGNORECASE
)
_SCALED = re.compile(r"\d+x\.(?:png|jpe?g|gif|webp|svg|avif)", re.IGNORECASE)
"""``logo@2x.png``"""
_CLONED_BY = frozenset({"git", "hg", "svn"})
"""Names in front of a repository's host: ``git@host.example:owner/name`` is no person's address."""


def _email(at: re.Match[str]) -> Places:
    """Read outwards from the sign between name and host."""
    text, host = at.string, _HOST.match(at.string, at.end())
    if host is None or _SCALED.fullmatch(host[0]):
        return
    start = at.start()
    while start > 0 and at.start() - start <= _MAX_NAME and (text[start - 1].isalnum() or text[start - 1] in _IN_NAMES):
        start -= 1
    while start < at.start() and text[start] in _BEGINS_NO_NAME:
        start += 1
    name = text[start : at.start()]
    cloned = name.lower() in _CLONED_BY and text[host.end() : host.end() + 1] in (":", "/")
    if 0 < len(name) <= _MAX_NAME and not name.endswith(".") and not cloned and not text.endswith("//", 0, start):
        yield start, host.end()


# --- bank accounts (IBAN, ISO 13616) ---------------------------------------------------------------

LENGTHS = {
    **dict.fromkeys(("NO",), 15),
    **dict.fromkeys(("BE",), 16),
    **dict.fromkeys(("DK", "FI", "FK", "FO", "GL", "NL", "SD"), 18),
    **dict.fromkeys(("MK", "SI"), 19),
    **dict.fromkeys(("AT", "BA", "EE", "KZ", "LT", "LU", "MN", "XK"), 20),
    **dict.fromkeys(("CH", "HR", "LI", "LV"), 21),
    **dict.fromkeys(("BG", "BH", "CR", "DE", "GB", "GE", "IE", "ME", "RS", "VA"), 22),
    **dict.fromkeys(("AE", "GI", "IL", "IQ", "OM", "SO", "TL"), 23),
    **dict.fromkeys(("AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN", "VG"), 24),
    **dict.fromkeys(("LY", "PT", "ST"), 25),
    **dict.fromkeys(("IS", "TR"), 26),
    **dict.fromkeys(("BI", "DJ", "FR", "GR", "IT", "MC", "MR", "SM"), 27),
    **dict.fromkeys(("AL", "AZ", "BY", "CY", "DO", "GT", "HN", "HU", "LB", "NI", "PL", "SV"), 28),
    **dict.fromkeys(("BR", "EG", "PS", "QA", "UA"), 29),
    **dict.fromkeys(("JO", "KW", "MU", "YE"), 30),
    **dict.fromkeys(("MT", "SC"), 31),
    **dict.fromkeys(("LC",), 32),
    **dict.fromkeys(("RU",), 33),
}
"""The lengths of account numbers by country (*given*, SWIFT's registry)."""
_BEGINNING = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[ ]?[0-9]{2}(?=[ \t\u00a0\u202f-]{0,2}[A-Za-z0-9])")
_GAPS = frozenset(" \t\u00a0\u202f-")


def _iban(begun: re.Match[str]) -> Places:
    """Find as many letters and digits of ASCII as the country gives out, with gaps between them and a checksum that one
    in 97 numbers has by chance."""
    text, at, gap, plain = begun.string, begun.start(), 0, ""
    length = LENGTHS.get(begun[0][:2].upper(), 0)
    while len(plain) < length and at < len(text):
        if text[at].isascii() and text[at].isalnum():
            plain, gap = plain + text[at].upper(), 0
        elif text[at] in _GAPS and gap < 2:
            gap += 1
        else:
            return
        at += 1
    number = int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4]) or "0")
    if len(plain) == length and number % 97 == 1 and not text[at : at + 1].isalnum():
        yield begun.start(), at


# --- postal addresses ------------------------------------------------------------------------------

# As they are written in English and German: a house number and a street that says that it is one, with flat, town and
# postcode where these follow; a post box; in German also any street before a postcode and a town. A street alone is
# none, nor is a town: what is found has the number of a house.
_BREAK = r"(?:,[ \t]?\n?|[ \t]?\n|[ \t])[ \t]{0,2}"
_CAPITALS = r"A-ZÀ-ÖØ-ÞĄĆČĎĘĚĞİŁŃŇŘŚŠŤŮŹŻŽ"
_WORD = rf"[{_CAPITALS}][\w'’.\-]{{0,24}}"
_TOWN = rf"{_WORD}(?: (?:{_WORD}|on|upon|of|am|an|der|im|in|bei|ob|de|la|le)){{0,4}}"
_STREETS = (
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Square|Sq|Terrace|Ter|Place|Pl|Way|Close"
    r"|Crescent|Cres|Gardens|Gdns|Row|Parkway|Pkwy|Highway|Hwy|Circle|Cir|Trail|Trl|Mews|Quay|Alley|Grove|Walk)"
)
_POSTCODE = (
    r"(?:[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}"  # United Kingdom
    r"|[A-Z][0-9][0-9W] ?[A-Z0-9]{4}"  # Ireland
    r"|(?:[A-Z]{2} )?[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]"  # Canada
    r"|(?:[A-Z]{2,3},? )?[0-9]{5}(?:-[0-9]{4})?|[A-Z]{2,3} [0-9]{4})(?![\w-])"  # United States, Australia
)
_UNIT = r"(?:[Aa]pt|[Aa]partment|[Ss]uite|[Ss]te|[Uu]nit|[Ff]lat|[Rr]oom|[Ff]loor|#)\.? ?#?[0-9A-Za-z\-]{1,6}"
_ENGLISH = re.compile(
    rf"(?<![\w$€£.,/#\-])(?:{_UNIT}{_BREAK})?(?<!the )(?<!The )[0-9]{{1,5}}[A-Za-z]?(?:[\-/][0-9]{{1,5}}[A-Za-z]?)? "
    rf"(?:(?:North|South|East|West|N|S|E|W|NE|NW|SE|SW)\.? )?"
    rf"(?:(?:{_WORD}|[0-9]{{1,3}}(?:st|nd|rd|th)) ){{1,4}}?{_STREETS}\b\.?(?: (?:NE|NW|SE|SW|N|S|E|W)\b)?"
    rf"(?:{_BREAK}{_UNIT})?(?:(?:{_BREAK}{_TOWN}){{1,2}}{_BREAK}{_POSTCODE}|{_BREAK}{_POSTCODE})?"
)
_BROADWAY = re.compile(rf"(?<![\w$€£.,/#\-])[0-9]{{1,5}} Broadway\b(?:{_BREAK}{_TOWN})?(?:{_BREAK}{_POSTCODE})?")
_BOX = re.compile(
    rf"(?i:\bp\.? ?o\.? ?box|\bpostfach|\bpost office box) [0-9][0-9 ]{{0,7}}(?<! )"
    rf"(?:{_BREAK}{_TOWN}{_BREAK}{_POSTCODE}|{_BREAK}(?:[A-Z]{{1,2}}-)?[0-9]{{4,5}} {_TOWN})?"
)
_HOUSE = r"[0-9]{1,4} ?[a-hA-H]?(?:[ ]?[\-–/+][ ]?[0-9]{1,4} ?[a-hA-H]?)?(?![\w%€.,]*\d)(?!\w)"
_PLZ = rf"(?:{_BREAK}(?:(?:D|A|CH|DE|AT)-)?[0-9]{{4,5}} {_TOWN})"
_NO_STREET = r"(?!Bundes|Landes|Kreis|Staats|Milch|Seiden|Wasch|Daten|Fertigungs|Produktions|Transport|Wasser)"
_GERMAN = re.compile(
    rf"(?<![\w-])(?:{_NO_STREET}[{_CAPITALS}][\wäöüß\-]{{1,30}}(?:straße|strasse|str\.|gasse|allee|chaussee)"
    rf"|(?:{_WORD}[ \-]){{1,3}}(?:Straße|Strasse|Str\.|Gasse|Allee|Chaussee)) {_HOUSE}{_PLZ}?"
)
_OFTEN_ANOTHER = (
    r"(?:platz|weg|ring|damm|ufer|markt|berg|hof|steig|stieg|tor|feld|kamp|wall|graben|brücke|winkel|kai|promenade)"
)
"""Endings of many streets, and of words of another kind."""
_WITH_TOWN = re.compile(
    rf"(?<![\w-])(?:[{_CAPITALS}][\wäöüß\-]{{1,30}}{_OFTEN_ANOTHER}"
    rf"|(?:{_WORD}[ \-]){{1,3}}(?i:{_OFTEN_ANOTHER})|(?:Straße|Platz|Allee) (?:des|der) (?:[0-9]{{1,2}}\. )?{_WORD}"
    rf"|(?:Am|An|Auf|Im|In|Unter|Zum|Zur|Bei|Beim|Hinter|Vor|Alte[rsnm]?|Neue[rsnm]?|Große[rsnm]?|Kleine[rsnm]?|Obere[rsnm]?)"
    rf"(?: (?:den|der|dem|die|das|{_WORD})){{1,4}}) {_HOUSE}{_PLZ}"
)


def _address(found: re.Match[str]) -> Places:
    return ((found.start(), found.end() - found[0].endswith(".")),)


_DIGITS = tuple("0123456789")
PATTERNS: Mapping[PiiClass, tuple[Pattern, ...]] = {
    "card_number": (
        Pattern(_RUN, values=_cards),
        Pattern(_POINTED, values=_pointed_card),
        Pattern(_SECURITY_CODE, ("cvv", "cvc", "security code")),
    ),
    "ssn": (
        Pattern(_SSN, _DIGITS, _ssn),
        Pattern(_NAMED_SSN, ("ssn", "social", "itin"), _ssn),
    ),
    "password": (
        Pattern(_ASSIGNED, ("pass", "pwd"), _assigned),
        Pattern(_PASSWORD_PHRASE, ("pass", "pwd"), _said),
        Pattern(_ELSEWHERE, _ELSEWHERE_BY, _bare),
        Pattern(_PHRASE, ("pass",), _whole),
        Pattern(_PIN, ("pin",), _whole),
        Pattern(_IN_ADDRESS, ("://",), _whole),
    ),
    "api_key": (
        Pattern(_TOKEN, values=_by_form),
        Pattern(_PRIVATE_KEY, ("private key",)),
        Pattern(_PUTTY_KEY, ("putty",)),
        Pattern(_WEBHOOK, ("hooks.slack",)),
        Pattern(_AWS_SECRET, ("aws",)),
        Pattern(_NPM, ("npm", "_authtoken")),
        Pattern(_NAMED_KEY, ("key", "token", "secret", "bearer", "basic"), _named_key),
    ),
    "medical_record_number": (
        Pattern(_RECORD_NUMBER, ("mrn", "medical", "patient", "hospital", "chart", "nhs"), _record_number),
    ),
    "phone": (
        Pattern(_INTERNATIONAL, ("+",), _international),
        Pattern(_DIALLED, ("00",), _international),
        *(Pattern(regex, _DIGITS, _national) for regex in _NATIONAL),
        Pattern(_NAMED_PHONE, _PHONE_WORDS, _named_phone),
    ),
    "email": (Pattern(_AT, ("@", "%40"), _email),),
    "iban": (Pattern(_BEGINNING, _DIGITS, _iban),),
    "address": tuple(Pattern(regex, _DIGITS, _address) for regex in (_ENGLISH, _BROADWAY, _BOX, _GERMAN, _WITH_TOWN)),
}
