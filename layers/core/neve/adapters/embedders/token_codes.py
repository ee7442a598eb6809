"""A token's vector in 16 bytes, and how well the tokens of a query are answered by those of a message.

A code holds 64 dimensions in 2 bits each, four to a byte, the first in the lowest bits: the level of a dimension of the
normalised vector is its tenth, at most two either way. Vectors of this kind lie within 0.2 of 0 in nearly every
dimension (0.125 is the mean of one that is spread evenly), so two levels a side say most of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Tokens x dimensions."""

DIMENSIONS = 64
CODE_BYTES = DIMENSIONS // 4
STEP = np.float32(0.1)
STRIDE = 64
"""Tokens between the beginnings of two windows; a window is two strides. A long answer would otherwise collect the best
token for each word of a query from all over itself."""

SMALL_PRODUCT = 2**18
"""Multiplications that numpy's BLAS does in the calling thread; of more it makes a task for each core, and waits for
all of them. On a busy machine 56 ms were measured where 0.3 ms of work were to be done."""

_SHIFTS = np.array([0, 2, 4, 6], dtype=np.uint8)
_VALUES: Vectors = (((np.arange(256)[:, None] >> _SHIFTS) & 3).astype(np.float32) - 2 + np.float32(0.5)) * STEP
"""The four values of each byte."""


def normalised(vectors: Vectors) -> Vectors:
    """Of length 1; zero stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def product(left: Vectors, right: Vectors) -> Vectors:
    """``left @ right``, as many rows at a time as BLAS multiplies in the calling thread (``SMALL_PRODUCT``)."""
    some = max(1, SMALL_PRODUCT // right.size)
    found = np.empty((len(left), right.shape[1]), dtype=np.float32)
    for start in range(0, len(left), some):
        found[start : start + some] = left[start : start + some] @ right
    return found


def to_codes(vectors: Vectors) -> bytes:
    """``vectors``: tokens x 64, normalised. 16 bytes a token."""
    levels = (np.clip(np.floor(vectors / STEP), -2, 1) + 2).astype(np.uint8).reshape(-1, CODE_BYTES, 4)
    return bytes(np.bitwise_or.reduce(levels << _SHIFTS, axis=2).tobytes())


def from_codes(codes: bytes) -> Vectors:
    """Tokens x 64: the middle of each level. Raises ValueError for bytes that are no codes."""
    if len(codes) % CODE_BYTES:
        raise ValueError(f"{len(codes)} bytes are no token codes of {CODE_BYTES} bytes")
    return np.asarray(_VALUES[np.frombuffer(codes, dtype=np.uint8)].reshape(-1, DIMENSIONS))


def max_sims(query: Vectors, messages: Sequence[Sequence[bytes]]) -> list[float]:
    """MaxSim of each message: the mean over the query's tokens of the best dot product with a token of one window, the
    best window of any of the message's parts. ``messages``: the codes of each part. A message without a token, and a
    query without one, score 0."""
    parts = [part for message in messages for part in message if part]
    if not parts or not len(query):
        return [0.0] * len(messages)
    blocks, starts = _blocks([len(part) // CODE_BYTES for part in parts])
    best = np.maximum.reduceat(_dots(query, b"".join(parts)), blocks, axis=1)
    scores = iter(_best_windows(best, starts))
    return [max((next(scores) for part in message if part), default=0.0) for message in messages]


def _dots(query: Vectors, codes: bytes) -> Vectors:
    """Query tokens x tokens. The four dimensions of a byte are multiplied apart from each other, as levels; their step
    and their middle are made good for at the end, so nothing is decoded. 27,000 tokens: 4 ms, and 35 decoded."""
    tokens = np.frombuffer(codes, dtype=np.uint8).reshape(-1, CODE_BYTES)
    dots = np.empty((len(query), len(tokens)), dtype=np.float32)
    apart = [np.ascontiguousarray(query[:, first::4]) for first in range(4)]
    some = max(1, SMALL_PRODUCT // (len(query) * CODE_BYTES))
    for start in range(0, len(tokens), some):
        part = tokens[start : start + some]
        levels = (((part >> shift) & 3).astype(np.float32) for shift in _SHIFTS)
        dots[:, start : start + some] = sum(one @ level.T for one, level in zip(apart, levels, strict=True))
    dots -= query.sum(axis=1, keepdims=True) * np.float32(1.5)
    dots *= STEP
    return dots


def _blocks(lengths: Sequence[int]) -> tuple[NDArray[np.intp], list[int]]:
    """Where, among the tokens of all parts, each stride begins; and which stride is the first of each part."""
    blocks: list[int] = []
    starts: list[int] = []
    at = 0
    for length in lengths:
        starts.append(len(blocks))
        blocks += range(at, at + length, STRIDE)
        at += length
    return np.array(blocks, dtype=np.intp), starts


def _best_windows(best: Vectors, starts: Sequence[int]) -> list[float]:
    """``best``: query tokens x strides. Two strides beside each other are a window, if they are of one part."""
    following = np.concatenate([best[:, 1:], best[:, -1:]], axis=1)
    ends = np.array([*starts[1:], best.shape[1]]) - 1
    following[:, ends] = best[:, ends]
    windows = np.maximum(best, following).mean(axis=0)
    return [float(score) for score in np.maximum.reduceat(windows, np.array(starts, dtype=np.intp))]
