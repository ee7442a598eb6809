"""The observer without a model on labelled dialogues: ``python -m evals.observer [dev|test|late|chats|all]``.

``dev`` and ``test``, 150 short dialogues each, were written before anything was tuned on either and split by the sha256
of what is said; ``late`` (90) came after the classifier was fitted. ``chats``: three conversations of thirty turns with
forty things to keep, which were listed before anything was run on them; only its figures are looked at, never its
lines (``--lines`` says no word of it). A line of a file:

    {"domain": "health", "turns": [{"by": "user", "text": "..."}, {"by": "assistant", "text": "..."}],
     "keep": [{"mark": "🔴", "words": ["metformin"]}], "allow": [["words", "of", "a", "line"]], "false": [["words"]]}

``keep``: each is to be found in a kept line that holds all of its words, under this mark. ``allow``: lines that are
neither wanted nor wrong. ``false``: lines that say of the user what is not so. Where a dialogue lists none, every line
that is neither wanted nor allowed is false; where it does, such a line is useless. Dialogues with an empty ``keep`` are
questions, requests, small talk, hypotheses, and speech that is quoted, translated, role-played or fictional.

A dialogue is observed as a service does: a pass a turn, each shown the lines of those before it. So a line stays when a
later one corrects it; one that the later line quotes is counted with that."""

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
from neve.domain.records.markers import Scene
from neve.domain.records.sessions import Event, EventType
from neve.domain.terms import stem
from neve.domain.words import QUERY_STOP_WORDS, is_emoji, plain_words
from neve.observers.extractive.english.vocabulary import words
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observing import PassInput, PriorMemory

FOLDER = Path(__file__).parent
SETS = ("dev", "test", "late", "chats")
UNSEEN = "chats"
SPOKEN_AT = "2026-03-10T09:30:00.000Z"
SPEAKERS = {"user": EventType.USER_MESSAGE, "assistant": EventType.ASSISTANT_RESPONSE}
HIGH = "🔴"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")
_RESOLVED = re.compile(r"\(meaning [^()]*\)")
_PHATIC = words("hi hey hello thanks thank please yes no ok okay oh well btw way anyway right great")
"""Words that a line may leave out and still be whole."""
_OF_THE_FORM = words("user assistant asked said want")
"""Words that name who spoke, and "wants", which is "want" of another person."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One dialogue: what was kept of it, which wanted statements were not, or not whole, and which lines nobody wanted.
    ``garbled``: lines that lost a part of their sentence, or have a word that nobody said."""

    domain: str
    dialogue: str
    wanted: int
    missed: tuple[str, ...]
    not_whole: tuple[str, ...]
    false: tuple[str, ...]
    useless: tuple[str, ...]
    garbled: tuple[str, ...]
    kept: tuple[str, ...]
    other_mark: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Shares in percent. ``kept_of_wanted``, ``kept_whole``: of the statements worth keeping; ``false_lines``,
    ``useless_lines`` (or garbled), ``high_lines`` (🔴): of all kept lines; ``false_alarms``: of the dialogues that hold
    nothing worth keeping, those that left a line; ``same_mark``: of what was kept."""

    dialogues: int
    wanted: int
    lines: int
    kept_of_wanted: float
    kept_whole: float
    false_lines: float
    useless_lines: float
    high_lines: float
    false_alarms: float
    same_mark: float


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="evals.observer", description=__doc__)
    parser.add_argument("set", nargs="?", choices=(*SETS, "all"), default="all")
    parser.add_argument("--lines", action="store_true", help="also what went wrong, but for the set that is unseen")
    options = parser.parse_args(arguments)
    print(
        "| set | to keep | kept | kept whole | false | useless or garbled | nothing to keep, yet a line | 🔴 | mark |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in SETS if options.set == "all" else (options.set,):
        outcomes = [outcome(dialogue) for dialogue in dialogues(name)]
        total = score(outcomes)
        shares = (
            total.kept_of_wanted,
            total.kept_whole,
            total.false_lines,
            total.useless_lines,
            total.false_alarms,
            total.high_lines,
            total.same_mark,
        )
        print(f"| {name} | {total.wanted} | {' | '.join(f'{share:.1f}' for share in shares)} |")
        for line in _mistakes(outcomes) if options.lines and name != UNSEEN else ():
            print(f"  {line}")
    return 0


def dialogues(name: str) -> list[dict[str, Any]]:
    """The labelled dialogues of a set."""
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def outcome(dialogue: dict[str, Any]) -> Outcome:
    """What the observer made of a dialogue."""
    lines_left = list(_observed(dialogue))
    texts = [turn["text"] for turn in dialogue["turns"]]
    keep, allowed = dialogue["keep"], dialogue.get("allow", [])
    known_false = dialogue.get("false", [])
    found = {n: [line for line in lines_left if _holds(line, one["words"])] for n, one in enumerate(keep)}
    whole = {n: [line for line in found[n] if not _lost(line, one["words"], texts)] for n, one in enumerate(keep)}
    wanted = {line for lines in found.values() for line in lines}
    unwanted = [
        line
        for n, line in enumerate(lines_left)
        if line not in wanted
        and not any(_holds(line, words) for words in allowed)
        and not any(_quotes(later, line) for later in lines_left[n + 1 :])
    ]
    false = [line for line in unwanted if not known_false or any(_holds(line, words) for words in known_false)]
    cut = {line for n, lines in found.items() for line in lines if line not in whole[n]}
    uncut = {line for lines in whole.values() for line in lines}
    return Outcome(
        domain=dialogue["domain"],
        dialogue=" // ".join(texts),
        wanted=len(keep),
        missed=tuple(" ".join(one["words"]) for n, one in enumerate(keep) if not found[n]),
        not_whole=tuple(" ".join(one["words"]) for n, one in enumerate(keep) if not whole[n]),
        false=tuple(false),
        useless=tuple(line for line in unwanted if line not in false),
        garbled=tuple(
            line
            for line in lines_left
            if line not in unwanted and (line in cut - uncut or _content(line) - _OF_THE_FORM - _said(texts))
        ),
        kept=tuple(lines_left),
        other_mark=tuple(
            f"{one['mark']} {line}"
            for n, one in enumerate(keep)
            for line in found[n][:1]
            if not line.startswith(one["mark"])
        ),
    )


def _observed(dialogue: dict[str, Any]) -> Iterator[str]:
    """The lines of its passes, one a turn."""
    events = [
        Event(seq=n, event_type=SPEAKERS[t["by"]], content=t["text"], original_tokens=1, created_at=SPOKEN_AT)
        for n, t in enumerate(dialogue["turns"], start=1)
    ]
    prior: list[PriorMemory] = []
    scene: Scene | None = None
    for turn in _turns(events):
        seen = PassInput("s1", turn, prior[-50:], "UTC", 8_000, room_for(turn), scene=scene)
        found = ExtractiveObserver().observe(seen)
        lines, scene = found.lines, found.scene
        yield from (line.text for line in lines)
        if lines:
            span, text = (turn[0].seq, turn[-1].seq), "\n".join(line.text for line in lines)
            prior.append(PriorMemory(f"m{len(prior)}", text, local=True, span=span, observed_at=SPOKEN_AT))


def _turns(events: Sequence[Event]) -> Iterator[list[Event]]:
    turn: list[Event] = []
    for event in events:
        if turn and event.event_type is EventType.USER_MESSAGE and turn[-1].event_type is not event.event_type:
            yield turn
            turn = []
        turn.append(event)
    yield turn


def _quotes(later: str, line: str) -> bool:
    """Whether a later line says what became of this one: it corrects it, or calls it solved."""
    return _content(line) - _OF_THE_FORM < _content(later)


def _holds(line: str, words: Sequence[str]) -> bool:
    return all(re.search(rf"(?<!\w){re.escape(word)}", line, re.IGNORECASE) for word in words)


def _lost(line: str, words: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether the one sentence that says all of the words says more than the line. Of a question only the words
    count."""
    said = (sentence for text in texts for sentence in _SENTENCE_END.split(text))
    sources = [sentence for sentence in said if _holds(sentence, words)]
    if not sources or any(sentence.endswith("?") for sentence in sources):
        return False
    held = _content(line)
    return all(_content(sentence) - _PHATIC - held for sentence in sources)


