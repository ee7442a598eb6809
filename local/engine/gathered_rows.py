"""All rows of a statement in one row.

Between two rows of a statement the driver gives the interpreter's lock away and asks for it again. While a worker
computes, each time takes the half millisecond after which it has to hand the lock over: of ninety rows 60 ms, of the
same in one row 3 (*measured*, two cores, one busy thread)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sqlite3 import Connection
from typing import NamedTuple

from pydantic_core import from_json

COLUMNS = (
    "json_group_array(json_array(pk, sk, version)), group_concat(body, char(30)), "
    "group_concat(iif(raw IS NULL, '-', hex(raw)))"
)
"""No JSON text holds the character 30: it is escaped there. ``-``: no bytes at all, which is not the same as none."""
_SEPARATOR, _NO_BYTES = chr(30), "-"


class StoredRow(NamedTuple):
    """``body`` and ``raw`` as ``row_codec`` makes them."""

    version: int
    body: str
    raw: bytes | None


def gathered(
    connection: Connection, sql: str, values: Sequence[str | int]
) -> Iterator[tuple[tuple[str, str], StoredRow]]:
    """Key and row of each that ``sql`` aggregates into ``COLUMNS``, in no certain order."""
    keys, bodies, raws = connection.execute(sql, values).fetchone()
    if bodies is None:
        return
    try:
        found = list(zip(from_json(keys), bodies.split(_SEPARATOR), raws.split(","), strict=True))
    except ValueError:  # the bytes of one are damaged: then one by one
        for pk, sk, *stored in connection.execute(sql.replace(COLUMNS, "pk, sk, version, body, raw"), values):
            yield (pk, sk), StoredRow(*stored)
        return
    for (pk, sk, version), body, raw in found:
        yield (pk, sk), StoredRow(version, body, None if raw == _NO_BYTES else bytes.fromhex(raw))
