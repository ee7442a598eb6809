"""Memories as mem0 gives them out (``get_all``, ``get_memory_export``) as lines of an import
(docs/integrating.md#from-other-stores).

A memory there has ``id``, ``memory`` (the text), ``user_id``, ``agent_id``, ``app_id``, ``run_id``, ``metadata``,
``categories``, ``created_at`` and ``updated_at``, of which all but the text may be missing
(https://docs.mem0.ai/api-reference/memory/get-memory)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from neve_cli.importing.holding import end_of, holds
from neve_cli.importing.reading import LeftOut, Malformed, Record, first_of, read_records, tags_of, text_of, time_of

KEPT_METADATA = ("type", "category", "topic")


def users_of(text: str) -> set[str]:
    """Whose memories are in a dump: what is sent becomes that of one person."""
    records = (read.record for read in read_records(text))
    return {str(one["user_id"]) for one in records if isinstance(one, dict) and one.get("user_id") is not None}


def mem0_lines(record: Record, left_out: LeftOut, user: str | None = None) -> Iterator[Record]:
    """Makes the line of a memory; none for one of another user than the one that is asked for, whose ``user_id`` may
    be a number, and none for one that no longer holds, which is counted. Raises Malformed."""
    if user is not None and record.get("user_id") is not None and str(record["user_id"]) != user:
        return
    text = text_of(first_of(record, "memory", "text", "data"), "memory")
    metadata = record.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise Malformed("metadata must be an object")
    if not holds(record, left_out):
        return
    line: dict[str, Any] = {
        "id": record.get("id"),
        "text": text,
        "kind": "note",
        "tags": tags_of(record.get("categories"), "categories"),
        "label": _short(first_of(metadata, *KEPT_METADATA)),
        "group": _short(first_of(record, "app_id", "agent_id")),
        "created_at": time_of(record.get("created_at"), "created_at"),
        "observed_at": time_of(first_of(record, "updated_at", "created_at"), "updated_at"),
        "valid_until": end_of(record),
    }
    left_out.update(f"metadata of memories ({name})" for name in metadata if name not in KEPT_METADATA)
    yield {name: value for name, value in line.items() if value not in (None, [])}


def _short(value: Any) -> str | None:
    """A label has at most 128 characters; what is longer, or no text, is none."""
    return value if isinstance(value, str) and 0 < len(value) <= 128 else None
