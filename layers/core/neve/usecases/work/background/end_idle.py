"""Ends the sessions that no caller ends (docs/rules/librarian.md#idle): closed after half an hour without an event,
extracted after an hour. They are found by a sparse index, and the session's own row decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice

from neve.domain.jobs.time_share import TimeShare
from neve.domain.records.sessions import SessionHead
from neve.domain.sessions.idle import ORPHAN_AFTER, due_of, looked_at_next
from neve.ports.engines import Ports
from neve.ports.errors import Conflict
from neve.ports.table import Check, Delete, Expect, Item, Key, Version, WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.filings import put_open_session
from neve.store.keys import UserKeys
from neve.store.partitions import due_rows
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.requests.end_session import end_session_as_read, has_failed_to_end

MAX_SESSIONS = 500
"""Sessions that one sweep looks at; the others stay due (*chosen*: four calls of 10 ms each are 20 s)."""
NOTHING = ""


Failed = Callable[[str, Exception], None]
"""Hears of what failed: the kind of work, and why."""


def ignore_failure(_kind: str, _error: Exception) -> None:
    """Ignore a failure, for a caller that asks for the counts alone."""


def end_idle(ports: Ports, share: TimeShare, on_failure: Failed = ignore_failure) -> dict[str, int]:
    """End idle sessions, and give counts: sessions ``closed`` and ``orphans`` ended; ``idle_failed``: what the next
    sweep tries again, of which ``on_failure`` hears why, and sessions whose end a model refused, which are ended once
    more; ``idle_left``: 1 when more were due than it looked at. Raises StoreUnavailable."""
    done: Counter[str] = Counter()
    due = due_rows(ports.table, "idle", ports.clock.now())
    for item in share.of(islice(due, MAX_SESSIONS)):
        try:
            done[_look(ports, item)] += 1
        except Conflict:
            done["idle_failed"] += 1  # something was said meanwhile
        except Exception as error:
            on_failure("idle", error)
            done["idle_failed"] += 1
    done["idle_left"] = 1 if share.left else sum(1 for _ in islice(due, 1))
    return {name: done[name] for name in ("closed", "orphans", "idle_failed", "idle_left")}


def _look(ports: Ports, item: Item) -> str:
    """Look at one session, and give what was done, as the name of a count."""
    keys = UserKeys(item["tenant_id"], item["user_id"]).of_session(item["session_id"])
    found = ports.table.get_many([keys.head, keys.session_head])
    user = rows.read_head(found.get(keys.head))
    if keys.session_head not in found:
        ports.table.write([Delete(keys.open_session), Check(keys.session_head, Expect.ABSENT)])
        return NOTHING
    if user.state != "active":
        ports.table.write([Delete(keys.open_session), rows.check_head(keys, user)])
        return NOTHING
    session = tenant_scope(ports, keys.tenant).of_user(keys.user).of_session(keys.session)
    return _about(session, rows.read_session(found[keys.session_head]), found)


def _about(session: SessionScope, head: SessionHead, found: Mapping[Key, Item]) -> str:
    """Do what is due. Raises Conflict when something was said meanwhile: then the next sweep looks again."""
    keys, ports, now = session.keys, session.ports, session.ports.clock.now()
    match due_of(head, now):
        case "close":
            closed, user = replace(head, status="closed"), rows.read_head(found.get(keys.head))
            ops: list[WriteOp] = [rows.check_head(keys, user), rows.put_session(keys, closed)]
            ports.table.write([*ops, put_open_session(keys, looked_at_next(closed))])
            return "closed"
        case "end" if head.last_seq:
            failed = has_failed_to_end(session, rows.read_head(found.get(keys.head)).incarnation, head)
            end_session_as_read(session, head)
            # looked at again until the librarian is done with it
            ports.table.write([put_open_session(keys, now + ORPHAN_AFTER)])
            return "idle_failed" if failed else "orphans"
        case "wait":
            ports.table.write([put_open_session(keys, looked_at_next(head))])
            return NOTHING
        case _:
            # an append behind this opens the session again, and the outbox tells of it again
            ports.table.write([Delete(keys.open_session), Check(keys.session_head, Version(head.version))])
            return NOTHING
