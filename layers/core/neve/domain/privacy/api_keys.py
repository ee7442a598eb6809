"""API keys, tokens and private keys: by the form that their issuer gives them, or by the words before them.

The forms are those that maintained detectors of secrets know (ADR 33 has which, and why none of them runs here); a
test holds them against one. A pattern starts at a border that its own characters do not cross, or is short: a text is
read once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neve.domain.privacy.folded import folded
from neve.domain.privacy.spans import Span, is_placeholder

_WORD = r"A-Za-z0-9_\-"
_FORMS = (
    r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])",  # AWS
    r"nv_[0-9A-Za-z]{8,64}_[0-9A-Za-z]{16,128}",  # Neve
    r"(?:gh[pousr]_[A-Za-z0-9_]{36,255}|github_pat_[A-Za-z0-9_]{22,255})",
    rf"(?:glpat|gldt|glft|glsoat|glrt|glcbt|glimt|glptt|glagent|gloas)-[{_WORD}]{{20,1024}}",
    rf"GR1348941[{_WORD}]{{20,50}}",
    rf"sk-[{_WORD}]{{20,512}}",  # OpenAI, Anthropic, OpenRouter, DeepSeek
    r"(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,255}",  # Stripe
    r"whsec_[0-9A-Za-z+/=]{16,255}",
    r"xox[a-z](?:-[0-9A-Za-z]{1,255}){2,6}",  # Slack
    r"xapp-[0-9]-[0-9A-Za-z\-]{20,255}",
    rf"AIza[{_WORD}]{{35}}",  # Google
    rf"ya29\.[{_WORD}]{{20,512}}",
    rf"GOCSPX-[{_WORD}]{{20,64}}",
    r"hf_[A-Za-z0-9]{30,64}",
    r"npm_[A-Za-z0-9\-]{36}",
    rf"pypi-Ag[{_WORD}]{{60,512}}",
    rf"SG\.[{_WORD}]{{20,24}}\.[{_WORD}]{{39,50}}",  # SendGrid
    r"(?:AC|SK)[a-z0-9]{32}(?![0-9A-Za-z])",  # Twilio
    rf"sq0(?:csp|atp|idp)-[\\{_WORD}]{{22,43}}",  # Square
    r"EAAA[A-Za-z0-9_\-]{56,64}",
    rf"[MNO][{_WORD}]{{23,27}}\.[{_WORD}]{{6}}\.[{_WORD}]{{27,38}}",  # Discord
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
_BY_WORDS = (
    (_PRIVATE_KEY, ("private key",)),
    (_PUTTY_KEY, ("putty",)),
    (_WEBHOOK, ("hooks.slack",)),
    (_AWS_SECRET, ("aws",)),
    (_NPM, ("npm", "_authtoken")),
)
"""Whatever a pattern finds holds one of its words, in small letters (``folded``)."""
_NAMED = re.compile(
    r"(?i)(?:(?:api|access|auth|authentication|secret|client|private|service|account|signing|encryption|refresh|bearer)"
    r"[ _\-]?(?:key|token|secret)|(?<![A-Za-z])(?:secret|token|bearer|basic|authtoken))[\"'`*]{0,2}"
    r"(?:[ \t\x1f]{0,3}(?:=>|:=|:|=)[ \t\x1f*]{0,3}|[ \t\x1f]{1,3}(?:(?:is|was|to)[ \t\x1f]{1,3})?)"
    r"(?:(?:bearer|basic|token)[ \t])?[\"'`]?([A-Za-z0-9_\-.+/~=]{8,1024})"
)
_NAMED_BY = ("key", "token", "secret", "bearer", "basic")
_UNDOUBTED = re.compile(r"(?i)(?:api|access|secret|auth|client|private)[ _\-]?(?:key|token|secret)")
_LONG = 20
_HEX = re.compile(r"[0-9a-fA-F]+")
_TRAILING = ".-/~"


def find(text: str) -> Iterator[Span]:
    for token in _TOKEN.finditer(text):
        for found in _BY_FORM.finditer(text, *token.span()):
            yield Span(*found.span(), "api_key")
    small = folded(text)
    for pattern, words in _BY_WORDS:
        for found in pattern.finditer(text) if any(word in small for word in words) else ():
            yield Span(*found.span(pattern.groups), "api_key")
    for found in _NAMED.finditer(text) if any(word in small for word in _NAMED_BY) else ():
        start, end = found.span(1)
        while end > start and text[end - 1] in _TRAILING:
            end -= 1
        if _is_secret(text[start:end], undoubted=_UNDOUBTED.match(found[0]) is not None):
            yield Span(start, end, "api_key")


def _is_secret(value: str, *, undoubted: bool) -> bool:
    """Say whether a value looks like a secret: letters and digits together. Behind words that may mean something else
    (``token 4``, the name of a secret), also long, and of capitals and small letters, or of hexadecimal digits
    alone."""
    if is_placeholder(value) or not (any(c.isdigit() for c in value) and any(c.isalpha() for c in value)):
        return False
    if undoubted:
        return True
    mixed = any(c.isupper() for c in value) and any(c.islower() for c in value)
    return len(value) >= _LONG and value.count("/") <= 2 and (mixed or _HEX.fullmatch(value) is not None)
