"""Memories as mem0 gives them out (``get_all``, ``get_memory_export``) as lines of an import
(docs/integrating.md#from-other-stores).

A memory there has ``id``, ``memory`` (the text), ``user_id``, ``agent_id``, ``app_id``, ``run_id``, ``metadata``,
``categories``, ``created_at`` and ``updated_at``, of which all but the text may be missing
(https://docs.mem0.ai/api-reference/memory/get-memory)."""

from __future__ import annotations

from typing import Any

from local.importers.reading import Malformed, Record, first_of, read_records, tags_of, text_of, time_of


def users_of(text: str) -> set[str]:
    """Whose memories are in a dump: what is sent becomes that of one person."""
    records = (read.record for read in read_records(text))
    return {str(one["user_id"]) for one in records if isinstance(one, dict) and one.get("user_id") is not None}


def mem0_line(record: Record, user: str | None = None) -> dict[str, Any] | None:
    """None for a memory of another user than the one that is asked for; ``user_id`` may be a number. Raises
    Malformed."""
    if user is not None and record.get("user_id") is not None and str(record["user_id"]) != user:
        return None
    metadata = record.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise Malformed("metadata must be an object")
    line: dict[str, Any] = {
        "id": record.get("id"),
        "text": text_of(first_of(record, "memory", "text", "data"), "memory"),
        "kind": "note",
        "tags": tags_of(record.get("categories"), "categories"),
        "label": _short(first_of(metadata, "type", "category", "topic")),
        "group": _short(first_of(record, "app_id", "agent_id")),
        "created_at": time_of(record.get("created_at"), "created_at"),
        "observed_at": time_of(first_of(record, "updated_at", "created_at"), "updated_at"),
    }
    return {name: value for name, value in line.items() if value not in (None, [])}


def _short(value: Any) -> str | None:
    """A label has at most 128 characters; what is longer, or no text, is none."""
    return value if isinstance(value, str) and 0 < len(value) <= 128 else None
