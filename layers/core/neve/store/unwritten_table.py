"""A table that keeps what is written to it in memory, for work that is only to say what it would write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from neve.ports.errors import Conflict
from neve.ports.table import (
    Delete,
    Index,
    Item,
    ItemPage,
    Key,
    Put,
    Table,
    WriteOp,
    holds,
    key_of,
    key_written,
    refused,
    version_after,
)


@dataclass(frozen=True)
class UnwrittenTable:
    """``stored`` is read and never written. ``written``: the rows as they would be, by key; None where one would be
    gone. Queries give the stored rows as they would be, and none that would be new; those of an index what it has."""

    stored: Table
    written: dict[Key, Item | None] = field(default_factory=dict)

    def get(self, key: Key) -> Item | None:
        return self.written[key] if key in self.written else self.stored.get(key)

    def get_many(self, keys: Sequence[Key], *, eventual: bool = False) -> dict[Key, Item]:
        left = [key for key in keys if key not in self.written]
        found = self.stored.get_many(left, eventual=eventual) if left else {}
        own = {key: item for key in keys if (item := self.written.get(key)) is not None}
        return found | own

    def query(  # noqa: PLR0913
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
        page = self.stored.query(
            partition, index=index, prefix=prefix, between=between, reverse=reverse, limit=limit, cursor=cursor
        )
        if index is not Index.MAIN:
            return page
        items = (self.written.get(key_of(item), item) for item in page.items)
        return replace(page, items=[item for item in items if item is not None])

    def write(self, ops: Sequence[WriteOp]) -> None:
        keys = list(map(key_written, ops))
        before = self.get_many(keys)
        for key, op in zip(keys, ops, strict=True):
            stored = before.get(key)
            if not holds(op.expect, stored["version"] if stored is not None else None):
                raise Conflict
        for key, op in zip(keys, ops, strict=True):
            if isinstance(op, Put):
                self.written[key] = op.item | {"version": version_after(op)}
            elif isinstance(op, Delete):
                self.written[key] = None

    def write_each(self, puts: Sequence[Put]) -> list[int]:
        return refused(self.write, puts)
