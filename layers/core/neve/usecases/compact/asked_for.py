"""The worker behind the compact queue: what a caller asked for and may be waiting for, a compaction or a pass."""

from __future__ import annotations

from typing import Any

from neve.observing import SecondsLeft
from neve.scope import SessionScope
from neve.usecases.compact.compact_session import compact_session
from neve.usecases.observe.extract_session import extract_session
from neve.usecases.observe.report import ObservationReport


def asked_for(scope: SessionScope, body: dict[str, Any], seconds_left: SecondsLeft) -> ObservationReport | None:
    """As ``compact_session``, or as ``extract_session`` for a message of E3."""
    work = extract_session if body.get("work") == "observe" else compact_session
    return work(scope, body, seconds_left)
