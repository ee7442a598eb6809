"""What the demo prints: what was remembered, the pack, and recalls with their component scores."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from local.demo.conversation import Question, Talk
from local.demo.terminal import WIDTH, fitted, heading, styled, wrapped
from sdk.python.neve import Pack
from sdk.python.neve.types import MemoryView

COLUMNS = (("sim", 5), ("bm25", 6), ("vec", 4), ("lex", 4), ("rrf", 7), ("prior", 6), ("final", 7), ("rerank", 7))
"""Of a recall's table, with their widths; the text of a hit stands below its numbers."""
SOURCE = 12


def remembered(talk: Talk, rows: Sequence[MemoryView]) -> str:
    """The observations of one session, each line with its priority."""
    days = f"{talk.days_ago} days ago"
    lines = [f"{styled(talk.title, 'cyan')}  {styled(f'{days}, {len(talk.events)} events', 'dim')}"]
    for row in rows:
        origin = row["provenance"]
        about = f"[{row['priority']}, events {origin['seq_from']}-{origin['seq_to']}, {row['embedding_state']}]"
        lines.append(f"  {styled(about, 'dim')}")
        lines += [wrapped(line, "  ", "     ") for line in row["text"].splitlines()]
    return "\n".join(lines)


def pack(manifest: Mapping[str, Any], now: Pack, again: Pack | None, again_ms: float) -> str:
    """``now``: the pack as it goes into a prompt; ``again``: what the same call with its ETag brought: None for nothing
    new."""
    layers = ", ".join(f"{name} {len(items)}" for name, items in manifest["layers"].items())
    lines = [
        heading("The frozen pack of today's session"),
        f"version {manifest['pack_version']}, trigger {manifest['trigger']}, {manifest['tokens']} tokens; {layers}",
        f"ETag {now.etag}",
        "",
    ]
    for line in now.text.splitlines():
        lines += [f"  {part}" for part in textwrap.wrap(line, WIDTH - 6, subsequent_indent="    ")]
    status, size = ("304", 0) if again is None else ("200", len(again.text.encode()))
    lines += ["", f"The same call with If-None-Match: {styled(status, 'green')}, {size} bytes, {again_ms:.1f} ms"]
    return "\n".join(lines)


def recall(question: Question, answer: Mapping[str, Any]) -> str:
    """The best hits of one recall as a table."""
    took = f"{answer['result_state']} in {answer['elapsed_ms']:.1f} ms"
    lines = [f"\n{styled(question.query, 'cyan')}  {styled(f'{question.shows}; {took}', 'dim')}"]
    if answer["degraded"]:
        lines.append(styled(f"  degraded: {', '.join(answer['degraded'])}", "yellow"))
    if answer["hits"]:
        names = "".join(f"{name:>{width}}" for name, width in COLUMNS)
        lines.append(styled(f"     {'source':{SOURCE}}{names}", "dim"))
    return "\n".join([*lines, *(_hit(hit) for hit in answer["hits"])])


def _hit(hit: Mapping[str, Any]) -> str:
    parts = hit["components"]
    shown = {
        "sim": _number(parts.get("sim_cal"), 2),
        "bm25": _number(parts.get("bm25"), 2),
        "vec": _number(parts.get("rank_vec"), 0),
        "lex": _number(parts.get("rank_lex"), 0),
        "rrf": _number(parts["rrf"], 4),
        "prior": _number(parts["prior"], 2),
        "final": _number(parts["final"], 4),
        "rerank": _number(parts.get("rerank"), 2),
    }
    numbers = "".join(f"{shown[name]:>{width}}" for name, width in COLUMNS)
    speaker = hit.get("speaker") or ("assistant" if hit["source"] == "event" else None)
    first = hit["text"].splitlines()[0]
    text = f"{speaker}: {first}" if speaker else first
    where = styled(f"{hit['kind']:{SOURCE}}{numbers}", "dim")
    return f"  {hit['rank']}. {where}  {hit['observed_at'][:10]}\n     {fitted(text, WIDTH - 5).rstrip()}"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
