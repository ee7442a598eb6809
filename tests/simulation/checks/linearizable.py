"""Whether calls that overlapped can have happened one after the other (Wing and Gong's search, with Lowe's memory of
states that led nowhere)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

S = TypeVar("S", bound=Hashable)
UNKNOWN = object()
"""The answer of a call that got none: it took effect at some time after it began, or never."""


@dataclass(frozen=True)
class Operation:
    """``ended``: infinity for an unknown outcome."""

    began: float
    ended: float
    asked: Any
    answer: Any


@dataclass(frozen=True)
class Model(Generic[S]):
    """``after``: the states that a call with that answer may leave behind, from a state; none when the answer cannot be
    that of the state. For UNKNOWN: the state that it leaves when it takes effect."""

    start: S
    after: Callable[[S, Operation], Iterable[S]]


def linearizable(operations: Sequence[Operation], model: Model[S]) -> bool:
    """Whether an order exists in which every call takes effect between its begin and its end, and every answer is that
    of the state before it."""
    known = [n for n, operation in enumerate(operations) if operation.answer is not UNKNOWN]
    required = sum(1 << n for n in known)
    tried: set[tuple[int, S]] = set()
    stack: list[tuple[int, S]] = [(0, model.start)]
    while stack:
        done, state = stack.pop()
        if done & required == required:
            return True
        if (done, state) in tried:
            continue
        tried.add((done, state))
        first_end = min(one.ended for n, one in enumerate(operations) if not done >> n & 1)
        for n, operation in enumerate(operations):
            if not done >> n & 1 and operation.began <= first_end:
                stack.extend((done | 1 << n, after) for after in model.after(state, operation))
    return False
