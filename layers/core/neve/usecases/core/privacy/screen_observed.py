"""The gate on what an observer answers, before any of it is kept. What it read was screened already; its words are its
own. Facts have the same gate in their storage decision."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.privacy.screen import Found
from neve.observing import Observed
from neve.scope import TenantScope
from neve.usecases.core.privacy.admit import redacted

OF_THE_THREAD = ("current_task", "suggested_continuation", "thread_title")


def screen_observed(scope: TenantScope, observed: Observed) -> tuple[Observed, Found]:
    """Take out of an answer's lines, and of what it says of the thread, what the policy takes out."""
    screened = [redacted(scope, line, ("text",)) for line in observed.lines]
    thread, found = redacted(scope, observed, OF_THE_THREAD)
    lines = tuple(line for line, _ in screened)
    return replace(thread, lines=lines), sum((one for _, one in screened), found)
