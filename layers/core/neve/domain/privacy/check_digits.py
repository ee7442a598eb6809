"""Asks python-stdnum what it knows of numbers. It is imported by the first number that looks like one: with all that it
brings (20 modules, ``ssl`` and ``pydoc`` among them) it would be a tenth of the start of every function that takes a
text."""

from __future__ import annotations

_ADVERTISED = frozenset({"078051120", "219099999", "457555462"})
"""Printed in advertisements and no longer valid. Written as a social security number they are treated as one."""


def check_digit_is_valid(digits: str) -> bool:
    """Check a number's last digit by Luhn's rule."""
    from stdnum import luhn

    return luhn.checksum(digits) == 0


def is_tax_number(digits: str) -> bool:
    """Say whether nine digits are in a range of social security or taxpayer numbers of the United States."""
    from stdnum.us import itin, ssn

    return digits in _ADVERTISED or ssn.is_valid(digits) or itin.is_valid(digits)
