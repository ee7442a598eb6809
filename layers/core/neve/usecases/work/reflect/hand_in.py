"""Has the batches of a user's night answered by the model's provider within a day, at half the price
(docs/rules/reflect.md#handed-in).

What was handed in is no work of its own: the night's next steps condense as ever, and take the answer to a batch where
one is there. An answer is found by what was asked. So it is none to rows that were edited, replaced, taken back or
erased meanwhile, and nobody has to keep which rows were handed in."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from neve.domain.records.jobs import Job
from neve.domain.reflect.night_limits import ANSWERED_WITHIN, LOOKS_EVERY, MAX_HANDED_IN
from neve.domain.times import iso, parse
from neve.observing import CondenseInput
from neve.ports.errors import ModelRefused, NoAnswer, NotYetAnswered
from neve.ports.table import WriteOp
from neve.store import rows
from neve.store.incarnation import still_there
from neve.store.keys import NOBODY
from neve.store.transact import transact
from neve.usecases.core.jobs.carry_on import Done, More, Outcome, Run, Wait
from neve.usecases.core.jobs.queued_jobs import HANDED_IN, WorkerReplaced
from neve.usecases.core.jobs.read_jobs import find_job
from neve.usecases.core.lag.note_model import noting_the_model


def wants_batch(run: Run) -> bool:
    """Say whether the night is to hand its batches in: the policy says so, no caller waits for it, and it has not."""
    asked = run.scope.policy.nightly_model == "batch" and not run.work.state["regardless"]
    return asked and HANDED_IN not in run.cursor


def hand_in(run: Run, given: Sequence[CondenseInput]) -> None:
    """Hand batches in, and commit where their answers will be, with the work that deletes them there. Where that cannot
    be done, the night asks at once, and its result says so. Raises ModelUnavailable, WorkerReplaced, UserErased,
    StoreUnavailable.

    A worker that dies between the two leaves answers at the provider that nobody reads, and that end there by
    themselves."""
    scope, name = run.scope, None
    with suppress(ModelRefused), noting_the_model(scope.ports, (ModelRefused,)):
        name = scope.ports.observer.hand_in(given[:MAX_HANDED_IN])
    try:
        transact(scope.ports, lambda: _commit(run, name))
    except Exception:
        if name is not None:
            with suppress(NoAnswer, NotYetAnswered):
                scope.ports.observer.withdraw(name)
        raise


def _commit(run: Run, name: str | None) -> None:
    """Commit by itself, as an answer is: a note on the user's row is no reason to hand in again."""
    scope, keys, work = run.scope, run.scope.keys, run.work
    nobody = scope.keys.of_user(NOBODY)
    found = scope.ports.table.get_many([keys.head, nobody.head, keys.job(work.id)])
    head, item = rows.read_head(found.get(keys.head)), found.get(keys.job(work.id))
    still_there(head, run.head.incarnation)
    if item is None or item["version"] != work.version:
        raise WorkerReplaced(work.id)
    result = work.result | {"nightly_model": "direct" if name is None else "batch"}
    ops: list[WriteOp] = [rows.check_head(keys, head), run.moved(More(run.cursor | {HANDED_IN: name}, result=result))]
    if name is not None:
        now, owner = scope.ports.clock.now(), rows.read_head(found.get(nobody.head))
        state = {"name": name, "night": work.id}
        due_at, job_id = iso(now + LOOKS_EVERY), f"job_{scope.ports.ids.ulid(now)}"
        job = Job(job_id, HANDED_IN, "queued", iso(now), state=state, due_at=due_at)
        ops += [rows.check_head(nobody, owner), rows.put_queued_job(nobody, job, owner.incarnation)]
    scope.ports.table.write(ops)


def wait_for_answers(run: Run) -> Outcome:
    """Look again later, or ask at once from now on."""
    now = run.scope.ports.clock.now()
    if parse(run.work.created_at) + ANSWERED_WITHIN < now:
        return More(run.cursor | {HANDED_IN: None})
    return Wait(run.cursor, now + LOOKS_EVERY)


def withdraw_next(run: Run) -> Outcome:
    """Delete what was handed in, once no night waits for it: it has ended, asks at once by now, or went with its user.
    Raises ModelUnavailable, StoreUnavailable."""
    scope, now, name = run.scope, run.scope.ports.clock.now(), run.work.state["name"]
    night = find_job(scope, run.work.state["night"])
    if night is not None and not night.ended and night.state.get("cursor", {}).get(HANDED_IN) == name:
        return Wait(run.cursor, now + LOOKS_EVERY)
    try:
        scope.ports.observer.withdraw(name)
    except NotYetAnswered:
        return Wait(run.cursor, now + LOOKS_EVERY)
    except ModelRefused as refusal:
        reason = f"the language model refused to delete it: {refusal}"
        return Done({"reason": reason}, status="failed", cursor={"name": name})
    return Done()
