"""Removes archived events whose time is over (docs/rules/sessions.md#retention): the sweep finds them, a worker removes
them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import islice

from neve.correlation import carried
from neve.domain.indexing.utterances import utterance_of
from neve.domain.jobs.time_limits import SPARE_S
from neve.domain.jobs.time_share import TimeShare
from neve.domain.memories.text import fingerprint
from neve.domain.records.sessions import Event
from neve.domain.times import iso
from neve.observing import SecondsLeft
from neve.ports.engines import Ports
from neve.ports.queue import Message, QueueName
from neve.ports.table import Check, Delete, Index, Item, Key, Put, Version, WriteOp
from neve.scope import SessionScope, Tenant, TenantScope
from neve.store import rows
from neve.store.delete_rows import delete_rows
from neve.store.keys import TENANTS, SessionKeys, archives_until
from neve.store.partitions import all_rows
from neve.store.tenants.tenant_rows import read_tenant
from neve.store.transact import batches, item_bytes, transact
from neve.usecases.compact.artifacts import artifacts_of
from neve.usecases.images.image_objects import IMAGE_BATCH_SIZE, note_removed, remove_images
from neve.usecases.images.shown_images import ShownImages
from neve.usecases.indexing.write_without import Versions, write_without

RETENTION = "retain"
SESSION_BATCH_SIZE = 200
"""Sessions of a tenant that one sweep sends; the next one goes on with others, those of before being done."""
NEVER = ""
"""A stored time that nothing was before."""
EVENT_BATCH_SIZE = 30
"""The events of one transaction: with an artifact for each, the head, two rows of the session and four events beside
them it stays below 100 actions."""


# --- the sweep's part ---------------------------------------------------------------------------


def send_expired(ports: Ports, share: TimeShare) -> int:
    """Send the sessions with expired events, and return how many were sent, of the tenants that there was time for:
    beginning with any of them, so that none is always the last. The share also says where a tenant has more than
    ``SESSION_BATCH_SIZE``. Raises StoreUnavailable."""
    tenants = (read_tenant(item) for item in all_rows(ports.table, TENANTS))
    some = [(one, days) for one in tenants if (days := one.policy.retention_days) is not None]
    first = int(ports.ids.token(), 16) % len(some) if len(some) > 1 else 0
    scopes = ((TenantScope(ports, Tenant(one.id, one.policy)), days) for one, days in some[first:] + some[:first])
    return sum(_send_of(scope, days, share) for scope, days in share.of(scopes))


def _send_of(scope: TenantScope, days: int, share: TimeShare) -> int:
    ports, keys, until = scope.ports, scope.keys, expired_before(scope.ports, days)
    found = all_rows(ports.table, keys.archives, index=Index.DUE, between=archives_until(until))
    some = list(islice(found, SESSION_BATCH_SIZE + 1))
    share.left = share.left or len(some) > SESSION_BATCH_SIZE
    sessions = (keys.of_user(item["user_id"]).of_session(item["session_id"]) for item in some[:SESSION_BATCH_SIZE])
    messages = [retention_message(session) for session in sessions]
    if messages:
        ports.queue.send(QueueName.JOBS, messages)
    return len(messages)


def expired_before(ports: Ports, days: int) -> str:
    """Return the stored time before which an event's time is over."""
    return iso(ports.clock.now() - timedelta(days=days))


def retention_message(keys: SessionKeys) -> Message:
    body = {"work": RETENTION, "tenant": keys.tenant, "user": keys.user, "session": keys.session}
    return Message(carried(body), group=keys.tenant)


# --- the worker's part --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Expired:
    """The events of a batch whose time is over. ``incarnation``: of the user. ``items``: the rows of the events;
    ``hidden``: those behind them whose images a worker that died has hidden and not removed, under another policy.
    ``left``: when the archived event behind them was; None when that was all up to ``covers_to``."""

    incarnation: int
    events: list[Event]
    items: list[Item]
    hidden: list[Item]
    left: str | None
    covers_from: int
    covers_to: int

    @property
    def versions(self) -> dict[int, int]:
        """Return the versions of the rows, by seq."""
        return {item["seq"]: item["version"] for item in self.items}


class _OutOfTime(Exception):
    """There is no time to remove more images."""


