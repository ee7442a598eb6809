"""The tables of a run, for the terminal and for docs/retrieval.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from evals.markers import write_between
from evals.peers.mem0 import NAME as MEM0
from evals.retrieval.chats import TUNED_ON
from evals.retrieval.scoring import MEASURES
from evals.retrieval.ways import WAYS, set_and_way

DOCUMENT, README = Path("docs/retrieval.md"), Path("README.md")
BEGIN, END = "<!-- retrieval:begin -->", "<!-- retrieval:end -->"
BEGIN_WAYS, END_WAYS = "<!-- ways:begin -->", "<!-- ways:end -->"
NOT_HELD_OUT = "not held out"
HALVES = {"reported": "reported", "tuned": "tuned on"}
SPREAD = ("any@10", "mrr@10")
SHOWN: Mapping[str, str] = {
    "both": "memories and utterances (the default)",
    "event": "utterances",
    "RRF": "utterances, RRF without rerank",
    "BM25": "plain BM25 over the same messages",
    MEM0: f"{MEM0} over the same messages, as it is installed, with the same encoder",
}
"""In the README."""
BESIDE = ("BM25", "RRF", MEM0)
RANKED = ("event", "both", "event deep", "both deep")
"""Whatever the chats, none of these may be worse than those of ``BESIDE``."""


def console_table(result: dict[str, Any]) -> str:
    ranking = (line for chat_set in result["sets"] for line in [*_tables(result, chat_set), ""])
    return "\n".join([*_evidence(result), *ranking, *_times(result)])


def write_markdown(result: dict[str, Any], document: Path = DOCUMENT, readme: Path = README) -> None:
    """Replace what stands between the markers of both. Raises ValueError where there are none."""
    write_between(BEGIN, END, "\n".join([*_about(result), "", console_table(result).rstrip()]), document)
    write_between(BEGIN, END, "\n".join(side_by_side(result)), readme)


def write_ways(result: dict[str, Any], document: Path = DOCUMENT) -> None:
    """The same of chats that were sent otherwise. Raises ValueError where there are no markers."""
    write_between(BEGIN_WAYS, END_WAYS, "\n".join(ways_table(result)), document)


def behind(result: dict[str, Any]) -> Iterator[str]:
    """Where one of ``RANKED`` has evidence among its first ten for fewer questions than one of ``BESIDE``, a line
    each."""
    for chat_set, halves in result["sets"].items():
        for half, table in halves.items():
            found = {name: row["any@10"] for name, row in table["systems"].items()}
            for name, least in product(RANKED, BESIDE):
                if name in found and found[name] < found.get(least, 0.0):
                    numbers = _numbers(result, chat_set, half)
                    yield f"{numbers}: any@10 of {name} is {found[name]}, of {least} {found[least]}"


def ways_table(result: dict[str, Any]) -> Iterator[str]:
    """any@10 / MRR@10 of ``SHOWN``, a row a way, the halves of the sets beside each other."""
    ways: dict[str, dict[str, Any]] = defaultdict(dict)
    for chat_set, halves in result["sets"].items():
        data_set, way = set_and_way(chat_set)
        for half, table in halves.items():
            ways[way][_numbers(result, chat_set, half).replace(chat_set, data_set)] = table["systems"]
    columns = [(s, name) for s, systems in next(iter(ways.values())).items() for name in SHOWN if name in systems]
    heads = [f"{data_set}: {name}" for data_set, name in columns]
    yield f"| any@10 / MRR@10 | {' | '.join(heads)} |"
    yield "| --- |" + " --- |" * len(heads)
    for way, sets in ways.items():
        rows = (sets[data_set][name] for data_set, name in columns)
        cells = " | ".join(f"{row['any@10']:.1f} / {row['mrr@10']:.1f}" for row in rows)
        yield f"| {WAYS[way].about} | {cells} |"


def side_by_side(result: dict[str, Any], systems: Mapping[str, str] = SHOWN) -> Iterator[str]:
    """any@10 / MRR@10 of the sets beside each other, the reported halves first. ``systems``: what each is called."""
    halves = [(s, half) for half in HALVES for s in result["sets"] if half in result["sets"][s]]
    yield (
        "| any@10 / MRR@10 | " + " | ".join(f"{_numbers(result, s, half)}, {HALVES[half]}" for s, half in halves) + " |"
    )
    yield "| --- |" + " --- |" * len(halves)
    for system, name in systems.items():
        tables = [(s, half, result["sets"][s][half]["systems"].get(system)) for s, half in halves]
        if all(table for _, _, table in tables):
            cells = " | ".join(_pair(result, s, half, system, table) for s, half, table in tables if table)
            yield f"| {name} | {cells} |"


def _pair(result: dict[str, Any], chat_set: str, half: str, system: str, table: dict[str, Any]) -> str:
    mark = "" if _held_out(result, chat_set, half, system) else f" ({NOT_HELD_OUT})"
    return f"{table['any@10']:.1f} / {table['mrr@10']:.1f}{mark}"


def _held_out(result: dict[str, Any], chat_set: str, half: str, system: str) -> bool:
    """Of a tuned half nobody expects it."""
    return half == "tuned" or bool(result["held_out"][chat_set].get(system, True))


def _numbers(result: dict[str, Any], chat_set: str, half: str) -> str:
    numbers = [n for n in result["settings"]["chats"][chat_set] if (n <= TUNED_ON) == (half == "tuned")]
    return f"{chat_set} {numbers[0]}-{numbers[-1]}"


def _about(result: dict[str, Any]) -> Iterator[str]:
    settings = result["settings"]
    yield (
        f"{settings['questions']} questions about {settings['messages']} messages, embedder"
        f" `{settings['embedder']['model']}`, observer `{settings['observer']}`. In brackets: where 95 of 100 means lie"
        " when the chats are drawn again."
    )


def _tables(result: dict[str, Any], chat_set: str) -> Iterator[str]:
    for half, name in HALVES.items():
        found = result["sets"][chat_set].get(half)
        if found is None:
            continue
        questions = next(iter(found["systems"].values()))["n"]
        yield f"**{_numbers(result, chat_set, half)}**, {name}, {questions} questions:"
        yield ""
        yield f"| | {' | '.join(MEASURES)} |"
        yield "| --- |" + " --- |" * len(MEASURES)
        for system, table in found["systems"].items():
            mark = "" if _held_out(result, chat_set, half, system) else f" ({NOT_HELD_OUT})"
            cells = " | ".join(_cell(table, measure) for measure in MEASURES)
            yield f"| {system}{mark} | {cells} |"
        yield ""


def _cell(table: dict[str, Any], measure: str) -> str:
    if measure not in SPREAD:
        return f"{table[measure]:.1f}"
    low, high = table["95 %"][measure]
    return f"{table[measure]:.1f} ({low:.0f}-{high:.0f})"


def _evidence(result: dict[str, Any]) -> Iterator[str]:
    """What a model reads, the reported halves first; nothing where it was not measured."""
    found = {
        f"{_numbers(result, chat_set, half)}, {HALVES[half]}": halves[half]["evidence"]
        for half in HALVES
        for chat_set, halves in result["sets"].items()
        if halves.get(half, {}).get("evidence")
    }
    if not found:
        return
    yield from _plain(
        "evidence in the prompt", [(name, row) for one in found for name, row in _prompts(one, found[one])]
    )
    yield from _plain("messages without a hit", [(name, one["no hit"]) for name, one in found.items()])


def _prompts(half: str, evidence: dict[str, Any]) -> Iterator[tuple[str, dict[str, float]]]:
    for part, row in evidence["prompts"].items():
        yield (f"**{half}**" if part == "all" else f"… {part}"), row


def _plain(title: str, rows: Sequence[tuple[str, dict[str, float]]]) -> Iterator[str]:
    columns = list(rows[0][1])
    yield f"| {title} | {' | '.join(columns)} |"
    yield "| --- |" + " --- |" * len(columns)
    for name, row in rows:
        yield f"| {name} | {' | '.join(str(row[column]) for column in columns)} |"
    yield ""


def _times(result: dict[str, Any]) -> Iterator[str]:
    yield "| over HTTP, ms | p50 | p95 |"
    yield "| --- | --- | --- |"
    for system, table in result["ms"].items():
        yield f"| {system} | {table['p50']} | {table['p95']} |"
