"""Rewrite the summary of a session when some of what it covers was taken back (docs/rules/retract.md#summary). What
is covered stays covered; until then an extract of what is left stands in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.sessions import Event, EventType, Spans
from neve.domain.sessions.spans import holds
from neve.observing import SecondsLeft
from neve.ports.table import WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.transact import ROUNDS_OF_A_MODEL, Rounds, transact
from neve.usecases.core.tenants.usage import usage_put
from neve.usecases.tell.requests.retract_events import covers_any
from neve.usecases.tell.tenants.paid_in_vain import counting_if_lost
from neve.usecases.work.compact.read_log import Overtaken, read_log
from neve.usecases.work.compact.summarise import Leaving, Written, request_of, summarise
from neve.usecases.work.compact.summary_of_removed import summary_of_removed

REWRITTEN = {"summary": "rewritten"}


def rewrite_summary(
    scope: SessionScope, incarnation: int, fresh: Spans, job_id: str, seconds_left: SecondsLeft
) -> dict[str, Any]:
    """Rewrite the summary, and give what the job's result says of one that was written: why no model wrote it although
    one was asked, and what that was not shown. None is written where a compaction has been faster, whose summary has
    not seen the events either; what a prompt made stands in only. Raises UserErased, NoTimeToSummarise,
    ModelUnavailable, ModelRefused, StoreUnavailable, and 409 ``conflict`` where others move the epoch each time."""
    work = _Rewriting(scope, incarnation, job_id, seconds_left)
    rounds = Rounds(scope.ports, ROUNDS_OF_A_MODEL)
    while True:
        rounds.begin()
        epoch, timezone = work.read()
        if not covers_any(epoch, fresh) or epoch.compacted_by == job_id:
            return REWRITTEN if epoch.compacted_by == job_id else {}
        summary = scope.ports.table.get(scope.keys.summary(epoch.epoch))
        if summary is not None and rows.read_summary(summary).job_id is not None:
            return {}
        try:
            written = work.write(epoch, timezone)
            with counting_if_lost(scope, incarnation, written.cost):
                transact(scope.ports, partial(work.commit, epoch, written))
        except Overtaken:
            continue
        return {**REWRITTEN, **written.result_fields}


@dataclass(frozen=True)
class _Rewriting:
    scope: SessionScope
    incarnation: int
    job_id: str
    seconds_left: SecondsLeft

    def read(self) -> tuple[SessionEpoch, str]:
        """Read the epoch and the session's time zone. Raises UserErased."""
        keys = self.scope.keys
        found = self.scope.ports.table.get_many([keys.epoch, keys.session_head])
        if len(found) < 2:
            raise UserErased
        return rows.read_epoch(found[keys.epoch]), rows.read_session(found[keys.session_head]).timezone

    def write(self, epoch: SessionEpoch, timezone: str) -> Written:
        """Write a summary of what is left. Raises Overtaken."""
        first, last = epoch.covers_from or 1, epoch.covers_to or 0
        before = summary_of_removed(self.scope, epoch)
        begins = before.covers_to + 1 if before else first
        log = read_log(self.scope, epoch, begins, last, behind=1)
        meant = [event for event in log if not holds(epoch.retracted, event.seq)]
        covered = [event for event in meant if event.seq <= last]
        asked = request_of(covered, before) if _ends_inside_turn(meant, last) else None
        verbosity = self.scope.policy.summary_verbosity
        leaving = Leaving(covered, before, asked, timezone, epoch.retracted)
        return summarise(self.scope, self.incarnation, leaving, verbosity, self.seconds_left)

    def commit(self, seen: SessionEpoch, written: Written) -> None:
        """Commit the summary with an epoch of its own: inside one a prompt begins as the one before it. Raises
        Overtaken."""
        keys, now = self.scope.keys, self.scope.ports.clock.now()
        found = self.scope.ports.table.get_many([keys.head, keys.epoch, keys.usage])
        head = rows.read_head(found.get(keys.head))
        still_there(head, self.incarnation)
        epoch = rows.read_epoch(found[keys.epoch])
        if epoch.compacted_by == self.job_id:  # our own commit, whose response was lost
            return
        if epoch.epoch != seen.epoch:
            raise Overtaken
        moved = replace(epoch, epoch=epoch.epoch + 1, compacted_by=self.job_id)
        summary = written.of_epoch(self.scope, moved, self.job_id)
        ops: list[WriteOp] = [
            rows.check_head(keys, head),
            rows.put_epoch(keys, moved, now),
            rows.put_summary(keys, summary),
        ]
        if written.cost:
            ops.append(usage_put(keys, found.get(keys.usage), written.cost))
        self.scope.ports.table.write(ops)


def _ends_inside_turn(events: list[Event], last: int) -> bool:
    """Say whether the covered part ends inside a turn, whose message its summary then names."""
    behind = next((event for event in events if event.seq > last), None)
    return behind is not None and behind.event_type is not EventType.USER_MESSAGE
