"""The title and the current task of a conversation, where a request of the user makes them obvious."""

from __future__ import annotations

import re
from collections.abc import Sequence

from neve.domain.extractive_sentences import sentences
from neve.domain.records import Event, EventType
from neve.domain.transcript import event_text

TITLE_WORDS = 8
TASK_CHARACTERS = 200

_REQUEST = re.compile(
    r"^(?:(?:please|can you|could you|would you|will you|i'd like you to|i would like you to|i need you to|i want you to|help me"
    r"|i need (?:some )?help (?:with|to)|i'm trying to|i am trying to|i want to|i'd like to|i need to|let's|we need to)\s+)+(?:please\s+)?"
    r"(?P<what>\w.*)$|^(?P<order>(?:write|draft|summari[sz]e|translate|explain|plan|find|fix|debug|create|make|build|design|review|compare"
    r"|list|suggest|recommend|book|schedule|prepare|analy[sz]e|calculate|convert|rewrite|improve|refactor|implement|add|update|check|show me"
    r"|give me|tell me about|research|organi[sz]e|generate|edit|proofread)\s+\w.*)$",
    re.IGNORECASE,
)
_FILLER = re.compile(r"^(?:to|with|me|figure out how to|help me)\s+", re.IGNORECASE)


def current_task(events: Sequence[Event]) -> str | None:
    """The last request to an assistant in these events, as an order: "plan a trip to Japan"."""
    requests = [request for event in events for request in _requests(event, events)]
    return requests[-1][:TASK_CHARACTERS] if requests else None


def thread_title(events: Sequence[Event]) -> str | None:
    """The first request of a conversation that begins with these events, in at most eight words."""
    if events[0].seq != 1:
        return None
    requests = [request for event in events for request in _requests(event, events)]
    if not requests:
        return None
    words = requests[0].split()[:TITLE_WORDS]
    title = " ".join(words).rstrip(",;:-")
    return title[:1].upper() + title[1:]


def _requests(event: Event, events: Sequence[Event]) -> list[str]:
    """Requests of a user to an assistant. Between people with names, "can you" is a question like any other."""
    if event.event_type is not EventType.USER_MESSAGE or any(
        other.name for other in events if other.event_type is EventType.ASSISTANT_RESPONSE
    ):
        return []
    found = []
    for sentence in sentences(event_text(event)):
        if request := _REQUEST.match(sentence.text):
            what = request["what"] or request["order"]
            found.append(_FILLER.sub("", what))
    return [what for what in found if len(what.split()) >= 2]
