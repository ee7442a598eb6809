"""Lays out each record as a row, and reads it back. An entity's keys, index keys and attributes meet here only.

Free-form JSON of the caller (``event_data``, block lists, job results) is stored as JSON text: a row holds no null, and
DynamoDB's nesting limit must not become the caller's. What grows with a session is compressed where it is
long."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json

from neve.being_erased import note_erasure
from neve.correlation import carried
from neve.domain.errors import NeveError
from neve.domain.memories.fact_statements import stated_ranges
from neve.domain.memories.live_rows import no_live_room
from neve.domain.memories.made_of import Sources
from neve.domain.memories.unheld import is_unheld, unheld_since
from neve.domain.pack.rank import pack_rank
from neve.domain.records.documents import Document
from neve.domain.records.epochs import SessionEpoch, Summary
from neve.domain.records.jobs import Job
from neve.domain.records.markers import LiveRow, SessionMarker
from neve.domain.records.memories import EmbeddingState, Kind, Memory, Statement, Status
from neve.domain.records.packs import PackManifest
from neve.domain.records.retractions import Retraction
from neve.domain.records.sessions import Event, SessionHead
from neve.domain.records.users import ReflectDue, UserHead
from neve.domain.times import iso
from neve.ports.table import Check, Expect, Expectation, Item, Key, Put, Version, WriteOp
from neve.store.keys import (
    NOBODY,
    Keys,
    SessionKeys,
    UserKeys,
    archive_key,
    behind_key,
    due_key,
    due_partition,
    due_shard,
    inbox_key,
    rank_key,
    recent_key,
    reflect_due_key,
    unheld_key,
)

_head = TypeAdapter(UserHead)
_session = TypeAdapter(SessionHead)
_marker = TypeAdapter(SessionMarker)
_epoch = TypeAdapter(SessionEpoch)
_memory = TypeAdapter(Memory)
_event = TypeAdapter(Event)
_job = TypeAdapter(Job)
_pack = TypeAdapter(PackManifest)
_summary = TypeAdapter(Summary)
_document = TypeAdapter(Document)
_reflect_due = TypeAdapter(ReflectDue)
_retraction = TypeAdapter(Retraction)


def expectation(version: int) -> Expectation:
    """Give what a write of a record that was read at ``version`` expects (0 = it was not there)."""
    return Version(version) if version else Expect.ABSENT


def version_of(*names: object) -> int:
    """Derive the version at which a row begins that may come back after it was deleted: a number of 48 bits for what it
    is made of. A caller who has read the row that stood there before never takes this one for it."""
    joined = " ".join(map(str, names))
    return int.from_bytes(hashlib.sha256(joined.encode()).digest()[:6], "big") + 1


def _item(key: Key, type_: str, attributes: dict[str, Any]) -> Item:
    attributes.pop("version", None)
    return {"pk": key.pk, "sk": key.sk, "type": type_, **attributes}


LONG_JSON = 4_096
"""Bytes, of which a reader pays one unit for so many. Ids and figures take a quarter of the room when they are
compressed; what is shorter stays text, and costs no processor time."""


COMPRESSION = 3
"""The level of zlib: a fifth of the text, as with its default, in a third of the time (*measured*, 62 candidates of a
recall, 17 KB), for which a caller waits."""


def json_bytes(value: Any) -> bytes:
    """Write compact JSON in UTF-8, in a fifth of the time of the standard library."""
    return to_json(value)


def stored_json(value: Any) -> str | bytes:
    """Encode a value as a row keeps it: as JSON text, or compressed where that is long."""
    text = json.dumps(value, ensure_ascii=False)
    body = text.encode()
    return text if len(body) <= LONG_JSON else zlib.compress(body, COMPRESSION)


def loaded_json(stored: str | bytes) -> Any:
    return json.loads(zlib.decompress(stored) if isinstance(stored, bytes) else stored)


def _loaded(item: Item, *names: str) -> Item:
    """Decode those of the named attributes that a row keeps as JSON text."""
    decoded = {name: loaded_json(item[name]) for name in names if name in item}
    return item | decoded if decoded else item


def _drop_usual_values(attributes: dict[str, Any], **nothing: Any) -> dict[str, Any]:
    """Leave out the attributes that are as they are in almost every row: a row pays for each kilobyte with every
    write."""
    return {name: value for name, value in attributes.items() if name not in nothing or value != nothing[name]}


# --- users --------------------------------------------------------------------------------------


def read_head(item: Item | None) -> UserHead:
    """Read the head of a user; one never seen before is a new, empty user."""
    return _head.validate_python(item) if item else UserHead()


def put_head(keys: UserKeys, head: UserHead) -> Put:
    """Make the put of a user's head. Through the index ``recent`` the heads are the directory of a tenant's users."""
    attributes = _head.dump_python(head, mode="json", exclude_none=True)
    attributes = _drop_usual_values(attributes, takes_back=False, purges=0, deletions=0, erased=False)
    item = _item(keys.head, "user", attributes)
    directory = {"recent_pk": keys.users, "recent_sk": keys.user}
    return Put(item | directory | {"tenant_id": keys.tenant, "user_id": keys.user}, expectation(head.version))


def guard_user(keys: UserKeys, head: UserHead, now: datetime, written: Iterable[Memory] = ()) -> WriteOp:
    """Make the operation that every commit carries: the user is still the incarnation that was read. Creates a new
    user's head. ``written``: memories of the same commit; the head notes the first fact that does not hold."""
    unheld = head.unheld or any(map(is_unheld, written))
    if head.version == 0 or unheld != head.unheld or head.erased:
        return put_head(keys, replace(used_again(head, now), unheld=unheld))
    return check_head(keys, head)


