"""``python -m evals.prompt_cost``: what a conversation costs turn by turn, with Neve and without, from prompts that are
made here and list prices.

``DATA`` (a folder with ``locomo/``) replays the transcripts; what has been reached is kept in
``evals/results/prompt_cost.json`` at 20,000, 100,000 and 500,000 tokens. Without it the kept results are shown.
``--passes DATA`` plays a part of them under both policies of when a pass runs, and keeps what the model costs then in
``evals/results/model_passes.json``. ``--purposes DATA`` counts what is asked of the model for each purpose, and keeps
it in ``evals/results/model_purposes.json``. ``--write`` puts the tables into docs/prompt-cost.md."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.bench import machine
from evals.prompt_cost import passes
from evals.prompt_cost.replay import replay
from evals.prompt_cost.report import render, summed, write_markdown
from evals.prompt_cost.settings import CHAT_MODELS, OBSERVER_MODEL
from evals.prompt_cost.transcripts import Transcript, locomo, tools
from local.backend import EMBEDDERS

RESULT = Path("evals/results/prompt_cost.json")
PASSES = Path("evals/results/model_passes.json")
PASSES_UP_TO = 100_000
PURPOSES = Path("evals/results/model_purposes.json")
PURPOSES_UP_TO = 20_000
LENGTHS = (20_000, 100_000, 500_000)
TRANSCRIPTS: dict[str, Callable[[Path, int], Transcript]] = {
    "tools": lambda _, __: tools(100_000),
    "locomo": lambda data, most: locomo(data / "locomo", [length for length in LENGTHS if length <= most]),
}
ORDER = ("locomo-20k", "locomo-100k", "locomo-500k", "tools-100k")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.prompt_cost", description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, help="folder with locomo/locomo10.json")
    parser.add_argument("--only", choices=list(TRANSCRIPTS), help="one of them; both if nothing is said")
    parser.add_argument("--up-to", type=int, choices=LENGTHS, default=LENGTHS[-1], help="tokens of LoCoMo")
    parser.add_argument("--embedder", choices=EMBEDDERS, default="bge-small")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/prompt-cost.md")
    parser.add_argument("--passes", action="store_true", help="of DATA only what passes cost by when they run")
    parser.add_argument("--purposes", action="store_true", help="of DATA only what each purpose of a request costs")
    given = parser.parse_args()
    if given.data and given.purposes:
        length = min(given.up_to, PURPOSES_UP_TO)
        found = passes.measure_purposes(locomo(given.data / "locomo", [length]), given.embedder)
        return _keep(PURPOSES, found, passes.purpose_lines(found))
    if given.data and given.passes:
        length = min(given.up_to, PASSES_UP_TO)
        found = passes.measure(locomo(given.data / "locomo", [length]), given.embedder)
        return _keep(PASSES, found, passes.lines(found))
    stored = _stored_result()
    if given.data:
        for name in [given.only] if given.only else TRANSCRIPTS:
            _measure(TRANSCRIPTS[name](given.data, given.up_to), given.embedder)
        stored = _stored_result()
    text = render(
        stored["transcripts"], f"{stored['at'][:10]} on {stored['machine']['cores']} cores ({stored['machine']['cpu']})"
    )
    if given.write:
        write_markdown(text)
    print(text)
    if PASSES.exists():
        print("", *passes.lines(json.loads(PASSES.read_text(encoding="utf-8"))), sep="\n")
    if PURPOSES.exists():
        print("", *passes.purpose_lines(json.loads(PURPOSES.read_text(encoding="utf-8"))), sep="\n")
    return 0


def _keep(file: Path, found: dict[str, Any], lines: Iterable[str]) -> int:
    """Keep what was measured, with when and where, and print it."""
    file.write_text(json.dumps({"at": _now(), "machine": machine.describe(), **found}, indent=1) + "\n")
    print("\n".join(lines))
    return 0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _stored_result() -> dict[str, Any]:
    if not RESULT.exists():
        return {"at": "", "machine": "", "transcripts": {}}
    stored: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    return stored


def _measure(transcript: Transcript, embedder: str) -> None:
    """What each stop says is kept as soon as it is reached."""
    for played in replay(transcript, embedder):
        transcripts = _stored_result()["transcripts"] | {played.transcript: summed(played)}
        result = {
            "at": _now(),
            "machine": machine.describe(),
            "models": CHAT_MODELS,
            "observer_model": OBSERVER_MODEL,
            "transcripts": {known: transcripts[known] for known in ORDER if known in transcripts},
        }
        RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
