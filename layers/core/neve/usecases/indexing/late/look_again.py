"""Note that a user has something that could not be encoded as it came in (docs/rules/indexing.md#token-vectors)."""

from __future__ import annotations

from neve.ports.engines import Ports
from neve.scope import UserData
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.token_vectors import LateProgress, read_late_progress
from neve.store.transact import transact

MISSED = "missed"
"""What asked for it, of a user whom nobody has told yet."""


def look_again(data: UserData[Ports], incarnation: int) -> None:
    """The user counts as not done, and whoever goes on begins at the beginning: what is missing may lie before what was
    looked at. ``incarnation``: of the user that it was said by. Raises 409 ``conflict``, StoreUnavailable."""
    ports, keys = data.ports, data.keys

    def attempt() -> None:
        found = ports.table.get_many([keys.head, keys.late_progress])
        head, known = rows.read_head(found.get(keys.head)), read_late_progress(found.get(keys.late_progress))
        still_there(head, incarnation)
        if known is None:
            ports.table.write([rows.check_head(keys, head), LateProgress(MISSED).put(keys)])
        elif known.done or known.after:
            again = LateProgress(known.round, version=known.version)
            ports.table.write([rows.check_head(keys, head), again.put(keys)])

    try:
        transact(ports, attempt)
    except UserErased:
        return
