"""Which of the thirty messages share a word with a memory of the rubric, and what that word finds."""

from __future__ import annotations

BY_A_WORD = {
    "Explain monads to a ten-year-old.": ["User drives an old automobile from Turin."],
    "Name five novels by Victor Hugo.": ["User's sister is named Mary."],
}
