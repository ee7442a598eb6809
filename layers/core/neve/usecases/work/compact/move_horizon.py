"""One compaction of what is observed: plan, put away, summarise, and commit (docs/rules/compact.md#order)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from neve.domain.compact.headings import items_of
from neve.domain.compact.plan import Covered, LogTail, newly_covered
from neve.domain.compact.stale import stale_results
from neve.domain.records.epochs import SessionEpoch, Summary, Verbosity
from neve.domain.records.sessions import Event, EventType, SessionHead
from neve.domain.sessions.spans import blanked, holds
from neve.observing import SecondsLeft
from neve.ports.table import Check, Item, Key, Put, Version, WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.partitions import all_rows
from neve.store.transact import ROUNDS_OF_A_MODEL, Rounds, transact
from neve.usecases.core.jobs.queued_jobs import new_retention
from neve.usecases.core.tenants.usage import usage_put
from neve.usecases.tell.tenants.paid_in_vain import counting_if_lost
from neve.usecases.work.compact.artifacts import event_parts, placeholder_tokens, pruned_events, store_artifacts
from neve.usecases.work.compact.read_log import Overtaken, read_log
from neve.usecases.work.compact.summarise import Leaving, Written, request_of, summarise
from neve.usecases.work.compact.summary_of_removed import summary_of_removed


@dataclass(frozen=True, slots=True)
class _Session:
    """A session as it was read. ``before``: the summary in force; ``removed``: where there is none, what stands for
    events that retention has removed. ``events``: the log behind the horizon, or, where it has no summary, behind what
    stands before the covered part; those that were taken back say nothing."""

    head: SessionHead
    epoch: SessionEpoch
    observed_seq: int
    before: Summary | None
    removed: Summary | None
    events: Sequence[Event]

    @property
    def tail(self) -> list[Event]:
        """Give the events behind the horizon."""
        return [event for event in self.events if event.seq > (self.epoch.covers_to or 0)]

    def asked_before(self, covered: Covered) -> int | None:
        """Give the message of the turn that goes on behind, where it is covered, now or by the compaction before: no
        prompt is without it."""
        asked = [
            event.seq
            for event in self.events
            if (self.epoch.covers_to or 0) < event.seq <= covered.last
            and event.event_type is EventType.USER_MESSAGE
            and not holds(self.epoch.retracted, event.seq)
        ]
        seq = asked[-1] if asked else self.epoch.covers_keeps
        return seq if seq is not None and seq >= (self.epoch.covers_from or covered.first) else None


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan of a move. ``pruned``: the results that a prompt would still show, which leave the log with the epoch.
    ``settled``: of all tokens ever said, those that no prompt shows any more."""

    covered: Covered | None
    pruned: Sequence[Event]
    settled: int


