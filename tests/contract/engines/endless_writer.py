"""A process that writes until it is killed, and says on standard output what has been acknowledged.

``python -m tests.contract.engines.endless_writer table|queue|objects <engine> <location>``"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from neve.ports import Expect, Message, Put, Version
from tests.contract.engines.harnesses import STANDARD
from tests.contract.engines.registry import OBJECTS, QUEUES, TABLES

SEEDS = range(5)
"""Each seed is one moment of death; a failure names it and can be repeated."""
FEWEST, MOST = 5, 150
"""Acknowledged writes before the kill."""


def object_body(n: int) -> bytes:
    """64 KB that only ``n`` has: large enough to be torn."""
    return n.to_bytes(4, "big") * 16_384


def killed_after_some_writes(kind: str, engine: str, location: str, seed: int) -> int:
    """Runs the writer, kills it with SIGKILL at a seeded moment, and returns how many writes it had acknowledged:
    those with the numbers 0 … n - 1."""
    command = [sys.executable, "-m", __name__, kind, engine, location]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as writer:
        assert writer.stdout is not None
        enough = random.Random(seed).randint(FEWEST, MOST)
        for _ in range(enough):
            assert writer.stdout.readline(), "the writer stopped by itself"
        writer.kill()
        return enough + writer.stdout.read().count("\n")


@contextmanager
def _opened(kind: str, engine: str, location: str) -> Iterator[Callable[[int], None]]:
    """What writes number n."""
    if kind == "table":
        with TABLES[engine].connect(location) as table:
            yield lambda n: table.write(
                [
                    Put({"pk": "P", "sk": "COUNTER", "n": n}, Version(n) if n else Expect.ABSENT),
                    Put({"pk": "P", "sk": f"ROW#{n:06d}", "n": n}, Expect.ABSENT),
                ]
            )
    elif kind == "queue":
        with QUEUES[engine].connect(location) as queues:
            yield lambda n: queues.queue.send(STANDARD, [Message({"n": n}, group="g")])
    else:
        with OBJECTS[engine].connect(location) as objects:
            yield lambda n: objects.store.put(f"k/{n}", object_body(n), content_type="text/plain")


def main(kind: str, engine: str, location: str) -> None:
    with _opened(kind, engine, location) as write:
        for n in count():
            write(n)
            print(n, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
