"""``python -m evals.cost``: what 1,000 turns and what follows them cost on AWS, from units measured here and list
prices.

``--measure`` plays the turns first and keeps what they caused in ``evals/results/cost.json``; without it the kept
measurement is used. ``--write`` puts the tables into docs/cost.md."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.bench import machine
from evals.cost.playing import MEMORIES, TURNS_A_SESSION, Played, play
from evals.cost.priced_ports import WAIT_MS
from evals.cost.report import render, write_markdown
from local.template import read_template
from neve.domain.times import iso

RESULT = Path("evals/results/cost.json")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.cost", description=__doc__)
    parser.add_argument("--measure", type=int, metavar="TURNS", help="play so many turns first (200)")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/cost.md")
    given = parser.parse_args()
    if given.measure:
        _measure(given.measure)
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    if given.write:
        write_markdown(result)
    print(render(result))
    return 0


def _measure(turns: int) -> None:
    with tempfile.TemporaryDirectory(prefix="neve-cost-") as folder:
        bills = play(Path(folder), read_template(), turns)
    result = {
        "at": iso(datetime.now(UTC)),
        "machine": machine.describe(),
        "settings": {"kept": MEMORIES, "turns_a_session": TURNS_A_SESSION, "wait_ms": WAIT_MS},
        **{name: _plain(getattr(bills, name)) for name in ("turn", "turn_of_a_model", "end", "export", "erasure")},
        "schedules": {name: _plain(played) for name, played in bills.schedules.items()},
    }
    RESULT.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _plain(played: Played) -> dict[str, Any]:
    return {
        name: dict(value) if isinstance(value, Counter) else sorted(value) if isinstance(value, set) else value
        for name, value in vars(played).items()
    }


if __name__ == "__main__":
    sys.exit(main())
