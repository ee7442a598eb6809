"""The tables of a run, for the terminal and between the markers of docs/benchmark.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evals.bench.operations import BASELINE
from evals.markers import write_between

DOCUMENT = Path("docs/benchmark.md")
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
Table = list[list[str]]
"""Rows of cells; the first row is the head."""


def tables(result: dict[str, Any]) -> list[tuple[str, Table]]:
    """Every table with the sentence before it."""
    return [
        (_machine(result), []),
        (
            "Milliseconds over HTTP, warm, by memories of the user. In brackets: p50 as a multiple of the first size.",
            _times(result),
        ),
        (
            "The same p50 as multiples of the baseline, a round trip to `GET /v1/health` in the same round.",
            _multiples(result),
        ),
        ("Recalls in mode `prompt`, with the time budget that a chat message has.", _prompts(result)),
        (
            "Seconds from the start of the process to the first 200 of each call, on the data of each size; recall by"
            " both legs, so with the encoder loaded. Median, and after `kill -9`.",
            _starts(result),
        ),
        (
            "Port calls of one request. Steps: how many of them one after the other, virtual time at one unit a call."
            " The authorizer's call comes on top; a gateway keeps its answer for a minute.",
            _ports(result),
        ),
        ("What importing each function loads, in a fresh process with cached bytecode.", _imports(result)),
    ]


def console(result: dict[str, Any]) -> str:
    parts = []
    for sentence, table in tables(result):
        widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))] if table else []
        lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) for row in table]
        parts.append("\n".join([sentence, *lines]))
    return "\n\n".join(parts)


def write_markdown(result: dict[str, Any], document: Path = DOCUMENT) -> None:
    """Every table, between its markers. Raises ValueError for a document without them."""
    parts = "\n\n".join("\n\n".join([sentence, _markdown(table)]).strip() for sentence, table in tables(result))
    write_between(BEGIN, END, parts, document)


def _markdown(table: Table) -> str:
    if not table:
        return ""
    head, *body = table
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _machine(result: dict[str, Any]) -> str:
    machine, settings = result["machine"], result["settings"]
    return (
        f"{machine['cores']} cores ({machine['cpu']}), {machine['memory_gib']} GiB, {machine['system']},"
        f" Python {machine['python']}, SQLite {machine['sqlite']}; embedder `{settings['embedder']}`,"
        f" {settings['other_users']:,} other users, {settings['rounds']} rounds, {result['at'][:10]}."
    )


def _times(result: dict[str, Any]) -> Table:
    sizes = list(result["times"])
    table = [["call", *(f"{int(size):,}: {share}" for size in sizes for share in ("p50", "p95"))]]
    for operation, smallest in result["times"][sizes[0]].items():
        cells = [operation]
        for size in sizes:
            found = result["times"][size][operation]
            times = "" if size == sizes[0] else f" (×{found['p50'] / smallest['p50']:.2f})"
            cells += [f"{found['p50']:.1f}{times}", f"{found['p95']:.1f}"]
        table.append(cells)
    return table


def _multiples(result: dict[str, Any]) -> Table:
    sizes = list(result["times"])
    table = [["call", *(f"{int(size):,}" for size in sizes)]]
    for operation in result["times"][sizes[0]]:
        ratios = (result["times"][size][operation]["p50"] / result["times"][size][BASELINE]["p50"] for size in sizes)
        table.append([operation, *(f"×{ratio:.1f}" for ratio in ratios)])
    return table


def _prompts(result: dict[str, Any]) -> Table:
    table = [["memories", "recalls", "budget ms", "degraded", "p50 ms", "p95 ms"]]
    for size, found in result["prompt_recalls"].items():
        flags = ", ".join(f"{flag} {count}" for flag, count in found["flags"].items())
        degraded = f"{found['degraded'] / found['answers']:.1%}" + (f" ({flags})" if flags else "")
        times = [f"{found['elapsed_p50_ms']:.1f}", f"{found['elapsed_p95_ms']:.1f}"]
        table.append([f"{int(size):,}", str(found["answers"]), str(found["budget_ms"]), degraded, *times])
    return table


def _starts(result: dict[str, Any]) -> Table:
    calls = ("health", "pack", "recall")
    table = [["memories", *calls, *(f"{call} after kill -9" for call in calls)]]
    for size, found in result["starts"].items():
        clean, killed = found["clean"], found["killed"]
        table.append([f"{int(size):,}", *(f"{runs[call]:.2f}" for runs in (clean, killed) for call in calls)])
    return table


def _ports(result: dict[str, Any]) -> Table:
    table = [["call", "port calls", "steps", "authorizer"]]
    for operation, found in result["port_calls"].items():
        calls = ", ".join(f"{method} {count}" for method, count in found["calls"].items())
        table.append([operation, calls, str(found["steps"]), str(found["authorizer"])])
    return table


def _imports(result: dict[str, Any]) -> Table:
    table = [["function", "modules", "ms", "heavy packages"]]
    for name, found in result["imports"].items():
        table.append([name, str(found["modules"]), f"{found['ms']:.0f}", _listed(found["heavy"])])
    return table


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
