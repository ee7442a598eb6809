"""Finds what is left of covered events that retention has removed, where the summary in force was taken back
(docs/rules/retract.md#summary)."""

from __future__ import annotations

from neve.domain.records.epochs import SessionEpoch, Summary
from neve.domain.sessions.spans import meets
from neve.scope import SessionScope
from neve.store import rows
from neve.store.keys import RETRACTION
from neve.store.partitions import all_rows


def summary_of_removed(scope: SessionScope, epoch: SessionEpoch) -> Summary | None:
    """Find the longest summary of an earlier epoch of which nothing has been taken back since it was written: of
    removed events nothing else is left. None where all covered events are there. What a prompt made shows less than it
    was made of. Raises StoreUnavailable."""
    if epoch.covers_from is None or epoch.removed_to < epoch.covers_from:
        return None
    table, keys = scope.ports.table, scope.keys
    retractions = [rows.read_retraction(item) for item in all_rows(table, keys.log, prefix=RETRACTION)]

    def holds_good(one: Summary) -> bool:
        span = (one.covers_from, one.covers_to)
        return not any(meets(later.fresh, span) for later in retractions if later.epoch > one.epoch)

    found = map(rows.read_summary, all_rows(table, keys.partition, prefix=keys.summaries[0]))
    whole = (one for one in found if one.job_id is not None and one.covers_from == epoch.covers_from)
    return max(filter(holds_good, whole), key=lambda one: (one.covers_to, one.epoch), default=None)
