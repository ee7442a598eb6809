"""Ids of users and sessions as callers have them."""

from __future__ import annotations

from unicodedata import normalize

from hypothesis import strategies as st

from neve.domain.ids import as_name

AWKWARD = (
    *("a b", "a!", "a", "a\u00e9", "@a", "-a", ".a", "...", "a ", 'a"<&>', "a,b;c=d", "{user_id}", "a|b*", "'$(id)'"),
    *(
        "\u65e5\u672c\u8a9e",
        "\U0001f600",
        "\U0010fffd",
        "A",
        "+49 170 1234567",
        "ann@example.org",
        "auth0|5f7c",
        "\u00e9" * 64,
    ),
)
"""With what a key, a path, a folder, a query or a message has a use of its own for; some begin others, or are others in
other case."""


def names() -> st.SearchStrategy[str]:
    """Every id that is one."""
    signs = st.characters(
        codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp"), exclude_characters="/#~%?\\\ufffd"
    )
    whole = st.text(signs, min_size=1, max_size=128).map(lambda text: normalize("NFC", text))
    return st.sampled_from(AWKWARD) | whole.filter(lambda text: as_name(text) == text)
