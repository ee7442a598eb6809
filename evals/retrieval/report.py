"""The tables of a run, for the terminal and for docs/retrieval.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evals.retrieval.scoring import MEASURES

DOCUMENT = Path("docs/retrieval.md")
NOT_HELD_OUT = "not held out"
HALVES = {"reported": "reported", "tuned": "tuned on"}
SPREAD = ("any@10", "mrr@10")


def console_table(result: dict[str, Any]) -> str:
    return "\n".join(line for chat_set in result["sets"] for line in [*_tables(result, chat_set), ""]) + "\n".join(
        [*_prompts(result), "", *_times(result)]
    )


def write_markdown(result: dict[str, Any], document: Path = DOCUMENT) -> None:
    """Replace what stands between the markers of the document."""
    text = document.read_text()
    begin, end = "<!-- retrieval:begin -->", "<!-- retrieval:end -->"
    if begin not in text or end not in text:
        raise ValueError(f"{document} has no markers {begin} {end}")
    tables = "\n".join([begin, *_about(result), "", console_table(result).rstrip(), end])
    document.write_text(re.sub(f"{begin}.*{end}", lambda _: tables, text, flags=re.DOTALL))


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
        numbers = [n for n in result["settings"]["chats"][chat_set] if (n <= 5) == (half == "tuned")]
        questions = next(iter(found["systems"].values()))["n"]
        yield f"**{chat_set} {numbers[0]}-{numbers[-1]}**, {name}, {questions} questions:"
        yield ""
        yield f"| | {' | '.join(MEASURES)} |"
        yield "| --- |" + " --- |" * len(MEASURES)
        for system, table in found["systems"].items():
            held_out = half == "tuned" or result["held_out"][chat_set].get(system, True)
            cells = " | ".join(_cell(table, measure) for measure in MEASURES)
            yield f"| {system}{'' if held_out else f' ({NOT_HELD_OUT})'} | {cells} |"
        yield ""


def _cell(table: dict[str, Any], measure: str) -> str:
    if measure not in SPREAD:
        return f"{table[measure]:.1f}"
    low, high = table["95 %"][measure]
    return f"{table[measure]:.1f} ({low:.0f}-{high:.0f})"


def _prompts(result: dict[str, Any]) -> Iterator[str]:
    rows = {
        f"{chat_set}, {HALVES[half]}": table["prompt"]
        for chat_set, halves in result["sets"].items()
        for half, table in halves.items()
        if "prompt" in table
    }
    if rows:
        columns = list(next(iter(rows.values())))
        yield f"| as every message asks | {' | '.join(columns)} |"
        yield "| --- |" + " --- |" * len(columns)
        for name, row in rows.items():
            yield f"| {name} | {' | '.join(str(row[column]) for column in columns)} |"


def _times(result: dict[str, Any]) -> Iterator[str]:
    yield "| over HTTP, ms | p50 | p95 |"
    yield "| --- | --- | --- |"
    for system, table in result["ms"].items():
        yield f"| {system} | {table['p50']} | {table['p95']} |"
