"""The table: rows, keys and indexes, and transactions over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from neve.ports.errors import Conflict

Item = dict[str, Any]
"""A row: ``pk``, ``sk``, ``type``, ``version`` and attributes of str, int, float, bool, bytes, list, dict. No None."""


class Key(NamedTuple):
    pk: str
    sk: str


UNREADABLE = "unreadable"
"""The type of an item of which an engine can tell the key and the version, and not what is stored: it holds no more."""


def unreadable_item(key: Key, version: int) -> Item:
    return {"pk": key.pk, "sk": key.sk, "type": UNREADABLE, "version": version}


def key_of(item: Item) -> Key:
    """Read the key of a row, or of what an index says of one."""
    return Key(item["pk"], item["sk"])


class Index(StrEnum):
    """MAIN is the table. The others are sparse and eventually consistent: a row is in ``rank`` iff it has both
    ``rank_pk`` and ``rank_sk``, and so on. RANK and DUE project only ``INDEX_PROJECTION``; RECENT projects the whole
    row."""

    MAIN = "main"
    RANK = "rank"
    DUE = "due"
    RECENT = "recent"


INDEX_PROJECTION: Mapping[Index, frozenset[str]] = {
    Index.RANK: frozenset(
        {"type", "id", "tokens", "session_id", "scope", "kind", "rev", "status", "fingerprint", "born_gen", "died_gen"}
        | {"valid_from", "valid_until"}
    ),
    Index.DUE: frozenset({"type", "id", "tenant_id", "user_id", "session_id"}),
}
"""The attributes that a RANK or DUE query returns beside ``pk``, ``sk`` and the index's own two keys."""


@dataclass(frozen=True, slots=True)
class Version:
    """Expect the row to exist with exactly this version."""

    n: int


class Expect(StrEnum):
    ABSENT = "absent"
    ANY = "any"


Expectation = Version | Expect


@dataclass(frozen=True, slots=True)
class Put:
    """Write a whole row. The engine sets ``version``: ``first`` for ABSENT, n + 1 for Version(n), 0 for ANY (such rows
    are never updated optimistically). An incoming ``version`` attribute is ignored.

    ``first``, at least 1: another number each time for a row that comes back after it was deleted, so that no reader
    takes it for the one that was read before.

    ``durable`` False: a row that no caller was promised. A write of nothing else may answer before the disk has it,
    where an engine would wait for that: it survives the end of the process, and maybe not a power cut."""

    item: Item
    expect: Expectation = Expect.ANY
    durable: bool = True
    first: int = 1


@dataclass(frozen=True, slots=True)
class Delete:
    key: Key
    expect: Expectation = Expect.ANY


@dataclass(frozen=True, slots=True)
class Check:
    """Write nothing, but fail the transaction unless the expectation (ABSENT or Version) holds."""

    key: Key
    expect: Expectation


WriteOp = Put | Delete | Check


MAX_WRITE_OPS = 100


def key_written(op: WriteOp) -> Key:
    """Give the key of the row that an operation is about."""
    return key_of(op.item) if isinstance(op, Put) else op.key


def refused(write: Callable[[Sequence[WriteOp]], None], puts: Sequence[Put]) -> list[int]:
    """Write each put by itself; return the places of those that ``write`` does not take."""
    places = []
    for place, put in enumerate(puts):
        try:
            write([put])
        except Conflict:
            places.append(place)
    return places


def version_after(put: Put) -> int:
    """Give the version of the row as the put leaves it."""
    if isinstance(put.expect, Version):
        return put.expect.n + 1
    return put.first if put.expect is Expect.ABSENT else 0


def holds(expect: Expectation, version: int | None) -> bool:
    """Say whether a row of this version, None where there is none, is as expected."""
    if isinstance(expect, Version):
        return version == expect.n
    return expect is Expect.ANY or version is None


@dataclass(frozen=True, slots=True)
class ItemPage:
    items: list[Item]
    cursor: str | None


class Table(Protocol):
    """An ordered key-value table with optimistic transactions. All methods raise StoreUnavailable. A row that an engine
    cannot decode is an ``unreadable_item``, and does not keep the others from being read."""

    def get(self, key: Key) -> Item | None:
        """Read one row. Strongly consistent."""

    def get_many(self, keys: Sequence[Key], *, eventual: bool = False) -> dict[Key, Item]:
        """Read many rows. Strongly consistent, one round trip as far as the caller is concerned; missing rows are
        missing keys. ``eventual``: at half the price, where an engine has that; each row as it is, or as it was a
        moment ago. For a caller whom an older row does no harm, or who writes on condition of its version (ADR 80)."""

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
        """Read rows of one partition in sort-key order (UTF-8 byte order). ``between`` is inclusive on both ends and
        excludes ``prefix``. ``cursor`` is the opaque one of the previous page; raises InvalidCursor for one it did not
        make."""

    def write(self, ops: Sequence[WriteOp]) -> None:
        """Write a transaction, all or nothing, of at most 100 operations on distinct keys; raises Conflict, and
        ValueError for a malformed call."""

    def write_each(self, puts: Sequence[Put]) -> list[int]:
        """Write each put by itself and beside the others, at half the price of a transaction: at most 100, of distinct
        keys. Returns the places of those whose expectation did not hold. Raises ValueError for a malformed call, and
        StoreUnavailable, after which any of them may have been written."""
