"""Packs one write of a user's passages for a row: what was upserted, or what was removed. Deltas of a user are joined
in the order of their ids, and the higher version of a passage stands, so no writer reads before it writes."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from neve.adapters.segments.segment import unit_vectors
from neve.adapters.segments.stored_passage import StoredPassage
from neve.ports.search import IndexModel

MAX_BYTES: Final = 300_000
"""Of one row; DynamoDB takes 400 KB (*limit*)."""
_FIELDS: Final = tuple(name for name in StoredPassage._fields if name not in ("row", "vector", "terms"))
_LENGTH: Final = struct.Struct("<I")


class Written(NamedTuple):
    """A passage as it was upserted. The ``row`` of ``stored`` says nothing."""

    stored: StoredPassage
    text: str


class Removal(NamedTuple):
    """The passages ``n >= keep`` of an item up to a document version."""

    item_id: str
    keep: int
    version: int


@dataclass(frozen=True, slots=True)
class Delta:
    """``id``: a ULID. It holds passages or one removal."""

    id: str
    written: Sequence[Written] = ()
    removals: Sequence[Removal] = ()


def pack_written(written: Sequence[Written], model: IndexModel) -> Iterator[bytes]:
    """Pack passages for as many rows as they need."""
    part: list[Written] = []
    size = 0
    for one in written:
        adds = 2 * model.dimensions + len(one.stored.terms) + len(_as_json(_fields_of(one)))
        if part and size + adds > MAX_BYTES:
            yield _packed(part, (), model)
            part, size = [], 0
        part.append(one)
        size += adds
    if part:
        yield _packed(part, (), model)


def pack_removal(removal: Removal, model: IndexModel) -> bytes:
    return _packed((), (removal,), model)


def unpack_delta(identifier: str, packed: bytes, model: IndexModel) -> Delta:
    """Read a delta. Vectors of another model than the index's are left out: they are not compared with its own. Raises
    ValueError for what is no delta."""
    try:
        (length,) = _LENGTH.unpack_from(packed)
        end = _LENGTH.size + length
        head = json.loads(zlib.decompress(packed[_LENGTH.size : end]))
        vectors = _vectors(packed[end:], head)
        terms = zlib.decompress(packed[len(packed) - head["terms_bytes"] :])
        written, at = [], 0
        for number, fields in enumerate(head["passages"]):
            until = at + head["terms"][number]
            vector = vectors.get(number) if head["model"] == model.tag else None
            named = dict(zip(_FIELDS, fields[:-1], strict=True))
            written.append(Written(StoredPassage(row=0, vector=vector, terms=terms[at:until], **named), fields[-1]))
            at = until
        return Delta(identifier, written, [Removal(*removal) for removal in head["removals"]])
    except (struct.error, zlib.error, LookupError, TypeError) as error:
        raise ValueError(f"{identifier} is no delta") from error


def _packed(written: Sequence[Written], removals: Sequence[Removal], model: IndexModel) -> bytes:
    terms = zlib.compress(b"".join(one.stored.terms for one in written))
    vectors = [one.stored.vector for one in written]
    head = {
        "model": model.tag,
        "dimensions": model.dimensions,
        "passages": [_fields_of(one) for one in written],
        "vectors": [vector is not None for vector in vectors],
        "terms": [len(one.stored.terms) for one in written],
        "terms_bytes": len(terms),
        "removals": removals,
    }
    halves = np.frombuffer(b"".join(vector for vector in vectors if vector is not None), "<f4").astype("<f2").tobytes()
    packed = zlib.compress(_as_json(head))
    return b"".join((_LENGTH.pack(len(packed)), packed, halves, terms))


def _fields_of(one: Written) -> list[Any]:
    return [*(getattr(one.stored, name) for name in _FIELDS), one.text]


def _as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _vectors(packed: bytes, head: dict[str, list[bool] | int]) -> dict[int, bytes]:
    """Give the vectors in single precision, by the numbers of their passages."""
    having = [number for number, has in enumerate(head["vectors"]) if has]  # type: ignore[arg-type]
    dimensions = int(head["dimensions"])  # type: ignore[arg-type]
    if not having:
        return {}
    halves = np.frombuffer(packed, "<f2", len(having) * dimensions).reshape(-1, dimensions)
    return {number: row.tobytes() for number, row in zip(having, unit_vectors(halves), strict=True)}
