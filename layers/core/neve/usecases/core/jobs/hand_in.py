"""Has questions of a job answered by the model's provider within a day, at half the price
(docs/rules/reflect.md#handed-in).

What was handed in is no work of its own: the job asks as ever when it looks again, and takes the answer where one is
there. An answer is found by what was asked. So it is none to rows that were edited, replaced, taken back or erased
meanwhile, and nobody has to keep which rows were handed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from neve.domain.records.jobs import Job
from neve.domain.reflect.night_limits import LOOKS_EVERY
from neve.domain.times import iso
from neve.observing import Question
from neve.ports.errors import ModelRefused, NoAnswer, NotYetAnswered
from neve.ports.table import Item, Key, WriteOp
from neve.scope import TenantScope
from neve.store import rows
from neve.store.keys import NOBODY, Keys
from neve.store.transact import transact
from neve.usecases.core.jobs.carry_on import Done, Outcome, Run, Wait
from neve.usecases.core.jobs.queued_jobs import HANDED_IN, handed_in_by
from neve.usecases.core.jobs.read_jobs import find_job
from neve.usecases.core.lag.note_model import noting_the_model


def hand_in(scope: TenantScope, given: Sequence[Question], commit: Callable[[str | None], object]) -> str | None:
    """Hand questions in, and ``commit`` where their answers will be, which may be repeated; None: they cannot be handed
    in, and are to be asked at once. Raises ModelUnavailable, what ``commit`` raises, StoreUnavailable.

    A worker that dies between the two leaves answers at the provider that nobody reads, and that end there by
    themselves."""
    name: str | None = None
    with suppress(ModelRefused), noting_the_model(scope.ports, (ModelRefused,)):
        name = scope.ports.observer.hand_in(given)
    try:
        transact(scope.ports, lambda: commit(name))
    except Exception:
        if name is not None:
            with suppress(NoAnswer, NotYetAnswered):
                scope.ports.observer.withdraw(name)
        raise
    return name


def owner_of_deletions(keys: Keys) -> Key:
    """Name the row that ``put_deletion`` needs."""
    return keys.of_user(NOBODY).head


def put_deletion(scope: TenantScope, found: Mapping[Key, Item], name: str, job_id: str) -> list[WriteOp]:
    """Make the work that deletes what a job has handed in, once it does not wait for it. It names no user: an erasure
    takes the job away, and leaves this."""
    nobody, now = scope.keys.of_user(NOBODY), scope.ports.clock.now()
    owner, state = rows.read_head(found.get(nobody.head)), {"name": name, "asked_by": job_id}
    made = Job(
        f"job_{scope.ports.ids.ulid(now)}", HANDED_IN, "queued", iso(now), state=state, due_at=iso(now + LOOKS_EVERY)
    )
    return [rows.check_head(nobody, owner), rows.put_queued_job(nobody, made, owner.incarnation)]


def withdraw_next(run: Run) -> Outcome:
    """Delete what was handed in, once no job waits for it: it has ended, asks at once by now, or went with its user.
    Raises ModelUnavailable, StoreUnavailable."""
    scope, now, name = run.scope, run.scope.ports.clock.now(), run.work.state["name"]
    asked_by = find_job(scope, run.work.state["asked_by"])
    if asked_by is not None and not asked_by.ended and handed_in_by(asked_by) == name:
        return Wait(run.cursor, now + LOOKS_EVERY)
    try:
        scope.ports.observer.withdraw(name)
    except NotYetAnswered:
        return Wait(run.cursor, now + LOOKS_EVERY)
    except ModelRefused as refusal:
        reason = f"the language model refused to delete it: {refusal}"
        return Done({"reason": reason}, status="failed", cursor={"name": name})
    return Done()
