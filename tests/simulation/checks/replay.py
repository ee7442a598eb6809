"""Everything that was ever written, as the invariants read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from neve.domain.sessions.transcript import event_text
from neve.ports.table import Item
from neve.store import rows
from neve.store.keys import EVENT, SessionKeys, UserKeys
from tests.simulation.engines.memory_table import MemoryTable, Written

if TYPE_CHECKING:
    from tests.simulation.run import Run


class Replay:
    """All writes of a run that is over, put in order once: by kind of row and by transaction; and the rows that are
    left, by partition in the order of their sort keys."""

    def __init__(self, table: MemoryTable) -> None:
        self.writes = len(table.log)
        self.kinds: dict[str, list[Written]] = {}
        for written in table.log:
            if written.new is not None:
                self.kinds.setdefault(written.new["type"], []).append(written)
        self.transactions = [list(rows) for _, rows in groupby(table.log, key=attrgetter("transaction"))]
        self.partitions: dict[str, dict[str, Item]] = {}
        for key in sorted(table.rows):
            self.partitions.setdefault(key.pk, {})[key.sk] = table.rows[key]


def _replay(run: Run) -> Replay:
    if run.replay is None or run.replay.writes != len(run.cloud.table.log):
        run.replay = Replay(run.cloud.table)
    return run.replay


def of_kind(run: Run, kind: str, key: str = "") -> Iterator[tuple[Item | None, Item]]:
    """The row before and after each write of a kind of row."""
    for written in _replay(run).kinds.get(kind, ()):
        if written.new is not None and written.key.sk.endswith(key):
            yield written.old, written.new


def transactions(run: Run) -> Sequence[Sequence[Written]]:
    return _replay(run).transactions


def rows_of(run: Run, partition: str, prefix: str) -> list[Item]:
    """Now, in the order of their sort keys."""
    return [item for sk, item in _replay(run).partitions.get(partition, {}).items() if sk.startswith(prefix)]


def first_texts(run: Run, keys: SessionKeys) -> dict[int, str]:
    """What each event of the log said when it was appended: a compaction may put something in its place since."""
    return {new["seq"]: text_of_row(new) for old, new in _writes_of_log(run, keys) if old is None}


def every_text(run: Run, keys: SessionKeys) -> dict[int, set[str]]:
    """All that each event of the log has said: what a tool printed is condensed by a compaction, and erased later."""
    texts: dict[int, set[str]] = {}
    for _, new in _writes_of_log(run, keys):
        texts.setdefault(new["seq"], set()).add(text_of_row(new))
    return texts


def _writes_of_log(run: Run, keys: SessionKeys) -> Iterator[tuple[Item | None, Item]]:
    """Of the events that are there now, without those of an earlier life of the user."""
    now = {(item["seq"], item["incarnation"]) for item in log_of(run, keys)}
    for old, new in of_kind(run, "event"):
        if new["pk"] == keys.log and (new["seq"], new["incarnation"]) in now:
            yield old, new


def text_of_row(event: Item) -> str:
    """The text of an event's row."""
    return event_text(rows.read_event(event)) if event.get("blocks") else str(event["content"])


def row(run: Run, keys: UserKeys, place: str) -> Item | None:
    """``place``: the name of a property of the keys."""
    return run.cloud.table.rows.get(getattr(keys, place))


def log_of(run: Run, keys: SessionKeys) -> list[Item]:
    return rows_of(run, keys.log, EVENT)


def removed_of(run: Run, keys: SessionKeys) -> set[int]:
    """Seqs of the archived events whose time was over: their rows are gone, and the session's epoch says so."""
    item = row(run, keys, "epoch")
    epoch = rows.read_epoch(item) if item else None
    if epoch is None or not epoch.removed_to:
        return set()
    there = {item["seq"] for item in log_of(run, keys)}
    return set(range(epoch.covers_from or 1, epoch.removed_to + 1)) - there


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