def used_again(head: UserHead, now: datetime) -> UserHead:
    """Give the head of a user for whom something is written, be it for the first time or after an erasure."""
    created_at = iso(now) if head.erased else head.created_at or iso(now)
    return replace(head, created_at=created_at, erased=False)


def check_head(keys: UserKeys, head: UserHead) -> Check:
    """Make the operation that lets nothing be written for a user who was erased meanwhile; it makes no head."""
    return Check(keys.head, expectation(head.version))


def writable(head: UserHead) -> None:
    """Refuse writes for a user who is being erased or was closed. Raises 409 ``erasing`` or 410 ``user_closed``."""
    if head.state == "erasing":
        raise NeveError("erasing", "This user is being erased. The id is free again when the job is done, not sooner.")
    not_closed(head)


def not_closed(head: UserHead) -> None:
    """Refuse the reads of the chat path for a closed user; one who is being erased just has nothing. Raises 410
    ``user_closed``."""
    if head.state == "closed":
        raise NeveError("user_closed", "This user was erased and closed.")


def hidden(head: UserHead) -> bool:
    """Say whether reads find nothing although the rows are still there: they are being erased, and the answer says
    so."""
    if head.state == "erasing":
        note_erasure()
    return head.state == "erasing"


# --- sessions -----------------------------------------------------------------------------------


def is_there(found: Mapping[Key, Item], *of_session: Key) -> bool:
    """Say whether a caller may see a session: each of these rows of it is there, and none says that it was deleted."""
    return all(key in found and not found[key].get("deleted") for key in of_session)


def not_deleted(session: SessionHead) -> None:
    """Refuse work that would go on with a deleted session: its id is never given to another, so that nothing which was
    said in it comes back. Raises 410 ``session_deleted``."""
    if session.deleted:
        detail = f"The session '{session.session_id}' was deleted; open another one under a new id."
        raise NeveError("session_deleted", detail)


_NO_SESSION: Mapping[str, Any] = {
    "metadata": {},
    "retracted": [],
    "erased": [],
    "unwatched": False,
    "deleted": False,
    "asked_seq": 0,
    "said_first": 0,
    "said_last": 0,
    "open_calls": {},
    "thinking": [],
    "other_language": 0,
    "waiting_tokens": 0,
    "participants": [],
    "room": False,
    "others_from": 0,
}


