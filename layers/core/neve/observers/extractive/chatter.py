"""What in a chat is not a statement worth judging: small talk, platitudes, hypotheses, sentences about an "it" that
only the conversation explains; and the "I" that chat leaves out."""

from __future__ import annotations

import re

from neve.observers.extractive.vocabulary import ADVERB, DONE_VERB, EVENT_VERB, FIRST_PERSON, any_of

# --- small talk ---------------------------------------------------------------------------------

_FEELING = any_of(
    "glad happy proud excited sorry here rooting impressed thrilled grateful thankful good great fine ok okay doing",
    "sure there curious lucky blessed touched honored honoured stoked amazed overwhelmed",
    "all ears|with you|not sure(?! if| whether)",
)
_OPENING = any_of(
    "thanks thx cheers welcome sounds that's thats bye congrats congratulations glad nice cool awesome amazing wow",
    "hope wishing sending you your you're you've you'll enjoy keep",
    "thank you|no problem|no worries|good (?:luck|night|morning|point|idea|job)|that (?:sounds|is|must)|see you",
    "talk to you|talk soon|take care|have (?:a|fun)|how (?:about|are)|happy to|same here|me too|got it|let me know",
    "don't worry|don't give up|what a|such a|can't wait to (?:hear|see)|here'?s? (?:is )?to",
    "let's (?:keep|chat|talk|catch|cherish|make|spread)",
)
_POLITE_VERB = any_of(
    "agree bet mean understand wish",
    r"see(?:$|,| (?:that|what|you|how|why|your))",
    "get it|hear you|guess so|know,? right|know what you|totally get|can (?:imagine|see|relate|totally|only|tell)",
    "appreciate (?:it|that|you|your)|hope (?:you|so|your|it|that)|love (?:it|that|how|your|hearing|this|those|them)",
    "can't (?:believe|imagine|agree|thank)|couldn't agree|feel (?:you|the same)",
    "(?:'d|would) love to (?:hear|see|know|check)|(?:'ll|will) (?:keep that|be there|let you|check)",
    "think (?:so|that's|you|it's)|don't (?:know|mind|think so)",
)
_SMALL_TALK = re.compile(
    rf"^(?:{_OPENING}\b|i\s*(?:{ADVERB}\s+)*{_POLITE_VERB}\b"
    rf"|(?:i'm|im|i am) (?:{ADVERB} )*{_FEELING}\b"
    r"(?! (?:my|our|we|i)\b| to (?:announce|have (?:my|found|finished))\b))",
    re.IGNORECASE,
)
_PLATITUDE = re.compile(
    r"\b(?:we|you) (?:all|can|should|gotta|must)\b(?!.*\d)|\b(?:in life|each other|one another|makes? (?:life|it all)"
    r"|(?:so|really) important|stay positive|believe in (?:yourself|ourselves)|means? (?:a lot|so much|the world))\b",
    re.IGNORECASE,
)
_HYPOTHESIS = re.compile(
    r"^(?:if|imagine|suppose|what if|let's say|say i|pretend)\b|\b(?:hypothetically|just kidding|j/k)\b", re.IGNORECASE
)
_DANGLING = re.compile(
    r"^(?:(?:it|that|this|they|he|she|there|here)(?:'\w+)?|these|those|then|which|because|cause)\b", re.IGNORECASE
)
_FIRST_PERSON = re.compile(rf"\b{FIRST_PERSON}\b", re.IGNORECASE)


def is_small_talk(sentence: str) -> bool:
    """Greetings, thanks, praise and sympathy."""
    return _SMALL_TALK.search(sentence) is not None


def is_platitude(sentence: str) -> bool:
    """What people tell each other about life in general."""
    return _PLATITUDE.search(sentence) is not None


def is_hypothetical(sentence: str) -> bool:
    """What is only supposed, or said in jest."""
    return _HYPOTHESIS.search(sentence) is not None


def is_dangling(sentence: str) -> bool:
    """Whether the sentence is about something that an earlier one named."""
    return _DANGLING.search(sentence) is not None


def speaks_of_self(sentence: str) -> bool:
    """Whether the sentence has a first-person word in it."""
    return _FIRST_PERSON.search(sentence) is not None


# --- whole statements from elliptic ones --------------------------------------------------------

_SECOND_CLAUSE = re.compile(
    r"(?:,|\s[-–—]|;)(?:\s+(?:and|but|so))?\s+(?=(?:i|i'm|i've|we|we're|we've|my)\b)", re.IGNORECASE
)
_LOST_IM = re.compile(
    rf"^(?:{ADVERB}\s+)*"
    + any_of(
        "planning learning studying reading considering researching practicing practising training preparing finishing",
        r"gonna (?!be\b)|thinking (?:of|about)|working on|trying to|looking (?:for|into|forward to)|moving to|going to",
        "not sure (?:if|whether)|torn between|hoping to|getting ready|saving (?:up )?for",
        "excited (?:to|for|about) (?!this|your|you)|about to",
    )
    + r"\b",
    re.IGNORECASE,
)
_GERUND_SUBJECT = re.compile(
    r"^(?:\w+ )?\w+ing\b[^,;–—-]*\b"
    + any_of("is are was were helps? makes? gives? keeps? brings? feels? seems? can pumps?", "has been|have been")
    + r"\b",
    re.IGNORECASE,
)
_LOST_IVE = re.compile(r"^been\s+(?:\w+ing|to|in|at|busy|on)\b", re.IGNORECASE)
_LOST_I = re.compile(
    rf"^(?:{ADVERB}\s+)*(?:(?:{DONE_VERB}|{EVENT_VERB})(?! me\b)|"
    + any_of(
        "hate prefer",
        "love (?!this|that|it|your|how|the idea|to hear)|need to|have to|gotta|want to|live in|work (?:at|as|for)",
        "can't stand|don't (?:eat|drink|like)",
    )
    + r")\s+[\"'\w]",
    re.IGNORECASE,
)


def without_dangling_start(sentence: str) -> str:
    """``It was tough, but I passed the exam`` -> ``I passed the exam``: a clause about "it" says nothing on its own."""
    clause = _SECOND_CLAUSE.search(sentence) if is_dangling(sentence) else None
    return sentence[clause.end() :] if clause else sentence


def with_subject(sentence: str) -> str:
    """The sentence with the "I" that chat leaves out: ``Finished the course`` -> ``I finished the course``."""
    if _FIRST_PERSON.match(sentence):
        return sentence
    lowered = sentence[:1].lower() + sentence[1:]
    if _LOST_IVE.search(sentence):
        return f"I've {lowered}"
    if _LOST_IM.search(sentence):
        return sentence if _GERUND_SUBJECT.search(sentence) else f"I'm {lowered}"
    return f"I {lowered}" if _LOST_I.search(sentence) else sentence
