"""The gate on values with names: what a tool was given or returned, and what else is kept as JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from neve.domain.metadata import Metadata, is_key
from neve.domain.privacy.detectors import is_no_secret, is_placeholder
from neve.domain.privacy.screen import marker, screen
from neve.domain.tenants.policy import Action, PiiClass

_ANY = r".*"
_NAMES: Sequence[tuple[PiiClass, str, str]] = (
    ("password", r".*(?:password|passwd|passphrase|passcode|pwd)s?", _ANY),
    ("password", r"(?:card|atm|sim)?pin(?:number|no)?", r"[0-9]{4,8}"),
    (
        "api_key",
        r".*(?:apikey|secretkey|accesskey|privatekey|signingkey|clientsecret|(?:access|auth|refresh|bearer)token|secret)",
        _ANY,
    ),
    ("ssn", r"ssn|socialsecurity(?:number|no)?", _ANY),
    ("medical_record_number", r"mrn|medicalrecord(?:number|no|id)", _ANY),
    ("card_number", r"cvv2?|cvc2?|cardsecuritycode", _ANY),
    ("card_number", r"securitycode", r"[0-9]{3,4}"),
    (
        "phone",
        r".*(?:phone|mobile|cell|telefon|handy|whatsapp|fax|tel)(?:number|no|nr|nummer)?",
        r"[+(]?[0-9][0-9 ()./\-]{5,22}",
    ),
    (
        "address",
        r"(?:street|postal|home|billing|shipping|mailing|delivery)?address(?:line)?[0-9]?|street(?:name)?|anschrift|strasse",
        r"(?=.*[0-9])(?=.*[^\W\d_]{2})[^:@/\\]* [^:@/\\]*",
    ),
)
"""The classes of members whose values need no form of their own, by their names and what the values are."""
_PATTERNS = [(kind, re.compile(names), re.compile(values, re.DOTALL)) for kind, names, values in _NAMES]
_NAMED_BY = ("name", "key", "field")
_NAMED = "value"
"""``{"name": "password", "value": ...}``, as forms and environments are listed."""
_MIN_CHARACTERS = 3
_MAX_CHARACTERS = 4096


class Walk:
    """One value with all that is in it, or several of one request. ``found`` adds up."""

    def __init__(self, classes: Mapping[PiiClass, Action]) -> None:
        self._classes = classes
        self.found = Counter[str]()

    def value(self, value: Any) -> Any:
        """Give the value without what was found. A number that is a card's becomes text."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return self.members(value)
        if isinstance(value, list):
            return [self.value(member) for member in value]
        if isinstance(value, int) and not isinstance(value, bool):
            screened = self.text(str(value))
            return value if screened == str(value) else screened
        return value

    def text(self, text: str) -> str:
        screened = screen(text, self._classes)
        self.found += screened.found
        return screened.text

    def members(self, given: Mapping[str, Any], leave: Collection[str] = ()) -> dict[str, Any]:
        """Screen the members of an object; as many come back as were given. ``leave``: names of members that stay as
        they are."""
        listed = next((given[name] for name in _NAMED_BY if isinstance(given.get(name), str)), "")
        kept = {}
        for (name, member), kept_name in zip(given.items(), self._names(given), strict=True):
            called = listed if name == _NAMED and _classes_of_name(listed) else name
            kept[kept_name] = member if name in leave else self._member(called, member)
        return kept

    def labels(self, given: Mapping[str, str]) -> Metadata:
        """Give the labels that may be kept. A name that holds anything is no key any more: its label goes with it."""
        return {name: value for name, value in self.members(given).items() if is_key(name)}

    def _names(self, given: Collection[str]) -> Iterator[str]:
        """Give the names as they are kept, in their order and as distinct as they were. A name that was sent as it is
        kept stays; of the others those of which the same is left are numbered, or a member would take another one's
        place."""
        taken, numbered = set(given), dict[str, Iterator[str]]()
        for name in given:
            left = self.text(name)
            if left != name:
                left = next(free for free in numbered.setdefault(left, _numbered(left)) if free not in taken)
                taken.add(left)
            yield left

    def _member(self, name: str, member: Any) -> Any:
        if isinstance(member, list) and _classes_of_name(name):
            return [self._member(name, one) for one in member]
        if isinstance(member, bool) or not isinstance(member, str | int):
            return self.value(member)
        written = str(member)
        kind = next((kind for kind, values in _classes_of_name(name) if values.fullmatch(written)), None)
        may_be_one = _MIN_CHARACTERS <= len(written) <= _MAX_CHARACTERS
        left = not may_be_one or is_placeholder(written) or is_no_secret(written)
        if kind is None or left or self._classes.get(kind, "allow") == "allow":
            return self.value(member)
        self.found[kind] += 1
        return marker(len(written))


def _numbered(name: str) -> Iterator[str]:
    """Give the name, and for others like it ``name 2`` and so on."""
    return (name if n == 1 else f"{name} {n}" for n in count(1))


def _classes_of_name(name: str) -> list[tuple[PiiClass, re.Pattern[str]]]:
    """Give the classes of what a member of that name may hold, with the form of the value."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return [(kind, values) for kind, names, values in _PATTERNS if names.fullmatch(plain)]
