"""The rows that say which documents stand in every pack (docs/rules/pack.md#pins). Their keys are in the order of the
pack, so a build reads as many of them as can fit and none of the other documents."""

from __future__ import annotations

from dataclasses import replace

from pydantic import TypeAdapter

from neve.domain.documents.pins import PLACES, Pin, pin_of
from neve.domain.records.documents import Document
from neve.ports.errors import Conflict
from neve.ports.table import Delete, Expect, Item, Key, Put, Table, WriteOp
from neve.store import rows
from neve.store.keys import UserKeys

MAX_PINS = 500
"""Rows that a pack is chosen from (*chosen*): more than fit its layers by default, at ten tokens each. 250 KB at most,
most of it what is shown of people."""

_pin = TypeAdapter(Pin)


def read_pin(item: Item) -> Pin:
    return _pin.validate_python(item)


def pins_of(table: Table, keys: UserKeys) -> list[Pin]:
    """Read the first ``MAX_PINS``, in the order of the pack. One strongly consistent query. Raises StoreUnavailable."""
    page = table.query(keys.partition, prefix=keys.pins, limit=MAX_PINS)
    return [read_pin(item) for item in page.items]


def pin_ops(keys: UserKeys, before: Document | None, after: Document | None) -> list[WriteOp]:
    """Make the operations that a transaction which writes or removes a document does to its pin, at most two.
    ``before`` needs no text; ``after`` does where it is a person. The head of the same transaction decides, so nothing
    is expected."""
    old, new = (pin_of(one) if one else None for one in (before, after))
    ops: list[WriteOp] = []
    if new is not None:
        ops.append(_put_pin(keys, new))
    if old is not None and (new is None or _key(keys, old) != _key(keys, new)):
        ops.append(Delete(_key(keys, old), Expect.ANY))
    return ops


def note_pins(table: Table, keys: UserKeys, before: Document | None, after: Document, at: str) -> None:
    """Note in the user's head, before the first pin is written, that there may be one: packs of other users ask for
    none. One read of a document that had no pin before. ``at``: now. Raises Conflict when the head was written, so that
    a caller that has read it reads it again."""
    if pin_of(after) is None or (before is not None and pin_of(before) is not None):
        return
    head = rows.read_head(table.get(keys.head))
    if head.pinned or head.state != "active":
        return
    noted = replace(head, pinned=True, created_at=head.created_at or at)
    table.write([rows.put_head(keys, noted)])
    raise Conflict


def _put_pin(keys: UserKeys, pin: Pin) -> Put:
    attributes = _pin.dump_python(pin, mode="json", exclude_none=True)
    key = _key(keys, pin)
    return Put({"pk": key.pk, "sk": key.sk, "type": "pin", **attributes})


def _key(keys: UserKeys, pin: Pin) -> Key:
    return keys.pin(PLACES.index(pin.place), pin.order, pin.path)
