"""Hands in the batches of a user's night, and waits for their answers (docs/rules/reflect.md#handed-in)."""

from __future__ import annotations

from collections.abc import Sequence

from neve.domain.reflect.night_limits import ANSWERED_WITHIN, LOOKS_EVERY, MAX_HANDED_IN
from neve.domain.times import parse
from neve.observing import CondenseInput
from neve.ports.table import WriteOp
from neve.store import rows
from neve.store.incarnation import still_there
from neve.usecases.core.jobs.carry_on import More, Outcome, Run, Wait
from neve.usecases.core.jobs.hand_in import hand_in, owner_of_deletions, put_deletion
from neve.usecases.core.jobs.queued_jobs import HANDED_IN, WorkerReplaced


def wants_batch(run: Run) -> bool:
    """Say whether the night is to hand its batches in: the policy says so, no caller waits for it, and it has not."""
    asked = run.scope.policy.nightly_model == "batch" and not run.work.state["regardless"]
    return asked and HANDED_IN not in run.cursor


def hand_in_batches(run: Run, given: Sequence[CondenseInput]) -> None:
    """Hand batches in, and commit where their answers will be, with the work that deletes them there. Where that cannot
    be done, the night asks at once, and its result says so. Raises ModelUnavailable, WorkerReplaced, UserErased,
    StoreUnavailable."""
    hand_in(run.scope, given[:MAX_HANDED_IN], lambda name: _commit(run, name))


def _commit(run: Run, name: str | None) -> None:
    """Commit by itself, as an answer is: a note on the user's row is no reason to hand in again."""
    scope, keys, work = run.scope, run.scope.keys, run.work
    found = scope.ports.table.get_many([keys.head, owner_of_deletions(keys), keys.job(work.id)])
    head, item = rows.read_head(found.get(keys.head)), found.get(keys.job(work.id))
    still_there(head, run.head.incarnation)
    if item is None or item["version"] != work.version:
        raise WorkerReplaced(work.id)
    result = work.result | {"nightly_model": "direct" if name is None else "batch"}
    ops: list[WriteOp] = [rows.check_head(keys, head), run.moved(More(run.cursor | {HANDED_IN: name}, result=result))]
    scope.ports.table.write(ops + (put_deletion(scope, found, name, work.id) if name is not None else []))


def wait_for_answers(run: Run) -> Outcome:
    """Look again later, or ask at once from now on."""
    now = run.scope.ports.clock.now()
    if parse(run.work.created_at) + ANSWERED_WITHIN < now:
        return More(run.cursor | {HANDED_IN: None})
    return Wait(run.cursor, now + LOOKS_EVERY)
