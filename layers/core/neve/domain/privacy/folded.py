"""A text in small letters, for a look whether a pattern can be found in it at all. Most texts hold none of the words
that secrets stand behind: to look for the words takes less than a tenth of the time that the patterns take."""

from __future__ import annotations


def folded(text: str) -> str:
    """Write a text in small letters: every letter of ASCII that a pattern which ignores case matches stands in it as a
    small one: ``ſ`` is an s to it, ``İ`` and ``ı`` are an i, the sign of kelvin is a k."""
    if text.isascii():
        return text.lower()
    return text.casefold().replace("i\u0307", "i").replace("ı", "i")
