"""Every commit: fixed seeds, some of its own, the seeds that once failed, and a few ablations by rotation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.simulation.ablations.all_of_them import ABLATIONS
from tests.simulation.ablations.finding import FOUND_LAST, found_again
from tests.simulation.machine.remembered import seldom_collected
from tests.simulation.seeds import Options, play
from tests.simulation.workloads import WORKLOADS

ROOT = Path(__file__).resolve().parents[2]
FAILED = json.loads((Path(__file__).parent / "failed_seeds.json").read_text(encoding="utf-8"))
PART, PARTS, OWN, ROTATED = 50, 10, 50, 5
SOON = 300
"""Seeds: a change of the product moves what every seed does, and what took 1,000 seeds to find takes minutes then."""
OFTEN = (
    *("message postponed", "crash", "worker timed out", "lease lost", "dead letter", "stream gave up"),
    *("pack adopted", "replacement done", "memory changed under If-Match", "epoch without a horizon"),
)
"""Of the sometimes list, what 50 seeds see eight times and more on average: none at all says that nobody looks."""


def _commit() -> int:
    """The number of the commit that is checked out; 0 for a tree without git."""
    named = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    return int(named.stdout.strip() or "0", 16)


def _played(seeds: range) -> tuple[dict[int, list[str]], Counter[str]]:
    """What was broken, by seed; and what of the sometimes list happened."""
    broken, seen = dict[int, list[str]](), Counter[str]()
    with seldom_collected():
        for seed in seeds:
            result = play(seed)
            seen.update(result.seen)
            if result.broken:
                broken[seed] = result.broken
    return broken, seen


@pytest.mark.parametrize("part", range(PARTS))
def test_fixed_seeds_break_no_invariant(part: int) -> None:
    broken, seen = _played(range(part * PART, (part + 1) * PART))
    assert broken == {}
    assert [name for name in OFTEN if not seen[name]] == []


def test_seeds_of_the_commit_break_no_invariant() -> None:
    first = 10**6 + _commit() % 10**9
    assert _played(range(first, first + OWN))[0] == {}


@pytest.mark.parametrize("failed", FAILED, ids=lambda failed: f"{failed['workload']}-{failed['seed']}")
def test_what_once_failed_breaks_no_invariant(failed: dict[str, object]) -> None:
    assert play(int(str(failed["seed"])), Options(str(failed["workload"]))).broken == []


@pytest.mark.parametrize("turn", range(ROTATED))
def test_a_missing_safeguard_is_found(turn: int) -> None:
    soon = [ablation for ablation in ABLATIONS.values() if ablation.within <= SOON]
    ablation = soon[(_commit() + turn) % len(soon)]
    assert found_again(ablation.name) is not None, ablation.without


@pytest.mark.parametrize("name", ABLATIONS)
def test_an_ablation_finds_what_it_takes_out(name: str) -> None:
    """A part that got another name since is no part of the run."""
    with ABLATIONS[name].applied():
        pass


def test_every_ablation_has_a_seed_that_found_it() -> None:
    assert set(FOUND_LAST) == set(ABLATIONS)
    assert all(seed < ABLATIONS[name].within for name, seed in FOUND_LAST.items())


def test_a_seed_is_one_run_whatever_the_hash_seed() -> None:
    """And whatever was run before in the process, such as in this one."""

    def traces(hash_seed: str) -> str:
        script = "from tests.simulation.test_simulation import digests; print(digests())"
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(
            [sys.executable, "-c", script], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    own = digests()
    assert {traces(hash_seed) for hash_seed in ("0", "1")} == {own}
    assert len(set(own.split())) == len(WORKLOADS)


def digests() -> str:
    """Of one run of every workload."""
    return " ".join(play(2, Options(name)).trace.digest() for name in WORKLOADS)
