"""Stage 1: what tools printed and no turn needs any more leaves the log for a document of its own
(docs/rules/compact.md#stale-tool-results)."""

from __future__ import annotations

from collections.abc import Sequence

from neve.domain.documents.paths import ARTIFACTS
from neve.domain.ids import ulid_named
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text, images_of, turns
from neve.domain.tokens import IMAGE_TOKENS

STALE_TOKENS, STALE_CHARACTERS = 1_000, 5_000
"""A result above **both** is put away (*inherited*)."""
FRESH_TURNS = 2
"""Results of the newest turns stay whole."""


def is_large(tokens: int, characters: int) -> bool:
    return tokens > STALE_TOKENS and characters > STALE_CHARACTERS


def stale_to(events: Sequence[Event]) -> int:
    """Give the last seq before the two newest turns of a part of the log that ends at its newest event; 0 for none."""
    spans = turns(events)
    return spans[-FRESH_TURNS].start - 1 if len(spans) > FRESH_TURNS else 0


def stale_results(events: Sequence[Event]) -> list[Event]:
    """Give the large tool results of such a part of the log, older than its two newest turns and not put away yet."""
    last = stale_to(events)
    return [event for event in events if event.seq <= last and _is_large_result(event)]


def artifact_path(tenant: str, user: str, session: str, incarnation: int, seq: int) -> str:
    """Give the path for the result of this event: the same whenever the step is repeated."""
    return f"{ARTIFACTS}{ulid_named(f'artifact/{tenant}/{user}/{session}/{incarnation}/{seq}')}"


def placeholder(path: str) -> str:
    """Write what stands in the log instead."""
    return f"[Tool output saved to {path}]"


def _is_large_result(event: Event) -> bool:
    """Say whether an event is a large tool result that can be put away. Images stay where they are, so only the text
    counts."""
    if event.event_type is not EventType.TOOL_RESULT or event.pruned or event.artifact_path:
        return False
    return is_large(event.original_tokens - IMAGE_TOKENS * len(images_of(event)), len(event_text(event)))