def read_session(item: Item) -> SessionHead:
    return _session.validate_python(item)


def put_session(keys: UserKeys, session: SessionHead) -> Put:
    """Make the put of a session's head. One that is behind is in the ``due`` index, by its user. Its keys stay the same
    from append to append, and so does all that the index projects: DynamoDB charges the index for entering and leaving
    only."""
    own = keys.of_session(session.session_id)
    attributes = _session.dump_python(session, mode="json", exclude_none=True)
    item = _item(own.session_head, "session", _drop_usual_values(attributes, **_NO_SESSION))
    item |= {"tenant_id": keys.tenant, "user_id": keys.user}
    if session.behind:
        item |= {"due_pk": due_partition("behind", due_shard(keys)), "due_sk": behind_key(own)}
    return Put(item, expectation(session.version))


def put_newest_session(keys: UserKeys, session: str, current: Item | None) -> Put:
    """Make the put that notes which session was opened last. ``current``: the row as it was read."""
    attributes = {"session_id": session}
    return Put(
        _item(keys.newest_session, "newest_session", attributes), expectation(current["version"] if current else 0)
    )


LONG_LIST = 10
"""Live rows: with more of them, uncompressed, a marker has more than 1 KB, which each of its writes pays for."""


def read_marker(item: Item) -> SessionMarker:
    if not isinstance(item.get("live", []), list):
        live = [LiveRow(i, Kind(kind), tokens) for i, kind, tokens in loaded_json(item["live"])]
        return _marker.validate_python(item | {"live": live})
    return _marker.validate_python(item)


_NO_MARKER: Mapping[str, Any] = {"retracted": [], "retold": [], "deleted": False}


def put_marker(keys: UserKeys, marker: SessionMarker) -> Put:
    """Make the put of a session's marker. A long list of live rows is kept compressed, some 19 bytes a row instead of
    58: every lease and every pass writes it, and facts stay in it for as long as the session goes on."""
    attributes = _drop_usual_values(_marker.dump_python(marker, mode="json", exclude_none=True), **_NO_MARKER)
    if len(marker.live) > LONG_LIST:
        attributes["live"] = zlib.compress(json_bytes([[row.id, row.kind, row.tokens] for row in marker.live]))
    return Put(_item(keys.of_session(marker.session_id).marker, "marker", attributes), expectation(marker.version))


LIVE_BYTES = 300_000
"""The bytes of a session's live list as its marker keeps it, for what callers bring (*chosen*): 16,000 rows with ids of
ours, 5,600 with ids of 64 drawn characters. A row has 400 KB (*limit*, DynamoDB)."""
LIVE_BYTES_OF_PASSES = 340_000
"""The same for what passes and successors add (*chosen*). What is left of the row is for the lease, the observations
until they are folded, and what else a marker says."""


def has_live_room(marker: Item, added: Iterable[LiveRow], most: int = LIVE_BYTES) -> bool:
    """Say whether the live list of a marker's row has room for further rows. They count as much as they could take:
    compressed, they mostly take less."""
    return live_bytes(marker) + sum(map(_listed_bytes, added)) <= most


def need_live_room(marker: Item, added: Sequence[LiveRow], most: int = LIVE_BYTES) -> None:
    """Refuse rows that the live list has no room for. Raises 422 ``validation_failed``. What adds nothing is never
    refused: a list may be older than its bound."""
    if added and not has_live_room(marker, added, most):
        raise no_live_room("session_id")


def live_bytes(marker: Item) -> int:
    """Count the bytes of the live list as a marker's row keeps it; less than 3 KB of a short one."""
    live = marker.get("live", [])
    return sum(_listed_bytes(row) for row in read_marker(marker).live) if isinstance(live, list) else len(live)


def _listed_bytes(row: LiveRow) -> int:
    return len(json_bytes([row.id, row.kind, row.tokens])) + 1


def read_epoch(item: Item) -> SessionEpoch:
    return _epoch.validate_python(item)


