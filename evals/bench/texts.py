"""Seeded memory texts of 12 to 27 words, and questions about them.

Ordinary words fill templates; invented names of people and places give the vocabulary the long tail that real memories
have, so that 100,000 of them are 100,000 different statements."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

VOCABULARY = Path(__file__).with_name("vocabulary.json")
SLOTS = ("person", "action", "thing", "quality", "time", "reason", "preference")
NAMES = 6_000
MAX_NAME = 4
"""Syllables."""


def memory_texts(count: int, seed: int) -> list[str]:
    """``count`` different statements; the same for the same arguments."""
    return _filled("memories", count, seed)


def questions(count: int, seed: int) -> list[str]:
    """``count`` different questions. They name people, places and things of the same vocabulary, so that some find an
    exact answer and most find something similar."""
    return _filled("questions", count, seed)


def _filled(templates: str, count: int, seed: int) -> list[str]:
    words: dict[str, list[str]] = json.loads(VOCABULARY.read_text(encoding="utf-8"))
    drawn = random.Random(f"{templates}-{seed}")
    names = _names(words["syllables"])
    found: dict[str, None] = {}
    while len(found) < count:
        slots = {slot: drawn.choice(words[slot]) for slot in SLOTS}
        slots |= {slot: drawn.choice(names) for slot in ("name", "place")}
        text = drawn.choice(words[templates]).format(**slots)
        found[text[0].upper() + text[1:]] = None
    return list(found)


def _names(syllables: Sequence[str]) -> list[str]:
    drawn = random.Random("names")
    found: dict[str, None] = {}
    while len(found) < NAMES:
        found["".join(drawn.choices(syllables, k=drawn.randint(2, MAX_NAME))).capitalize()] = None
    return list(found)
