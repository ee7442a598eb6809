"""How large the layers are unzipped, and each function with its layers. MB are 1,000,000 bytes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

MB = 1_000_000
LAMBDA_LIMIT_MB = 250.0
"""Of a function with all its layers: Lambda's own limit, which counts in MiB and so is a little above."""
LIMITS_MB: Mapping[str, float] = {"observe": 60.0, "pack": 60.0, "recall": 240.0}
"""Ours, of functions that a chat waits for."""


def unzipped_mb(folder: Path) -> float:
    """The bytes of every file in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / MB


def function_sizes(
    layers: Mapping[str, float], functions: Mapping[str, tuple[str, ...]], code: Mapping[str, float]
) -> dict[str, float]:
    """MB by function: its own code and its layers."""
    return {name: code[name] + sum(layers[layer] for layer in used) for name, used in functions.items()}


def limit_mb(function: str) -> float:
    return LIMITS_MB.get(function, LAMBDA_LIMIT_MB)


def over_limit(sizes: Mapping[str, float]) -> list[str]:
    """One sentence for each function that is larger than it may be."""
    return [
        f"{name} is {size:.1f} MB unzipped, more than {limit_mb(name):.0f}"
        for name, size in sorted(sizes.items())
        if size > limit_mb(name)
    ]


def table(layers: Mapping[str, float], functions: Mapping[str, tuple[str, ...]], sizes: Mapping[str, float]) -> str:
    """The two tables of docs/packaging.md, in Markdown."""
    lines = ["| layer | MB unzipped |", "| --- | ---: |"]
    lines += [f"| {name} | {size:.1f} |" for name, size in layers.items()]
    lines += ["", "| function | layers | MB unzipped in all | limit |", "| --- | --- | ---: | ---: |"]
    lines += [
        f"| {name} | {', '.join(used)} | {sizes[name]:.1f} | {limit_mb(name):.0f} |"
        for name, used in sorted(functions.items())
    ]
    return "\n".join(lines)
