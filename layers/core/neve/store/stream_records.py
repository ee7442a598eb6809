"""A DynamoDB stream record as the change of one row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neve.attribute_values import plain_item
from neve.ports.table import Item


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one row. ``old`` None: inserted. ``new`` None: removed. ``sequence_number`` names it in a partial
    batch answer."""

    sequence_number: str
    old: Item | None
    new: Item | None

    @property
    def item(self) -> Item:
        """Give the row as it is, or as it last was."""
        return self.new or self.old or {}


def read_change(record: Mapping[str, Any]) -> Change:
    """Read a record of a stream with NEW_AND_OLD_IMAGES. Raises KeyError and ValueError for anything else."""
    changed = record["dynamodb"]
    old, new = changed.get("OldImage"), changed.get("NewImage")
    if old is None and new is None:
        raise ValueError("a stream record without images")
    return Change(changed["SequenceNumber"], old and plain_item(old), new and plain_item(new))
