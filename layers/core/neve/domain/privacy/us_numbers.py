"""Social security numbers of the United States, and the taxpayer numbers written like them: three, two and four digits
with dashes or spaces between, or nine together behind words that say what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neve.domain.privacy.check_digits import is_tax_number
from neve.domain.privacy.labels import UP_TO_NUMBER
from neve.domain.privacy.spans import Span

_DASH = r"[ \-\u2010-\u2015]"
_WRITTEN = re.compile(rf"([0-9](?<![\d\-][0-9])[0-9]{{2}}){_DASH}([0-9]{{2}}){_DASH}([0-9]{{4}})(?![\d\-]\d|\d)")
_NAMED = re.compile(
    rf"(?i)\b(?:ssn|social[ -]security(?:[ -](?:number|no|num))?|itin)\b{UP_TO_NUMBER}([0-9]{{9}})(?!\d)"
)

_NINE = re.compile("[0-9]{9}")


def find(text: str) -> Iterator[Span]:
    for found in _WRITTEN.finditer(text):
        if is_tax_number("".join(found.groups())):
            yield Span(*found.span(), "ssn")
    for found in _NAMED.finditer(text) if _NINE.search(text) is not None else ():
        if is_tax_number(found[1]):
            yield Span(*found.span(1), "ssn")
