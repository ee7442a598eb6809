"""Numbers under which a hospital keeps a patient: they have no form of their own, so only the words before them
tell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neve.domain.privacy.folded import folded
from neve.domain.privacy.labels import UP_TO_NUMBER
from neve.domain.privacy.spans import Span

_NAMED = re.compile(
    r"(?i)\b(?:mrn|(?:medical[ -]records?|patient|hospital|chart)[ -](?:number|no|num|id|#)|nhs[ -](?:number|no))"
    rf"(?![a-z]){UP_TO_NUMBER}"
    r"([a-z]{0,4}-?[0-9](?:[0-9a-z]|[ -](?=[0-9a-z]*[0-9])){3,18})(?![0-9a-z])"
)
_NAMED_BY = ("mrn", "medical", "patient", "hospital", "chart", "nhs")
_MIN_DIGITS = 4


def find(text: str) -> Iterator[Span]:
    small = folded(text)
    for found in _NAMED.finditer(text) if any(word in small for word in _NAMED_BY) else ():
        start, end = found.span(1)
        if sum(c.isdigit() for c in found[1]) >= _MIN_DIGITS:
            yield Span(start, end, "medical_record_number")
