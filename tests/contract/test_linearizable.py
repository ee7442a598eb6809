"""A row under an expected version is a register with compare-and-set, also for threads that meet."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from math import inf

import pytest

from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.table import Expect, Key, Put, Table, Version
from tests.simulation.checks.linearizable import UNKNOWN, Model, Operation, linearizable

THREADS, CALLS = 6, 20
KEYS = [Key("P", sk) for sk in "AB"]
State = tuple[int, int] | None
"""Version and value; None: not there."""


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_linearizable(table: Table, seed: int) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        parts = list(pool.map(lambda thread: list(_calls(table, random.Random(seed * 100 + thread))), range(THREADS)))
    history = [operation for part in parts for operation in part]
    for key in KEYS:
        own = [operation for operation in history if operation.asked[1] == key]
        assert len(own) > THREADS
        assert linearizable(own, Model(None, _after))


_values = count(1)


def _calls(table: Table, chance: random.Random) -> Iterator[Operation]:
    """What one thread asks and is told."""
    known: dict[Key, State] = dict.fromkeys(KEYS)
    for _ in range(CALLS):
        key = chance.choice(KEYS)
        began = time.monotonic()
        if chance.random() < 0.4:
            item = table.get(key)
            known[key] = (item["version"], item["n"]) if item else None
            yield Operation(began, time.monotonic(), ("read", key, None, None), known[key])
            continue
        expected, value = known[key], next(_values)
        asked = ("swap", key, expected and expected[0], value)
        try:
            expect = Version(expected[0]) if expected else Expect.ABSENT
            table.write([Put({"pk": key.pk, "sk": key.sk, "type": "thing", "n": value}, expect)])
        except Conflict:
            yield Operation(began, time.monotonic(), asked, False)
        except StoreUnavailable:
            yield Operation(began, inf, asked, UNKNOWN)
        else:
            known[key] = (expected[0] + 1 if expected else 1, value)
            yield Operation(began, time.monotonic(), asked, True)


def _after(state: State, operation: Operation) -> Iterator[State]:
    kind, _, expected, value = operation.asked
    if kind == "read":
        if operation.answer == state:
            yield state
        return
    holds = (state[0] if state else None) == expected
    if operation.answer is UNKNOWN or operation.answer == holds:
        yield ((expected or 0) + 1, value) if holds else state