@dataclass(frozen=True)
class HorizonMove:
    """One job's move. ``job_id``: by which a repeated message finds its own commit."""

    scope: SessionScope
    incarnation: int
    job_id: str
    verbosity: Verbosity
    seconds_left: SecondsLeft

    def run(self) -> dict[str, Any]:
        """Move the horizon, and give what the job's result says of it. Raises UserErased, NoTimeToSummarise,
        ModelUnavailable, ModelRefused, StoreUnavailable, and 409 ``conflict`` where others are faster each time; then
        nothing has moved."""
        rounds = Rounds(self.scope.ports, ROUNDS_OF_A_MODEL)
        while True:
            rounds.begin()
            try:
                return self._once(self._read())
            except Overtaken:
                continue

    def _once(self, session: _Session) -> dict[str, Any]:
        if session.epoch.compacted_by == self.job_id:
            return self._result(session.epoch)
        plan = self._plan(session)
        if plan.covered is None and not plan.pruned:
            return {"outcome": "nothing_to_cover", "epoch": session.epoch.epoch}
        written = self._write_summary(session, plan.covered)
        with counting_if_lost(self.scope, self.incarnation, written.cost if written else {}):
            store_artifacts(self.scope, self.incarnation, plan.pruned)
            moved = transact(self.scope.ports, lambda: self._commit(session, plan, written))
        return self._result(moved) | (written.result_fields if written else {})

    # --- reading --------------------------------------------------------------------------------

    def _read(self) -> _Session:
        keys = self.scope.keys
        found = self.scope.ports.table.get_many([keys.head, keys.session_head, keys.marker, keys.epoch])
        still_there(rows.read_head(found.get(keys.head)), self.incarnation)
        if keys.epoch not in found:
            raise UserErased
        head, epoch = rows.read_session(found[keys.session_head]), rows.read_epoch(found[keys.epoch])
        item = self.scope.ports.table.get(keys.summary(epoch.epoch)) if epoch.covers_to else None
        before = rows.read_summary(item) if item else None
        removed = summary_of_removed(self.scope, epoch) if before is None or before.job_id is None else None
        before = None if removed else before  # what a prompt made was made of what is in the log
        first = (epoch.covers_to if before else (epoch.covers_from or 1) - 1) or 0
        log = read_log(self.scope, epoch, first + 1, head.last_seq)
        observed_seq = rows.read_marker(found[keys.marker]).observed_seq
        return _Session(head, epoch, observed_seq, before, removed, blanked(log, epoch.retracted))

    def _plan(self, session: _Session) -> _Plan:
        policy, tail = self.scope.policy, session.tail
        observed = [event for event in tail if event.seq <= session.observed_seq]
        stale = stale_results(observed)
        going = {event.seq for event in stale}
        tokens = {event.seq: placeholder_tokens(self.scope, event, pruned=event.seq in going) for event in tail}
        covered = None
        if observed:
            first = session.epoch.covers_to is None
            covered = newly_covered(LogTail(observed, tokens, first, policy.kept_verbatim, policy.compaction_at))
        stays = [event for event in stale if covered is None or not covered.first <= event.seq <= covered.last]
        pruned = next(event_parts(stays), [])
        left = {event.seq for event in stays} - {event.seq for event in pruned}
        tokens |= {event.seq: event.original_tokens for event in tail if event.seq in left}
        horizon = covered.last if covered else session.epoch.covers_to or 0
        behind = sum(weight for seq, weight in tokens.items() if seq > horizon)
        return _Plan(covered, pruned, session.head.total_tokens - behind)

    # --- writing --------------------------------------------------------------------------------

    def _write_summary(self, session: _Session, covered: Covered | None) -> Written | None:
        """Write the summary; None where the horizon stays: the summary before it holds on."""
        if covered is None:
            return None
        first = covered.first if session.before else session.epoch.covers_from or covered.first
        before = session.before or session.removed
        if session.removed:
            first = session.removed.covers_to + 1
        standing = (event for event in session.events if not holds(session.epoch.retracted, event.seq))
        events = [event for event in standing if first <= event.seq <= covered.last]
        asked = request_of(events, before) if covered.inside else None
        leaving = Leaving(events, before, asked, session.head.timezone, session.epoch.retracted)
        return summarise(self.scope, self.incarnation, leaving, self.verbosity, self.seconds_left)

    def _commit(self, session: _Session, plan: _Plan, written: Written | None) -> SessionEpoch:
        """Commit in one transaction: horizon, epoch, summary, and what leaves the log in front of a reader. Raises
        Overtaken."""
        keys, now = self.scope.keys, self.scope.ports.clock.now()
        events = [keys.event(event.seq) for event in plan.pruned]
        found = self.scope.ports.table.get_many([keys.head, keys.epoch, keys.usage, keys.archived, *events])
        head = rows.read_head(found.get(keys.head))
        still_there(head, self.incarnation)
        epoch = rows.read_epoch(found[keys.epoch])
        if epoch.compacted_by == self.job_id:  # our own commit, whose response was lost
            return epoch
        if _moved_since(session.epoch, epoch):
            raise Overtaken
        moved = self._moved(epoch, plan, session)
        ops: list[WriteOp] = [rows.check_head(keys, head), rows.put_epoch(keys, moved, now)]
        summary = self._summary(moved, session.before, written)
        ops += [rows.put_summary(keys, summary)] if summary else []
        ops += pruned_events(self.scope, self.incarnation, {key: found[key] for key in events if key in found})
        ops += [self._archived(session, plan.covered, found.get(keys.archived))] if plan.covered else []
        ops += [self._usage(found, written)] if written and written.cost else []
        self.scope.ports.table.write(ops)
        return moved

    def _archived(self, session: _Session, covered: Covered, noted: Item | None) -> WriteOp:
        """Note the oldest archived event, or check that it is noted. Rows of one read may be of different moments:
        retention takes away what is noted with the last event."""
        if noted is not None:
            return Check(self.scope.keys.archived, Version(noted["version"]))
        oldest = next(event for event in session.events if event.seq >= covered.first)
        return new_retention(self.scope.keys, oldest.created_at, self.incarnation)

    def _moved(self, epoch: SessionEpoch, plan: _Plan, session: _Session) -> SessionEpoch:
        moved = replace(epoch, epoch=epoch.epoch + 1, compacted_by=self.job_id, settled_tokens=plan.settled)
        if plan.covered is None:
            return moved
        first = epoch.covers_from or plan.covered.first
        keeps = session.asked_before(plan.covered) if plan.covered.inside else None
        moved = replace(moved, covers_from=first, covers_to=plan.covered.last, covers_keeps=keeps)
        return replace(moved, rebuild_due="horizon")

    def _summary(self, epoch: SessionEpoch, before: Summary | None, written: Written | None) -> Summary | None:
        if written is None:
            return replace(before, epoch=epoch.epoch, version=0) if before else None
        return written.of_epoch(self.scope, epoch, self.job_id)

    def _usage(self, found: Mapping[Key, Item], written: Written) -> Put:
        return usage_put(self.scope.keys, found.get(self.scope.keys.usage), written.cost)

    # --- result ---------------------------------------------------------------------------------

    def _result(self, epoch: SessionEpoch) -> dict[str, Any]:
        """Make the result: ``covered`` when the horizon moved with this job's commit, ``pruned`` when only tool results
        left the log. A prompt or a retraction may have begun a later epoch since: that goes on with the summary, or
        without it where some of it was taken back."""
        summary = self._own_summary(epoch)
        if summary is None:
            return {"outcome": "pruned", "epoch": epoch.epoch}
        result = {
            "outcome": "covered",
            "epoch": epoch.epoch,
            "covers": {"from": epoch.covers_from, "to": epoch.covers_to},
            "horizon_seq": epoch.covers_to,
        }
        if summary.epoch != epoch.epoch:
            return result
        said = {heading: list(items) for heading, items in items_of(summary).items()}
        return result | {
            "summary": {"by": summary.by, "verbosity": summary.verbosity, "tokens": summary.tokens, **said}
        }

    def _own_summary(self, epoch: SessionEpoch) -> Summary | None:
        """Give the newest summary that this job has written."""
        table, keys = self.scope.ports.table, self.scope.keys
        found = table.get(keys.summary(epoch.epoch))
        in_force = rows.read_summary(found) if found else None
        if in_force is not None and in_force.job_id is not None:
            return in_force if in_force.job_id == self.job_id else None
        stored = map(rows.read_summary, all_rows(table, keys.partition, prefix=keys.summaries[0]))
        return max((one for one in stored if one.job_id == self.job_id), key=lambda one: one.epoch, default=None)


def _moved_since(then: SessionEpoch, now: SessionEpoch) -> bool:
    """Say whether another horizon was set meanwhile. A pack that was built meanwhile is none of our business."""
    return now.epoch != then.epoch
