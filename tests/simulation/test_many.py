"""Many seeds: a report that is gone on with says the same as one that was made at once."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.simulation import many
from tests.simulation.many import ENOUGH, ROOT, Found, OtherReport, joined, lacking, play_many
from tests.simulation.seeds import PLAIN, Options
from tests.simulation.sometimes import LIST

CHAT = Options("chat")


def test_a_report_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tmp_path / "report.json"
    play_many(range(2, 4), CHAT, 1, report)
    played: list[range] = []
    at_once = many.play_all

    def noting(seeds: range, options: Options) -> many.Found:
        played.append(seeds)
        return at_once(seeds, options)

    monkeypatch.setattr(many, "play_all", noting)
    found = play_many(range(6), CHAT, 1, report)
    whole = at_once(range(6), CHAT)
    assert played == [range(2), range(4, 6)]
    assert (found.chunks, found.steps, found.seen, found.faults) == ([(0, 6)], whole.steps, whole.seen, whole.faults)
    assert json.loads(report.read_text(encoding="utf-8"))["seeds"] == 6


def test_a_report_about_something_else_is_left_alone(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    play_many(range(1), CHAT, 1, report)
    before = report.read_text(encoding="utf-8")
    with pytest.raises(OtherReport, match="workload"):
        play_many(range(2), Options("records"), 1, report)
    assert report.read_text(encoding="utf-8") == before


def test_parts_that_follow_each_other_are_one() -> None:
    assert joined([(20, 20), (60, 5), (0, 20), (50, 5)]) == [(0, 40), (50, 5), (60, 5)]


def test_what_has_to_happen_and_never_does_is_told_where_there_were_enough_seeds() -> None:
    seen = Counter(dict.fromkeys(LIST, 1))
    del seen["crash"]
    enough = Found(chunks=[(0, ENOUGH)], seen=seen)
    assert lacking(enough, PLAIN) == ["crash"]
    assert lacking(Found(chunks=[(0, ENOUGH - 1)], seen=seen), PLAIN) == []
    assert lacking(enough, CHAT) == [], "one workload does not do all of it"
    assert lacking(Found(chunks=[(0, ENOUGH)], seen=Counter(LIST)), PLAIN) == []


def test_processes_end_with_the_one_that_started_them() -> None:
    """Also when it is killed: nobody is left who plays on."""
    program = (
        "import os, sys, time\n"
        "from tests.simulation.many import processes\n"
        "if __name__ == '__main__':\n"
        "    with processes(1) as pool:\n"
        "        print(pool.submit(os.getpid).result(), flush=True)\n"
        "        time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as starting:
        assert starting.stdout is not None
        started = os.pidfd_open(int(starting.stdout.readline()))
        starting.kill()
    ended, _, _ = select.select([started], [], [], 60)
    os.close(started)
    assert ended
