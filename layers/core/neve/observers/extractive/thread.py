"""The title and the current task of a conversation with an assistant, where a request of the user makes them obvious.
Between people "can you" is a question like any other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.observers.extractive.english.orders import ORDER_VERB
from neve.observers.extractive.english.sentences import Sentence, sentences
from neve.observers.extractive.english.vocabulary import any_of

TITLE_WORDS = 8
TASK_CHARACTERS = 200

_ASKS = any_of(
    "please",
    "can you|could you|would you|will you|i'd like you to|i would like you to|i need you to|i want you to"
    "|help me(?: with| to)?|i need (?:some )?help (?:with|to)|let's",
)
_REQUEST = re.compile(rf"^(?:(?:{_ASKS}\s+)+(?P<asked>\w.*)|(?P<order>{ORDER_VERB}\s+\w.*))$", re.IGNORECASE)
_GOAL = re.compile(
    r"^(?:i'm trying to|i am trying to|i want to|i'd like to|i need to|we need to)\s+(?P<goal>\w.*)$", re.I
)
_FOR_ME = re.compile(r"^(\w+) (?:me|us)\b(?! (?:about|of|how|the)\b)")
_NOT_A_TASK = re.compile(r"^(?:always|never|don't|do not|stop|remember|keep|call me|be|know|note)\b", re.IGNORECASE)


def current_task(events: Sequence[Event]) -> str | None:
    """Return the last request to an assistant in these events ("plan a trip to Japan"), else the last goal that was
    named."""
    wanted = _first_wanted(reversed(events), last=True)
    return wanted[:TASK_CHARACTERS] if wanted else None


def thread_title(events: Sequence[Event]) -> str | None:
    """Return the first request, or else goal, of a conversation that begins with these events, in at most eight
    words."""
    wanted = _first_wanted(events) if events[0].seq == 1 else None
    if wanted is None:
        return None
    title = " ".join(wanted.split()[:TITLE_WORDS]).rstrip(",;:-")
    return title[:1].upper() + title[1:]


def _first_wanted(events: Iterable[Event], *, last: bool = False) -> str | None:
    """Return the first request, else the first goal. ``last``: both events and sentences are gone through from the end.
    No event is read behind the one with the request."""
    goal: str | None = None
    for event in events:
        if event.event_type is not EventType.USER_MESSAGE:
            continue
        spoken = sentences(event_text(event))
        for sentence in reversed(spoken) if last else spoken:
            if request := _wanted(sentence, _REQUEST):
                return request
            goal = goal or _wanted(sentence, _GOAL)
    return goal


def _wanted(sentence: Sentence, form: re.Pattern[str]) -> str | None:
    match = form.match(sentence.text)
    what = _FOR_ME.sub(r"\1", next(filter(None, match.groups()))) if match else ""
    return what[:1].lower() + what[1:] if len(what.split()) >= 2 and not _NOT_A_TASK.match(what) else None
