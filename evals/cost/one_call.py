"""A turn in one call beside the same in two and in three: ``python -m evals.cost.one_call``.

The same turns are played three times: the answer appended, the next message appended, and the prompt compiled, each by
itself; both appended together; and all in one call. Printed is what 1,000 of them cost, by unit."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from evals.bench.texts import memory_texts, questions
from evals.cost.playing import Played, Stage
from evals.cost.sums import of_thousand
from evals.in_process import BASE_URL
from local.backend import Choices, EmbeddedPorts
from local.bootstrap import ready_key
from local.template import read_template

MEMORIES = 60


class _Turns(Stage):
    """``calls``: how many a turn takes."""

    def play_turns(self, session: str, turns: int, *, calls: int) -> Played:
        statements, asked = iter(memory_texts(turns + 1, seed=12)), iter(questions(turns + 1, seed=13))
        self._session(session)
        self.say(session, "", next(asked), calls=calls)
        self._forget()
        for _ in range(turns):
            self.say(session, next(statements), next(asked), calls=calls)
        return self._result(turns)


def _played(turns: int, *, calls: int) -> Played:
    """By a stage of its own, so that neither finds what the other has left."""
    with tempfile.TemporaryDirectory() as folder:
        template = read_template()
        engines = EmbeddedPorts(Path(folder), template, BASE_URL, Choices("bge-small"))
        stage = _Turns(engines, template, str(ready_key(engines, Path(folder)).text))
        stage.load(MEMORIES)
        played = stage.play_turns("s", turns, calls=calls)
        engines.close()
    return played


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=40)
    turns: int = parser.parse_args().turns
    os.environ["POWERTOOLS_METRICS_DISABLED"] = "false"
    three, two, one = (of_thousand(vars(_played(turns, calls=calls))) for calls in (3, 2, 1))
    print(f"{'1,000 turns':<28}{'three calls':>12}{'two calls':>12}{'one call':>12}")
    for lines in zip(three, two, one, strict=True):
        if any(line.units for line in lines):
            print(f"{lines[0].what:<28}" + "".join(f"{line.units:>12,.1f}" for line in lines))
    print(f"{'USD':<28}" + "".join(f"{sum(line.usd for line in lines):>12.4f}" for lines in (three, two, one)))


if __name__ == "__main__":
    main()
