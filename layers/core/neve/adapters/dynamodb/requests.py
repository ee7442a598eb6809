"""Calls of the Table port in DynamoDB's words."""

from __future__ import annotations

from typing import Any

from neve.adapters.table_rules import INDEX_KEYS, MAX_PARTITION_KEY_BYTES, MAX_SORT_KEY_BYTES
from neve.attribute_values import PUT_ID, TypedItem, plain_item, typed_item
from neve.ports.table import (
    Check,
    Expect,
    Expectation,
    Index,
    Item,
    Key,
    Put,
    Version,
    WriteOp,
    unreadable_item,
    version_after,
)

Condition = dict[str, Any]
"""``ConditionExpression`` with its names and values; empty for none."""


def typed_key(key: Key) -> dict[str, Any]:
    return {"pk": {"S": key.pk}, "sk": {"S": key.sk}}


def may_exist(key: Key) -> bool:
    """Say whether a row could have this key. The service takes a question about any other for a malformed call."""
    return 1 <= len(key.pk.encode()) <= MAX_PARTITION_KEY_BYTES and 1 <= len(key.sk.encode()) <= MAX_SORT_KEY_BYTES


def readable_item(image: TypedItem) -> Item:
    """Read a row, or what is left to tell of one that holds what no row holds."""
    try:
        return plain_item(image)
    except (ValueError, TypeError, ArithmeticError):
        version = image.get("version", {}).get("N", "0")
        return unreadable_item(Key(image["pk"]["S"], image["sk"]["S"]), int(version) if version.isdecimal() else 0)


# --- queries ------------------------------------------------------------------------------------


def row_order(index: Index) -> tuple[str, ...]:
    """Name the attributes whose values tell a row's place in an index."""
    sort = INDEX_KEYS[index][1]
    return ("sk",) if index is Index.MAIN else (sort, "pk", "sk")


def key_condition(
    partition: str, index: Index, prefix: str | None, between: tuple[str, str] | None
) -> dict[str, Any] | None:
    """Give the parameters that select rows; None when no row can match. Empty texts and a range that ends before it
    begins are no errors here, but they are to the service."""
    if not 1 <= len(partition.encode()) <= MAX_PARTITION_KEY_BYTES:
        return None
    names, values = {"#p": INDEX_KEYS[index][0]}, {":p": {"S": partition}}
    conditions = ["#p = :p"]
    if prefix:
        conditions.append("begins_with(#s, :low)")
        values[":low"] = {"S": prefix}
    if between is not None:
        low, high = between
        if not high or low.encode() > high.encode():
            return None
        conditions.append("#s BETWEEN :low AND :high" if low else "#s <= :high")
        values |= {":low": {"S": low}, ":high": {"S": high}} if low else {":high": {"S": high}}
    if len(conditions) > 1:
        names["#s"] = INDEX_KEYS[index][1]
    return {
        "KeyConditionExpression": " AND ".join(conditions),
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }


def place(partition: str, index: Index, position: tuple[str, ...]) -> dict[str, Any]:
    """Give the ``ExclusiveStartKey`` behind the row at ``position`` (values of ``row_order``)."""
    values = dict(zip(row_order(index), position, strict=True)) | {INDEX_KEYS[index][0]: partition}
    return {name: {"S": value} for name, value in values.items()}


# --- writes -------------------------------------------------------------------------------------


def new_image(put: Put, put_id: bytes | None = None) -> dict[str, Any]:
    """Give the row as the put leaves it. Raises ValueError for an attribute that is the engine's own."""
    if PUT_ID in put.item:
        raise ValueError(f"{PUT_ID} is an attribute of the engine's own")
    image = typed_item({**put.item, "version": version_after(put)})
    return image if put_id is None else image | {PUT_ID: {"B": put_id}}


def condition(expect: Expectation) -> Condition:
    if isinstance(expect, Version):
        return {
            "ConditionExpression": "#v = :v",
            "ExpressionAttributeNames": {"#v": "version"},
            "ExpressionAttributeValues": {":v": {"N": str(expect.n)}},
        }
    return {"ConditionExpression": "attribute_not_exists(pk)"} if expect is Expect.ABSENT else {}


def transact_item(table: str, op: WriteOp) -> dict[str, Any]:
    if isinstance(op, Put):
        return {"Put": {"TableName": table, "Item": new_image(op), **condition(op.expect)}}
    kind = "ConditionCheck" if isinstance(op, Check) else "Delete"
    return {kind: {"TableName": table, "Key": typed_key(op.key), **condition(op.expect)}}
