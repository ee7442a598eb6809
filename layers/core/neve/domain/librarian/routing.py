"""Decides whether a librarian's change is written or waits for a person (docs/rules/librarian.md#routing)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from neve.domain.librarian.filing import Action
from neve.domain.librarian.window import is_marked
from neve.domain.observe.trust import SaidHere, lowest, trust_of
from neve.domain.records.memories import Route, Trust
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.domain.tenants.policy import ReviewMode

Place = Literal["store", "inbox"]

_PLAIN = re.compile(
    r"\b(?:always|never|from now on|i(?:'d| would)? prefer|remember (?:this|that)|my name is|call me)\b"
    r"|^(?:no|actually|correction|sorry)\b[,:]|\b(?:no longer|not any ?more|instead of|i meant)\b"
    r"|\bi(?:'ve| have)? (?:left|quit|moved|changed|switched)\b",
    re.IGNORECASE,
)
"""Words with which a user states a rule, a preference or a correction."""


def certainty_of(action: Action, events: Sequence[Event]) -> Route:
    """Rate how sure an action is: high where the user's own words among its events are plain; else as the librarian
    said, but never more than medium by its word alone."""
    within = [event for event in events if event.seq in action.seqs]
    messages = [event_text(event).replace("’", "'") for event in within if event.event_type is EventType.USER_MESSAGE]
    if any(_PLAIN.search(text) or is_marked(text) for text in messages):
        return "high"
    return "low" if action.certainty == "low" or not messages else "medium"


def claims_of(action: Action, events: Sequence[Event], shown: str) -> list[tuple[str, Sequence[Event]]]:
    """Give what it says that the document does not as it was ``shown``, line by line, each with the events that it
    rests on; a blank line where it says nothing new."""
    within = [event for event in events if event.seq in action.seqs]
    known = {line.strip() for line in shown.splitlines()}
    said = [action.title or "", *(line.strip() for line in action.text.splitlines())]
    return [(line, within) for line in dict.fromkeys(("", *said)) if line not in known or not line]


def trust_of_action(action: Action, said: SaidHere, shown: str = "") -> Trust:
    """Say whose word it is: the lowest of its events, and a tool's if a tool said any of it. ``shown``: the document's
    text as it was shown, which has a trust of its own."""
    return lowest(trust_of(text, within, said) for text, within in claims_of(action, said.events, shown))


def place_for(certainty: Route, trust: Trust, review_mode: ReviewMode) -> Place:
    """Decide where an action goes: high is stored; medium is, unless the tenant reviews; low and what only a tool said
    wait for a person."""
    if trust == "tool" or certainty == "low":
        return "inbox"
    return "inbox" if certainty == "medium" and review_mode == "interactive" else "store"
