"""Every Table against a dict: any sequence of transactions, judged by what reads and queries then find."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from neve.ports.errors import Conflict
from neve.ports.table import (
    Check,
    Delete,
    Expect,
    Expectation,
    Index,
    Item,
    Key,
    Put,
    Table,
    Version,
    WriteOp,
    key_written,
)

PARTITIONS = ("one", "two")
SORT_KEYS = st.text(alphabet="ab#é\uffff😀", min_size=1, max_size=3)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers(-(10**20), 10**20) | st.text("$ax", max_size=3) | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("$ax", min_size=1, max_size=3), inner),
    max_leaves=5,
)
EXPECTATIONS = st.sampled_from([Expect.ABSENT, Expect.ANY]) | st.integers(0, 3).map(Version)
CHECKS = st.just(Expect.ABSENT) | st.integers(0, 3).map(Version)
Bounds = dict[str, Any]
"""``prefix`` or ``between``, as ``Table.query`` takes them."""
BOUNDS: st.SearchStrategy[Bounds] = st.fixed_dictionaries({"prefix": SORT_KEYS}) | st.fixed_dictionaries(
    {"between": st.tuples(SORT_KEYS, SORT_KEYS)}
)
KEYS = st.tuples(st.sampled_from(PARTITIONS), SORT_KEYS)
KINDS = st.sampled_from(["put", "put", "put", "delete", "check"])

_examples = count()


class TableModel(RuleBasedStateMachine):
    """Each example works in partitions of its own, so that one table serves all of them."""

    _table: Table

    def __init__(self) -> None:
        super().__init__()
        self._suffix = f"-{next(_examples)}"
        self._rows: dict[Key, Item] = {}

    @rule(
        drawn=st.lists(
            st.tuples(KINDS, KEYS, EXPECTATIONS, CHECKS, VALUES, st.none() | SORT_KEYS),
            min_size=1,
            max_size=4,
            unique_by=lambda given: given[1],
        )
    )
    def write(self, drawn: Sequence[tuple[str, tuple[str, str], Expectation, Expectation, Any, str | None]]) -> None:
        ops = [self._op(kind, Key(pk + self._suffix, sk), *rest) for kind, (pk, sk), *rest in drawn]
        keys = list(map(key_written, ops))
        failed = tuple(at for at, op in enumerate(ops) if not self._holds(keys[at], op.expect))
        try:
            self._table.write(ops)
        except Conflict as conflict:
            assert conflict.failed == failed
            assert failed
            return
        assert not failed
        for key, op in zip(keys, ops, strict=True):
            if isinstance(op, Put):
                self._rows[key] = {**op.item, "version": self._version_after(op.expect)}
            elif isinstance(op, Delete):
                self._rows.pop(key, None)

    @rule(
        pk=st.sampled_from(PARTITIONS),
        bounds=BOUNDS,
        reverse=st.booleans(),
        limit=st.integers(1, 5),
        index=st.sampled_from([Index.MAIN, Index.RECENT]),
    )
    def query(self, pk: str, bounds: Bounds, reverse: bool, limit: int, index: Index) -> None:
        partition_name, sort_name = ("pk", "sk") if index is Index.MAIN else ("recent_pk", "recent_sk")
        partition = pk + self._suffix

        expected = [
            item
            for item in self._rows.values()
            if item.get(partition_name) == partition and sort_name in item and _within(bounds, item[sort_name])
        ]
        page = self._table.query(partition, index=index, reverse=reverse, limit=limit, **bounds)
        found = page.items
        while page.cursor is not None:
            assert len(page.items) == limit
            page = self._table.query(partition, index=index, reverse=reverse, limit=limit, cursor=page.cursor, **bounds)
            found = [*found, *page.items]
        sorts = [item[sort_name].encode() for item in found]
        assert sorts == sorted(sorts, reverse=reverse)
        assert {(item["pk"], item["sk"]): item for item in found} == {(i["pk"], i["sk"]): i for i in expected}
        assert len(found) == len(expected)

    @invariant()
    def every_row_is_found(self) -> None:
        missing = Key(f"none{self._suffix}", "a")
        assert self._table.get_many([*self._rows, missing]) == self._rows
        for key in list(self._rows)[:2]:
            assert self._table.get(key) == self._rows[key]

    def _op(
        self, kind: str, key: Key, expect: Expectation, check: Expectation, value: Any, recent: str | None
    ) -> WriteOp:
        if kind == "delete":
            return Delete(key, expect)
        if kind == "check":
            return Check(key, check)
        keys = {} if recent is None else {"recent_pk": key.pk, "recent_sk": recent}
        return Put({"pk": key.pk, "sk": key.sk, "type": "thing", "value": value, **keys}, expect)

    def _holds(self, key: Key, expect: Expectation) -> bool:
        stored = self._rows.get(key)
        if isinstance(expect, Version):
            return stored is not None and stored["version"] == expect.n
        return expect is Expect.ANY or stored is None

    def _version_after(self, expect: Expectation) -> int:
        if isinstance(expect, Version):
            return expect.n + 1
        return 1 if expect is Expect.ABSENT else 0


def _within(bounds: Bounds, sort: str) -> bool:
    if "prefix" in bounds:
        return sort.startswith(bounds["prefix"])
    low, high = bounds["between"]
    return bool(low.encode() <= sort.encode() <= high.encode())


EXAMPLES = {"dynamodb-local": 6, "moto": 6}
"""Of the servers, each of whose steps takes some milliseconds of this machine."""


def test_a_table_is_a_dict_with_transactions(table: Table, table_engine: str) -> None:
    class Machine(TableModel):
        _table = table

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=EXAMPLES.get(table_engine, 40),
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
