"""Keeps what a model thought in the open turn (docs/rules/sessions.md#thinking) as a row for each event: the message
that ends the turn deletes it without a read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from neve.domain.records.sessions import Event, SessionHead
from neve.ports.table import Key, Put, Table
from neve.store.keys import SessionKeys
from neve.store.rows import loaded_json, stored_json

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
