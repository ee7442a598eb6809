"""What this process wrote to DynamoDB: it saves the reader of the table's stream most of its questions."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from local.aws.short_way import REPEATED

if TYPE_CHECKING:
    from boto3 import Session

AFTER_WRITE_S = 0.5
"""So long behind a write of this process a reader asks again and again: the stream is a moment behind its table."""
OPERATIONS = ("BatchWriteItem", "DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem")
WRITE = "neve_write"
"""Names a write in botocore's context of the call."""

Row = tuple[str, str]
"""Its key."""
UNKNOWN: Row = ("", "")
"""Of a call that is not read here."""


class Writes:
    """Without it a reader would have to ask five times a second for ever. ``count``: the writes that have ended.

    A write that changes nothing leaves nothing in the stream: the reader looks for it until it has caught up."""

    def __init__(self) -> None:
        self.moved = threading.Condition()
        self.count = 0
        self._begun = 0
        self._watching = False
        self._last = -math.inf
        self._unread: dict[int, list[Row]] = {}
        self._under_way: set[int] = set()

    def watch(self, session: Session) -> None:
        """Every client that is made from the session from now on, which are all that write to the table."""
        self._watching = True
        for operation in OPERATIONS:
            session.events.register(f"provide-client-params.dynamodb.{operation}", _note_rows)
            session.events.register(f"before-call.dynamodb.{operation}", self._begin)
            session.events.register(f"after-call.dynamodb.{operation}", self._end)
            session.events.register(f"after-call-error.dynamodb.{operation}", self._fail)

    @property
    def recent(self) -> bool:
        return time.monotonic() < self._last + AFTER_WRITE_S

    @property
    def ended(self) -> int | None:
        """How many there were; None while one is going on, or when nobody watches."""
        with self.moved:
            return self.count if self._watching and self._begun == self.count else None

    # --- what has been read of them -----------------------------------------------------------------

    @property
    def all_read(self) -> bool:
        """False also while one is going on, and when nobody watches."""
        with self.moved:
            return self._watching and not self._unread

    def read(self, row: Row) -> None:
        """A change of this row has come out of the stream."""
        with self.moved:
            for write, rows in self._unread.items():
                if row in rows:
                    rows.remove(row)
                    if not rows:
                        del self._unread[write]
                    return

    def unread(self) -> Collection[int]:
        """Those that have ended."""
        with self.moved:
            return self._unread.keys() - self._under_way

    def forget(self, writes: Collection[int]) -> None:
        """Nothing of them will come out of the stream any more."""
        with self.moved:
            for write in writes:
                self._unread.pop(write, None)

    # --- botocore's events --------------------------------------------------------------------------

    def _begin(self, context: dict[str, Any], **_: Any) -> None:
        with self.moved:
            self._begun += 1
            self._unread[self._begun] = context.pop(WRITE)
            self._under_way.add(self._begun)
            context[WRITE] = self._begun

    def _end(self, context: Mapping[str, Any], parsed: Mapping[str, Any], **_: Any) -> None:
        """A refusal changes nothing, if it is of the first attempt."""
        metadata = parsed["ResponseMetadata"]
        first = metadata.get("RetryAttempts", 0) == 0 and not context.get(REPEATED)
        self._over(context[WRITE], changed=not (first and 400 <= metadata["HTTPStatusCode"] < 500))

    def _fail(self, context: Mapping[str, Any], **_: Any) -> None:
        """Whether it was carried out nobody knows."""
        self._over(context[WRITE], changed=True)

    def _over(self, write: int, *, changed: bool) -> None:
        with self.moved:
            self._under_way.discard(write)
            if not changed:
                self._unread.pop(write, None)
            self._last = time.monotonic()
            self.count += 1
            self.moved.notify_all()


def _note_rows(params: Mapping[str, Any], context: dict[str, Any], **_: Any) -> None:
    """What the call may change."""
    parts = [
        part for item in params.get("TransactItems", ()) for kind, part in item.items() if kind != "ConditionCheck"
    ]
    images = [part.get("Item") or part.get("Key") for part in parts or [params]]
    context[WRITE] = [(image["pk"]["S"], image["sk"]["S"]) if image else UNKNOWN for image in images]
