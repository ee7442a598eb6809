"""Everything that was ever written, as the invariants read it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from neve.ports import Item
from neve.store.keys import EVENT, SessionKeys, UserKeys
from tests.simulation.engines.memory_table import Written

if TYPE_CHECKING:
    from tests.simulation.run import Run


def of_kind(run: Run, kind: str, key: str = "") -> Iterator[tuple[Item | None, Item]]:
    """The row before and after each write of a kind of row."""
    for written in run.cloud.table.log:
        if written.new is not None and written.new["type"] == kind and written.key.sk.endswith(key):
            yield written.old, written.new


def transactions(run: Run) -> Iterator[list[Written]]:
    for _, rows in groupby(run.cloud.table.log, key=lambda written: written.transaction):
        yield list(rows)


def rows_of(run: Run, partition: str, prefix: str) -> list[Item]:
    """Now, in the order of their sort keys."""
    found = [item for key, item in run.cloud.table.rows.items() if key.pk == partition and key.sk.startswith(prefix)]
    return sorted(found, key=lambda item: str(item["sk"]))


def row(run: Run, keys: UserKeys, place: str) -> Item | None:
    """``place``: the name of a property of the keys."""
    return run.cloud.table.rows.get(getattr(keys, place))


def log_of(run: Run, keys: SessionKeys) -> list[Item]:
    return rows_of(run, keys.log, EVENT)


def owner_of(partition: str) -> UserKeys | None:
    """Whose partition it is; None for one that is no user's."""
    parts = partition.split("#")
    return UserKeys(parts[1], parts[3]) if len(parts) > 3 and parts[0] == "T" and parts[2] == "U" else None


def before_erasure(run: Run, keys: UserKeys, at_s: float) -> bool:
    """Whether what happened then may be gone by now."""
    erased = run.erased.get(UserKeys(keys.tenant, keys.user))
    return erased is not None and at_s <= erased[1]


Found = Iterator[str]
"""What is wrong; nothing when the invariant holds."""
