"""The gate on values with names: what a tool was given or returned, and what else is kept as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from neve.domain.privacy.classes import Action, PiiClass
from neve.domain.privacy.screen import Found, screen
from neve.domain.privacy.spans import is_placeholder, marker

_NAMES: Mapping[PiiClass, re.Pattern[str]] = {
    "password": re.compile(r".*(?:password|passwd|passphrase|passcode|pwd)"),
    "api_key": re.compile(
        r".*(?:apikey|secretkey|accesskey|privatekey|signingkey|clientsecret|(?:access|auth|refresh|bearer)token|secret)"
    ),
    "ssn": re.compile(r"ssn|socialsecurity(?:number|no)?"),
    "medical_record_number": re.compile(r"mrn|medicalrecord(?:number|no|id)"),
    "card_number": re.compile(r"cvv2?|cvc2?|cardsecuritycode"),
}
"""Of a member whose value needs no form of its own to be one."""
_MIN_CHARACTERS = 3
_MAX_CHARACTERS = 4096


class Walk:
    """One value with all that is in it, or several of one request. ``found`` adds up."""

    def __init__(self, classes: Mapping[PiiClass, Action]) -> None:
        self._classes = classes
        self.found = Found()

    def value(self, value: Any) -> Any:
        """The value without what was found. A number that is a card's becomes text."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self.member(name, member) for name, member in value.items()}
        if isinstance(value, list):
            return [self.value(member) for member in value]
        if isinstance(value, int) and not isinstance(value, bool):
            screened = self.text(str(value))
            return value if screened == str(value) else screened
        return value

    def text(self, text: str) -> str:
        screened = screen(text, self._classes)
        self.found += screened
        return screened.text

    def member(self, name: str, member: Any) -> Any:
        kind = self._named(name)
        if kind is None or isinstance(member, bool) or not isinstance(member, str | int):
            return self.value(member)
        written = str(member)
        if not _MIN_CHARACTERS <= len(written) <= _MAX_CHARACTERS or is_placeholder(written):
            return self.value(member)
        one: dict[str, int] = {kind: 1}
        self.found += Found(blocked=one) if self._classes[kind] == "block" else Found(redacted=one)
        return marker(len(written))

    def _named(self, name: str) -> PiiClass | None:
        plain = re.sub(r"[^a-z0-9]", "", name.lower())
        for kind, names in _NAMES.items():
            if self._classes.get(kind, "allow") != "allow" and names.fullmatch(plain):
                return kind
        return None
