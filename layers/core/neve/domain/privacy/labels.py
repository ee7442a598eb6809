"""The signs that stand between the words that name a number and the number: in a sentence, on a form, in Markdown, in a
table, in JSON and in JSON within JSON. Bounded, so that a text is read once."""

from __future__ import annotations

ASIDE = r"(?:[ \t]?\([^()\n]{1,24}\))?"
"""``Social Security Number (SSN): ...``"""
_MARKS = r"\"'`*\\\x1f"
"""Around a name or a value: quotes, emphasis, escapes, the border between two blocks."""
CLOSING = rf"[{_MARKS}]{{0,4}}"
OPENING = rf"[ \t{_MARKS}]{{0,5}}"
UP_TO_NUMBER = rf"{ASIDE}[ \t.:#=|){_MARKS}]{{0,6}}(?:(?:is|was)\b[ \t:#{_MARKS}]{{0,4}})?"
