"""``python -m evals.nightly``: a night over 1,000 users with 200 eligible rows each on the embedded engine, with a
model that answers by rule; killed three times at moments drawn from a seed. Writes ``evals/results/nightly.json`` and
its table in docs/benchmark.md; exits with 1 when a row was lost, doubled or seen mixed, a frozen pack changed, or the
small tenant had to wait."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from evals.bench import machine
from evals.nightly.night import Outcome, play
from evals.nightly.people import ROW_TOKENS, Size
from neve.domain.times import iso

RESULT = Path("evals/results/nightly.json")
DOCUMENT = Path("docs/benchmark.md")
BEGIN, END = "<!-- nightly:begin -->", "<!-- nightly:end -->"


def main() -> int:
    given = _arguments()
    os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")
    with tempfile.TemporaryDirectory(prefix="neve-night-") as temporary:
        outcome = play(
            Path(temporary) / "data",
            Size(given.users, given.rows),
            seed=given.seed,
            kills=given.kills,
            model_s=given.model_s,
            tell=lambda text: print(text, flush=True),
        )
    print(json.dumps(outcome.as_json(), indent=1))
    if given.write:
        settings = {"seed": given.seed, "model_s": given.model_s, "row_tokens": ROW_TOKENS}
        record = {"at": iso(datetime.now(UTC)), "machine": machine.describe(), "settings": settings}
        RESULT.write_text(json.dumps(record | {"night": outcome.as_json()}, indent=1) + "\n", encoding="utf-8")
        _write(outcome)
    return 0 if outcome.good else 1


def table(outcome: Outcome) -> str:
    """As it stands in the document."""
    rate = outcome.users * outcome.rows / outcome.seconds
    lines = {
        "users, eligible rows each": f"{outcome.users:,}, {outcome.rows}",
        "seconds, rows a second": f"{outcome.seconds:,.0f}, {rate:,.0f}",
        "killed when this share of the users was done": ", ".join(f"{share:.0%}" for share in outcome.killed_at),
        "rows lost or condensed twice": f"{len(outcome.wrong)} users",
        "looks of readers, of users in the middle of their run": f"{outcome.looks:,}, {outcome.looks_while_changing:,}",
        "of those with old and new rows mixed": str(len(outcome.mixed)),
        "frozen packs whose ETag changed": str(outcome.packs_changed),
        "users done when the tenant with 5 was": f"{outcome.small_ended_at:.1%}",
    }
    return "\n".join(["| a night | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in lines.items())])


def _write(outcome: Outcome) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{table(outcome)}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.nightly", description=__doc__)
    parser.add_argument("--users", type=int, default=1_000)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=37)
    parser.add_argument("--model-s", type=float, default=0.05, help="how long an answer takes")
    parser.add_argument("--write", action="store_true", help="keep the result and put it into docs/benchmark.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
