"""Writes an ONNX model as its protocol buffer, byte for byte the same on every machine.

As much of the format as ``convert_multi.py`` needs (onnx.proto3: the numbers are those of its fields). The package
``onnx`` would be installed for this alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

IR_VERSION = 9
FLOAT, UINT8, INT64 = 1, 2, 7
_TYPES = {"f4": FLOAT, "u1": UINT8, "i8": INT64}
Attribute = int | float
Tensor = NDArray[np.float32] | NDArray[np.uint8] | NDArray[np.int64]


@dataclass
class Graph:
    """A graph in the order in which its nodes run. Names of values are the caller's."""

    name: str
    nodes: list[bytes] = field(default_factory=list)
    tensors: list[bytes] = field(default_factory=list)

    def tensor(self, name: str, values: Tensor) -> str:
        """Add a constant; return its name."""
        little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
        kind = _TYPES[little.dtype.str.lstrip("<|")]
        dims = b"".join(_number(1, size) for size in little.shape)
        self.tensors.append(dims + _number(2, kind) + _text(8, name) + _bytes(9, little.tobytes()))
        return name

    def node(
        self, kind: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: Attribute | list[int]
    ) -> str:
        """Add a node of one output; return the output's name. ``""`` among the inputs: one that is left out."""
        parts = [_text(1, name) for name in inputs] + [_text(2, output), _text(3, output), _text(4, kind)]
        parts += [_bytes(5, _attribute(name, value)) for name, value in sorted(attributes.items())]
        self.nodes.append(b"".join(parts) + (_text(7, domain) if domain else b""))
        return output

    def model(self, inputs: bytes, outputs: bytes, opsets: Iterable[tuple[str, int]], producer: str) -> bytes:
        """Give the file. ``inputs`` and ``outputs``: of ``value``. ``opsets``: domains with their versions."""
        graph = b"".join(_bytes(1, node) for node in self.nodes) + _text(2, self.name)
        graph += b"".join(_bytes(5, tensor) for tensor in self.tensors)
        graph += _bytes(11, inputs) + _bytes(12, outputs)
        sets = b"".join(
            _bytes(8, (_text(1, domain) if domain else b"") + _number(2, version)) for domain, version in opsets
        )
        return _number(1, IR_VERSION) + _text(2, producer) + _bytes(7, graph) + sets


def value(name: str, kind: int, dims: Sequence[int | str]) -> bytes:
    """Describe an input or an output. A dimension with a name may have any size."""
    shape = b"".join(_bytes(1, _number(1, one) if isinstance(one, int) else _text(2, one)) for one in dims)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _attribute(name: str, given: Attribute | list[int]) -> bytes:
    if isinstance(given, float):
        return _text(1, name) + b"\x15" + np.float32(given).astype("<f4").tobytes() + _number(20, 1)
    if isinstance(given, list):
        return _text(1, name) + b"".join(_number(8, one) for one in given) + _number(20, 7)
    return _text(1, name) + _number(3, given) + _number(20, 2)


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1  # a negative number is its complement in 64 bits
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _number(tag: int, number: int) -> bytes:
    return _varint(tag << 3) + _varint(number)


def _bytes(tag: int, content: bytes) -> bytes:
    return _varint(tag << 3 | 2) + _varint(len(content)) + content


def _text(tag: int, text: str) -> bytes:
    return _bytes(tag, text.encode())
