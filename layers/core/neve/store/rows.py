"""How each record is laid out as a row, and read back. An entity's keys, index keys and attributes meet here only.

Free-form JSON of the caller (``event_data``, block lists, job results) is stored as JSON text: a row holds no null, and
DynamoDB's nesting limit must not become the caller's."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from neve.correlation import carried
from neve.domain.errors import NeveError
from neve.domain.pack.rank import pack_rank
from neve.domain.records import (
    EmbeddingState,
    Event,
    Job,
    Memory,
    PackManifest,
    SessionEpoch,
    SessionHead,
    SessionMarker,
    Status,
    UserHead,
)
from neve.domain.times import iso
from neve.ports import Check, Expect, Expectation, Item, Key, Put, Version, WriteOp
from neve.store.keys import (
    DUE_SHARDS,
    Keys,
    SessionKeys,
    UserKeys,
    behind_key,
    due_key,
    due_partition,
    rank_key,
    recent_key,
)

_head = TypeAdapter(UserHead)
_session = TypeAdapter(SessionHead)
_marker = TypeAdapter(SessionMarker)
_epoch = TypeAdapter(SessionEpoch)
_memory = TypeAdapter(Memory)
_event = TypeAdapter(Event)
_job = TypeAdapter(Job)
_pack = TypeAdapter(PackManifest)


def expectation(version: int) -> Expectation:
    """What a write of a record that was read at ``version`` expects (0 = it was not there)."""
    return Version(version) if version else Expect.ABSENT


def _item(key: Key, type_: str, attributes: dict[str, Any]) -> Item:
    attributes.pop("version", None)
    return {"pk": key.pk, "sk": key.sk, "type": type_, **attributes}


# --- users --------------------------------------------------------------------------------------


def read_head(item: Item | None) -> UserHead:
    """The head of a user; one never seen before is a new, empty user."""
    return _head.validate_python(item) if item else UserHead()


def put_head(keys: UserKeys, head: UserHead) -> Put:
    """Through the index ``recent`` the heads are the directory of a tenant's users."""
    item = _item(keys.head, "user", _head.dump_python(head, mode="json", exclude_none=True))
    directory = {"recent_pk": keys.users, "recent_sk": keys.user}
    return Put(item | directory | {"tenant_id": keys.tenant, "user_id": keys.user}, expectation(head.version))


def guard_user(keys: UserKeys, head: UserHead, now: datetime) -> WriteOp:
    """The operation every commit carries: the user is still the incarnation that was read. Creates a new user's
    head."""
    if head.version == 0:
        return put_head(keys, replace(head, created_at=iso(now)))
    return check_head(keys, head)


def check_head(keys: UserKeys, head: UserHead) -> Check:
    """The operation that lets nothing be written for a user who was erased meanwhile; makes no head."""
    return Check(keys.head, expectation(head.version))


def writable(head: UserHead) -> None:
    """Raises 409 ``erasing`` or 410 ``user_closed``."""
    if head.state == "erasing":
        raise NeveError("erasing", "This user is being erased; try again when the job is done.", retry_after_s=30)
    if head.state == "closed":
        raise NeveError("user_closed", "This user was erased and closed.")


# --- sessions -----------------------------------------------------------------------------------


def read_session(item: Item) -> SessionHead:
    return _session.validate_python(item)


def put_session(keys: UserKeys, session: SessionHead) -> Put:
    """A session that is behind is in the ``due`` index, by its user. Its keys stay the same from append to append, and
    so does all that the index projects: DynamoDB charges the index for entering and leaving only."""
    own = keys.of_session(session.session_id)
    item = _item(own.session_head, "session", _session.dump_python(session, mode="json", exclude_none=True))
    if session.behind:
        item |= {"tenant_id": keys.tenant, "user_id": keys.user}
        item |= {"due_pk": due_partition("behind", due_shard(keys)), "due_sk": behind_key(own)}
    return Put(item, expectation(session.version))


def read_marker(item: Item) -> SessionMarker:
    return _marker.validate_python(item)


def put_marker(keys: UserKeys, marker: SessionMarker) -> Put:
    attributes = _marker.dump_python(marker, mode="json", exclude_none=True)
    return Put(_item(keys.of_session(marker.session_id).marker, "marker", attributes), expectation(marker.version))


def read_epoch(item: Item) -> SessionEpoch:
    return _epoch.validate_python(item)


def put_epoch(keys: UserKeys, epoch: SessionEpoch, now: datetime) -> Put:
    """A row with ``rebuild_due`` is in the ``due`` index, where the sweep finds it."""
    attributes = _epoch.dump_python(epoch, mode="json", exclude_none=True)
    item = _item(keys.of_session(epoch.session_id).epoch, "epoch", attributes)
    if epoch.rebuild_due:
        item |= {"id": epoch.session_id, "tenant_id": keys.tenant, "user_id": keys.user}
        item |= due_keys("rebuild", keys, epoch.session_id, now)
    return Put(item, expectation(epoch.version))


# --- events -------------------------------------------------------------------------------------


def read_event(item: Item) -> Event:
    content = item["content"]
    blocks = json.loads(content) if item.get("blocks") else content
    return _event.validate_python(item | {"content": blocks, "event_data": json.loads(item.get("event_data", "{}"))})


