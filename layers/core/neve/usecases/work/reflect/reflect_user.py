"""Condense what is old enough of one user, a batch a step (docs/rules/reflect.md#worker).

Each batch is a replacement of its own, whose flip commits how far the night is: what is committed stays so whatever
happens to the worker. No pack is rebuilt: what a frozen pack holds stays in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from neve.domain.records.memories import Memory
from neve.domain.records.users import ReflectDue
from neve.domain.reflect.night_limits import ENDS_WITHIN, needed_s
from neve.domain.reflect.nightly import (
    due_again,
    eligible,
    fitted_rows,
    place_of,
    runs_of,
    target_of,
    whole_rows,
    worth_a_run,
)
from neve.domain.times import parse
from neve.observing import Condensed, CondenseInput, ReflectGroup
from neve.ports.errors import ContentRefused, ModelRefused, NotYetAnswered, UnusableAnswer
from neve.ports.table import Delete, Version, WriteOp
from neve.store import rows
from neve.store.incarnation import still_there
from neve.store.transact import transact
from neve.usecases.core.jobs.carry_on import Done, More, Outcome, Run, Wait
from neve.usecases.core.jobs.queued_jobs import HANDED_IN, WorkerReplaced
from neve.usecases.core.jobs.read_jobs import find_job
from neve.usecases.core.lag.note_model import noting_the_model
from neve.usecases.core.memories.candidates import candidate_rows
from neve.usecases.core.memories.replace_rows import (
    CostBeside,
    Replacement,
    ReplacementBusy,
    SourcesReplaced,
    replace_rows,
)
from neve.usecases.core.privacy.screen_answers import screen_condensed
from neve.usecases.core.tenants.usage import answer_cost, model_usage, usage_put
from neve.usecases.tell.tenants.paid_in_vain import count_in_vain, counting_failures
from neve.usecases.work.reflect.condensed_memory import condensed_memories
from neve.usecases.work.reflect.hand_in import hand_in_batches, wait_for_answers, wants_batch
from neve.usecases.work.reflect.run_parts import COUNTS, part_put, part_row

REASON = "condensed by a nightly reflection"
NOT_WORTH = "too few rows are old enough to be worth a run"
NOTHING = "no row is old enough"
NO_USER = "there is no such user"
LOST = "it did not end within 15 hours; the next night goes on"
WITHOUT_ANSWER = (ContentRefused, UnusableAnswer)
"""The failures by which a batch comes to nothing: asked for unchanged, it would be paid for and come to nothing
again."""
_PARTS = ("said", "tool")


@dataclass(slots=True)
class NightReport:
    """The report of what one worker did. ``counts``: as ``run_parts.COUNTS``; ``no_room``: of each batch whose answer
    had rows that there was no room for as a whole, how many those were, and how many of them were cut; ``nights``: of
    tenants, that are done."""

    failed: bool = False
    nights: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    no_room: list[tuple[int, int]] = field(default_factory=list)

    def add(self, **counts: int) -> None:
        for name, n in counts.items():
            self.counts[name] = self.counts.get(name, 0) + n


def condense_next(report: NightReport, run: Run) -> Outcome | None:
    """Do one step of a user's night: take the user up, or condense the next batch, or end. ``report`` is told of each
    batch when it is committed. Raises ModelUnavailable, StoreUnavailable; then the next worker goes on."""
    scope, asked, now = run.scope, run.work.state, run.scope.ports.clock.now()
    if run.head.version == 0:
        return Done({"reason": NO_USER})
    if parse(run.work.created_at) + ENDS_WITHIN < now:
        return _end(run, None, "failed", reason=LOST)
    if not run.cursor:
        return _take_up(run)
    left = candidate_rows(scope, run.head.gen)
    old = eligible(left, asked["until"])
    if reason := _reason_not_to_ask(run, old):
        return _end(run, left, reason=reason)
    ahead = [memory for memory in old if list(place_of(memory)) > run.cursor[_part_of(memory)]]
    batches = runs_of(ahead, scope.policy.reflection_trigger)
    if not batches:
        return _end(run, left)
    if run.seconds_left() < needed_s(target_of(batches[0])):
        return Wait(run.cursor)
    if wants_batch(run):
        hand_in_batches(run, [_asked(run, batch) for batch in batches])
        return None
    try:
        _Batch(run, report, batches[0]).condense()
    except NotYetAnswered:
        return wait_for_answers(run)
    except ModelRefused as refusal:
        report.failed = True
        return _end(run, left, "failed", reason=f"the language model refused the request: {refusal}")
    except ReplacementBusy:
        return Wait(run.cursor, now)
    return None


def _take_up(run: Run) -> Outcome:
    """Keep other jobs away from the user, and have what comes meanwhile noted: the look at the rows may be over by
    then."""
    scope, keys = run.scope, run.scope.keys
    due = rows.read_reflect_due(scope.ports.table.get(keys.reflect_due)) or ReflectDue(run.work.state["until"])
    other = find_job(scope, due.job) if due.job not in (None, run.work.id) else None
    if other is not None and not other.ended:
        return Wait({}, scope.ports.clock.now())
    taken = rows.put_reflect_due(keys, replace(due, job=run.work.id), scope.ports.ids.token())
    return More({part: ["", ""] for part in _PARTS}, [taken])


def _reason_not_to_ask(run: Run, old: Sequence[Memory]) -> str | None:
    """Return why the model is asked nothing; None where it is to be asked. A run that has begun is brought to its
    end."""
    policy = run.scope.policy
    if run.work.result:
        return None
    if not old:
        return NOTHING
    if run.work.state["regardless"] or worth_a_run(old, policy.reflection_min_rows, policy.reflection_min_tokens):
        return None
    return NOT_WORTH


def _end(run: Run, left: Sequence[Memory] | None, status: Literal["done", "failed"] = "done", **said: Any) -> Done:
    """End the job, count it in its run, and take the user out of the index, or keep them in it from the row on with
    which a run will be worth it. ``left``: the candidates that decide that; None: the user stays due."""
    scope, keys, policy = run.scope, run.scope.keys, run.scope.policy
    part = part_row(keys, run.work.state.get("run"))
    found = scope.ports.table.get_many([keys.reflect_due, *part])
    result = {**dict.fromkeys(COUNTS, 0), **run.work.result, **said}
    now, failed = scope.ports.clock.now(), status == "failed"
    ops: list[WriteOp] = [part_put(key, found.get(key), result, now, failed=failed) for key in part]

    def worth(rows_: Sequence[Memory]) -> bool:
        return worth_a_run(rows_, policy.reflection_min_rows, policy.reflection_min_tokens)

    due = rows.read_reflect_due(found.get(keys.reflect_due))
    if due is not None and due.job == run.work.id:
        since = due.since if left is None else due_again(left, run.work.state["until"], worth)
        times = [at for at in (since, due.again) if at is not None]
        moved = replace(ReflectDue(min(times)), version=due.version) if times else None
        gone = Delete(keys.reflect_due, Version(due.version))
        ops.append(rows.put_reflect_due(keys, moved) if moved else gone)
    return Done(result, ops, status)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Condense one batch, and commit what came of it with how far the night is: nothing is asked twice because another
    writer moved the user's row meanwhile."""

    run: Run
    report: NightReport
    batch: Sequence[Memory]

    def condense(self) -> None:
        """Condense it. Its rows stay, and wait for the next run, where the answer has no row or nothing of it can be
        used, for content that the model would not read, and where a person changed one of the rows meanwhile."""
        scope, n, target = self.run.scope, len(self.batch), target_of(self.batch)
        try:
            answer = self._answer()
        except WITHOUT_ANSWER:
            self._keep(1, {}, kept=n, refused=n)
            return
        by_rules = answer.over_target is not None
        fitted = whole_rows(answer.rows) if by_rules else fitted_rows(answer.rows, target, scope.count)
        if not fitted.rows:
            self._keep(answer.calls, answer.usage, kept=n)
            return
        new = condensed_memories(scope, fitted.rows, answer.model, self.batch)
        left_out = fitted.left_out + answer.left_out
        no_room = {
            "reflection_left_out": left_out,
            "reflection_cut": fitted.cut,
            "reflection_over_target": answer.over_target or 0,
        }
        counts = {"replaced": n, "written": len(new)} | no_room
        beside = CostBeside(lambda: self._committing(answer.calls, answer.usage, **counts))
        incarnation = self.run.head.incarnation
        try:
            replace_rows(scope, incarnation, Replacement(tuple(new), tuple(self.batch), REASON, beside=beside))
        except SourcesReplaced:
            self._keep(answer.calls, answer.usage, kept=n, changed=n)
            return
        except ReplacementBusy:
            if not beside.asked_for:
                count_in_vain(scope, incarnation, answer_cost(answer.calls, answer.usage))
            raise
        self.report.add(**counts)
        if left_out:
            self.report.no_room.append((left_out, fitted.cut))

    def _answer(self) -> Condensed:
        scope, given = self.run.scope, _asked(self.run, self.batch)
        with (
            noting_the_model(scope.ports, WITHOUT_ANSWER),
            counting_failures(scope, self.run.head.incarnation),
        ):
            condensed = scope.ports.observer.condense(given)
        return screen_condensed(scope, condensed)

    def _keep(self, calls: int, usage: Mapping[str, int], **counts: int) -> None:
        scope = self.run.scope

        def attempt() -> None:
            head = rows.read_head(scope.ports.table.get(scope.keys.head))
            still_there(head, self.run.head.incarnation)
            scope.ports.table.write([rows.check_head(scope.keys, head), *self._committing(calls, usage, **counts)])

        transact(scope.ports, attempt)
        self.report.add(**counts)

    def _committing(self, calls: int, usage: Mapping[str, int], **counts: int) -> list[WriteOp]:
        """Return what is committed with a batch: how far the night is, what has been done, what it cost. Raises
        WorkerReplaced."""
        keys, work = self.run.scope.keys, self.run.work
        found = self.run.scope.ports.table.get_many([keys.job(work.id), keys.usage])
        item = found.get(keys.job(work.id))
        if item is None or item["version"] != work.version:
            raise WorkerReplaced(work.id)
        done = work.result | {name: work.result.get(name, 0) + counts.get(name, 0) for name in COUNTS}
        done["batches"] = work.result.get("batches", 0) + 1
        at = {_part_of(self.batch[0]): list(place_of(self.batch[-1]))}
        ops = [self.run.moved(More(self.run.cursor | at, result=done))]
        return ops + ([usage_put(keys, found.get(keys.usage), model_usage(calls, usage))] if usage else [])


def _asked(run: Run, batch: Sequence[Memory]) -> CondenseInput:
    """Make the question about a batch."""
    groups = [ReflectGroup(m.id, m.text, None, None, m.observed_at, day=m.observed_date) for m in batch]
    return CondenseInput(groups, target_of(batch), run.seconds_left, run.cursor.get(HANDED_IN))


def _part_of(memory: Memory) -> str:
    """Return which of the two parts of the batches a memory is in, each in its own order (``runs_of``)."""
    return _PARTS[memory.provenance.trusted == "tool"]
