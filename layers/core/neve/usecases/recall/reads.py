"""What a recall reads of the row store beside its legs: who asks, what their prompt holds already, and what is so new
that the search index may not have it. One step, its reads run in parallel."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from neve.domain.errors import not_found
from neve.domain.records import SessionEpoch, UserHead
from neve.domain.times import iso
from neve.ports import Index, Item, Task
from neve.store import rows
from neve.usecases.pack.served_pack import PackContents, contents_of, served_packs
from neve.usecases.recall.command import Asked
from neve.usecases.recall.recall_rows import row_key
from neve.wiring import Ports, Tenant

NEW_FOR = timedelta(seconds=120)
NEW_ROWS = 200
"""Rows whose rev moved in the last 120 s compete by themselves, at most this many (engine.md §7.7)."""
TAIL_EVENTS = 50
"""And so do the newest events of the session."""
_AFTER_EVERY_TIME = "~"


@dataclass(frozen=True, slots=True)
class Standing:
    """``indexed_seq``: utterances of the session up to here are in the search index. ``excluded``: the rows of the ids
    that the caller named."""

    head: UserHead
    pack: PackContents | None
    indexed_seq: int
    excluded: list[Item]


@dataclass(frozen=True, slots=True)
class Reads:
    """Under way; see ``collect``."""

    standing: Task[Standing]
    new_rows: Task[list[Item]]
    tail: Task[list[Item]] | None

    def collect(self, deadline_ms: float) -> tuple[Standing, list[Item]]:
        """And the rows that may be missing in the index, newest first. Raises session_not_found, StoreUnavailable,
        DeadlineExceeded."""
        standing = self.standing.result(deadline_ms)
        new_rows = self.new_rows.result(deadline_ms)
        tail = self.tail.result(deadline_ms) if self.tail else []
        return standing, new_rows + [item for item in tail if item["seq"] > standing.indexed_seq]


def start_reads(ports: Ports, tenant: Tenant, user: str, asked: Asked) -> Reads:
    return Reads(
        ports.tasks.start(lambda: _standing(ports, tenant, user, asked)),
        ports.tasks.start(lambda: _new_rows(ports, tenant, user)),
        ports.tasks.start(lambda: _tail(ports, tenant, user, asked)) if asked.session_tail else None,
    )


def _standing(ports: Ports, tenant: Tenant, user: str, asked: Asked) -> Standing:
    """One batch read; a second one, beside the search by vector, for a pack that this process has not seen."""
    keys, session = tenant.keys, asked.command.session_id
    excluded = [key for i in asked.command.exclude_ids if (key := row_key(keys, user, i))]
    wanted = [keys.head(user), *excluded]
    if session is not None:
        wanted += [keys.session(user, session), keys.epoch(user, session), keys.indexed(user, session)]
    found = ports.table.get_many(list(dict.fromkeys(wanted)))
    if session is not None and keys.session(user, session) not in found:
        raise not_found("session", session)
    indexed = found.get(keys.indexed(user, session)) if session is not None else None
    epoch = found.get(keys.epoch(user, session)) if session is not None else None
    return Standing(
        head=rows.read_head(found.get(keys.head(user))),
        pack=_pack(ports, tenant, user, rows.read_epoch(epoch)) if epoch else None,
        indexed_seq=int(indexed["indexed_seq"]) if indexed else 0,
        excluded=[found[key] for key in excluded if key in found],
    )


def _pack(ports: Ports, tenant: Tenant, user: str, epoch: SessionEpoch) -> PackContents | None:
    if epoch.pack is None:
        return None
    known = served_packs.get(tenant.id, user, epoch.session_id)
    if known is not None and known.served_by(epoch.pack):
        return known
    item = ports.table.get(tenant.keys.pack(user, epoch.session_id, epoch.pack.pack_version))
    if item is None:
        return None
    contents = contents_of(rows.read_manifest(item))
    served_packs.keep(tenant.id, user, epoch.session_id, contents)
    return contents


def _new_rows(ports: Ports, tenant: Tenant, user: str) -> list[Item]:
    since = iso(ports.clock.now() - NEW_FOR)
    return ports.table.query(
        tenant.keys.user(user),
        index=Index.RECENT,
        between=(since, _AFTER_EVERY_TIME),
        reverse=True,
        limit=NEW_ROWS,
    ).items


def _tail(ports: Ports, tenant: Tenant, user: str, asked: Asked) -> list[Item]:
    log = tenant.keys.log(user, str(asked.command.session_id))
    return ports.table.query(log, prefix="EVT#", reverse=True, limit=TAIL_EVENTS).items
