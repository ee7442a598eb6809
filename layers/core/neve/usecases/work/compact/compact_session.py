"""The worker of a compaction: observe everything first, then move the horizon (docs/rules/compact.md#order), then hand
on to the librarian.

Coverage comes before eviction: if the observer cannot answer, nothing moves."""

from __future__ import annotations

from typing import Any

from neve.observing import SecondsLeft, for_ever
from neve.ports.errors import ModelRefused
from neve.ports.queue import QueueName
from neve.scope import SessionScope
from neve.store.incarnation import UserErased
from neve.usecases.core.jobs.ask_to_file import ask_to_file
from neve.usecases.core.jobs.finish_job import carry_on_job, finish_job
from neve.usecases.core.jobs.messages.compaction import COMPACT
from neve.usecases.core.jobs.messages.filing import filing_job, filing_message
from neve.usecases.core.lag.memory_lag import leave_if_caught_up
from neve.usecases.core.memories.replace_rows import ReplacementBusy
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.work.compact.artifacts import put_away_covered
from neve.usecases.work.compact.move_horizon import HorizonMove
from neve.usecases.work.compact.summarise import NoTimeToSummarise
from neve.usecases.work.observe.extract_session import keep_committed, refused, report_so_far
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.reflect.reflect_session import NoTimeToReflect, fold_session


def compact_session(
    scope: SessionScope,
    body: dict[str, Any],
    seconds_left: SecondsLeft = for_ever,
    report: ObservationReport | None = None,
) -> ObservationReport | None:
    """Handle one message of the compact queue, and give what its passes did, None for a user who was erased. Where the
    report says ``left_off_at``, the message is to be sent again. ``report``: hears of it also where this raises:
    LeaseHeld, which postpones the message, and what a retry may cure. Every step may be repeated: a message that was
    handled before finds its own commit, and finishes what is left."""
    report = report_so_far(scope, body["job_id"], report)
    try:
        observe_session(scope, body["incarnation"], report, closing=True, seconds_left=seconds_left)
        if report.left_off_at is None:
            leave_if_caught_up(scope.data, scope.ports.clock.now())
            folded = _fold(scope, body["incarnation"], report, seconds_left)
            result = folded | _move_horizon(scope, body, seconds_left, rebuild="reflections" in folded)
            report.summary_refused = "summary_reason" in result
            result |= _ask_to_file(scope, body, result)
    except NoTimeToReflect:
        report.left_off_at = f"{report.observed_seq}.reflect"
    except NoTimeToSummarise:
        report.left_off_at = f"{report.observed_seq}.summary"
    except UserErased:
        return None
    except ModelRefused as refusal:
        report.failure = refusal
        finish_job(scope, body["job_id"], COMPACT, "failed", report.result() | refused(refusal))
        return report
    except Exception:
        keep_committed(scope, body["job_id"], COMPACT, report)
        raise
    if report.left_off_at is not None:
        carry_on_job(scope, body["job_id"], COMPACT, report.result())
        return report
    result |= {"reason": body["reason"], "observed_seq": report.observed_seq, **report.left_out()}
    result |= {"written": report.written} if report.written else {}
    if body["reason"] == "end":
        # one job from the end of the session to its documents: the librarian ends it
        carry_on_job(scope, body["job_id"], COMPACT, result)
        message = filing_message(scope.keys, body["incarnation"], body["job_id"], COMPACT)
        scope.ports.queue.send(QueueName.LIBRARIAN, [message])
        return report
    finish_job(scope, body["job_id"], COMPACT, "done", result)
    return report


def _ask_to_file(scope: SessionScope, body: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """Ask the librarian to file, and give what the job's result says of the librarian's, whose row is its message.
    Before this job ends: a worker that repeats it finds the same one. Raises UserErased, StoreUnavailable."""
    if body["reason"] == "end" or "covers" not in result:
        return {}
    filing = filing_job(scope, body["incarnation"], result["horizon_seq"])
    ask_to_file(scope, body["incarnation"], filing)
    return {"librarian_job_id": filing.id}


def _fold(
    scope: SessionScope, incarnation: int, report: ObservationReport, seconds_left: SecondsLeft
) -> dict[str, Any]:
    """Reflect within the session, and give what the job's result says of that: its passes are passes like any other,
    and their pack is about to be built. That there is none for now holds up no horizon: a model that is down gives the
    summary no answer either, and this does."""
    ids: list[str] = []
    try:
        ids = fold_session(scope, incarnation, seconds_left, report)
    except ReplacementBusy:
        report.not_reflected = "rows of the user are being replaced"
    except ModelRefused as refusal:
        report.not_reflected = refused(refusal)["reason"]
    return report.reflection() | ({"reflections": ids} if ids else {})


def _move_horizon(
    scope: SessionScope, body: dict[str, Any], seconds_left: SecondsLeft, *, rebuild: bool
) -> dict[str, Any]:
    """Move the horizon, and give what the job's result says of it. ``rebuild``: the pack, wherever the horizon
    stays."""
    verbosity = body.get("verbosity", scope.policy.summary_verbosity)
    result = HorizonMove(scope, body["incarnation"], body["job_id"], verbosity, seconds_left).run()
    put_away_covered(scope, body["incarnation"])
    if "covers" in result:
        result["pack_version"] = build_pack(scope, "horizon").manifest.pack_version
    elif rebuild:
        result["pack_version"] = build_pack(scope, "reflection").manifest.pack_version
    return result