def _said(texts: Sequence[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _content(text))


def _content(text: str) -> frozenset[str]:
    plain = plain_words(_RESOLVED.sub(" ", text).replace("’", "'"))
    return frozenset(stem(word) for word in plain if word not in QUERY_STOP_WORDS and not is_emoji(word))


def score(outcomes: Sequence[Outcome]) -> Score:
    """The figures of a set."""
    wanted = sum(one.wanted for one in outcomes)
    found = wanted - sum(len(one.missed) for one in outcomes)
    lines = [line for one in outcomes for line in one.kept]
    empty = [one for one in outcomes if not one.wanted]
    of_lines = 100 / max(1, len(lines))
    return Score(
        dialogues=len(outcomes),
        wanted=wanted,
        lines=len(lines),
        kept_of_wanted=100 * found / wanted,
        kept_whole=100 * (wanted - sum(len(one.not_whole) for one in outcomes)) / wanted,
        false_lines=of_lines * sum(len(one.false) for one in outcomes),
        useless_lines=of_lines * sum(len(one.useless) + len(one.garbled) for one in outcomes),
        high_lines=of_lines * sum(line.startswith(HIGH) for line in lines),
        false_alarms=100 * sum(bool(one.kept) for one in empty) / max(1, len(empty)),
        same_mark=100 * (found - sum(len(one.other_mark) for one in outcomes)) / max(1, found),
    )


def _mistakes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for one in outcomes:
        kinds = {
            "missed": one.missed,
            "part": [words for words in one.not_whole if words not in one.missed],
            "false": one.false,
            "useless": one.useless,
            "garbled": one.garbled,
            "mark": one.other_mark,
        }
        for label, found in kinds.items():
            for text in found:
                yield f"{one.domain:8} {label:7} {text!r} in {one.dialogue!r}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
