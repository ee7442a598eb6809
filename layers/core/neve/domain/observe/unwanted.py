"""Finds what a person asked not to have remembered: ``Don't remember this: …``, ``forget that I …``, ``between us``
(docs/rules/observe.md#not-wanted). English only."""

from __future__ import annotations

import re
from collections.abc import Sequence

_KEEP = r"(?:remember|memori[sz]e|store|save|record|note|log|keep|write)(?: down)?"
_OPENING = r"(?:^|[,;:.!?–—-]\s*|\b(?:but|and|so|please|just|hey|hi|ok|okay)\s+)"
_NOT = (
    r"(?:(?:please\s+)?(?:just\s+)?(?:do not|don't|dont|never)"
    r"|(?:there's )?no need to|you (?:don't (?:have|need) to|needn't|shouldn't|must not|mustn't)"
    r"|(?:can|could|would) you (?:please )?not|i (?:don't|do not) want you to|i'd rather you (?:don't|didn't|not))"
)
_ALL = (
    r"(?:any of (?:this|that|it|what i)|anything (?:i|from|in|of)|(?:this|our) (?:conversation|chat|session|message))"
)
_THIS = (
    r"(?:(?:this|that|it)(?: (?:one|part|bit))?(?: (?:in|to) (?:your )?memory| anywhere| please)?"
    r"(?=\s*(?:$|[,;:.!?–—)-]))"
    r"|(?:this|that) (?:i|i'm|i've|i'd|my|we|we're|our|he|she|they|his|her|their|someone|somebody)\b"
    r"|what i (?:say|said|tell|told|just)\b)"
)
_ALL_OF_IT = re.compile(rf"{_OPENING}{_NOT}\s+{_KEEP}\s+{_ALL}\b", re.IGNORECASE)
_NOT_TO_BE_STORED = re.compile(
    rf"{_OPENING}{_NOT}\s+(?:{_KEEP}\s+{_THIS}|(?:remember|memori[sz]e)\s+(?:my|our)\b)"
    r"|^\W*(?:(?:and|so|now|please|just|can you|could you|would you|i want you to|i'd like you to)\s+)*forget\s+"
    r"(?:(?:that|what|everything|all|anything)\s+(?:(?:that|about)\s+)?(?!i (?:just )?said\b)"
    r"(?:i|i'm|i've|my|we|we're|our|you)\b|my\b|our\b)",
    re.IGNORECASE,
)
_SECRET = re.compile(
    r"\boff the record\b"
    r"|\bkeep (?:this|that|it|these|what i \w+)(?: \w+)? (?:private|secret|confidential|to yourself|quiet"
    r"|(?:just )?between (?:us|you and me|ourselves))\b"
    r"|(?:^|[,;:.–—(-]\s*)(?:this is |that's |that is |it's )?(?:strictly |just |only )?"
    r"between (?:us|you and me|ourselves)\b(?=\s*(?:$|[,;:.!?–—)-]))",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w']+")
_SAYS_NOTHING = re.compile(
    r"(?:please|thanks|thank|you|ok|okay|just|and|but|so|this|that|is|it|let's|can|could|would)$", re.IGNORECASE
)


def wanted_sentences(sentences: Sequence[str]) -> list[str]:
    """Return the sentences of one message, in their order, without those that are not to be remembered. A request that
    names nothing itself is about the sentence before it; one that ends in a colon, or begins the message, about the
    next; "any of this" about all. Give the sentences as they were said, with their marks."""
    plain = [sentence.replace("’", "'").strip() for sentence in sentences]
    if any(_ALL_OF_IT.search(one) for one in plain):
        return []
    left_out: set[int] = set()
    for n, one in enumerate(plain):
        asked = _NOT_TO_BE_STORED.search(one) or _SECRET.search(one)
        if asked is None:
            continue
        left_out.add(n)
        beside = _WORD.findall(one[: asked.start()] + " " + one[asked.end() :])
        if all(map(_SAYS_NOTHING.match, beside)):
            left_out.add(n + 1 if n == 0 or one.endswith(":") else n - 1)
    return [sentence for n, sentence in enumerate(sentences) if n not in left_out]
