"""Keep where a compile cut the history and what its prefix was (docs/rules/compile.md#cut), and of its prompt one
plain row (docs/rules/compile.md#rounds), by which the next prompts of its turn show what it showed, and a report of its
usage finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from neve.domain.compact.headings import FourHeadings
from neve.domain.compact.render import render_summary
from neve.domain.compile.plan import PromptPlan
from neve.domain.records.epochs import HistoryCut, SessionEpoch, Summary, Verbosity
from neve.domain.records.prompts import PromptRecord, ShownHit, TurnStart, line_sha
from neve.domain.times import iso
from neve.domain.tokens import estimate
from neve.ports.runtime import Task
from neve.ports.table import Check, Version, WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.sessions.prompts import put_prompt
from neve.usecases.ask.compile.reads import Log, Material
from neve.usecases.ask.recall.answer import Hit, hit_line
from neve.usecases.core.jobs.messages.compaction import compaction_job


def keep_epoch(scope: SessionScope, material: Material, plan: PromptPlan, prefix: str) -> SessionEpoch | None:
    """Store the session's epoch where it has changed, in one transaction; return it, None when nothing is to be kept. A
    cut asks for a compaction: the job's row is its message. A history that shows fewer images begins a new epoch, too,
    with what was cut before; which they are is kept. A cut for one long message is not kept.

    Raises Conflict when another writer moved the epoch, and StoreUnavailable."""
    session_state, log, images = material.session_state, material.log, material.images
    if session_state is None or log is None or session_state.head.state != "active":
        return None
    now = scope.ports.clock.now()
    moved = replace(
        session_state.epoch,
        prefix=prefix,
        images_left_out=images.left_out,
        images_unusable=images.unusable,
        shown_pending=plan.shown_pending,
    )
    ops: list[WriteOp] = [rows.check_head(scope.keys, session_state.head)]
    new_cut, summary = plan.kept_cut, log.summary if plan.for_message else plan.summary
    if new_cut is not None or images.changes_history:
        number, cut = moved.epoch + 1, new_cut or (moved.cut if session_state.is_cut else None)
        moved = replace(moved, epoch=number, cut=replace(cut, epoch=number) if cut else None)
        ops += _texts_of_the_cut(scope, moved, log, summary, iso(now))
    if new_cut is not None:
        job = compaction_job(scope, "tokens", None)
        ops.append(rows.put_queued_job(scope.keys, job, session_state.head.incarnation))
    elif not images.changes_history and log.stands_in and session_state.hidden is not None and summary is not None:
        made = _summary(moved, session_state.hidden, summary, scope.policy.summary_verbosity, iso(now))
        ops.append(rows.put_summary(scope.keys, made))
    if moved != session_state.epoch:
        scope.ports.table.write([*ops, rows.put_epoch(scope.keys, moved, now)])
        return replace(moved, version=moved.version + 1)
    if len(ops) == 1:
        return None
    # nothing is kept for an epoch that is over: a deletion has looked for what there was
    scope.ports.table.write([*ops, Check(scope.keys.epoch, Version(moved.version))])
    return moved


def _texts_of_the_cut(
    scope: SessionScope, moved: SessionEpoch, log: Log, summary: FourHeadings | None, now: str
) -> list[WriteOp]:
    """Return the writes of what the prompts of the new epoch show in place of the hidden events, and the summary of the
    last compaction, which the next one goes on from."""
    ops: list[WriteOp] = []
    if summary is not None and moved.cut is not None:
        made = _summary(moved, moved.cut, summary, scope.policy.summary_verbosity, now)
        ops.append(rows.put_stand_in(scope.keys, made))
    if log.compacted is not None:
        ops.append(rows.put_summary(scope.keys, replace(log.compacted, epoch=moved.epoch, version=0)))
    return ops


def _summary(epoch: SessionEpoch, hidden: HistoryCut, summary: FourHeadings, verbosity: Verbosity, now: str) -> Summary:
    return Summary(
        session_id=epoch.session_id,
        epoch=epoch.epoch,
        covers_from=hidden.seq_from,
        covers_to=hidden.seq_to,
        verbosity=verbosity,
        by="extract",
        tokens=estimate(render_summary(summary)),
        created_at=now,
        decisions=summary.decisions,
        action_items=summary.action_items,
        insights=summary.insights,
        preferences=summary.preferences,
    )


def shown_hits(plan: PromptPlan, hits: Sequence[Hit], timezone: str) -> tuple[ShownHit, ...]:
    shown = set(plan.shown_hits)
    return tuple(
        ShownHit(
            hit.id,
            hit.rev,
            hit.n,
            line_sha(hit_line(hit, timezone)),
            hit.said_again,
            hit.reply_to.id if hit.reply_to else None,
        )
        for hit in hits
        if hit.id in shown
    )


def told_updates(plan: PromptPlan) -> tuple[tuple[str, str], ...]:
    return tuple((identifier, line_sha(line)) for identifier, line in plan.told)


def start_recording(
    scope: SessionScope, material: Material, start: TurnStart, prefix: Mapping[str, str]
) -> tuple[str, Task[None]] | None:
    """Start to write the prompt's row; return its id and the write. None where there can be no row: the session's rows
    could not be read, or the user is being erased."""
    session_state, pack = material.session_state, material.pack
    if session_state is None or session_state.head.state != "active":
        return None
    now = scope.ports.clock.now()
    prompt = PromptRecord(
        id=scope.keys.prompt_id(session_state.session.last_seq, scope.ports.ids.ulid(now)),
        at=iso(now),
        session_id=scope.session,
        pack_version=pack.manifest.pack_version if pack and pack.manifest else 0,
        start=start,
        prefix=dict(prefix),
    )
    put = put_prompt(scope.keys, prompt, session_state.head.incarnation)
    return prompt.id, scope.ports.tasks.start_write(lambda: scope.ports.table.write([put]))
