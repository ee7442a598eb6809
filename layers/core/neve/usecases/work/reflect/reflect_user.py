"""The worker behind the reflect queue: condense what is old enough of one user, batch by batch
(docs/rules/reflect.md#worker).

Each batch is a replacement of its own: what is committed stays so whatever happens to the worker, and the worker that
goes on finds the rest. No pack is rebuilt: what a frozen pack holds stays in it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from neve.domain.records.memories import Memory
from neve.domain.reflect.night_limits import needed_s
from neve.domain.reflect.nightly import eligible, fitted_rows, place_of, runs_of, target_of, whole_rows, worth_a_run
from neve.observing import CondenseInput, ReflectGroup, SecondsLeft, for_ever
from neve.ports.errors import ContentRefused, ModelRefused, UnusableAnswer
from neve.scope import UserScope
from neve.store.incarnation import UserErased
from neve.usecases.core.jobs.messages.reflection import ReflectionRequest
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
from neve.usecases.core.tenants.usage import answer_cost
from neve.usecases.tell.tenants.paid_in_vain import count_in_vain, counting_failures
from neve.usecases.work.reflect.condensed_memory import condensed_memories
from neve.usecases.work.reflect.night_job import Answered, NightJob, take_up

REASON = "condensed by a nightly reflection"
NOT_WORTH = "too few rows are old enough to be worth a run"
NOTHING = "no row is old enough"
WITHOUT_ANSWER = (ContentRefused, UnusableAnswer)
"""The failures by which a batch comes to nothing: asked for unchanged, it would be paid for and come to nothing
again."""
_PARTS = ("said", "tool")


@dataclass(slots=True)
class UserReport:
    """The report of what one worker did for a user, also of one that did not come to the end. ``counts``: as
    ``run_parts.COUNTS``; ``no_room``: of each batch whose answer had rows that there was no room for as a whole, how
    many those were, and how many of them were cut."""

    failed: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    no_room: list[tuple[int, int]] = field(default_factory=list)

    def add(self, **counts: int) -> None:
        for name, n in counts.items():
            self.counts[name] = self.counts.get(name, 0) + n


def reflect_user(
    scope: UserScope, asked: ReflectionRequest, report: UserReport, seconds_left: SecondsLeft = for_ever
) -> bool:
    """Condense the rows of a user; False while another worker has to go on. ``report`` is told of each batch when it is
    committed, whatever comes behind it. Replaying a message, and one of a user who is gone, is a no-op.

    Raises UserBusy and ReplacementBusy, which postpone the message; ModelUnavailable, WorkerReplaced and
    StoreUnavailable, after which it is delivered again."""
    job = take_up(scope, asked)
    if job is None:
        return True
    try:
        return _Night(job, report, seconds_left).work()
    except UserErased:
        return reflect_user(scope, asked, report, seconds_left)  # a run counts those who are gone, too
    except Exception:
        with contextlib.suppress(Exception):
            job.hand_on()
        raise


@dataclass
class _Night:
    job: NightJob
    report: UserReport
    seconds_left: SecondsLeft

    def work(self) -> bool:
        scope, asked = self.job.scope, self.job.asked
        left = {memory.id: memory for memory in candidate_rows(scope, self.job.gen)}
        old = eligible(left.values(), asked.until)
        if reason := self._reason_not_to_ask(old):
            self.job.end(list(left.values()), reason=reason)
            return True
        for batch in runs_of(self._rows_ahead(old), scope.policy.reflection_trigger):
            if self.seconds_left() < needed_s(target_of(batch)):
                self.job.hand_on()
                return False
            try:
                replaced = self._condense(batch)
            except ModelRefused as refusal:
                self.job.end(list(left.values()), "failed", reason=f"the language model refused the request: {refusal}")
                self.report.failed = True
                return True
            for memory_id in replaced:
                del left[memory_id]
        self.job.end(list(left.values()))
        return True

    def _reason_not_to_ask(self, old: Sequence[Memory]) -> str | None:
        """Return why the model is asked nothing; None where it is to be asked. A run that has begun is brought to its
        end."""
        policy = self.job.scope.policy
        if self.job.begun:
            return None
        if not old:
            return NOTHING
        if self.job.asked.regardless or worth_a_run(old, policy.reflection_min_rows, policy.reflection_min_tokens):
            return None
        return NOT_WORTH

    def _rows_ahead(self, old: Sequence[Memory]) -> list[Memory]:
        """Return the rows that no earlier worker of the job has asked about."""
        cursors = self.job.cursors
        return [memory for memory in old if place_of(memory) > cursors.get(_part_of(memory), ("", ""))]

    def _condense(self, batch: Sequence[Memory]) -> list[str]:
        """Condense a batch, and return the ids of the rows that were replaced: none for an answer without a row or of
        which nothing can be used, for content that the model would not read, and where a person changed one of the rows
        meanwhile; then all of them wait for the next run."""
        scope = self.job.scope
        groups = [ReflectGroup(m.id, m.text, None, None, m.observed_at, day=m.observed_date) for m in batch]
        part, at, n, target = _part_of(batch[0]), place_of(batch[-1]), len(batch), target_of(batch)
        self.report.add(batches=1)
        try:
            given = CondenseInput(groups, target, self.seconds_left)
            with noting_the_model(scope.ports, WITHOUT_ANSWER), counting_failures(scope, self.job.incarnation):
                condensed = scope.ports.observer.condense(given)
            answer = screen_condensed(scope, condensed)
        except WITHOUT_ANSWER:
            self._keep_rows(part, at, Answered(1), kept=n, refused=n)
            return []
        answered = Answered(answer.calls, answer.usage)
        by_rules = answer.over_target is not None
        fitted = whole_rows(answer.rows) if by_rules else fitted_rows(answer.rows, target, scope.count)
        if not fitted.rows:
            self._keep_rows(part, at, answered, kept=n)
            return []
        new = condensed_memories(scope, fitted.rows, answer.model, batch)
        left_out = fitted.left_out + answer.left_out
        no_room = {
            "reflection_left_out": left_out,
            "reflection_cut": fitted.cut,
            "reflection_over_target": answer.over_target or 0,
        }
        moved_on = partial(self.job.moved_on, part, at, answered, replaced=n, written=len(new), **no_room)
        beside = CostBeside(moved_on)
        try:
            replace_rows(scope, self.job.incarnation, Replacement(tuple(new), tuple(batch), REASON, beside=beside))
        except SourcesReplaced:
            self._keep_rows(part, at, answered, kept=n, changed=n)
            return []
        except ReplacementBusy:
            if not beside.asked_for:
                count_in_vain(scope, self.job.incarnation, answer_cost(answer.calls, answer.usage))
            raise
        self.report.add(replaced=n, written=len(new), **no_room)
        if left_out:
            self.report.no_room.append((left_out, fitted.cut))
        return [memory.id for memory in batch]

    def _keep_rows(self, part: str, at: tuple[str, str], answered: Answered, **counts: int) -> None:
        self.job.note(part, at, answered, **counts)
        self.report.add(**counts)


def _part_of(memory: Memory) -> str:
    """Return which of the two parts of the batches a memory is in, each in its own order (``runs_of``)."""
    return _PARTS[memory.provenance.trusted == "tool"]
