"""Runs the job of a retraction: what was made of the events follows them (docs/rules/retract.md#job).

Every step may be repeated, and is noted when it is done: a message that is delivered again goes on where the last
worker stopped."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from neve.observing import SecondsLeft, for_ever
from neve.ports.errors import ModelRefused, StoreUnavailable
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.usecases.core.lag.memory_lag import leave_if_caught_up
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.core.pack.purge_versions import OBJECTS
from neve.usecases.work.compact.rebuild_packs import rebuild_packs
from neve.usecases.work.compact.summarise import NoTimeToSummarise
from neve.usecases.work.observe.extract_session import refused
from neve.usecases.work.observe.observe_session import OutOfTime
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract.documents.revert_documents import revert_documents
from neve.usecases.work.retract.erase_retracted import erase_retracted
from neve.usecases.work.retract.observe_remainder import observe_remainder
from neve.usecases.work.retract.purge_packs import purge_packs, purge_unmade
from neve.usecases.work.retract.replace_derived import replace_derived
from neve.usecases.work.retract.retracting import (
    COPIES,
    ERASED,
    MEANWHILE,
    PACK,
    ROUND_S,
    SUMMARY,
    JobEnded,
    Retracting,
)
from neve.usecases.work.retract.rewrite_summary import rewrite_summary
from neve.usecases.work.retract.shared_elsewhere import take_back_copies

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
    try:
        _Steps(Retracting.read(scope, body, seconds_left), report).go_on()
    except UserErased:
        return None
    except JobEnded:
        pass
    return report


@dataclass
class _Steps:
    """The steps of one worker; each of them may be repeated."""

    work: Retracting
    report: ObservationReport

    def go_on(self) -> None:
        """Go on with the job. Raises UserErased, JobEnded."""
        work = self.work
        try:
            self._run()
        except ModelRefused as refusal:
            self._wait(refusal)
        except (OutOfTime, NoTimeToSummarise):
            work.note()  # whoever gets on has something to say
            self.report.left_off_at = sha256(rows.json_bytes([work.job.state, work.job.result])).hexdigest()[:16]

    def _wait(self, refusal: ModelRefused) -> None:
        """Let the job wait: what is left of the session's memories is to be made again when the model answers, so the
        job goes on, and stays due. Why it waits is told once, however often it is sent."""
        why = refused(refusal)
        if self.work.job.result.get("reason") != why["reason"]:
            self.report.failure = refusal
        self.work.note(result=why)

    def _run(self) -> None:
        """Run all steps. What must go goes first; no model is needed for it."""
        work, scope = self.work, self.work.scope
        if not work.is_done(COPIES):
            take_back_copies(scope, (work.retraction.span,), work.retraction.reason)
            work.passed.append(COPIES)
        replace_derived(work)
        revert_documents(work)
        if work.retraction.erases and not work.is_done(ERASED):
            erase_retracted(work, purge_packs(work))
        try:
            observe_remainder(work, self.report)
            leave_if_caught_up(scope.data, scope.ports.clock.now())
            self._summary()
        except ModelRefused:
            self._build_packs(MEANWHILE)
            raise
        self._build_packs(PACK)

    def _summary(self) -> None:
        work = self.work
        if work.is_done(SUMMARY):
            return
        fresh = work.retraction.fresh
        rewritten = rewrite_summary(work.scope, work.incarnation, fresh, work.job.id, work.seconds_left)
        if rewritten:
            work.note(SUMMARY, result=rewritten)
        self.report.summary_refused = "summary_reason" in rewritten

    def _build_packs(self, step: str) -> None:
        """Build the packs of this session, and of those whose packs a deletion purged: others keep their bytes until a
        trigger of their own. Behind all that is written, also where a reader has built a pack since the purge. The job
        ends with the last of them."""
        work = self.work
        if work.is_done(step):
            return
        result = dict[str, Any]()
        if work.is_done(ERASED):
            purge_unmade(work)
            result["erased"] = work.job.result["erased"] | {"rebuilt_packs": self._rebuild_purged(step)}
        if (work.job.state.get("flipped") or work.job.result.get("written")) and not self._session_deleted():
            with contextlib.suppress(StoreUnavailable):  # build_pack has noted it; the sweep tries again
                build_pack(work.scope, "reflection")
        if step == PACK:
            result["reason"] = work.retraction.reason
        work.note(step, result=result, ended=step == PACK, unmade=list(OBJECTS))

    def _session_deleted(self) -> bool:
        item = self.work.scope.ports.table.get(self.work.scope.keys.epoch)
        return item is not None and bool(item.get("deleted"))

    def _rebuild_purged(self, step: str) -> list[str]:
        """Rebuild packs in parts, behind each of which there may be no time for another: then the next worker goes on
        there. Gives those that have a pack now. Raises OutOfTime."""
        work = self.work
        tried, rebuilt = work.job.state.get("rebuilt", {}).get(step, [0, []])
        purged = work.listed("purged")
        while tried < len(purged):
            some = purged[tried : tried + PACK_BATCH_SIZE]
            rebuilt = [*rebuilt, *rebuild_packs(work.scope, some, work.job.result.get("written", ()))]
            tried += len(some)
            if tried < len(purged) and work.seconds_left() < ROUND_S:
                work.note(rebuilt={step: [tried, rebuilt]})
                raise OutOfTime
        found: list[str] = rebuilt
        return found
