"""The tables of a run, for the terminal and for docs/retrieval.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from evals.locomo.dataset import CATEGORIES

DOCUMENT = Path("docs/retrieval.md")
COLUMNS = ("any@1", "any@5", "any@10", "any@20", "fraction@10", "mrr@10", "ndcg@10")


def console_table(results: dict[str, Any]) -> str:
    lines = [f"{'source':16} {'labels':8} " + " ".join(f"{name:>11}" for name in COLUMNS) + "   any@10 held out"]
    for system, by_label in results.items():
        for label, tables in by_label.items():
            cells = " ".join(f"{tables['overall'][name]:11.1f}" for name in COLUMNS)
            lines.append(f"{system:16} {label:8} {cells} {tables['held out']['any@10']:17.1f}")
    return "\n".join(lines)


def write_markdown(result: dict[str, Any], document: Path = DOCUMENT) -> None:
    """Replace what stands between the markers of the document."""
    text = document.read_text()
    begin, end = "<!-- locomo:begin -->", "<!-- locomo:end -->"
    if begin not in text or end not in text:
        raise ValueError(f"{document} has no markers {begin} {end}")
    table = "\n".join(
        [begin, *_overall(result), "", *_by(result, "by category"), "", *_by(result, "by conversation"), end]
    )
    document.write_text(re.sub(f"{begin}.*{end}", lambda _: table, text, flags=re.DOTALL))


def _overall(result: dict[str, Any]) -> list[str]:
    settings = result["settings"]
    lines = [
        f"{settings['questions']} questions, {settings['turns']} turns, k = {settings['k']}, threshold 0, embedder"
        f" `{settings['embedder']['model']}`, observer `{settings['observer']}`.",
        "",
        "| source | labels | " + " | ".join(COLUMNS) + " | any@10, conversations 6-10 |",
        "| --- | --- |" + " --- |" * (len(COLUMNS) + 1),
    ]
    for system, by_label in result["results"].items():
        for label, tables in by_label.items():
            cells = " | ".join(f"{tables['overall'][name]:.1f}" for name in COLUMNS)
            lines.append(f"| {system} | {label} | {cells} | {tables['held out']['any@10']:.1f} |")
    return lines


def _by(result: dict[str, Any], grouping: str) -> list[str]:
    systems = list(result["results"])
    groups = list(result["results"][systems[0]]["raw"][grouping])
    lines = [
        f"any@10 {grouping}, raw labels:",
        "",
        "| | questions | " + " | ".join(systems) + " |",
        "| --- | --- |" + " --- |" * len(systems),
    ]
    for group in groups:
        rows = [result["results"][system]["raw"][grouping][group] for system in systems]
        name = CATEGORIES[int(group)] if grouping == "by category" else f"conversation {int(group)}"
        lines.append(f"| {name} | {rows[0]['n']} | " + " | ".join(f"{row['any@10']:.1f}" for row in rows) + " |")
    return lines
