"""Plays a night: fill a folder, start the workers, kill them at moments drawn from a seed, and look at the result."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

from evals.nightly.checks import Readers, done_users, ended, pack_tags, wrong
from evals.nightly.people import TENANTS, Size, settle
from local.backend import Choices, EmbeddedPorts
from local.template import ROOT, read_template
from neve.store.partitions import due_rows

LOOK_S = 0.1
MAX_NIGHT_S = 4 * 3600.0


@dataclass(slots=True)
class Outcome:
    """``small_ended_at``: share of all users that had ended when the last one of the small tenant did. ``killed_at``:
    share of the users that had ended when the workers were killed. ``wrong`` and ``mixed`` hold at most five."""

    users: int
    rows: int
    seconds: float
    fill_seconds: float
    killed_at: list[float]
    small_ended_at: float
    looks: int
    looks_while_changing: int
    packs_changed: int
    wrong: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not (self.wrong or self.mixed or self.packs_changed) and self.small_ended_at <= 0.1

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def play(folder: Path, size: Size, *, seed: int, kills: int, model_s: float, tell: Callable[[str], object]) -> Outcome:
    folder.mkdir(parents=True, exist_ok=True)
    ports = EmbeddedPorts(folder, read_template(), "http://127.0.0.1", Choices("none"))
    began = time.monotonic()
    settle(ports, size)
    filled = time.monotonic()
    tell(f"{size.users} users with {size.rows} rows are there")
    before, people = pack_tags(ports, size), len(list(size.people()))
    readers = Readers(ports, size, seed)
    random = Random(seed)
    moments = sorted(random.uniform(0.02, 0.95) for _ in range(kills))
    killed = [_until(folder, ports, int(moment * people), model_s, random) / people for moment in moments]
    tell(f"killed at {', '.join(f'{share:.0%}' for share in killed)} of the users")
    _until(folder, ports, people, model_s, None)
    seconds = time.monotonic() - filled
    readers.stop()
    after, ends = pack_tags(ports, size), ended(ports, list(TENANTS))
    last_small = max(n for n, (_, tenant) in enumerate(ends, 1) if tenant == "small")
    outcome = Outcome(
        users=people,
        rows=size.rows,
        seconds=round(seconds, 1),
        fill_seconds=round(filled - began, 1),
        killed_at=[round(share, 3) for share in killed],
        small_ended_at=round(last_small / len(ends), 4),
        looks=readers.looks,
        looks_while_changing=readers.changing,
        packs_changed=sum(before[user] != after[user] for user in before),
        wrong=wrong(ports, size)[:5],
        mixed=readers.mixed[:5],
    )
    ports.close()
    return outcome


def _until(folder: Path, ports: EmbeddedPorts, users: int, model_s: float, random: Random | None) -> int:
    """Run the workers until so many users have ended, and some part of a second longer, then kill them; how many have
    ended by then. Without ``random`` until all have, and the planner too has seen it."""
    worker = _start(folder, model_s)
    end = time.monotonic() + MAX_NIGHT_S
    try:
        while done_users(ports, list(TENANTS)) < users or (random is None and any(due_rows(ports.table, "replace"))):
            if worker.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the workers ended with {worker.returncode}, or take too long")
            time.sleep(LOOK_S)
        if random is not None:
            time.sleep(random.uniform(0.0, 0.5))
    finally:
        worker.kill()
        worker.wait()
    return done_users(ports, list(TENANTS))


def _start(folder: Path, model_s: float) -> subprocess.Popen[bytes]:
    paths = [str(ROOT / "layers" / "core"), str(ROOT)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "evals.nightly.worker", str(folder), str(model_s)]
    return subprocess.Popen(command, cwd=ROOT, env=environment)
