"""English words that tell under which heading of a summary a sentence belongs (docs/rules/compact.md#extract)."""

from __future__ import annotations

import re
from collections.abc import Mapping

Cues = Mapping[str, tuple[tuple[int, re.Pattern[str]], ...]]
"""Maps a heading to its weights, each with its pattern, the heaviest first."""

LIKELY, PLAIN = 2, 3
"""Weights of cues."""

_DAY = (
    r"(?:next |the )?"
    r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|tonight|week|month|\d)"
)


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


USER_CUES: Cues = {
    "preferences": (
        (
            PLAIN,
            _any(
                r"\bi(?:'d| would)? (?:\w+ )?prefer\b",
                r"\bi (?:\w+ )?(?:hate|dislike|love|can't stand|don't like|do not like)\b",
                r"\bmy (?:favou?rite|preference)\b",
                r"^(?:please,? )?(?:always|never|from now on)\b",
                r"\bi always (?:want|use|take|need)\b",
                r"\bcall me\b",
                r"\bi(?:'m| am) (?:allergic|vegan|vegetarian|not a fan)\b",
            ),
        ),
        (LIKELY, _any(r"\bi like\b", r"\bi(?:'d| would) rather\b", r"\bplease (?:don't|do not|use|keep|write)\b")),
    ),
    "decisions": (
        (
            PLAIN,
            _any(
                r"\b(?:i|we)(?:'ve| have)? (?:\w+ )?(?:decided|chose|chosen|settled|agreed|picked|opted|rejected)\b",
                r"\blet's (?:go|stick|stay|start|use|do|keep|take|drop|skip)\b",
                r"\b(?:i|we)(?:'ll| will|'m going to| are going to|'re going to) (?:go with|use|take|drop|skip|keep)\b",
                r"\bdecision\b",
                r"^(?:no|actually|correction)\b[,:]",
            ),
        ),
        (LIKELY, _any(r"\bgo(?:ing)? with\b", r"\binstead of\b", r"\b(?:i|we) (?:want|booked|bought|ordered)\b")),
    ),
    "action_items": (
        (
            PLAIN,
            _any(
                r"\b(?:to-?do|action items?|next steps?|deadline|follow[- ]up|still open)\b",
                r"\b(?:remind me|don't forget|do not forget|remember to)\b",
                r"\b(?:i|we|you) (?:\w+ )?(?:need|have|ought|plan|intend) to\b",
                rf"\b(?:due|before|by|until) {_DAY}",
            ),
        ),
        (LIKELY, _any(r"\b(?:i|we)(?:'ll| will| must| should|'m going to| are going to|'re going to)\b")),
    ),
    "insights": (
        (
            PLAIN,
            _any(
                r"\b(?:turns? out|root cause|the (?:problem|issue|cause|reason|trick|catch|bug) (?:is|was))\b",
                r"\b(?:i|we)(?:'ve| have)? (?:\w+ )?(?:found|learn(?:ed|t)|reali[sz]ed|noticed|discovered)\b",
                r"\b(?:fails?|failed|crash(?:es|ed)?|broken|blocked|fixed|solved|works now)\b",
            ),
        ),
        (LIKELY, _any(r"\bbecause\b", r"\b(?:i'm|i am|my|we're|our)\b", r"\bmeans that\b")),
    ),
}

ASSISTANT_CUES: Cues = {
    "decisions": (
        (
            LIKELY,
            _any(
                r"\bwe (?:\w+ )?(?:decided|chose|settled|agreed)\b",
                r"\bas (?:agreed|decided|you (?:asked|wished))\b",
            ),
        ),
    ),
    "action_items": ((LIKELY, _any(r"\b(?:next steps?|to-?do|action items?|remaining|still (?:open|to do))\b")),),
    "insights": (
        (
            LIKELY,
            _any(
                r"\b(?:turns? out|root cause|the (?:problem|issue|cause|reason|bug) (?:is|was))\b",
                r"\bi(?:'ve| have)? (?:\w+ )?"
                r"(?:found|fixed|booked|sent|created|updated|added|removed|changed|wrote|saved)\b",
                r"\b(?:in summary|to sum up|the result)\b",
            ),
        ),
    ),
}
"""An assistant has no preferences of the user's to state, and what it proposes is not decided."""

_OPENING = (
    r"^(?:(?:ok|okay|now|and|also|then|so|hey|hi|hello|great|thanks|thank you|please|pls|just|actually)[,!.]?\s+)*"
)
_STANDING = (
    r"(?!.*\b(?:always|never|from now on|every time|whenever|in (?:the )?future)\b)"
    r"(?!.*\b(?:remind|remember|forget|call me)\b)"
)
"""A wish that holds beyond the next answer."""
REQUEST = re.compile(
    _OPENING
    + _STANDING
    + "(?:"
    + "|".join(
        (
            r"(?:can|could|would|will) you\b|i(?:'d| would) like you to\b|i (?:need|want) you to\b|help me\b",
            r"(?:draft|compose|summari[sz]e|translate|explain|describe|define|paraphrase|proofread|rewrite|rephrase)\b",
            r"(?:reword|shorten|simplify|elaborate|continue|generate|create|compare|suggest|recommend|calculate)\b",
            r"(?:convert|debug|refactor|implement|analy[sz]e|brainstorm|classify|imagine|pretend|act as|try again)\b",
            r"write (?!in\b)|(?:give|show|tell|teach|find|get|make|send|read) (?:me|us)\b|make (?:it|that|this)\b",
            r"(?:list|name|find|plan|outline|build|check|review|edit|improve|prepare|fix|make|design)"
            r" (?:the|an?|all|some|my|our|this|that|it|these|those|\d+|two|three|five|ten)\b",
            r"let's (?:write|play|pretend|role-?\s?play|imagine|brainstorm)\b",
        )
    )
    + ")",
    re.IGNORECASE,
)
"""Something that the next answer is to do: it says nothing of the user."""
ASKS = re.compile(
    r"[?？][\"')!.]*$"
    r"|^(?:and |so |but )?(?:what|who|where|why|how|which)(?:'s|'re| (?:is|are|do|does|did|can|could|should|would|was"
    r"|were|to|much|many|long|about))\b"
    r"|^(?:is|are|do|does|did|can|could|should|would|will|was|were)"
    r" (?:i|you|we|it|there|this|that|the|my|he|she|they)\b",
    re.IGNORECASE,
)
"""A question, with its mark or without one."""
TAKES_BACK = re.compile(
    r"^(?:(?:oh|ah|hm|uh|ok|okay|and|but)[,.!]?\s+)*"
    r"(?:(?:no|nope|wait|oops|whoops|correction|scratch that|my mistake|my bad|typo|edit|rather|actually|make that)\b"
    r"|i mean\b|i meant\b|sorry(?! to| about| for| you| that| i'm| i was)\b)",
    re.IGNORECASE,
)
"""Takes back what was said just before, if it is short."""
ENGLISH = re.compile(
    r"\b(?:the|and|you|your|you're|my|i'm|i've|i'll|i'd|it's|that's|what|what's|how|why|when|where|who|which|this|that"
    r"|with|from|about|are|is|was|were|have|has|does|did|can|could|would|should|please|write|tell|give|explain|need|want"
    r"|of|it|not|be|just|there|here|they|any|some|more|make|let's|good|sounds|looks|try)\b",
    re.IGNORECASE,
)
"""Words that, in a number of them, other languages do not have."""
