"""Makes the account of a session without a model (docs/rules/librarian.md#extractive)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from neve.domain.compact.extract import extract_summary, without_unwanted
from neve.domain.compact.headings import SummaryText
from neve.domain.librarian.filing import Account
from neve.domain.privacy.detectors import REMOVED, SHORT
from neve.domain.recall.small_talk import WORDS
from neve.domain.records.sessions import Event, EventType, Outcome
from neve.domain.sessions.transcript import event_text
from neve.domain.words import QUERY_STOP_WORDS, fold, plain_words

ACCOUNT_TOKENS = 500
MAX_TOPICS, TOPIC_CHARACTERS, TITLE_WORDS = 5, 60, 6
NEUTRAL = "neutral"
_FIGURE = re.compile(r"\d")

_TONES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (tone, re.compile(rf"\b(?:{words})\b", re.IGNORECASE))
    for tone, words in (
        ("frustrated", r"frustrat\w+|annoy\w+|angry|ugh|fed up|still (?:broken|not working)|hate this"),
        ("worried", r"worr\w+|anxious|afraid|scared|nervous|stressed"),
        ("sad", r"sad|miss (?:him|her|them)|grie\w+|heartbroken|lonely"),
        ("excited", r"excited|can't wait|thrilled|amazing|so happy"),
        ("pleased", r"thanks?|thank you|great|perfect|love it|awesome|wonderful|happy"),
    )
)


def account_of(
    events: Sequence[Event],
    title: str | None,
    outcome: Outcome | None,
    before: Account | None = None,
    *,
    stated: Sequence[Event] | None = None,
    timezone: str = "UTC",
) -> Account:
    """Make the account of a session by rules. ``title``: of the session, where it has one. ``outcome``: what the caller
    said. ``before``: of the events before these. ``stated``: the events as far as their speakers speak for themselves
    in them, where that is known. ``timezone``: in which the days are told."""
    earlier = before.text if before else None
    events = without_unwanted(events)
    source = events if stated is None else stated
    text = extract_summary(source, ACCOUNT_TOKENS, before=earlier, lasting=True, timezone=timezone)
    topics = dict.fromkeys([*(before.key_topics if before else ()), *_topics(events)])
    return Account(
        title=without_removed(title or "") or (before.title if before else None) or _title(tuple(topics)),
        outcome=outcome or _outcome(events, text),
        emotional_tone=_tone(events) or (before.emotional_tone if before else NEUTRAL),
        key_topics=tuple(topics)[:MAX_TOPICS],
        text=text,
    )


def _title(topics: Sequence[str]) -> str:
    words = " ".join(topics[:TITLE_WORDS]).strip()
    return words[:1].upper() + words[1:] if words else "Conversation"


def without_removed(title: str) -> str:
    """Remove from a title what stands for personal data that was taken out, and the figures beside it that are left of
    them."""
    words = title.split()
    gone = [n for n, word in enumerate(words) if REMOVED in word or SHORT in word]
    for step in (-1, 1):
        for n in gone[:]:
            while 0 <= n + step < len(words) and _FIGURE.search(words[n + step]):
                n += step
                gone.append(n)
    return " ".join(word for n, word in enumerate(words) if n not in gone)


def _outcome(events: Sequence[Event], text: SummaryText) -> Outcome:
    """Tell the outcome from the events. INTERRUPTED: a message waits for an answer. PARTIAL: something is left to
    do."""
    types = [event.event_type for event in events if event.event_type is not EventType.TASK_BOUNDARY]
    if types and types[-1] is not EventType.ASSISTANT_RESPONSE:
        return "INTERRUPTED"
    return "PARTIAL" if text.action_items else "SUCCESS"


def _tone(events: Sequence[Event]) -> str | None:
    """Give the tone that the user's words show most, the first listed of equals; None where they show none."""
    counts: Counter[str] = Counter()
    for event in _of_user(events):
        text = event_text(event).replace("’", "'")
        counts.update({tone: len(pattern.findall(text)) for tone, pattern in _TONES})
    best = max(counts.values(), default=0)
    return next((tone for tone, _ in _TONES if best and counts[tone] == best), None)


def _topics(events: Sequence[Event]) -> list[str]:
    """Choose words of the user as topics, names first, then by how often they were said, then as they came. A word with
    a figure is none, because it may be what is left of a number that was taken out; nor is one longer than people say:
    what is pasted may go on for 250 KiB without a space, and two of that length have no room on a row."""
    counts: Counter[str] = Counter()
    names: set[str] = set()
    for event in _of_user(events):
        text = fold(event_text(event).replace(REMOVED, " "))
        for sentence in re.split(r"(?<=[.!?])\s+|\n", text):
            words = re.findall(r"[^\W\d_][\w'’-]*", sentence)
            names |= {word.casefold() for word in words[1:] if word[:1].isupper()}
        counts.update(word for word in plain_words(text) if _can_be_topic(word))
    return [word for word, _ in sorted(counts.items(), key=lambda one: -one[1] - 2 * (one[0] in names))][:MAX_TOPICS]


def _can_be_topic(word: str) -> bool:
    if not 2 < len(word) <= TOPIC_CHARACTERS or _FIGURE.search(word):
        return False
    return word not in QUERY_STOP_WORDS and word not in WORDS


def _of_user(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event.event_type is EventType.USER_MESSAGE]