def put_epoch(keys: UserKeys, epoch: SessionEpoch, now: datetime) -> Put:
    """Make the put of a session's epoch. A row with ``rebuild_due`` is in the ``due`` index, where the sweep finds
    it."""
    attributes = _drop_usual_values(
        _epoch.dump_python(epoch, mode="json", exclude_none=True),
        retracted=[],
        images_left_out=[],
        images_unusable=[],
        shown_pending=[],
        deleted=False,
    )
    item = _item(keys.of_session(epoch.session_id).epoch, "epoch", attributes)
    if epoch.rebuild_due:
        item |= {"id": epoch.session_id, "tenant_id": keys.tenant, "user_id": keys.user}
        item |= due_keys("rebuild", keys, epoch.session_id, now)
    return Put(item, expectation(epoch.version))


def put_archived(keys: SessionKeys, work: Job) -> Put:
    """Make the put of the work of retention on a session that holds archived events. It is in the index by the stored
    time of the oldest, which is its cursor: how long they are kept is up to the policy when the sweep comes."""
    since = work.state["cursor"]["since"]
    item = _item(keys.archived, "archived", _job_attributes(work) | {"tenant_id": keys.tenant})
    return Put(item | {"due_pk": keys.archives, "due_sk": archive_key(since, keys)}, expectation(work.version))


# --- events -------------------------------------------------------------------------------------

IMAGES_LEFT = "images_left"
"""An attribute of the row of an event that no longer shows its images: their objects, until they are removed."""
OF_WHAT_WAS_SAID = ("name", "event_data", "blocks", "metadata")
"""The attributes of an event's row, beside its content: what goes when that is erased."""
_ERASED = {"content": "", "erased": True}


def read_event(item: Item) -> Event:
    return _event.validate_python(_loaded(item, "event_data", *(("content",) if item.get("blocks") else ())))


def put_event(keys: SessionKeys, event: Event, incarnation: int) -> Put:
    attributes = _event.dump_python(event, mode="json", exclude_none=True)
    attributes = _drop_usual_values(attributes, metadata={}, images_refused=False, erased=False)
    if isinstance(event.content, list):
        attributes |= {"content": json.dumps(event.content, ensure_ascii=False), "blocks": True}
    if event.event_data:
        attributes["event_data"] = json.dumps(event.event_data, ensure_ascii=False, separators=(",", ":"))
    else:
        del attributes["event_data"]
    attributes |= {
        "tenant_id": keys.tenant,
        "user_id": keys.user,
        "session_id": keys.session,
        "incarnation": incarnation,
    }
    return Put(_item(keys.event(event.seq), "event", carried(attributes)), Expect.ABSENT)


def put_pruned(item: Item, text: str, artifact_path: str) -> Put:
    """Make the put of the row of an event whose text has become a document, with ``text`` in its place; its images
    stay."""
    pruned = item | {"content": text, "pruned": True, "artifact_path": artifact_path}
    if item.get("blocks"):
        images = [block for block in json.loads(item["content"]) if block.get("type") == "image"]
        pruned["content"] = json.dumps([{"type": "text", "text": text}, *images], ensure_ascii=False)
    return Put(pruned, Version(item["version"]))


def put_erased(item: Item) -> Put:
    """Make the put of the row of an event without anything of what it said; which event it was, when, and how long
    stays, and for now the names of its images: the worker that removes them looks for them there, also after another
    one that has died."""
    left = {name: value for name, value in item.items() if name not in OF_WHAT_WAS_SAID}
    return Put(_with_images_left(left | _ERASED, images_of_row(item)), Version(item["version"]))


def put_without_images(item: Item, gone: Collection[str] = ()) -> Put:
    """Make the put of the row of an event that shows none of its stored images any more, and names those that are still
    to be removed: all but ``gone``."""
    left = [image for image in images_of_row(item) if image not in gone]
    hidden = dict(item)
    if item.get("blocks"):
        blocks = [block for block in json.loads(item["content"]) if "object" not in block]
        hidden["content"] = json.dumps(blocks, ensure_ascii=False)
    return Put(_with_images_left(hidden, left), Version(item["version"]))


