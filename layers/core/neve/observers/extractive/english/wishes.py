"""Recognises what a person wishes once and for all, and what they always do: how they want to be answered, addressed
and left alone, however politely it is put. An order for the moment ("Use a for loop") has neither a "never", nor a time
that comes again, nor a manner of answering."""

from __future__ import annotations

import re
from collections.abc import Iterable

from neve.observers.extractive.english.days import DAY_NAME
from neve.observers.extractive.english.orders import says_always
from neve.observers.extractive.english.verbs import is_only_past
from neve.observers.extractive.english.vocabulary import any_of


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_PLEASE = r"^(?:(?:please|pls|just|always|only|could you|can you|would you)\s+)*"
_NOT = r"^(?:please )?(?:never|don't(?: ever)?|do not(?: ever)?|no|not) (?!.*\b(?:that|this|it|mind)\b)"
_ANSWERS = "(?:answers|replies|responses|explanations)"
_AGAIN = any_of(
    rf"{DAY_NAME}s|an? {DAY_NAME}|{DAY_NAME} (?:morning|afternoon|evening|night)s|weekends?|weekdays"
    r"|(?:at|late at|by) night"
    r"|in the (?:morning|evening|afternoon)s?|during (?:work|lunch|dinner|meals|the (?:day|week))|ever|again|any ?more"
)
"""A time that comes again; "ever" is all of them."""
_REACHES = any_of(
    "call text ring phone contact message email write schedule book plan disturb wake remind ping notify bother",
    "meetings? calls? appointments? notifications? reminders?",
)
_MANNER = _any(
    (
        rf"{_PLEASE}(?:answer|reply|respond|(?:write|talk|speak) (?:back )?(?:to|with) (?:me|us))\b"
        r"(?: me| us| everything| only)*"
        r" (?:in|with|using|without|like|as if|briefly|concisely|formally|informally|politely|slowly|simply)\b"
        r"(?! (?:this|that|these|those|the (?:above|following|question|json|schema|file)|(?:just )?yes|no|ok|json)\b)",
        r"^(?:(?:please|only|always|use) )*"
        r"(?:(?:short|long|brief|concise|detailed|metric|imperial|simple|honest|plain|british|american|formal|full) )+"
        rf"(?:{_ANSWERS}|units|sentences|tone|spelling|language|english)(?: only)?(?:,? please|,? always)?$",
        r"^(?:one|two|three|\d+) (?:sentences?|lines?|words?) (?:per|an|for each|is enough|are enough|at most|max)\b",
        rf"{_PLEASE}(?:be|stay) (?:more |very |as )*(?:brief|concise|short|direct|blunt|formal|informal|to the point)$",
        rf"{_PLEASE}keep (?:(?:all|your|the|my) )*(?:{_ANSWERS}|it|everything)"
        r" (?:short|brief|simple|formal|to|under|below)\b",
        rf"{_PLEASE}(?:write|use|speak) (?:in )?(?:plain|simple|british|american) english\b",
        rf"{_PLEASE}(?:give|use|show) (?:all )?(?:temperatures|distances|prices|times|dates|weights|lengths) in\b",
        r"^(?:prices|temperatures|distances|weights) in \w+(?: only)?(?:,? please)?$",
        rf"{_PLEASE}(?:spare me|skip|drop|leave out|refrain from|no) (?:the |all |your |using |any )*"
        r"(?:disclaimers?|small talk|formalities|emojis?|jargon|pleasantries|apologies|flattery|caveats)\b",
        rf"{_PLEASE}(?:don't|do not|never) sugar-?coat\b",
    )
)
"""Manners of answering: the question beside which they stand, or every question."""
_WISH = _any(
    (
        r"^i(?:'d| would)? (?:only )?(?:like|want|need) (?:(?!(?:to|an?|the|some|any|these|those)\b)[\w-]+ ){1,3}"
        rf"{_ANSWERS}\b(?! (?:to|from|for|by|on|about)\b)",
        # how to address
        rf"{_PLEASE}(?:address|refer to) me (?:as|by|with)\b",
        r"^(?:you (?:can|may|should|must|could)|(?:my friends|everyone|people|most people) calls?)(?: always| just)?"
        r"(?: (?:call|address|refer to))? me\b(?! (?:today|later|back|when|if|at|on|an?)\b) \w",
        r"^(?:i|we) (?:want|would like|prefer)(?: it)? my (?:\w+ )?name (?:spelled|written|pronounced|used)\b",
        # to be left alone
        r"^(?:from (?:here|now) on|going forward|as of now),? (?!(?:i|we|my|our|it|he|she|they|the)\b)\w+ ",
        rf"{_NOT}(?:[\w'-]+ )*?(?:on )?{_AGAIN}\b",
        rf"{_NOT}(?:\w+ )?{_REACHES} (?:[\w'-]+ )*?(?:before|after|past|between) ",
        rf"^(?:on )?{DAY_NAME}s,? no \w+$",
        rf"^(?:{DAY_NAME}s|weekends|evenings|mornings)(?: and {DAY_NAME}s)? are (?:off[- ]limits|sacred|taboo)\b",
        r"^(?:please )?(?:make sure (?:that )?you (?:always|never)|under no circumstances|refrain from)\b",
        r"^(?:i|we) (?:don't|do not|never) (?:ever )?(?:want|wish|like|need)"
        r" (?:to (?:get|receive|hear|see) |to be (?!(?:late|alone|there|here|sure|honest)\b)"
        r"|you to |being |it when you )",
        r"^(?:i(?:'d| would)(?: really| much)? (?:prefer|appreciate|like|love)(?: it)?"
        r"|it(?:'d| would) be (?:great|nice|better|good|best|lovely|helpful))"
        r" if you (?:never|always|didn't|did not|don't|do not|stopped|only|avoided|wouldn't|kept"
        r"|(?:could|would) (?:always|never|stop|avoid))\b",
    )
)
_HABIT = re.compile(
    r"\b(?:i|we) (?:really |almost )?"
    r"(?:always|usually|normally|typically|generally|rarely|seldom|hardly ever|never|mostly"
    r"|only (?=(?:wear|fly|buy|use|shop|read|listen|watch|travel|drive|work|take)\b))"
    r" (?!(?:had|have|got|been|want|wanted|need|get|gets|just|mean|thought|think)\b)(?P<verb>[a-z']+)",
    re.IGNORECASE,
)
_TASTE = re.compile(
    r"\bmy go-to\b|\b(?:i|we) (?:(?:refuse|like|love|hate|prefer) to|favou?r)\b|(?:\bis|'s) how i (?:like|take|want)\b"
    r"|\bi (?:believe in|root for)\b|\bi (?:drink|take|have|eat) my \w+ (?:with|without|black|plain)\b"
    r"|\bstress(?:es)? me out\b|\bi'd (?:always|never)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'"[^"]*"')
_NOT_ALWAYS = re.compile(r"\b(?:today|tonight|this|so far|yet|now|until|anymore|used to|was|were)\b", re.IGNORECASE)


def is_standing_wish(sentence: str) -> bool:
    """Say whether a sentence tells how its speaker wants to be treated from now on: ``Answer in one sentence``."""
    plain = sentence.replace("’", "'")
    return _MANNER.search(plain) is not None or _WISH.search(plain) is not None


def is_how_to_answer(sentence: str) -> bool:
    """Say whether a sentence may be about the answer to a question beside it, and no other."""
    return _MANNER.search(sentence.replace("’", "'")) is not None and not says_always(sentence)


def is_habit(sentence: str) -> bool:
    """Say whether a sentence tells what its speaker always does, or what they like: ``I usually fly with Lufthansa``,
    not "I never went there"."""
    own = _QUOTED.sub("", sentence)
    if _NOT_ALWAYS.search(own):
        return False
    found = _HABIT.search(own)
    habit = found is not None and not is_only_past(found["verb"].lower())
    return habit or _TASTE.search(own) is not None
