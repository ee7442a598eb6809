"""Recognises what a person wishes once and for all, and what they always do: how they want to be answered, addressed
and left alone, however politely it is put. An order for the moment ("Use a for loop") has neither a "never", nor a time
that comes again, nor a manner of answering."""

from __future__ import annotations

import re

from neve.observers.extractive.english.days import DAY_NAME
from neve.observers.extractive.english.orders import says_always
from neve.observers.extractive.english.verbs import is_only_past

_PLEASE = r"^(?:(?:please|pls|just|always|only|could you|can you|would you)\s+)*"
_ANSWERS = "(?:answers|replies|responses|explanations|units|sentences|spelling|english)"
_MANNER = re.compile(
    rf"{_PLEASE}(?:answer|reply|respond|(?:write|talk|speak) (?:to|with) (?:me|us))\b(?: me| us| only)*"
    r" (?:in|with|using|without|like|as if|\w+ly)\b(?! (?:this|that|these|the|(?:just )?yes|no|ok|json)\b)"
    rf"|^(?:(?:please|only|always|use) )*(?!these|those|the\b)[\w-]+ {_ANSWERS}(?: only)?(?:,? please|,? always)?$"
    rf"|{_PLEASE}keep (?:(?:all|your|the|my) )*{_ANSWERS} \w+|{_PLEASE}(?:don't|do not|never) sugar-?coat\b"
    r"|^(?:one|two|three|\d+) (?:sentences?|lines?|words?) (?:per|an|for each|is enough|are enough|at most)\b"
    rf"|{_PLEASE}(?:be|stay) (?:more |very |as )*(?:brief|concise|short|direct|blunt|formal|informal)$"
    rf"|{_PLEASE}(?:give|use|show) (?:temperatures|distances|prices|times|dates) in\b"
    rf"|{_PLEASE}(?:spare me|skip|drop|leave out|no) (?:\w+ )?"
    r"(?:disclaimers?|small talk|formalities|emojis?|jargon|pleasantries|apologies|flattery|caveats)\b",
    re.IGNORECASE,
)
"""Manners of answering: the question beside which they stand, or every question."""
_AGAIN = rf"(?:{DAY_NAME}s|an? {DAY_NAME}|{DAY_NAME} \w+s|weekends|at night|ever|again|any ?more)\b"
_NOT = r"^(?:please )?(?:never|don't|do not|no|not) (?!.*\b(?:that|this|it|mind)\b)(?:[\w'-]+ )*?"
_WISH = re.compile(
    rf"^i(?:'d)? (?:want|need|like) (?!to\b|the\b|an?\b)[\w-]+ {_ANSWERS}\b(?! (?:to|from|for|by|on|about)\b)"
    rf"|{_PLEASE}(?:address|refer to) me (?:as|by|with)\b"
    r"|^(?:you (?:can|may|should|must)|my friends|everyone)(?: always)? (?:calls?|address) me\b"
    r"(?! (?:today|later|back|when|if|at|on|an?)\b)"
    r"|^i (?:want|would like|prefer) my name \w+ed\b|^(?:from here on|going forward|as of now),? (?!(?:i|we|my)\b)"
    rf"|{_NOT}(?:on )?{_AGAIN}|{_NOT}(?:call|text|ring|message|write|schedule|meetings|calls) .*\b(?:before|after) "
    rf"|^{DAY_NAME}s are (?:off[- ]limits|sacred|taboo)\b|^(?:please )?(?:make sure|under no circumstances|refrain)\b"
    r"|^(?:i|we) (?:don't|do not|never) want (?:to (?:get|receive|hear|see|be \w+ed)|you to) "
    r"|^(?:i(?:'d| would)|it(?:'d| would) be) .*\bif you (?:never|always|didn't|don't|stopped|only|avoided|wouldn't)\b",
    re.IGNORECASE,
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
    return _MANNER.search(sentence) is not None or _WISH.search(sentence) is not None


def is_how_to_answer(sentence: str) -> bool:
    """Say whether a sentence may be about the answer to a question beside it, and no other."""
    return _MANNER.search(sentence) is not None and not says_always(sentence)


def is_habit(sentence: str) -> bool:
    """Say whether a sentence tells what its speaker always does, or what they like: ``I usually fly with Lufthansa``,
    not "I never went there"."""
    own = _QUOTED.sub("", sentence)
    if _NOT_ALWAYS.search(own):
        return False
    found = _HABIT.search(own)
    habit = found is not None and not is_only_past(found["verb"].lower())
    return habit or _TASTE.search(own) is not None