def shows_images(item: Item) -> bool:
    return IMAGES_LEFT not in item and images_of_row(item) != []


def images_of_row(item: Item) -> list[str]:
    """List the objects of the images that an event shows, or that it no longer shows and that are still to be removed;
    each once."""
    if IMAGES_LEFT in item:
        return list(item[IMAGES_LEFT])
    blocks = json.loads(item["content"]) if item.get("blocks") else []
    return list(dict.fromkeys(block["object"] for block in blocks if "object" in block))


def _with_images_left(item: Item, images: Sequence[str]) -> Item:
    left = {name: value for name, value in item.items() if name != IMAGES_LEFT}
    return left | ({IMAGES_LEFT: list(images)} if images else {})


# --- retractions --------------------------------------------------------------------------------

RETRACTION = "retraction"
"""The type of these rows: the table's stream tells of a new one, and then its events leave the search index."""


def read_retraction(item: Item) -> Retraction:
    return _retraction.validate_python(item)


def put_retraction(keys: SessionKeys, retraction: Retraction, incarnation: int) -> Put:
    """Make the put of a retraction, in the index ``due`` (leave) until its events have left the search index, whatever
    became of the message that says so: the sweep sends it again, ten minutes later at the earliest. What the index
    projects stays the same meanwhile."""
    attributes = _retraction.dump_python(retraction, mode="json", exclude_none=True)
    attributes |= {"tenant_id": keys.tenant, "user_id": keys.user, "incarnation": incarnation}
    item = _item(keys.retraction(retraction.id), RETRACTION, carried(attributes))
    if not retraction.forgotten:
        due = datetime.fromisoformat(retraction.created_at) + 2 * SENT_WITHIN
        item |= due_keys(LEAVE, keys, retraction.id, due)
    return Put(item, expectation(retraction.version))


SENT_WITHIN = timedelta(minutes=10)
"""The time of the outbox: what it has not sent by then has been given up with its batch (docs/rules/jobs.md#lost)."""


# --- memories -----------------------------------------------------------------------------------


def read_memory(item: Item) -> Memory:
    if "restatements" in item:
        statements = [Statement(*one) for one in json.loads(item["restatements"])]
        return _memory.validate_python(item | {"restatements": statements})
    return _memory.validate_python(item)


def put_memory(keys: UserKeys, memory: Memory) -> Put:
    """Make the put of a memory's row with its index keys: ``rank`` while active, unless it is never recalled, or in the
    inbox; ``recent`` and ``due`` (embed) while ``rev_at`` is set, which the embed worker clears when the search index
    has all of it; ``recent``, too, while it is a fact that does not hold, or will end, once the search index has it;
    ``due`` (failed) while it is there without its vectors. What stays in its session is neither ranked nor told as not
    holding: those indexes are read for other sessions."""
    attributes = _memory.dump_python(memory, mode="json", exclude_none=True)
    attributes = _drop_usual_values(attributes, metadata={}, written_over=[], never_recall=False, about=[])
    attributes["provenance"] = _drop_usual_values(attributes["provenance"], left_out=[])
    if attributes.pop("restatements"):  # kept without the names of its fields: a row pays for each kilobyte
        statements = [astuple(one) for one in memory.restatements]
        attributes["restatements"] = json.dumps(statements, ensure_ascii=False, separators=(",", ":"))
    item = _item(keys.memory(memory.id), "memory", attributes)
    item = carried(item | {"tenant_id": keys.tenant, "user_id": keys.user})
    if memory.status is Status.ACTIVE and not memory.never_recall and memory.audience is None:
        rank = pack_rank(memory.kind, memory.priority, memory.last_used_at)
        item |= {"rank_pk": keys.partition, "rank_sk": rank_key(rank, memory.id)}
    elif memory.status is Status.INBOX:
        item |= {"rank_pk": keys.inbox, "rank_sk": inbox_key(memory.created_at, memory.id)}
    if memory.rev_at is not None:
        lacking = recent_key(memory.id, rev_at=memory.rev_at, words_at=memory.words_at)
        item |= {"recent_pk": keys.partition, "recent_sk": lacking}
    if is_unheld(memory) and memory.audience is None and not _lacks_words_yet(memory):
        item |= {"recent_pk": keys.partition, "recent_sk": unheld_key(memory.id, unheld_since(memory))}
    if memory.rev_at is not None:
        item |= due_keys("embed", keys, memory.id, datetime.fromisoformat(memory.rev_at))
    elif memory.embedding_state is EmbeddingState.FAILED:
        item |= due_keys("failed", keys, memory.id, datetime.fromisoformat(memory.created_at))
    # an id comes back behind its deletion with an import, and then at a later rev
    return Put(item, expectation(memory.version), first=version_of(memory.id, memory.rev) if memory.rev > 1 else 1)