@dataclass(frozen=True, slots=True)
class _Images:
    """Removes the images of the events of a session. ``shown``: what a worker has read for the images before."""

    scope: SessionScope
    shown: ShownImages
    seconds_left: SecondsLeft

    def remove(self, items: list[Item]) -> None:
        """Remove the images that these events show. Other events that show them are looked for once these show them no
        more; their names stay on the rows until they are gone. In parts: where there is no time for another part, the
        images that are gone are noted. Raises _OutOfTime."""
        showing = [item for item in items if rows.images_of_row(item)]
        for batch in batches((item for item in showing if rows.IMAGES_LEFT not in item), item_bytes):
            transact(self.scope.ports, partial(_hide, self.scope, [item["seq"] for item in batch]))
        images = sorted({image for item in showing for image in rows.images_of_row(item)})
        for done in range(0, len(images), IMAGE_BATCH_SIZE):
            if done and self.seconds_left() <= SPARE_S:
                note_removed(self.scope, showing, set(images[:done]))
                raise _OutOfTime
            part = frozenset(images[done : done + IMAGE_BATCH_SIZE])
            remove_images(self.scope, part, sent=True, shown=self.shown)

    def end_removals(self, hidden: list[Item]) -> None:
        """End the removal of images that a worker which died has begun. Raises _OutOfTime."""
        if hidden:
            self.remove(hidden)
            note_removed(self.scope, hidden, {image for item in hidden for image in rows.images_of_row(item)})


def retain_log(scope: SessionScope, seconds_left: SecondsLeft) -> int:
    """Remove the archived events that are older than the policy allows, in the order of the log up to the first that is
    not, with their artifacts, images, passages and vectors, and return how many. The summary stays, and so do client
    ids. May be repeated at any point. Raises StoreUnavailable."""
    removed, images = 0, _Images(scope, ShownImages(scope), seconds_left)
    with suppress(_OutOfTime):
        while seconds_left() > SPARE_S:
            batch, more = _remove_next(scope, images)
            removed += batch
            if not more:
                break
    return removed


def _remove_next(scope: SessionScope, images: _Images) -> tuple[int, bool]:
    """Remove the next batch of events, and return how many went, and whether to look for more, or again. Raises
    _OutOfTime."""
    days = scope.policy.retention_days
    expired = _next_expired(scope, NEVER if days is None else expired_before(scope.ports, days))
    if expired is None:
        return 0, False
    images.end_removals(expired.hidden)
    if days is None and not expired.events:
        return 0, False
    if _marked(scope, expired.items):
        return 0, True
    beside = _leave_index(scope, expired)
    if beside is None:
        return 0, True
    images.remove(expired.items)
    if not transact(scope.ports, _Removal(scope, expired, beside).attempt):
        return 0, True
    return len(expired.events), len(expired.events) == EVENT_BATCH_SIZE


def _next_expired(scope: SessionScope, before: str) -> _Expired | None:
    """Read the next batch. None when the session holds no archived events, or the user is being erased."""
    keys, table = scope.keys, scope.ports.table
    found = table.get_many([keys.head, keys.epoch, keys.archived])
    head = rows.read_head(found.get(keys.head))
    if keys.epoch not in found or keys.archived not in found or rows.hidden(head):
        return None
    epoch = rows.read_epoch(found[keys.epoch])
    if epoch.covers_from is None or epoch.covers_to is None:
        return None
    first = max(epoch.covers_from, epoch.removed_to + 1)
    log = all_rows(table, keys.log, between=keys.events(first, epoch.covers_to), page=EVENT_BATCH_SIZE + 1)
    items = list(islice(log, EVENT_BATCH_SIZE + 1))
    old = list(_over(items[:EVENT_BATCH_SIZE], before))
    left = str(items[len(old)]["created_at"]) if len(old) < len(items) else None
    hidden = [item for item in items[len(old) :] if rows.IMAGES_LEFT in item]
    return _Expired(head.incarnation, old, items[: len(old)], hidden, left, epoch.covers_from, epoch.covers_to)


def _over(items: list[Item], before: str) -> Iterator[Event]:
    """Yield the first events whose time is over, or whose removal has begun."""
    for item in items:
        if item["created_at"] >= before and rows.EXPIRED not in item:
            return
        yield rows.read_event(item)


def _marked(scope: SessionScope, items: list[Item]) -> bool:
    """Mark the rows as leaving the index, and say whether some were not marked yet. The rows say so first: a worker
    that reads the log from then on writes nothing of them, and nothing beside them either."""
    unmarked = [item for item in items if rows.EXPIRED not in item]
    for batch in batches(unmarked, item_bytes):
        transact(scope.ports, partial(_mark, scope, [item["seq"] for item in batch]))
    return bool(unmarked)


