"""Take out of an index that is being filled what leaves a session's log meanwhile: taken back, or removed because its
time is over. The worker that does that tells the index in use only (docs/rules/indexing.md#reindex)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from neve.domain.ids import event_id
from neve.ports.engines import IndexingPorts
from neve.ports.table import Table
from neve.scope import SessionData
from neve.store import rows
from neve.store.keys import RETRACTION, UserKeys
from neve.store.partitions import all_rows
from neve.store.session_state import state_rows


@dataclass(frozen=True, slots=True)
class Left:
    """The losses of one session's log. ``removed_to``: events up to here may be gone for good. ``retractions``: their
    ids, and whether the index in use is rid of each. ``beyond``: a rev that no passage of the session's events has."""

    removed_to: int = 0
    retractions: tuple[tuple[str, bool], ...] = ()
    beyond: int = field(default=2, compare=False)

    def more_than(self, before: Left) -> bool:
        """Say whether an index that was filled when ``before`` was read may hold what it must not. Which index hears of
        a retraction that is still being handled is not known."""
        return self != before or not all(done for _, done in self.retractions)


NOTHING = Left()


def what_left(table: Table, owner: UserKeys) -> Iterator[tuple[str, Left]]:
    """Yield what has left each session's log, for sessions with any. Raises StoreUnavailable."""
    for item in state_rows(table, owner, "epoch"):
        epoch = rows.read_epoch(item)
        if epoch.retracted or epoch.removed_to:
            log = owner.of_session(epoch.session_id).log
            found = map(rows.read_retraction, all_rows(table, log, prefix=RETRACTION) if epoch.retracted else ())
            retractions = tuple((one.id, one.forgotten) for one in found)
            # A retraction that is handled behind a later one raises revs above the epoch of that.
            yield epoch.session_id, Left(epoch.removed_to, retractions, epoch.epoch + len(retractions) + 2)


def take_out(data: SessionData[IndexingPorts], filled: int, left: Left) -> None:
    """Take out of an index that was filled up to the seq ``filled`` what has left the log. The words of what is left
    carry some of it until they are written again. Raises StoreUnavailable."""
    keys = data.keys
    log = all_rows(data.ports.table, keys.log, between=keys.events(1, filled))
    there = {item["seq"]: (item.get("rev", 1), bool(item.get("taken_back"))) for item in log}
    for seq in range(1, filled + 1):
        rev, taken_back = there.get(seq, (1, True))
        if taken_back:
            version = max(left.beyond, rev + 1)
            data.ports.search.trim(keys.owner, event_id(keys.session, seq), keep=0, version=version)
