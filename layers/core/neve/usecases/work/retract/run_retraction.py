"""Runs the job of a retraction: what was made of the events follows them (docs/rules/retract.md#job).

Every step may be repeated, and is noted when it is done: a message that is delivered again goes on where the last
worker stopped."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Any

from neve.domain.records.jobs import Job
from neve.domain.records.retractions import Retraction
from neve.domain.times import iso
from neve.observing import SecondsLeft, for_ever
from neve.ports.errors import ModelRefused, StoreUnavailable
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.usecases.core.lag.memory_lag import leave_if_caught_up
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.requests.retract_job import (
    COUNTED,
    ERASED,
    GONE,
    KEPT,
    MEANWHILE,
    PACK,
    PURGED,
    REBUILT,
    REVISIONS,
    ROUND_S,
    SUMMARY,
    TOUCHED,
    JobEnded,
    after,
    after_packs,
    after_pages,
    is_done,
    note,
    purging,
    purging_so_far,
    read,
    read_list,
    rebuilding,
    rebuilt_so_far,
)
from neve.usecases.work.compact.rebuild_packs import rebuild_packs
from neve.usecases.work.compact.summarise import NoTimeToSummarise
from neve.usecases.work.observe.extract_session import refused
from neve.usecases.work.observe.observe_session import OutOfTime
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract.deleted_before import deleted_before
from neve.usecases.work.retract.documents.revert_documents import revert_documents
from neve.usecases.work.retract.erase_retracted import Receipt, erase_retracted
from neve.usecases.work.retract.observe_remainder import observe_remainder
from neve.usecases.work.retract.purge_packs import DerivedRows, PacksPurge
from neve.usecases.work.retract.replace_derived import replace_derived
from neve.usecases.work.retract.rewrite_summary import rewrite_summary

PACK_BATCH_SIZE = 50
"""*Chosen*: packs of one part, each of which takes some 0.1 s."""


def run_retraction(
    scope: SessionScope,
    body: dict[str, Any],
    seconds_left: SecondsLeft = for_ever,
    report: ObservationReport | None = None,
) -> ObservationReport | None:
    """Handle one message of the compact queue; None for a user who was erased. Where the report says ``left_off_at``,
    the message is to be sent again. ``report``: hears of what was done also where this raises LeaseHeld or
    ReplacementBusy, which postpone the message, or what a retry may cure."""
    report = report or ObservationReport()
    work = _Retracting(scope, body["incarnation"], body["job_id"], report, seconds_left)
    try:
        work.go_on(body["retraction"])
    except UserErased:
        return None
    except JobEnded:
        pass
    return report


@dataclass
class _Retracting:
    """``job``: as it was read, or noted, last; every step may be repeated."""

    scope: SessionScope
    incarnation: int
    job_id: str
    report: ObservationReport
    seconds_left: SecondsLeft
    job: Job = field(init=False)
    retraction: Retraction = field(init=False)

    def go_on(self, retraction_id: str) -> None:
        """Go on with the job. Raises UserErased, JobEnded."""
        self.job = read(self.scope, self.job_id)
        self.retraction = self._retraction(retraction_id)
        try:
            self._run(self.retraction)
        except ModelRefused as refusal:
            self._wait(refusal)
        except (OutOfTime, NoTimeToSummarise):
            job = read(self.scope, self.job_id)  # whoever gets on notes something there
            self.report.left_off_at = sha256(rows.json_bytes([job.state, job.result])).hexdigest()[:16]

    def _wait(self, refusal: ModelRefused) -> None:
        """Let the job wait: what is left of the session's memories is to be made again when the model answers, so the
        job goes on, and stays due. Why it waits is told once, however often it is sent."""
        why = refused(refusal)

        def waiting(job: Job) -> Job:
            return replace(job, status="running", finished_at=None, result=job.result | why)

        if read(self.scope, self.job_id).result.get("reason") != why["reason"]:
            self.report.failure = refusal
        note(self.scope, self.job_id, waiting)

    def _retraction(self, retraction_id: str) -> Retraction:
        """Read the retraction. Raises UserErased."""
        item = self.scope.ports.table.get(self.scope.keys.retraction(retraction_id))
        if item is None:
            raise UserErased
        return rows.read_retraction(item)

    def _run(self, retraction: Retraction) -> None:
        """Run all steps. What must go goes first; no model is needed for it."""
        self.job = replace_derived(self.scope, self.incarnation, retraction, self.job, self.seconds_left)
        self.job = revert_documents(self.scope, self.incarnation, retraction, self.job, self.seconds_left)
        if retraction.erases:
            self._erase(retraction)
        try:
            observe_remainder(self.scope, self.incarnation, self.job_id, self.report, self.seconds_left)
            leave_if_caught_up(self.scope.data, self.scope.ports.clock.now())
            self._summary(retraction)
        except ModelRefused:
            self._build_packs(MEANWHILE)
            raise
        self._build_packs(PACK)

    def _summary(self, retraction: Retraction) -> None:
        if is_done(self.job, SUMMARY):
            return
        rewritten = rewrite_summary(self.scope, self.incarnation, retraction.fresh, self.job_id, self.seconds_left)
        if rewritten:
            self._note(SUMMARY, rewritten)
        self.report.summary_refused = "summary_reason" in rewritten

    def _erase(self, retraction: Retraction) -> None:
        job = self.job
        if is_done(job, ERASED):
            return
        if self.seconds_left() < ROUND_S:
            raise OutOfTime
        made = self._made_of_it(job)
        gone = {i: rev for i, rev in deleted_before(self.scope, retraction).items() if i not in made.touched}
        made = replace(made, gone=gone)
        self._note_gone(made)
        receipt = Receipt(**job.state.get("removed", {}), withdrawing=job.state.get("withdrawing", False))

        def going(sessions: Sequence[str]) -> None:
            """Note the counts before packs go: all rows are gone by then, so of a worker that dies behind this it is
            known how many."""
            self._note_removed({**receipt.counts, "packs": receipt.packs + packs.versions})
            self._note_served(sessions)

        packs = PacksPurge.noted(made, going, purging_so_far(job, ERASED))
        try:
            erase_retracted(self.scope, self.incarnation, retraction, receipt, packs, self.seconds_left)
        except OutOfTime:
            self._note_purge(ERASED, packs, removed=receipt.counts, withdrawing=receipt.withdrawing)
            raise
        counted = job.state.get(COUNTED, {})
        receipt.revisions += counted.get("revisions", 0)
        receipt.vectors += counted.get("document_vectors", 0)
        self._note(ERASED, {"erased": receipt.as_result()})

    def _note_gone(self, made: DerivedRows) -> None:
        """Note what had been deleted before, by which a pack is purged."""
        if made.gone:
            gone = {GONE: sorted(map(list, made.gone.items()))}
            note(self.scope, self.job_id, lambda job: replace(job, status="running", state=job.state | gone))

    def _note_removed(self, removed: Mapping[str, int]) -> None:
        note(self.scope, self.job_id, lambda job: replace(job, state={**job.state, "removed": dict(removed)}))

    def _note_served(self, sessions: Sequence[str]) -> None:
        """Note the sessions whose packs are about to be purged."""
        note(self.scope, self.job_id, lambda job: replace(purging(sessions, job), status="running"))

    def _note_purge(self, step: str, packs: PacksPurge, **state: Any) -> None:
        note(self.scope, self.job_id, lambda job: after_pages(replace(job, state=job.state | state), step, packs.state))

    def _build_packs(self, step: str) -> None:
        """Build the packs of this session, and of those whose packs a deletion purged: others keep their bytes until a
        trigger of their own. Behind all that is written, also where a reader has built a pack since the purge. What a
        build has stored since then that had read the deleted goes first: it can point to it no more. The job ends with
        the last of them."""
        job = read(self.scope, self.job_id)
        if is_done(job, step):
            return
        if is_done(job, ERASED):
            self._purge_again(job, step)
        rebuilt = self._rebuild_purged(job, step) if PURGED in job.state else None
        if (job.state.get("flipped") or job.result.get("written")) and not self._session_deleted():
            with contextlib.suppress(StoreUnavailable):  # build_pack has noted it; the sweep tries again
                build_pack(self.scope, "reflection")

        def built(job: Job) -> Job:
            job = after(job, step) if rebuilt is None else after_packs(step, rebuilt, job)
            if step != PACK:
                return job
            result = job.result | {"reason": self.retraction.reason}
            return replace(job, status="done", finished_at=iso(self.scope.ports.clock.now()), result=result)

        note(self.scope, self.job_id, built)

    def _session_deleted(self) -> bool:
        item = self.scope.ports.table.get(self.scope.keys.epoch)
        return item is not None and bool(item.get("deleted"))

    def _purge_again(self, job: Job, step: str) -> None:
        """Purge what builds have stored meanwhile. Raises OutOfTime."""
        packs = PacksPurge.noted(self._made_of_it(job), lambda _: None, purging_so_far(job, step))
        try:
            packs.run(self.scope, self.seconds_left)
        except OutOfTime:
            self._note_purge(step, packs)
            raise

    def _rebuild_purged(self, job: Job, step: str) -> list[str]:
        """Rebuild packs in parts, behind each of which there may be no time for another: then the next worker goes on
        there. Raises OutOfTime."""
        done = rebuilt_so_far(job, step)
        rebuilt = list(read_list(self.scope, job, REBUILT)) if done else []
        purged = list(read_list(self.scope, job, PURGED))
        while done < len(purged):
            sessions = purged[done : done + PACK_BATCH_SIZE]
            rebuilt += rebuild_packs(self.scope, sessions, job.result.get("written", ()))
            done += len(sessions)
            if done < len(purged) and self.seconds_left() < ROUND_S:
                note(self.scope, self.job_id, partial(rebuilding, step, done, rebuilt))
                raise OutOfTime
        return rebuilt

    def _note(self, step: str, result: dict[str, Any]) -> None:
        self.job = note(self.scope, self.job_id, lambda job: after(job, step, result))

    def _made_of_it(self, job: Job) -> DerivedRows:
        def listed(name: str) -> Iterator[Any]:
            return read_list(self.scope, job, name)

        revisions = frozenset((str(one), int(rev)) for one, rev in listed(REVISIONS))
        gone = {str(one): int(rev) for one, rev in listed(GONE)}
        uttered = (self.scope.session, *self.retraction.span)
        return DerivedRows(frozenset(listed(TOUCHED)), revisions, frozenset(listed(KEPT)), gone, uttered)
