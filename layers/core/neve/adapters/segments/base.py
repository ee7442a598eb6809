"""Packs all passages of one user: what a merge writes, and a cold reader loads by laying arrays over the bytes.

A head in JSON tells the arrays that follow, each at a multiple of 8 bytes: the columns, the postings, the vectors in
half precision, the texts."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neve.adapters.segments.delta import Removal
from neve.adapters.segments.held_user import HeldUser, Texts
from neve.adapters.segments.postings import Run
from neve.adapters.segments.segment import NAMED, PackedSegment, Segment
from neve.ports.search import IndexModel

_MAGIC: Final = b"NVSEG001"
_LENGTH: Final = struct.Struct("<Q")
_ALIGNED: Final = 8
_POSTINGS: Final = ("keys", "starts", "docs", "impacts")


def pack_base(held: HeldUser) -> bytes:
    """Pack what is held of a user."""
    segment, texts, removals = held.packed()
    words = [text.encode() for text in texts]
    arrays: dict[str, NDArray[Any]] = {f"column {name}": values for name, values in segment.columns.items()}
    arrays |= {f"postings {name}": getattr(segment.postings, name) for name in _POSTINGS}
    arrays |= {
        "vectors": segment.vectors,
        "has_vector": segment.has_vector,
        "text_ends": np.cumsum([len(one) for one in words], dtype=np.int64),
        "texts": np.frombuffer(b"".join(words), np.uint8),
    }
    head = {
        "model": held.model.tag,
        "dimensions": held.model.dimensions,
        "names": segment.names,
        "removals": removals,
        "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()],
    }
    told = _aligned(json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode(), b" ")
    parts = [_MAGIC, _LENGTH.pack(len(told)), told, *(_aligned(array.tobytes(), b"\0") for array in arrays.values())]
    return b"".join(parts)


def unpack_base(packed: bytes, model: IndexModel, base: str, absorbed: Iterable[str]) -> HeldUser:
    """Read what ``pack_base`` made, without copying what need not be. Vectors of another model than the index's are
    left out. Raises ValueError for what is no base."""
    try:
        if packed[: len(_MAGIC)] != _MAGIC:
            raise ValueError("no base begins so")
        start = len(_MAGIC) + _LENGTH.size
        (length,) = _LENGTH.unpack_from(packed, len(_MAGIC))
        head = json.loads(packed[start : start + length])
        arrays = _arrays(packed, start + length, head["arrays"])
        halves, has_vector = arrays["vectors"], arrays["has_vector"]
        if head["model"] != model.tag:
            halves, has_vector = np.zeros((len(has_vector), model.dimensions), np.float16), np.zeros_like(has_vector)
        segment = PackedSegment(
            columns={name.removeprefix("column "): one for name, one in arrays.items() if name.startswith("column ")},
            names={name: head["names"][name] for name in NAMED},
            vectors=halves,
            has_vector=has_vector,
            postings=Run(*(arrays[f"postings {name}"] for name in _POSTINGS)),
        )
        texts = Texts(arrays["texts"].tobytes(), arrays["text_ends"])
        removals = [Removal(*one) for one in head["removals"]]
        made = Segment.unpack(model.dimensions, segment)
        return HeldUser.of_base(model, base, len(packed), absorbed, made, texts, removals)
    except (struct.error, LookupError, TypeError) as error:
        raise ValueError(f"{base} is no base") from error


def _arrays(packed: bytes, start: int, told: Sequence[tuple[str, str, list[int]]]) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for name, dtype, shape in told:
        size = int(np.prod(shape))
        arrays[name] = np.frombuffer(packed, dtype, size, start).reshape(shape)
        start += -(-arrays[name].nbytes // _ALIGNED) * _ALIGNED
    return arrays


def _aligned(packed: bytes, filler: bytes) -> bytes:
    return packed + filler * (-len(packed) % _ALIGNED)
