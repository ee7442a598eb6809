"""The rows that a session keeps beside its log.

Epoch, marker and indexed row stand beside each other, so that one query reads all three: it is charged for each 4 KB of
them together, where a batch read is charged for each row (docs/access-patterns.md). What a model thought in the open
turn (docs/rules/sessions.md#thinking) is a row for each event: the message that ends the turn deletes it without a
read. Compiled prompts are beside the recall ledger, and gone after seven days. The messages that the session has seen
are 32 rows by how their digests begin: a whole chat is looked up in a read of at most as many."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import TypeAdapter

from neve.domain.messages.known import Occurrence
from neve.domain.records.prompts import PromptRecord
from neve.domain.records.sessions import Event, SessionHead, Spans
from neve.domain.sessions.spans import holds
from neve.ports.table import Item, Key, Put, Table, key_of
from neve.store.keys import MESSAGES, SESSION_STATE, SessionKeys, UserKeys
from neve.store.partitions import all_rows
from neve.store.rows import expectation, loaded_json, stored_json

ROWS = 3


def read_state(table: Table, keys: SessionKeys) -> dict[Key, Item]:
    """Read those of the three rows that are there; one consistent query. Raises StoreUnavailable."""
    return {key_of(item): item for item in table.query(keys.partition, prefix=keys.state, limit=ROWS).items}


def state_rows(table: Table, keys: UserKeys, kind: Literal["epoch", "marker", "indexed"]) -> Iterator[Item]:
    """Read one of the three of each session of a user, by session id; all three are read. Raises StoreUnavailable."""
    return (item for item in all_rows(table, keys.partition, prefix=SESSION_STATE) if item["type"] == kind)


Thinking = Mapping[int, list[dict[str, Any]]]
"""Blocks as a provider sent them, by the seq of their event."""


def put_thinking(keys: SessionKeys, seq: int, blocks: Sequence[Mapping[str, Any]]) -> Put:
    key = keys.thinking(seq)
    return Put({"pk": key.pk, "sk": key.sk, "type": "thinking", "seq": seq, "blocks": stored_json(list(blocks))})


def shown_thinking(head: SessionHead) -> list[int]:
    """Give the seqs of the open turn's events at which the model thought."""
    return [seq for seq in head.thinking if seq > head.asked_seq]


def read_thinking(table: Table, keys: SessionKeys, seqs: Iterable[int]) -> Thinking:
    """Read the thinking at these events in one batch read, none for no seq. Raises StoreUnavailable."""
    wanted: list[Key] = [keys.thinking(seq) for seq in seqs]
    found = table.get_many(wanted) if wanted else {}
    return {int(item["seq"]): loaded_json(item["blocks"]) for item in found.values()}


def with_thinking(events: Iterable[Event], thinking: Thinking) -> list[Event]:
    """Give the events with what was thought at them in ``event_data.thinking``, where it was sent."""
    return [
        replace(event, event_data=event.event_data | {"thinking": thinking[event.seq]})
        if event.seq in thinking and not event.erased
        else event
        for event in events
    ]


RETENTION = timedelta(days=7)
_record = TypeAdapter(PromptRecord)


def put_prompt(keys: UserKeys, prompt: PromptRecord, incarnation: int) -> Put:
    """Make the put of a compiled prompt. A new one need not be durable, as no caller was promised it; a reported one
    was."""
    key = keys.prompt(prompt.id)
    attributes = _record.dump_python(prompt, mode="json", exclude_none=True, exclude_defaults=True)
    attributes.pop("version", None)
    item: Item = {
        "pk": key.pk,
        "sk": key.sk,
        "type": "prompt",
        "id": prompt.id,
        "incarnation": incarnation,
        "prompt": json.dumps(attributes, separators=(",", ":")),
        "expires_at": int((datetime.fromisoformat(prompt.at) + RETENTION).timestamp()),
    }
    return Put(item, expectation(prompt.version), durable=prompt.reported is not None)


def read_prompt(item: Item) -> PromptRecord:
    return _record.validate_python(json.loads(item["prompt"]) | {"version": item["version"]})


PARTS = "0123456789abcdefghijklmnopqrstuv"
DELETED = ""
"""The attribute where what was deleted stands without its digest: the part alone tells 5 bits of it, and no words."""
Seen = Mapping[str, Sequence[Occurrence]]


def digest_part(digest: str) -> str:
    """Name the row that holds a digest. ``digest``: hexadecimal."""
    return PARTS[int(digest[:2], 16) % len(PARTS)]


def digest_rows(keys: SessionKeys, digests: Iterable[str]) -> list[Key]:
    return [keys.messages(part) for part in sorted(set(map(digest_part, digests)))]


def read_seen(keys: SessionKeys, found: Mapping[Key, Item], digests: Collection[str]) -> dict[str, list[Occurrence]]:
    """Give those of the digests that the rows have, each with what was deleted of its part."""
    seen: dict[str, list[Occurrence]] = {}
    for digest in digests:
        item = found.get(keys.messages(digest_part(digest)))
        if item is not None:
            parts = _loaded(item)
            seen[digest] = sorted([*parts.get(digest, ()), *parts.get(DELETED, ())], key=lambda one: one.seq)
    return seen


def put_seen(keys: SessionKeys, found: Mapping[Key, Item], new: Mapping[str, Sequence[Occurrence]]) -> list[Put]:
    """Make the puts of the rows with what is ``new``. ``found``: the rows as they were read."""
    puts = []
    for key in digest_rows(keys, new):
        item = found.get(key)
        parts = _loaded(item) if item else {}
        for digest, places in new.items():
            if keys.messages(digest_part(digest)) == key:
                parts[digest] = [*parts.get(digest, ()), *places]
        puts.append(_put(key, parts, item))
    return puts


def forgotten(table: Table, keys: SessionKeys, deleted: Spans) -> list[Put]:
    """Make the puts of the rows that say less when the digests of what was deleted are left out. One query. Raises
    StoreUnavailable."""
    puts = []
    for item in all_rows(table, keys.log, prefix=MESSAGES):
        parts = _loaded(item)
        left: dict[str, list[Occurrence]] = {DELETED: list(parts.pop(DELETED, ()))}
        for digest, places in parts.items():
            left[digest] = [one for one in places if not holds(deleted, one.seq)]
            left[DELETED] += [one for one in places if holds(deleted, one.seq)]
        if len(left[DELETED]) > len(_loaded(item).get(DELETED, ())):
            puts.append(_put(Key(item["pk"], item["sk"]), left, item))
    return puts


def _loaded(item: Item) -> dict[str, list[Occurrence]]:
    stored: dict[str, list[list[int | str]]] = loaded_json(item["seen"])
    return {digest: [_occurrence(one) for one in places] for digest, places in stored.items()}


def _occurrence(stored: Sequence[int | str]) -> Occurrence:
    own = stored[2] if len(stored) > 2 else None
    return Occurrence(int(stored[0]), int(stored[1]), str(own) if own is not None else None)


def _put(key: Key, parts: Mapping[str, Sequence[Occurrence]], item: Item | None) -> Put:
    stored = {
        digest: [[one.seq, one.events, *([one.own_id] if one.own_id else [])] for one in places]
        for digest, places in parts.items()
        if places
    }
    row: Item = {"pk": key.pk, "sk": key.sk, "type": "messages", "seen": stored_json(stored)}
    return Put(row, expectation(item["version"] if item else 0))