def put_event(keys: SessionKeys, event: Event, incarnation: int) -> Put:
    attributes = _event.dump_python(event, mode="json", exclude_none=True)
    if isinstance(event.content, list):
        attributes |= {"content": json.dumps(event.content, ensure_ascii=False), "blocks": True}
    if event.event_data:
        attributes["event_data"] = json.dumps(event.event_data, ensure_ascii=False)
    else:
        del attributes["event_data"]
    attributes |= {
        "tenant_id": keys.tenant,
        "user_id": keys.user,
        "session_id": keys.session,
        "incarnation": incarnation,
    }
    return Put(_item(keys.event(event.seq), "event", carried(attributes)), Expect.ABSENT)


# --- memories -----------------------------------------------------------------------------------


def read_memory(item: Item) -> Memory:
    return _memory.validate_python(item)


def put_memory(keys: UserKeys, memory: Memory) -> Put:
    """The row with its index keys: ``rank`` while active; ``recent`` and ``due`` (embed) while ``rev_at`` is set,
    which the embed worker clears when the search index has all of it; ``due`` (failed) while it is there without its
    vectors."""
    attributes = _memory.dump_python(memory, mode="json", exclude_none=True)
    item = _item(keys.memory(memory.id), "memory", attributes)
    item = carried(item | {"tenant_id": keys.tenant, "user_id": keys.user})
    if memory.status is Status.ACTIVE:
        rank = pack_rank(memory.kind, memory.priority, memory.last_used_at)
        item |= {"rank_pk": keys.partition, "rank_sk": rank_key(rank, memory.id)}
    if memory.rev_at is not None:
        lacking = recent_key(memory.id, rev_at=memory.rev_at, words_at=memory.words_at)
        item |= {"recent_pk": keys.partition, "recent_sk": lacking}
        item |= due_keys("embed", keys, memory.id, datetime.fromisoformat(memory.rev_at))
    elif memory.embedding_state is EmbeddingState.FAILED:
        item |= due_keys("failed", keys, memory.id, datetime.fromisoformat(memory.created_at))
    return Put(item, expectation(memory.version))


def put_deleted_memory(keys: UserKeys, memory: Memory) -> Put:
    """What is left of a deleted memory: only its last rev, which the search index knows its deletion by."""
    return Put(_item(keys.deleted_memory(memory.id), "deleted_memory", {"rev": memory.rev}))


def deleted_rev(item: Item | None) -> int:
    """0 for an id that was never deleted."""
    return item["rev"] if item else 0


# --- packs --------------------------------------------------------------------------------------


def read_manifest(item: Item) -> PackManifest:
    return manifest_of(item | {"layers": json.loads(item["layers"])})


def manifest_of(attributes: dict[str, Any]) -> PackManifest:
    return _pack.validate_python(attributes)


def manifest_attributes(manifest: PackManifest) -> dict[str, Any]:
    """Plain JSON values."""
    attributes: dict[str, Any] = _pack.dump_python(manifest, mode="json", exclude_none=True)
    return attributes


def put_manifest(keys: UserKeys, manifest: PackManifest) -> Put:
    """Versions are immutable, so a repeated write of the same version changes nothing."""
    attributes = manifest_attributes(manifest)
    attributes["layers"] = json.dumps(attributes["layers"])
    return Put(_item(keys.of_session(manifest.session_id).pack(manifest.pack_version), "pack", attributes))


# --- jobs ---------------------------------------------------------------------------------------

JOB_DAYS = 30


def read_job(item: Item) -> Job:
    decoded = {name: json.loads(item[name]) for name in ("result", "state") if name in item}
    return _job.validate_python(item | decoded)


def put_job(keys: Keys, job: Job) -> Put:
    attributes = _job.dump_python(job, mode="json", exclude_none=True)
    attributes |= {name: json.dumps(attributes[name], ensure_ascii=False) for name in ("result", "state")}
    expires = datetime.fromisoformat(job.created_at) + timedelta(days=JOB_DAYS)
    attributes["expires_at"] = int(expires.timestamp())
    return Put(_item(keys.job(job.id), "job", attributes), expectation(job.version))


# --- due work -----------------------------------------------------------------------------------


def due_keys(kind: str, keys: UserKeys, identifier: str, at: datetime) -> Item:
    """Index keys of a piece of due work: a shard by user, a 10 minute time bucket, and who it is."""
    return {"due_pk": due_partition(kind, due_shard(keys)), "due_sk": due_key(time_bucket(at), keys, identifier)}


def due_shard(keys: UserKeys) -> int:
    """Which part of the ``due`` index holds what is due of a user."""
    return int.from_bytes(hashlib.sha256(f"{keys.tenant}/{keys.user}".encode()).digest()[:2]) % DUE_SHARDS


def time_bucket(at: datetime) -> str:
    """The 10 minute bucket that holds ``at``: ``2026-03-10T09:30``."""
    at = at.astimezone(UTC)
    return f"{at.replace(minute=at.minute // 10 * 10):%Y-%m-%dT%H:%M}"


def live(item: Item | None, now: datetime) -> Item | None:
    """The row unless its time to live is over (the store removes such rows late)."""
    if item is None or item.get("expires_at", float("inf")) <= now.timestamp():
        return None
    return item