def _lacks_words_yet(memory: Memory) -> bool:
    """Say whether a memory that holds has no words in the search index: until then it competes as a new row."""
    return memory.status is Status.ACTIVE and memory.rev_at is not None and memory.words_at is None


def put_deleted_memory(
    keys: UserKeys,
    memory: Memory,
    write_id: str,
    sources: Sources | None,
    *,
    by_a_person: bool = False,
    with_memory: str | None = None,
) -> Put:
    """Make the put of what is left of a deleted memory: its last rev, which the search index knows its deletion by, the
    id of the call that deleted it (ADR 4), and ``sources``, the parts of logs it was made from: packs may hold it yet.
    A person's deletion also keeps where a fact had been said, so that it is not stated of the same messages again;
    nothing of other kinds. ``with_memory``: the id of the one that it was made of, when that was to take it along."""
    attributes = {"rev": memory.rev, "write_id": write_id, **left_sources(sources)}
    if by_a_person:
        said = [[session, *span] for session, span in stated_ranges(memory)] + list(map(list, memory.written_over))
        attributes["unsaid"] = said if memory.kind is Kind.FACT else []
    if with_memory is not None:
        attributes["with_memory"] = with_memory
    return Put(_item(keys.deleted_memory(memory.id), "deleted_memory", attributes))


def read_unsaid(left: Item) -> Sources | None:
    """Read where a fact had been said that a person has deleted, nothing for another memory; None where no person has
    deleted it."""
    return _sources(left.get("unsaid"))


def was_deleted_with(left: Item, memory_id: str) -> bool:
    """Say whether a memory was deleted along with ``memory_id``, which it was made of."""
    return left.get("with_memory") == memory_id


def left_sources(sources: Sources | None) -> Item:
    """Give the attributes by which the row that is left of something deleted says what that was made from."""
    return {} if sources is None else {"made_of": [list(one) for one in sources]}


def read_left_sources(item: Item) -> Sources | None:
    """Read what something deleted was made from; None where its row does not say."""
    return _sources(item.get("made_of"))


def _sources(found: Any) -> Sources | None:
    return None if found is None else tuple((str(session), int(first), int(last)) for session, first, last in found)


LEAVE = "leave"
"""Kind of due work: a deletion or a retraction that the search index has not been told of, or has not heard."""


LEFT_DIGITS = 10
"""The digits of the fingerprint of each text: a memory of 64,000 characters has 32,000 texts at most, 350 KB. Two of a
trillion begin alike: then a vector that is still needed is made again."""


def put_leaving(
    keys: UserKeys, kind: str, identifier: str, rev: int, now: datetime, texts: Collection[str] = ()
) -> Put:
    """Make the put of the row that tells the search index of a deletion; it is written with the deletion, and the index
    worker takes it away, with the vectors of ``texts`` (fingerprints, of which it holds the first digits). In the index
    ``due`` (leave) so long: where the outbox has given up the batch that tells of the deletion, the sweep finds it, ten
    minutes later at the earliest."""
    named = {"id": identifier, "kind": kind, "rev": rev, "tenant_id": keys.tenant, "user_id": keys.user}
    left = {"texts": sorted({one[:LEFT_DIGITS] for one in texts})} if texts else {}
    item = _item(keys.leaving(kind, identifier, rev), "leaving", named | left)
    return Put(item | due_keys(LEAVE, keys, identifier, now + 2 * SENT_WITHIN))


