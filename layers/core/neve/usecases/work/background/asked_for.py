"""Runs the worker behind the compact queue: what a caller asked for and may be waiting for, a compaction, a pass, or
taking something back."""

from __future__ import annotations

from typing import Any

from neve.observing import SecondsLeft
from neve.scope import SessionScope
from neve.usecases.core.jobs.messages.compaction import RETRACT
from neve.usecases.work.compact.compact_session import compact_session
from neve.usecases.work.observe.extract_session import extract_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract.run_retraction import run_retraction

_WORK = {"observe": extract_session, RETRACT: run_retraction}


def asked_for(
    scope: SessionScope, body: dict[str, Any], seconds_left: SecondsLeft, report: ObservationReport | None = None
) -> ObservationReport | None:
    """Handle a message as ``compact_session`` does; as ``extract_session`` for a message of E3, as ``run_retraction``
    for one of a retraction."""
    work = _WORK.get(body.get("work", ""), compact_session)
    return work(scope, body, seconds_left, report)
