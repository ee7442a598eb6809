"""Writes the account of a session as a memory and as a document, from one source
(docs/rules/librarian.md#account)."""

from __future__ import annotations

from typing import Any

from neve.domain.compact.headings import items_of
from neve.domain.librarian.filing import Account
from neve.domain.records.memories import Memory, Priority

_TITLES = {
    "decisions": "Decisions",
    "action_items": "Action items",
    "insights": "Insights",
    "preferences": "Preferences",
}
SUMMARY_TAG = "session-summary"
SUMMARY_CHARACTERS = 200


def as_memory(account: Account, date: str) -> str:
    """Write one paragraph, ``date`` 2026-03-10: it stands in packs beside memories of other sessions."""
    sections = [f"{_TITLES[name]}: {'; '.join(_bare(item) for item in items)}." for name, items in _saying(account)]
    topics = f"; about {', '.join(account.key_topics)}" if account.key_topics else ""
    head = f'Session of {date}, "{account.title}" ({account.outcome}, {account.emotional_tone}{topics}).'
    return " ".join([head, *sections])


def facets_of(account: Account) -> dict[str, Any]:
    """Give the fields of the memory that say something of the session beside its text. Priority low: nothing was stated
    that later conversations would rest on, and no pack shows it."""
    stated = any(items_of(account.text).values())
    return {
        "priority": Priority.MEDIUM if stated else Priority.LOW,
        "outcome": account.outcome,
        "emotional_tone": account.emotional_tone,
        "key_topics": account.key_topics,
    }


def changed_by_people(summary: Memory, account: Account | None) -> list[str]:
    """Name those of ``facets_of`` that do not say what the account does from which the memory was written; without
    an account only a high priority is known to be a person's."""
    if account is None:
        return ["priority"] if summary.priority is Priority.HIGH else []
    return [name for name, told in facets_of(account).items() if getattr(summary, name) != told]


def as_document(account: Account, date: str | None = None) -> str:
    """Write Markdown; a heading that has nothing to say is left out."""
    lines = [f"# {account.title}", "", *([f"- Date: {date}"] if date else [])]
    lines += [f"- Outcome: {account.outcome}", f"- Tone: {account.emotional_tone}"]
    if account.key_topics:
        lines.append(f"- Topics: {', '.join(account.key_topics)}")
    for name, items in _saying(account):
        lines += ["", f"## {_TITLES[name]}", *(f"- {item}" for item in items)]
    return "\n".join(lines)


def in_short(account: Account) -> str:
    """Write at most 200 characters, for lists and search results."""
    text = f"{account.title} ({account.outcome})"
    if account.key_topics:
        text += f": {', '.join(account.key_topics)}"
    return text if len(text) <= SUMMARY_CHARACTERS else f"{text[: SUMMARY_CHARACTERS - 1].rstrip()}…"


def _saying(account: Account) -> list[tuple[str, tuple[str, ...]]]:
    return [(name, items) for name, items in items_of(account.text).items() if items]


def _bare(item: str) -> str:
    return item.rstrip(" .;")