def put_memory_place(keys: UserKeys, memory: Memory) -> Put:
    """Make the put of the place in the order of time of a memory whose id is not ours."""
    place = keys.memory_at(datetime.fromisoformat(memory.created_at), memory.id)
    return Put(_item(place, "memory_place", {"id": memory.id}))


def deleted_rev(item: Item | None) -> int:
    """Read the last rev of a deleted memory or document; 0 for an id that was never deleted."""
    return item["rev"] if item else 0


def put_place(place: Key, memory_id: str, current: Item | None) -> Put:
    """Make the put that notes that a memory is the fact that makes the statement of this place. ``current``: the row as
    it was read; only one of several writers of the same statement gets past it."""
    item = _item(place, "place", {"memory_id": memory_id})
    return Put(item, expectation(current["version"] if current else 0), first=version_of(memory_id))


# --- packs --------------------------------------------------------------------------------------


def read_manifest(item: Item) -> PackManifest:
    return manifest_of(_loaded(item, "layers", "left_out"))


def manifest_of(attributes: dict[str, Any]) -> PackManifest:
    return _pack.validate_python(attributes)


def manifest_attributes(manifest: PackManifest) -> dict[str, Any]:
    """Encode a manifest as plain JSON values."""
    attributes: dict[str, Any] = _pack.dump_python(manifest, mode="json", exclude_none=True)
    return _drop_usual_values(attributes, left_out=[], also_left_out=0)


def put_manifest(keys: UserKeys, manifest: PackManifest) -> Put:
    """Make the put of a pack's manifest. The bytes of a version are immutable, so a repeated write changes nothing;
    what they stand for may come to more."""
    attributes = manifest_attributes(manifest)
    attributes |= {name: stored_json(attributes[name]) for name in ("layers", "left_out") if name in attributes}
    return Put(_item(keys.of_session(manifest.session_id).pack(manifest.pack_version), "pack", attributes))


# --- summaries and documents -------------------------------------------------------------------


def read_summary(item: Item) -> Summary:
    return _summary.validate_python(item)


def put_summary(keys: SessionKeys, summary: Summary) -> Put:
    attributes = _summary.dump_python(summary, mode="json", exclude_none=True)
    return Put(_item(keys.summary(summary.epoch), "summary", attributes), expectation(summary.version))


def put_stand_in(keys: SessionKeys, summary: Summary) -> Put:
    """Make the put of a summary that is no compaction's, where it stands for events."""
    key = keys.stand_in(summary.epoch)
    return Put(dict(put_summary(keys, summary).item) | {"pk": key.pk, "sk": key.sk}, Expect.ANY)


def put_artifact(keys: UserKeys, document: Document) -> Put:
    """Make the put of an artifact as one row with its text: no search reads it, and it is never revised. Every other
    document has the rows of ``store/documents.py``."""
    attributes = _document.dump_python(document, mode="json", exclude_defaults=True)
    return Put(_item(keys.document(document.path), "document", attributes), expectation(document.version))


# --- jobs ---------------------------------------------------------------------------------------

JOB_DAYS = 30
KEPT_DAYS = {"erase": 400}
"""The days for which jobs of a kind can be read, where it is not ``JOB_DAYS``: receipts of erasures outlive any backup
(*chosen*)."""


def read_job(item: Item) -> Job:
    return _job.validate_python(_loaded(item, "result", "state"))


