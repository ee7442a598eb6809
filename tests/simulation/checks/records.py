"""One memory under If-Match is a register with compare-and-set, until it evolves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import TYPE_CHECKING, Any

from tests.simulation.checks.linearizable import UNKNOWN, Model, Operation, linearizable
from tests.simulation.checks.replay import Found
from tests.simulation.clients.history import Did

if TYPE_CHECKING:
    from tests.simulation.run import Run

State = tuple[int, str, bool] | None
"""Rev, text, and whether another memory has taken its place; None: not there."""
NOT_FOUND, OTHER_REV, SAME_TEXT = "memory_not_found", "precondition_failed", "validation_failed"
EVOLVED = "evolved"
"""The answer is about the memory that it evolved into."""


def a_memory_is_linearizable(run: Run) -> Found:
    """Every call about it can have taken effect at one moment between its begin and its end. Of the calls that evolve
    it one does, and what it evolved into is another memory; behind that nothing changes it."""
    for memory_id, made in _made(run).items():
        if any(keys.user == made.keys.user and keys.tenant == made.keys.tenant for keys in run.erased):
            continue
        text = made.given if made.what == "create" else made.given[1]
        first = Operation(made.began_s, made.ended_s, ("create", text), (made.value.rev, made.value.text))
        operations = [first, *map(_operation, _about(run, memory_id, made))]
        if not linearizable(operations, Model(None, _after)):
            reply = [(one.asked, one.answer) for one in operations]
            yield f"{memory_id}: no order explains {reply}"


def _made(run: Run) -> dict[str, Did]:
    """By the id of each memory that a caller made, or evolved from such a one: facts are kept once, whoever says them,
    and may be another call's."""
    made: dict[str, Did] = {}
    for did in run.history.of("create", "evolve"):
        if did.ok and (did.what == "create" or did.given[0] in made):
            made[did.value.id] = did
    return made


def _about(run: Run, memory_id: str, made: Did) -> Iterator[Did]:
    for did in run.history.of("get", "update", "delete", "evolve"):
        about = did.given if did.what == "get" else did.given[0]
        if about == memory_id and (did.keys.tenant, did.keys.user) == (made.keys.tenant, made.keys.user):
            yield did
    yield from _forgotten(run, memory_id, made)


def _forgotten(run: Run, memory_id: str, made: Did) -> Iterator[Did]:
    """Deletions by a list that was confirmed: of the memory as it was listed, at any time since, or never."""
    for did in run.history.of("forget"):
        for one, rev in did.given.memories if did.outcome != "refused" else ():
            if one == memory_id and (did.keys.tenant, did.keys.user) == (made.keys.tenant, made.keys.user):
                yield Did(did.who, "delete", did.keys, (memory_id, rev), did.began_s)


def _operation(did: Did) -> Operation:
    if did.outcome == "unknown":
        return Operation(did.began_s, inf, (did.what, did.given), UNKNOWN)
    answer: object = did.code
    if did.ok and did.what == "evolve":
        answer = EVOLVED
    elif did.ok:
        answer = None if did.what == "delete" else (did.value.rev, did.value.text)
    return Operation(did.began_s, did.ended_s, (did.what, did.given), answer)


def _after(state: State, operation: Operation) -> Iterator[State]:
    what, given = operation.asked
    expected, after = _create(given) if what == "create" else _CALLS[what](state, given)
    if operation.answer is UNKNOWN or operation.answer == expected:
        yield after


# --- what each call is answered, and what it leaves; a conflict, which may have several reasons, is UNKNOWN ---------


def _create(text: str) -> tuple[Any, State]:
    return (1, text), (1, text, False)


def _get(state: State, _: Any) -> tuple[Any, State]:
    return (NOT_FOUND if state is None else state[:2]), state


def _update(state: State, given: Any) -> tuple[Any, State]:
    if state is None or state[0] != given[1]:
        return (NOT_FOUND if state is None else OTHER_REV), state
    rev, _, replaced = state
    if replaced:
        return UNKNOWN, state
    return (rev + 1, given[2]), (rev + 1, given[2], False)


def _delete(state: State, given: Any) -> tuple[Any, State]:
    if state is None or state[0] != given[1]:
        return (NOT_FOUND if state is None else OTHER_REV), state
    return None, None


def _evolve(state: State, given: Any) -> tuple[Any, State]:
    if state is None:
        return NOT_FOUND, state
    rev, text, replaced = state
    if replaced:
        return UNKNOWN, state
    return (SAME_TEXT, state) if text == given[1] else (EVOLVED, (rev + 1, text, True))


_CALLS: dict[str, Callable[[State, Any], tuple[Any, State]]] = {
    "get": _get,
    "update": _update,
    "delete": _delete,
    "evolve": _evolve,
}


INVARIANTS = (a_memory_is_linearizable,)
