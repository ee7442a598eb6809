"""The Table port on DynamoDB."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from neve.adapters.aws.errors import error_code
from neve.adapters.dynamodb.errors import attempts, cancelled, table_errors
from neve.adapters.dynamodb.requests import (
    condition,
    key_condition,
    may_exist,
    new_image,
    place,
    readable_item,
    row_order,
    transact_item,
    typed_key,
)
from neve.adapters.table_cursor import query_name, read_place
from neve.adapters.table_rules import check_each, check_write
from neve.attribute_values import PUT_ID
from neve.domain.cursors import make_cursor
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.table import Delete, Expect, Index, Item, ItemPage, Key, Put, WriteOp, key_of

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

KEYS_A_BATCH = 100
"""The most that one BatchGetItem takes."""
PUT_ID_BYTES = 8
PUTS_AT_ONCE = 10
"""Puts that ``write_each`` sends at a time (*chosen*): a third of the client's connections."""


class ConditionFailed(Exception):
    """The condition of a write did not hold. ``stored``: the row, typed, on which a condition failed; empty when there
    is none."""

    def __init__(self, stored: Mapping[str, Any]) -> None:
        super().__init__("the condition of a single write failed")
        self.stored = stored


class DynamoDbTable:
    """One table with the indexes of ``table_rules.INDEX_KEYS``. Safe for threads, as the client is.

    **Who repeats what.** The client repeats one request by itself (throttling, 5xx, transport) within the attempts and
    timeouts that it was made with; standard retry mode does so with jitter. Here is repeated what the client does not
    take for a failure: unprocessed keys, and conflicts between transactions. What is left is StoreUnavailable.

    **A lost answer.** The client's own retry sends a write again that may have been carried out, and its condition then
    fails on itself. No caller may take that for another writer's work:

    * A transaction carries a request token; the service answers the repetition as it did the first time (10 minutes).
    * A single conditional put leaves a random id on the row. A failed condition brings the stored row along, and one
      with our id is our own write: it has succeeded. Only when another writer has already moved the row on is it a
      Conflict, and the caller finds its write, or what became of it, by reading again.
    * A single conditional delete or check is sent as a transaction: of a deleted row nothing is left to recognise.
    * An unconditional put or delete may be repeated.

    When the client gives up without an answer the outcome is unknown, and StoreUnavailable says so. Where the service
    ignores request tokens (a stand-in, or a repetition after 10 minutes) a repeated transaction is a Conflict; use
    cases find their own write then (ADR 4)."""

    def __init__(self, client: DynamoDBClient, table_name: str) -> None:
        self._client = client
        self._name = table_name

    def get(self, key: Key) -> Item | None:
        if not may_exist(key):
            return None
        with table_errors():
            answer = self._client.get_item(TableName=self._name, Key=typed_key(key), ConsistentRead=True)
        image = answer.get("Item")
        return readable_item(image) if image else None

    def get_many(self, keys: Sequence[Key], *, eventual: bool = False) -> dict[Key, Item]:
        """Read each row, consistently unless ``eventual``; rows of one call may be of different moments."""
        wanted = [key for key in dict.fromkeys(keys) if may_exist(key)]
        found: dict[Key, Item] = {}
        for start in range(0, len(wanted), KEYS_A_BATCH):
            for item in self._get_batch(wanted[start : start + KEYS_A_BATCH], eventual=eventual):
                found[key_of(item)] = item
        return found

    def query(
        self,
        partition: str,
        *,
        index: Index = Index.MAIN,
        prefix: str | None = None,
        between: tuple[str, str] | None = None,
        reverse: bool = False,
        limit: int,
        cursor: str | None = None,
    ) -> ItemPage:
        """Read a page, consistent on MAIN. Asks for one row more than ``limit``, so that the last page is known to be
        the last."""
        if limit < 1:
            raise ValueError(f"limit must be at least 1, is {limit}")
        if prefix is not None and between is not None:
            raise ValueError("a query takes a prefix or a range, not both")
        query = query_name(partition, index, prefix, between, reverse)
        selected = partition, prefix, between, reverse
        start = None if cursor is None else place(partition, index, read_place(cursor, index, selected))
        selection = key_condition(partition, index, prefix, between)
        if selection is None:
            return ItemPage([], None)
        request: dict[str, Any] = {"TableName": self._name, "ScanIndexForward": not reverse, **selection}
        request |= {"ConsistentRead": True} if index is Index.MAIN else {"IndexName": index.value}
        found = self._read_rows(request, start, limit + 1)
        items = [readable_item(image) for image in found[:limit]]
        more = len(found) > limit
        following = make_cursor(query, [found[limit - 1][name]["S"] for name in row_order(index)]) if more else None
        return ItemPage(items, following)

    def write(self, ops: Sequence[WriteOp]) -> None:
        """Write a transaction. One put, or one unconditional delete, is a plain write at half the price of a
        transaction."""
        check_write(ops)
        first = ops[0]
        if len(ops) > 1:
            self._transact(ops)
        elif isinstance(first, Put):
            self._put(first)
        elif isinstance(first, Delete) and first.expect is Expect.ANY:
            self._write_one(lambda: self._client.delete_item(TableName=self._name, Key=typed_key(first.key)))
        else:
            self._transact(ops)

    def write_each(self, puts: Sequence[Put]) -> list[int]:
        check_each(puts)
        if not puts:
            return []
        with ThreadPoolExecutor(min(len(puts), PUTS_AT_ONCE)) as pool:
            begun = [pool.submit(copy_context().run, self._done, put) for put in puts]
        return [place for place, one in enumerate(begun) if not one.result()]

    # --- reading --------------------------------------------------------------------------------

    def _get_batch(self, keys: Sequence[Key], *, eventual: bool) -> list[Item]:
        """Read a batch; every round but the first asks for what the service left out: it answers with at most 16 MB,
        and with less when it is throttled."""
        wanted: list[Any] = [typed_key(key) for key in keys]
        images: list[Any] = []
        for _ in attempts():
            with table_errors():
                answer = self._client.batch_get_item(
                    RequestItems={self._name: {"Keys": wanted, "ConsistentRead": not eventual}}
                )
            images += answer["Responses"].get(self._name, [])
            wanted = list(answer["UnprocessedKeys"].get(self._name, {"Keys": []})["Keys"])
            if not wanted:
                return [readable_item(image) for image in images]
        raise StoreUnavailable("table", f"{len(wanted)} keys left unprocessed")

    def _read_rows(self, request: dict[str, Any], start: dict[str, Any] | None, wanted: int) -> list[Any]:
        """Read up to ``wanted`` rows, behind ``start``. The service ends a page at 1 MB, whatever was asked for."""
        found: list[Any] = []
        while True:
            behind: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
            with table_errors():
                answer = self._client.query(**request, **behind, Limit=wanted - len(found))
            found += answer["Items"]
            start = answer.get("LastEvaluatedKey")
            if start is None or len(found) >= wanted:
                return found

    # --- writing --------------------------------------------------------------------------------

    def _put(self, put: Put) -> None:
        put_id = None if put.expect is Expect.ANY else secrets.token_bytes(PUT_ID_BYTES)
        request = {"TableName": self._name, "Item": new_image(put, put_id), **condition(put.expect)}
        if put_id is not None:
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        try:
            self._write_one(lambda: self._client.put_item(**request))
        except ConditionFailed as refused:
            if refused.stored.get(PUT_ID) != {"B": put_id}:
                raise Conflict([0]) from refused

    def _done(self, put: Put) -> bool:
        try:
            self._put(put)
        except Conflict:
            return False
        return True

    def _write_one(self, write: Callable[[], object]) -> None:
        """Write one row, which a transaction under way on that row refuses. Raises ConditionFailed."""
        for _ in attempts():
            with table_errors():
                try:
                    write()
                    return
                except ClientError as error:
                    code = error_code(error)
                    if code == "ConditionalCheckFailedException":
                        stored: Any = error.response.get("Item", {})
                        raise ConditionFailed(stored) from error
                    if code != "TransactionConflictException":
                        raise
        raise Conflict

    def _transact(self, ops: Sequence[WriteOp]) -> None:
        items: list[Any] = [transact_item(self._name, op) for op in ops]
        token = str(uuid.uuid4())  # one for all attempts: an earlier one may have been carried out
        unavailable: StoreUnavailable | None = None
        for _ in attempts():
            with table_errors():
                try:
                    self._client.transact_write_items(TransactItems=items, ClientRequestToken=token)
                    return
                except ClientError as error:
                    if error_code(error) != "TransactionCanceledException":
                        raise
                    unavailable = cancelled(error)
        raise unavailable or Conflict
