"""What stands in the place of the safeguards of webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from neve.ports.table import Delete
from neve.usecases.work.outgoing import append_feed, deliver
from tests.simulation.ablations.ablation import Patch


def goes_on_behind_what_failed() -> list[Patch]:
    """The next event of the line does not wait for the one that was not taken."""
    failed = deliver._Line._failed

    def passed_over(line: Any, *given: Any) -> bool:
        failed(line, *given)
        return True

    return [(deliver._Line, "_failed", passed_over)]


def takes_the_row_away_before_the_answer() -> list[Patch]:
    """A worker that dies in between has sent nothing, and nobody knows."""
    tries = deliver._Line._tries

    def trusting(line: Any, webhook: Any, waiting: Any, *given: Any, **named: Any) -> Any:
        line.data.ports.table.write([Delete(waiting.key)])
        return tries(line, webhook, waiting, *given, **named)

    return [(deliver._Line, "_tries", trusting)]


def numbers_by_its_own_clock() -> list[Patch]:
    """Each writer behind whatever time it is for it, and not behind the newest row."""

    def at_this_time(_table: Any, _keys: Any, now: datetime) -> int:
        return round(now.timestamp() * 1000)

    return [(append_feed, "_newest", at_this_time)]
