"""Which of 200 pairs of statements are taken for one: ``python -m evals.same [--show] [--cosines]``.

``evals/same/pairs.jsonl`` holds fifty pairs each that are the same, that contradict each other, that are related, and
that are not; they were written before the rule was. Rules are changed with an eye on one half of them, and counted on
both. Exits with 1 where a contradiction is taken for the same, or fewer than 70 % of the paraphrases are."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from neve.domain.same.meaning import may_be_the_same, say_the_same

PAIRS = Path(__file__).with_name("pairs.jsonl")
KINDS = ("same", "contradiction", "related", "unrelated")
LEAST = 0.7
ENCODER = Path("layers/encoder")


@dataclass(frozen=True, slots=True)
class Pair:
    """``kind``: one of ``KINDS``. ``tuned``: of the half that rules are changed by."""

    kind: str
    tuned: bool
    one: str
    other: str


def read_pairs(path: Path = PAIRS) -> list[Pair]:
    return [Pair(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def merged(pairs: Sequence[Pair], kind: str, *, tuned: bool) -> tuple[int, int]:
    """Count the pairs of a kind that are the same to the rule, and all of them."""
    of_kind = [pair for pair in pairs if pair.kind == kind and pair.tuned == tuned]
    return sum(say_the_same(pair.one, pair.other) for pair in of_kind), len(of_kind)


def cosines(pairs: Sequence[Pair]) -> list[float]:
    """Give the cosine of each pair by the bundled encoder."""
    from array import array

    from neve.adapters.embedders.bge_small import BgeSmall

    embedder = BgeSmall(ENCODER)
    vectors = [array("f", vector) for pair in pairs for vector in embedder.embed_passages([pair.one, pair.other])]
    return [sum(a * b for a, b in zip(*vectors[n : n + 2], strict=True)) for n in range(0, len(vectors), 2)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--show", action="store_true", help="show the pairs of the tuned half that are wrong")
    parser.add_argument("--cosines", action="store_true", help="show what the encoder's cosines are of each kind")
    given = parser.parse_args()
    pairs = read_pairs()
    print(f"{'kept once, of':<16}{'tuned half':>14}{'other half':>14}{'not vetoed':>14}")
    counts = {kind: [merged(pairs, kind, tuned=tuned) for tuned in (True, False)] for kind in KINDS}
    for kind, halves in counts.items():
        open_ones = sum(may_be_the_same(pair.one, pair.other) for pair in pairs if pair.kind == kind)
        print(f"{kind:<16}" + "".join(f"{f'{n} of {of}':>14}" for n, of in halves) + f"{open_ones:>14}")
    if given.cosines:
        found = cosines(pairs)
        for kind in KINDS:
            own = sorted(c for c, pair in zip(found, pairs, strict=True) if pair.kind == kind)
            print(f"cosines, {kind:<14} least {own[0]:.2f}, median {own[len(own) // 2]:.2f}, most {own[-1]:.2f}")
    if given.show:
        for pair in pairs:
            if pair.tuned and say_the_same(pair.one, pair.other) != (pair.kind == "same"):
                print(f"{pair.kind}: {pair.one} | {pair.other}")
    wrong = any(n for n, _ in counts["contradiction"])
    enough = sum(n for n, _ in counts["same"]) >= LEAST * sum(of for _, of in counts["same"])
    return 0 if enough and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
