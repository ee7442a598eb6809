"""The observer without a model on labelled mini-dialogues: ``python -m evals.observer [dev|test]``.

Two halves of 150, both written before anything was tuned on either, split by the sha256 of what is said: ``dev.jsonl``
is what the rules are worked on with; ``test.jsonl`` is looked at only to report a number. A line of a file:

    {"domain": "health", "turns": [{"by": "user", "text": "..."}, {"by": "assistant", "text": "..."}],
     "keep": [{"mark": "🔴", "words": ["metformin"]}], "allow": [["words", "of", "a", "line"]]}

``keep``: each is to be found in a kept line that holds all of its words, under this mark. ``allow``: lines that are
neither wanted nor wrong. Every other kept line is false. Dialogues with an empty ``keep`` are questions, requests,
small talk, hypotheses, and speech that is quoted, translated, role-played or fictional."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neve.domain.observe.lines import room_for
from neve.domain.records.sessions import Event, EventType
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observing import PassInput

FOLDER = Path(__file__).parent
HALVES = ("dev", "test", "late")
SPOKEN_AT = "2026-03-10T09:30:00.000Z"
SPEAKERS = {"user": EventType.USER_MESSAGE, "assistant": EventType.ASSISTANT_RESPONSE}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One dialogue: what was kept of it, which wanted statements were not, and which lines nobody wanted."""

    domain: str
    dialogue: str
    wanted: int
    missed: tuple[str, ...]
    false: tuple[str, ...]
    kept: tuple[str, ...]
    other_mark: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Shares in percent. ``false_lines``: of all kept lines; ``false_alarms``: of the dialogues that hold nothing worth
    keeping, those that left a line."""

    dialogues: int
    wanted: int
    kept_of_wanted: float
    false_lines: float
    false_alarms: float
    same_mark: float


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="evals.observer", description=__doc__)
    parser.add_argument("half", nargs="?", choices=HALVES, default="dev")
    parser.add_argument("--quiet", action="store_true", help="only the numbers, not what went wrong")
    options = parser.parse_args(arguments)
    outcomes = [outcome(dialogue) for dialogue in dialogues(options.half)]
    for line in [] if options.quiet else _mistakes(outcomes):
        print(line)
    total = score(outcomes)
    print(
        f"{options.half}: {total.dialogues} dialogues, {total.wanted} statements worth keeping:"
        f" kept {total.kept_of_wanted:.1f} %, with the expected mark {total.same_mark:.1f} %;"
        f" false lines {total.false_lines:.1f} % of those kept;"
        f" {total.false_alarms:.1f} % of the dialogues with nothing to keep left a line"
    )
    return 0


def dialogues(half: str) -> list[dict[str, Any]]:
    """The labelled dialogues of ``dev`` or ``test``."""
    return [json.loads(line) for line in (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()]


def outcome(dialogue: dict[str, Any]) -> Outcome:
    """What the observer made of a dialogue, as one pass."""
    events = [
        Event(seq=n, event_type=SPEAKERS[t["by"]], content=t["text"], original_tokens=1, created_at=SPOKEN_AT)
        for n, t in enumerate(dialogue["turns"], start=1)
    ]
    given = PassInput("s1", events, (), "UTC", 8_000, room_for(events))
    lines_left = [line.text for line in ExtractiveObserver().observe(given).lines]
    keep, allowed = dialogue["keep"], [*dialogue.get("allow", []), *(one["words"] for one in dialogue["keep"])]
    found = {n: [line for line in lines_left if _holds(line, one["words"])] for n, one in enumerate(keep)}
    return Outcome(
        domain=dialogue["domain"],
        dialogue=" // ".join(turn["text"] for turn in dialogue["turns"]),
        wanted=len(keep),
        missed=tuple(" ".join(one["words"]) for n, one in enumerate(keep) if not found[n]),
        false=tuple(line for line in lines_left if not any(_holds(line, words) for words in allowed)),
        kept=tuple(lines_left),
        other_mark=tuple(
            f"{one['mark']} {line}"
            for n, one in enumerate(keep)
            for line in found[n][:1]
            if not line.startswith(one["mark"])
        ),
    )


def _holds(line: str, words: Sequence[str]) -> bool:
    return all(re.search(rf"(?<!\w){re.escape(word)}", line, re.IGNORECASE) for word in words)


def score(outcomes: Sequence[Outcome]) -> Score:
    """The numbers of a half."""
    wanted = sum(one.wanted for one in outcomes)
    found = wanted - sum(len(one.missed) for one in outcomes)
    lines = sum(len(one.kept) for one in outcomes)
    empty = [one for one in outcomes if not one.wanted]
    return Score(
        dialogues=len(outcomes),
        wanted=wanted,
        kept_of_wanted=100 * found / wanted,
        false_lines=100 * sum(len(one.false) for one in outcomes) / max(1, lines),
        false_alarms=100 * sum(bool(one.kept) for one in empty) / max(1, len(empty)),
        same_mark=100 * (found - sum(len(one.other_mark) for one in outcomes)) / max(1, found),
    )


def _mistakes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for one in outcomes:
        for label, found in (("missed", one.missed), ("false", one.false), ("mark", one.other_mark)):
            for text in found:
                yield f"{one.domain:8} {label:6} {text!r} in {one.dialogue!r}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
