"""Characters that no reader sees: the index finds words without them, and the gate reads texts without them."""

from __future__ import annotations

from typing import Final

_RANGES: Final = (
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xE0001, 0xE0001),
    (0xE0020, 0xE007F),
    (0xE0100, 0xE01EF),
)
UNSEEN: Final = frozenset(code for first, last in _RANGES for code in range(first, last + 1))
"""Code points: zero-width characters, soft hyphens, joiners, marks of direction, variation selectors."""
