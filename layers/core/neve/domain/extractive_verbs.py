"""The English verb forms that the extractive observer needs: which are past, and the third person of a present one."""

from __future__ import annotations

_IRREGULAR_PAST = """
    was were had did went came saw took made got gave found told left felt kept brought began ran met bought sold paid
    spent lost won caught taught thought fell held led grew knew drew flew drove rode wrote spoke broke chose woke wore
    tore swore froze stole rose ate drank sang swam rang sank built sent lent bent slept swept wept dealt meant heard said
    stood understood sat shot fought sought became forgot forgave hid bit blew threw shook wound hung dug stuck struck
    swung spun lay laid lit hurt quit shut split cut put let cost hit beat
    didn't wasn't weren't hadn't been gone done seen taken made given written driven eaten
"""
_PAST = frozenset(_IRREGULAR_PAST.split())
_NOT_PAST_THOUGH_ED = frozenset(
    {"need", "feed", "speed", "proceed", "succeed", "exceed", "bleed", "breed", "embed", "shed", "wed", "seed", "weed"}
    | {
        "red",
        "bed",
        "shred",
        "indeed",
        "hundred",
        "sacred",
        "kindred",
        "ned",
        "ted",
        "fred",
        "med",
        "sled",
        "interested",
    }
    | {"excited", "scared", "worried", "tired", "married", "named", "called", "used", "supposed", "allowed", "based"}
    | {"obsessed", "located", "concerned", "related", "involved", "advanced", "limited", "talented", "beloved"}
)
_SAME_IN_PRESENT = frozenset(
    ["hurt", "quit", "shut", "split", "cut", "put", "let", "cost", "hit", "beat", "lay", "read", "set"]
)
_UNCHANGED = frozenset(
    [
        "will",
        "would",
        "can",
        "could",
        "should",
        "must",
        "might",
        "may",
        "shall",
        "can't",
        "cannot",
        "won't",
        "wouldn't",
        "couldn't",
        "shouldn't",
        "mustn't",
        "ought",
    ]
)
_THIRD = {
    "am": "is",
    "are": "is",
    "was": "was",
    "were": "was",
    "have": "has",
    "haven't": "hasn't",
    "do": "does",
    "don't": "doesn't",
    "dont": "doesn't",
    "go": "goes",
    "weren't": "wasn't",
    "aren't": "isn't",
}
_COMMON_PRESENT = frozenset(
    [
        "am",
        "live",
        "work",
        "like",
        "love",
        "prefer",
        "enjoy",
        "hate",
        "dislike",
        "want",
        "need",
        "hope",
        "wish",
        "plan",
        "intend",
        "think",
        "believe",
        "feel",
        "know",
        "mean",
        "speak",
        "play",
        "study",
        "learn",
        "teach",
        "write",
        "read",
        "run",
        "swim",
        "ride",
        "drive",
        "walk",
        "hike",
        "bike",
        "cook",
        "bake",
        "eat",
        "drink",
        "sleep",
        "wake",
        "get",
        "go",
        "come",
        "do",
        "have",
        "use",
        "keep",
        "make",
        "take",
        "bring",
        "buy",
        "sell",
        "pay",
        "spend",
        "save",
        "own",
        "rent",
        "share",
        "help",
        "try",
        "practice",
        "practise",
        "train",
        "exercise",
        "meditate",
        "garden",
        "paint",
        "draw",
        "sing",
        "dance",
        "knit",
        "sew",
        "collect",
        "travel",
        "visit",
        "meet",
        "call",
        "email",
        "text",
        "send",
        "watch",
        "listen",
        "avoid",
        "miss",
        "remember",
        "forget",
        "understand",
        "agree",
        "disagree",
        "suffer",
        "struggle",
        "worry",
        "care",
        "belong",
        "commute",
        "manage",
        "lead",
        "run",
        "build",
        "design",
        "develop",
        "code",
        "program",
        "test",
        "deploy",
        "volunteer",
        "donate",
        "support",
        "follow",
        "attend",
        "host",
        "organize",
        "organise",
    ]
)


def is_past_form(word: str) -> bool:
    """Whether a lower-case word is the past form or participle of a verb, as far as its spelling tells."""
    if word in _PAST:
        return True
    return word.endswith("ed") and len(word) > 3 and word not in _NOT_PAST_THOUGH_ED


def is_common_present(word: str) -> bool:
    """Whether a lower-case word is the base form of an everyday verb."""
    return word in _COMMON_PRESENT


def third_person_form(word: str) -> str:
    """What follows "he" where ``word`` (lower-case) follows "I": like -> likes, have -> has, went -> went."""
    if word in _THIRD:
        return _THIRD[word]
    if word in _UNCHANGED or is_past_form(word) or word in _SAME_IN_PRESENT:
        return word
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"
