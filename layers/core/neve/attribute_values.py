"""Values as DynamoDB types them: ``{"S": "text"}``, ``{"N": "1"}``. The one codec for the table and for its stream.

DynamoDB has one number type and forgets that ``2.0`` was a float. A row tells int from float, on every engine. So a
float with an integer value is kept as a set of one number (``{"NS": ["2"]}``), which nothing else in a row ever is."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from neve.ports.table import Item

TypedValue = Mapping[str, Any]
TypedItem = Mapping[str, TypedValue]

PUT_ID: Final = "~put"
"""The id of the write that made a row: an attribute of the DynamoDB engine's own, which no reader of a row sees."""


def typed_item(item: Mapping[str, Any], binary: Callable[[bytes], Any] = bytes) -> dict[str, Any]:
    """Type the values of a row. ``binary`` turns bytes into what stands behind ``B``: bytes for a boto3 client. Raises
    TypeError for a value that no row can hold (None first of all)."""
    return {
        name: {"S": value} if isinstance(value, str) else typed_value(value, binary)  # nearly all are text
        for name, value in item.items()
    }


def typed_value(value: Any, binary: Callable[[bytes], Any] = bytes) -> dict[str, Any]:
    """Type one value, as ``typed_item`` does it."""
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, int):
        return {"N": str(value)}
    if isinstance(value, float):
        return {"NS": [repr(value).removesuffix(".0")]} if value.is_integer() else {"N": repr(value)}
    if isinstance(value, bytes):
        return {"B": binary(value)}
    if isinstance(value, dict):
        return {"M": typed_item(value, binary)}
    if isinstance(value, list):
        return {"L": [typed_value(part, binary) for part in value]}
    raise TypeError(f"a row cannot hold a {type(value).__name__}")


def plain_item(image: TypedItem) -> Item:
    """Give what ``typed_item`` was given. ``B`` may hold bytes (a boto3 client's answer) or base64 text (an event).
    Raises ValueError for a type that no row holds."""
    return {name: typed["S"] if "S" in typed else plain_value(typed) for name, typed in image.items() if name != PUT_ID}


def plain_value(typed: TypedValue) -> Any:
    """Read one value, as ``plain_item`` does it."""
    [(kind, value)] = typed.items()
    if kind in ("S", "BOOL"):
        return value
    if kind == "N":
        return _number(value)
    if kind == "NS":
        [number] = value
        return float(number)
    if kind == "B":
        return value if isinstance(value, bytes) else base64.b64decode(value)
    if kind == "L":
        return [plain_value(part) for part in value]
    if kind == "M":
        return {name: plain_value(part) for name, part in value.items()}
    raise ValueError(f"a row never holds the type {kind}")


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        exact = Decimal(text)  # an integer in the form 1E+20 is one, too
        return int(exact) if exact == exact.to_integral_value() else float(text)
