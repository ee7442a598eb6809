"""A DynamoDB stream record as the change of one row."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neve.ports import Item


@dataclass(frozen=True, slots=True)
class Change:
    """``old`` None: inserted. ``new`` None: removed. ``sequence_number`` names it in a partial batch answer."""

    sequence_number: str
    old: Item | None
    new: Item | None

    @property
    def item(self) -> Item:
        """The row as it is, or as it last was."""
        return self.new or self.old or {}


def read_change(record: Mapping[str, Any]) -> Change:
    """A record of a stream with NEW_AND_OLD_IMAGES. Raises KeyError and ValueError for anything else."""
    changed = record["dynamodb"]
    old, new = changed.get("OldImage"), changed.get("NewImage")
    if old is None and new is None:
        raise ValueError("a stream record without images")
    return Change(changed["SequenceNumber"], _image(old), _image(new))


def _image(image: Mapping[str, Any] | None) -> Item | None:
    return None if image is None else {name: _value(typed) for name, typed in image.items()}


def _value(typed: Mapping[str, Any]) -> Any:
    [(kind, value)] = typed.items()
    if kind == "N":
        return _number(value)
    if kind == "B":
        return base64.b64decode(value)
    if kind == "L":
        return [_value(part) for part in value]
    if kind == "M":
        return {name: _value(part) for name, part in value.items()}
    if kind in ("S", "BOOL"):
        return value
    raise ValueError(f"a row never holds the type {kind}")


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
