"""The tables of a run, for the terminal and for docs/retrieval.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from evals.locomo.dataset import CATEGORIES

DOCUMENT = Path("docs/retrieval.md")
COLUMNS = ("any@1", "any@5", "any@10", "any@20", "fraction@10", "mrr@10", "ndcg@10")


REST = "conversations 6-10"
"""The table of a system over the conversations that were not tuned on."""
NOT_HELD_OUT = "not held out"


def console_table(result: dict[str, Any]) -> str:
    lines = [f"{'source':18} {'labels':8} " + " ".join(f"{name:>11}" for name in COLUMNS) + f"   any@10, {REST}"]
    for system, by_label in result["results"].items():
        for label, tables in by_label.items():
            cells = " ".join(f"{tables['overall'][name]:11.1f}" for name in COLUMNS)
            lines.append(f"{system:18} {label:8} {cells}   {_rest(tables, held_out=result['held_out'][system])}")
    return "\n".join(lines)


def _rest(tables: dict[str, Any], *, held_out: bool) -> str:
    """any@10 on conversations 6-10; it says so where they are not held out."""
    if tables[REST] is None:
        return "-"
    return f"{tables[REST]['any@10']:.1f}" + ("" if held_out else f" ({NOT_HELD_OUT})")


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
        "| source | labels | " + " | ".join(COLUMNS) + f" | any@10, {REST} |",
        "| --- | --- |" + " --- |" * (len(COLUMNS) + 1),
    ]
    for system, by_label in result["results"].items():
        for label, tables in by_label.items():
            cells = " | ".join(f"{tables['overall'][name]:.1f}" for name in COLUMNS)
            rest = _rest(tables, held_out=result["held_out"][system])
            lines.append(f"| {system} | {label} | {cells} | {rest} |")
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
