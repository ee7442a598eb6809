"""What each way through the product costs in calls and in code: ``python -m evals.ways [--write]``.

Printed for each way: its table calls and those of the other ports, and how many files and functions of
``layers/core/neve`` it runs. ``--write`` keeps it as
``evals/results/ways.json``, which later runs show in brackets."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from evals.ways.playing import Way, play
from local.template import ROOT, read_template

KEPT = ROOT / "evals" / "results" / "ways.json"
PORTS = ("table", "objects", "queue", "search", "embedder")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--write", action="store_true", help=f"keep the result as {KEPT.relative_to(ROOT)}")
    parser.add_argument("--embedder", default="bge-small", choices=("bge-small", "fixture", "none"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ways = play(Path(folder), read_template(), given.embedder)
    before = {one["name"]: one for one in json.loads(KEPT.read_text(encoding="utf-8"))} if KEPT.exists() else {}
    print(f"{'way':<32}" + "".join(f"{port:>10}" for port in PORTS) + f"{'files':>12}{'functions':>14}")
    for way in ways:
        print(_line(way, before.get(way.name)))
    if given.write:
        KEPT.write_text(json.dumps([asdict(way) for way in ways], indent=1) + "\n", encoding="utf-8")
    return 0


def _line(way: Way, before: dict[str, object] | None) -> str:
    calls = "".join(f"{way.calls.get(port, 0):>10}" for port in PORTS)
    then = f" ({before['files']})" if before else "", f" ({before['functions']})" if before else ""
    return f"{way.name:<32}{calls}{f'{way.files}{then[0]}':>12}{f'{way.functions}{then[1]}':>14}"


if __name__ == "__main__":
    sys.exit(main())
