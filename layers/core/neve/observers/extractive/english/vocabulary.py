"""Word lists that several rules of the extractive observer share."""

from __future__ import annotations

from neve.domain.english import any_of as any_of


def words(*lists: str) -> frozenset[str]:
    """Return the words of the lists as a set."""
    return frozenset(word for entries in lists for word in entries.split())


_ADVERBS = (
    "really also just still always usually finally recently already actually even never now only so absolutely",
    "totally truly definitely probably often sometimes kinda mostly generally typically currently simply both all",
    "once first then completely super very rarely mainly personally ever hardly barely almost nearly",
)
TRAITS = (
    "vegan vegetarian pescatarian allergic intolerant diabetic celiac coeliac asthmatic pregnant dyslexic autistic",
    "deaf blind colorblind colour-blind left-handed",
)
ADVERBS = words(*_ADVERBS)
ADVERB = any_of(*_ADVERBS, "kind of|sort of")
FIRST_PERSON = any_of("i i'm im i've ive i'll i'd my mine me we we're we've we'll we'd our us")
"""The first-person words of a lower-case sentence."""
