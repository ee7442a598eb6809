"""A text as it is read: without invisible signs, and with digits, letters, spaces and dashes of another width or
script as those of ASCII. A model reads ``１２３`` as ``123``, and so does a search."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from neve.domain.unseen import UNSEEN

_WIDE = range(0xFF01, 0xFF5F)
_TO_ASCII = 0xFF01 - 0x21
_DASHES = frozenset((*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63, 0xFF0D))


def _plain(code: int) -> int | None:
    if code < 0x80:
        return code
    if code in UNSEEN:
        return None
    if code in _DASHES:
        return ord("-")
    if code in _WIDE:
        return code - _TO_ASCII
    sign = chr(code)
    digit = unicodedata.decimal(sign, None)
    if digit is not None:
        return ord("0") + digit
    return ord(" ") if unicodedata.category(sign) == "Zs" else code


def as_read(text: str) -> tuple[str, Sequence[int]] | None:
    """Give the text as it is read, and for each of its signs the place where it stands in ``text``; None where it is
    read as it is written."""
    if text.isascii():
        return None
    signs = {code: _plain(code) for code in map(ord, set(text))}
    if all(plain == code for code, plain in signs.items()):
        return None
    read = text.translate(signs)
    if len(read) == len(text):
        return read, range(len(text))
    return read, [place for place, sign in enumerate(text) if signs[ord(sign)] is not None]