def put_job(keys: Keys, job: Job) -> Put:
    """Make the put of a job. One with ``due_at`` is in the index ``due`` until it has ended. What the index projects
    stays the same meanwhile: DynamoDB charges it for entering and leaving only."""
    item = _item(keys.job(job.id), "job", _job_attributes(job) | {"expires_at": job_expires_at(job)})
    if job.due_at is not None and not job.ended:
        user, at = UserKeys(keys.tenant, job.user_id or NOBODY), datetime.fromisoformat(job.due_at)
        item |= {"type": QUEUED_JOB, "tenant_id": keys.tenant} | due_keys(QUEUED, user, job.id, at)
    return Put(item, expectation(job.version))


def _job_attributes(job: Job) -> Item:
    attributes: Item = _job.dump_python(job, mode="json", exclude_none=True)
    return attributes | {name: stored_json(attributes[name]) for name in ("result", "state")}


def job_expires_at(job: Job) -> int:
    """Give the time when a job's row goes, and what is kept beside it, in seconds since 1970."""
    days = KEPT_DAYS.get(job.kind, JOB_DAYS)
    return int((datetime.fromisoformat(job.created_at) + timedelta(days=days)).timestamp())


def read_job_list(item: Item) -> list[Any]:
    entries: list[Any] = loaded_json(item["entries"])
    return entries


def put_job_list(keys: UserKeys, job: Job, name: str, part: str, entries: Sequence[Any]) -> Put:
    """Make the put of a part of a job's list. ``part``: its name, which follows from the entries, so that it is never
    written otherwise."""
    attributes = {"user_id": keys.user, "expires_at": job_expires_at(job), "entries": stored_json(entries)}
    return Put(_item(keys.job_list(job.id, name, part), "job_list", attributes))


QUEUED_JOB = "queued_job"
"""The type of a job's row that the outbox is to send."""
QUEUED = "job"
"""Kind of due work: such a job, until it has ended."""


def put_queued_job(keys: Keys, job: Job, incarnation: int) -> Put:
    """Make the put of a new job whose message is sent when the table's stream tells of this row, and again by the sweep
    when that has not led to its end: from ``due_at`` on, else after ten minutes."""
    due_at = job.due_at or iso(datetime.fromisoformat(job.created_at) + SENT_WITHIN)
    put = put_job(keys, replace(job, due_at=due_at, incarnation=incarnation))
    return Put(carried(dict(put.item)), Expect.ABSENT)


# --- due work -----------------------------------------------------------------------------------


def read_reflect_due(item: Item | None) -> ReflectDue | None:
    return _reflect_due.validate_python(item) if item else None


def put_reflect_due(keys: UserKeys, due: ReflectDue, token: str = "") -> Put:
    """Make the put that notes that a night may condense a user's rows. Through the index ``due`` these rows say of
    which users a tenant's night is. ``token``: of its own for each row that may be new. A row goes when a night is over
    and comes back, and is not to be taken for the one before."""
    item = _item(keys.reflect_due, "reflect_due", _reflect_due.dump_python(due, mode="json", exclude_none=True))
    item |= {"tenant_id": keys.tenant, "user_id": keys.user}
    item |= {"due_pk": keys.reflect_dues, "due_sk": reflect_due_key(due.since, keys)}
    return Put(item, expectation(due.version), first=version_of(token))


def due_keys(kind: str, keys: UserKeys, identifier: str, at: datetime) -> Item:
    """Make the index keys of a piece of due work: a shard by user, a 10 minute time bucket, and who it is."""
    return {"due_pk": due_partition(kind, due_shard(keys)), "due_sk": due_key(time_bucket(at), keys, identifier)}


def time_bucket(at: datetime) -> str:
    """Give the 10 minute bucket that holds ``at``: ``2026-03-10T09:30``."""
    at = at.astimezone(UTC)
    return at.replace(minute=at.minute // 10 * 10, tzinfo=None).isoformat(timespec="minutes")


def live(item: Item | None, now: datetime) -> Item | None:
    """Give the row unless its time to live is over (the store removes such rows late)."""
    if item is None or item.get("expires_at", float("inf")) <= now.timestamp():
        return None
    return item