def _mark(scope: SessionScope, seqs: list[int]) -> None:
    """Mark the rows of the events. Raises Conflict."""
    _change(scope, seqs, lambda item: None if rows.EXPIRED in item else rows.put_expired(item))


def _leave_index(scope: SessionScope, expired: _Expired) -> Versions | None:
    """Take the events out of the index, and return the versions of the rows beside them; None where the batch is to be
    read again."""
    if not expired.events:
        return {}
    beside = write_without(scope.data, expired.incarnation, (expired.covers_from, expired.events[-1].seq))
    if beside is not None:
        _forget(scope, expired.events)
    return beside


def _forget(scope: SessionScope, events: list[Event]) -> None:
    """Remove what is not in the transaction, which goes first: the log says what there is. Vectors are kept by content:
    vectors that are still needed are made again."""
    ports, keys = scope.ports, scope.keys
    vectors: list[Key] = []
    for event in events:
        utterance = utterance_of(scope.session, replace(event, taken_back=False))
        if utterance is not None:
            ports.search.trim(keys.owner, utterance.id, keep=0, version=event.rev + 1)
            model = ports.search.model().tag
            vectors += (keys.vector(fingerprint(text), model) for text in utterance.texts)
    delete_rows(ports.table, list(dict.fromkeys(vectors)))


def _hide(scope: SessionScope, seqs: list[int]) -> None:
    """Note on the rows that they show their images no more. Raises Conflict."""
    _change(scope, seqs, lambda item: None if rows.IMAGES_LEFT in item else rows.put_without_images(item))


def _change(scope: SessionScope, seqs: list[int], change: Callable[[Item], Put | None]) -> None:
    """Change the rows of the events. Raises Conflict."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, *map(keys.event, seqs)])
    head = rows.read_head(found.pop(keys.head, None))
    ops = [put for item in found.values() if (put := change(item)) is not None]
    if ops and not rows.hidden(head):
        scope.ports.table.write([rows.check_head(keys, head), *ops])


@dataclass
class _Removal:
    """The removal of events that were read and taken out of the index. An event that has changed since has passages of
    another rev. ``beside``: the events whose passages were written again."""

    scope: SessionScope
    expired: _Expired
    beside: Versions
    again: bool = False

    def attempt(self) -> bool:
        """Remove the events; False where they are to be read again. Raises Conflict."""
        seqs = [event.seq for event in self.expired.events]
        if self.again and self._changed():
            return False
        self.again = True
        self._write(seqs)
        return True

    def _changed(self) -> bool:
        event = self.scope.keys.event
        versions = {event(seq): version for seq, version in self.expired.versions.items()} | self.beside
        found = self.scope.ports.table.get_many(list(versions))
        return {place: item["version"] for place, item in found.items()} != versions

    def _write(self, seqs: Sequence[int]) -> None:
        keys, table, expired = self.scope.keys, self.scope.ports.table, self.expired
        found = table.get_many([keys.head, keys.session_head, keys.epoch, keys.archived])
        head, noted = rows.read_head(found.get(keys.head)), found.get(keys.archived)
        if keys.epoch not in found or noted is None or rows.hidden(head):
            return
        epoch = rows.read_epoch(found[keys.epoch])
        since = expired.left if epoch.covers_to == expired.covers_to else str(noted["since"])  # else: look again
        ops: list[WriteOp] = [rows.check_head(keys, head)]
        ops.append(rows.put_archived(keys, since, noted) if since else Delete(keys.archived, Version(noted["version"])))
        if seqs:
            moved = replace(epoch, removed_to=max(epoch.removed_to, seqs[-1]))
            ops.append(rows.put_epoch(keys, moved, self.scope.ports.clock.now()))
        else:
            ops.append(Check(keys.epoch, Version(epoch.version)))
        ops += [Delete(keys.event(seq), Version(expired.versions[seq])) for seq in seqs]
        thought = rows.read_session(found[keys.session_head]).thinking if keys.session_head in found else ()
        ops += [Delete(keys.thinking(seq)) for seq in seqs if seq in thought]
        ops += [Delete(keys.document(path)) for path in artifacts_of(self.scope, head.incarnation, expired.events)]
        ops += [Check(place, Version(version)) for place, version in self.beside.items()]
        table.write(ops)
