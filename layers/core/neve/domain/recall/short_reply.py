"""Short replies say little without the message before them: "Yes, twice!" (docs/rules/compile.md#retrieved)."""

from __future__ import annotations

SHORT_TERMS = 10
"""*Measured*: index terms of a message, its speaker's name included (docs/retrieval.md)."""


def is_short(terms: int) -> bool:
    """Say whether a message is a short reply. ``terms``: index terms of the whole message, as a search index counts its
    length."""
    return terms <= SHORT_TERMS
