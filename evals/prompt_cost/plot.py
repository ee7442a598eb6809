"""``python evals/prompt_cost/plot.py RESULTS OUT.svg [TRANSCRIPT]``: cost per turn over turns, one line a method, of
the longest transcript unless another is named. Needs nothing of this repository but the results, so that matplotlib
stays in an environment of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

STYLES = {
    "Neve": ("#0b6e4f", "-", 2.4),
    "full history, no cache": ("#b3261e", "-", 1.4),
    "full history, cached": ("#b3261e", "--", 1.4),
    "last 20 messages": ("#6b7280", "-", 1.4),
    "memory rebuilt every turn": ("#c77d0a", "-", 1.4),
}


def main() -> int:
    source, target, *named = sys.argv[1:]
    stored = json.loads(Path(source).read_text(encoding="utf-8"))
    name = named[0] if named else max(stored["transcripts"], key=lambda known: stored["transcripts"][known]["turns"])
    draw(stored["transcripts"][name], f"{name}: cost of a turn, {stored['models'][0]}", Path(target))
    return 0


def draw(result: dict[str, Any], title: str, target: Path) -> None:
    import matplotlib  # type: ignore[import-not-found]

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "neve", "svg.fonttype": "none", "font.size": 9})
    figure, axes = pyplot.subplots(figsize=(7.6, 4.4), layout="constrained")
    for method, found in result["methods"].items():
        colour, dashes, width = STYLES[method]
        turns, usd = zip(*found["line"], strict=True)
        axes.plot(turns, [1000 * cost for cost in usd], dashes, color=colour, linewidth=width, label=method)
    axes.set_yscale("log")
    axes.set_xlabel("turn")
    axes.set_ylabel("USD for a thousand turns like it")
    axes.set_title(title, fontsize=10)
    axes.grid(visible=True, which="major", linewidth=0.4, alpha=0.5)
    figure.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=3)
    figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    sys.exit(main())
