"""One memory under If-Match is a register with compare-and-set."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

from tests.simulation.checks.linearizable import UNKNOWN, Model, Operation, linearizable
from tests.simulation.checks.replay import Found
from tests.simulation.clients.history import Did

if TYPE_CHECKING:
    from tests.simulation.run import Run

State = tuple[int, str] | None
"""Rev and text; None: not there."""
NOT_FOUND, OTHER_REV = "memory_not_found", "precondition_failed"


def a_memory_is_linearizable(run: Run) -> Found:
    """Every call about it can have taken effect at one moment between its begin and its end."""
    created = {did.value.id: did for did in run.history.of("create") if did.ok}
    for memory_id, made in created.items():
        if any(keys.user == made.keys.user and keys.tenant == made.keys.tenant for keys in run.erased):
            continue
        operations = [_operation(did) for did in _about(run, memory_id, made)]
        if not linearizable(operations, Model(None, _after)):
            reply = [(one.asked, one.answer) for one in operations]
            yield f"{memory_id}: no order explains {reply}"


def _about(run: Run, memory_id: str, made: Did) -> Iterator[Did]:
    yield made
    for did in run.history.of("get", "update", "delete"):
        about = did.given if did.what == "get" else did.given[0]
        if about == memory_id and (did.keys.tenant, did.keys.user) == (made.keys.tenant, made.keys.user):
            yield did


def _operation(did: Did) -> Operation:
    if did.outcome == "unknown":
        return Operation(did.began_s, inf, (did.what, did.given), UNKNOWN)
    answer: object = did.code
    if did.ok:
        answer = None if did.what == "delete" else (did.value.rev, did.value.text)
    return Operation(did.began_s, did.ended_s, (did.what, did.given), answer)


def _after(state: State, operation: Operation) -> Iterator[State]:
    what, given = operation.asked
    answer = operation.answer
    if what == "create":
        yield (1, given)
    elif what == "get":
        if answer is UNKNOWN or answer == (NOT_FOUND if state is None else state):
            yield state
    elif state is None or state[0] != given[1]:
        if answer in (UNKNOWN, NOT_FOUND if state is None else OTHER_REV):
            yield state
    else:
        after = None if what == "delete" else (state[0] + 1, given[2])
        if answer is UNKNOWN or answer == after:
            yield after


INVARIANTS = (a_memory_is_linearizable,)
