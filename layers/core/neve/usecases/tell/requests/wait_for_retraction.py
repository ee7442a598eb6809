"""A job that ends with a session's documents does not end while something that they hold is being taken back
(docs/rules/retract.md#librarian)."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.sessions.spans import common
from neve.scope import SessionScope
from neve.store import rows
from neve.store.filings import put_filing, read_filing
from neve.store.incarnation import UserErased, still_there
from neve.store.transact import transact


def wait_for_retraction(scope: SessionScope, incarnation: int, job: tuple[str, str]) -> bool:
    """Let the job, named by id and kind, wait, and say whether it does: the retraction's own sends it when it has moved
    the cursor back. False where that is done. Raises UserErased, StoreUnavailable."""

    def attempt() -> bool:
        keys = scope.keys
        found = scope.ports.table.get_many([keys.head, keys.marker, keys.filing])
        user = rows.read_head(found.get(keys.head))
        still_there(user, incarnation)
        if keys.marker not in found:
            raise UserErased
        filing = read_filing(scope.session, found.get(keys.filing))
        if not filing.holds_any(common(rows.read_marker(found[keys.marker]).retracted, ((1, filing.filed_seq),))):
            return False
        if job not in filing.waiting:
            waits = replace(filing, waiting=(*filing.waiting, job))
            scope.ports.table.write([rows.check_head(keys, user), put_filing(keys, waits)])
        return True

    return transact(scope.ports, attempt)
