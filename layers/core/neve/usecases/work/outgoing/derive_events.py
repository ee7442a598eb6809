"""Tells which outgoing event a change of a row is (docs/rules/events.md#types). Rows are the truth: nothing is written
for an event but the row that changed anyway, so the table's stream brings each of them at least once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from neve.domain.ids import ulid_named
from neve.domain.outgoing.event import OutgoingEvent, OutgoingType
from neve.domain.records.memories import Status
from neve.ports.table import Item, key_of
from neve.store import rows
from neve.store.filings import PROPOSED
from neve.store.keys import NOBODY, UserKeys, named_in_key
from neve.store.stream_records import Change

Told = tuple[OutgoingType, str, dict[str, Any]]
"""Type, subject and data."""
ENDED = ("done", "failed")
DONE: Mapping[str, OutgoingType] = {"erase": "erasure.done", "export": "export.done", "replace": "reflection.done"}
"""Events of the jobs that are done, by their kinds."""
TAKEN_BACK = "taken back"
"""The start of the reason of a replacement that a retraction made: no reflection."""
NOT_TOLD = ("replace",)
"""Kinds of jobs that no caller asked for and that are begun again when they fail."""


def derive_event(change: Change, at: str) -> tuple[UserKeys, OutgoingEvent] | None:
    """Return the event of a change, and whose it is (``NOBODY``'s of a tenant as a whole); None where nothing changed
    that is told of."""
    item = change.item
    tell = TELLERS.get(str(item.get("type")))
    told = tell(change) if tell else None
    if told is None:
        return None
    keys, (kind, subject, data) = _owner(item), told
    named = [kind, keys.tenant, keys.user, subject, *(str(data.get(name, "")) for name in ("rev", "pack_version"))]
    if kind == "session.extracted":  # a session may go on, and be filed again
        named.append(str(data["last_seq"]))
    event_id = f"out_{ulid_named('/'.join(named))}"
    return keys, OutgoingEvent(event_id, kind, at, keys.user if keys.user != NOBODY else None, subject, data)


def _owner(item: Item) -> UserKeys:
    if "tenant_id" in item:
        return UserKeys(item["tenant_id"], item.get("user_id", NOBODY))
    keys = named_in_key(key_of(item))
    return UserKeys(keys.tenant, item.get("user_id", keys.user))


def _became(change: Change, name: str, *values: str) -> bool:
    """Say whether an attribute has one of these values now and had another one before."""
    now = (change.new or {}).get(name)
    return now in values and (change.old or {}).get(name) != now


def _memory(change: Change) -> Told | None:
    item = change.item
    if change.new is None:
        return "memory.forgotten", item["id"], {"rev": item["rev"]}
    what = {"kind": item["kind"], "rev": item["rev"]}
    session = {"session_id": item["session_id"]} if "session_id" in item else {}
    if item["status"] == Status.INBOX:
        waits = _became(change, "status", Status.INBOX)
        return ("inbox.waiting", item["id"], {"item": "memory", **what, **session}) if waits else None
    if _became(change, "status", Status.SUPERSEDED) and change.old is not None:
        by = {"superseded_by": item["superseded_by"]} if "superseded_by" in item else {}
        return "memory.superseded", item["id"], {**what, **session, **by}
    if change.old is None or change.old["rev"] != item["rev"]:
        return "memory.written", item["id"], {**what, "status": item["status"], **session}
    return None


def _pack(change: Change) -> Told | None:
    if change.old is not None or change.new is None:
        return None
    data = {name: change.new[name] for name in ("session_id", "pack_version", "trigger", "tokens")}
    return "pack.version", change.new["session_id"], data


def _session(change: Change) -> Told | None:
    if not _became(change, "status", "extracted") or change.item.get("deleted"):
        return None
    session = change.item["session_id"]
    return "session.extracted", session, {"session_id": session, "last_seq": change.item["last_seq"]}


def _proposal(change: Change) -> Told | None:
    if change.old is not None or change.item.get("status") != "inbox":
        return None
    return "inbox.waiting", change.item["id"], {"item": "proposal"}


def _job(change: Change) -> Told | None:
    if not _became(change, "status", *ENDED):
        return None
    job = rows.read_job(change.item)
    what: dict[str, Any] = {"job_id": job.id, "kind": job.kind}
    what |= {"session_id": job.session_id} if job.session_id is not None else {}
    if job.status == "failed":
        return None if job.kind in NOT_TOLD else ("job.failed", job.id, what)
    if job.kind not in DONE:
        return None
    if job.kind == "replace":
        if str(job.state.get("reason", "")).startswith(TAKEN_BACK):
            return None
        what |= {"superseded": job.result["superseded"], "written": len(job.result["new"])}
    return DONE[job.kind], job.id, what


TELLERS: Mapping[str, Callable[[Change], Told | None]] = {
    "memory": _memory,
    "pack": _pack,
    "session": _session,
    PROPOSED: _proposal,
    "job": _job,
    rows.QUEUED_JOB: _job,
}
"""Functions that tell which event a change is, by the type of its row."""
