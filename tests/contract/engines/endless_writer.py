"""A process that writes until it is killed, and says what has been acknowledged.

``python -m tests.contract.engines.endless_writer`` has loaded every engine, which takes 1.3 s of processor time, and
forks such a process for each line of its input."""

from __future__ import annotations

import atexit
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path

from neve.ports.queue import Message
from neve.ports.table import Expect, Put, Version
from tests.contract.engines.harnesses import STANDARD
from tests.contract.engines.registry import OBJECTS, QUEUES, TABLES

SEEDS = range(5)
"""Each seed is one moment of death; a failure names it and can be repeated."""
MIN_WRITES, MAX_WRITES = 5, 150
"""Acknowledged writes before the kill."""


def object_body(n: int) -> bytes:
    """64 KB that only ``n`` has: large enough to be torn."""
    return n.to_bytes(4, "big") * 16_384


def killed_after_some_writes(kind: str, engine: str, location: str, seed: int) -> int:
    """Runs a writer of a ``table``, a ``queue`` or ``objects``, kills it with SIGKILL at a seeded moment, and returns
    how many writes it had acknowledged: those with the numbers 0 … n - 1."""
    enough = random.Random(seed).randint(MIN_WRITES, MAX_WRITES)
    with tempfile.TemporaryDirectory(prefix="neve-writer-") as folder:
        marker = Path(folder) / "said"
        os.mkfifo(marker)
        writer = _fork([kind, engine, location, str(marker)])
        with marker.open(encoding="ascii") as lines:
            for _ in range(enough):
                assert lines.readline(), "the writer stopped by itself"
            with suppress(ProcessLookupError):
                os.kill(writer, signal.SIGKILL)
            return enough + lines.read().count("\n")


def _fork(arguments: list[str]) -> int:
    """The id of a new writer, which says on a FIFO, its last argument, what was acknowledged: one number a line."""
    forking = _forking()
    assert forking.stdin is not None and forking.stdout is not None
    print(json.dumps(arguments), file=forking.stdin, flush=True)
    return int(forking.stdout.readline())


@cache
def _forking() -> subprocess.Popen[str]:
    """The process that forks; it ends with this one."""
    paths = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    forking = subprocess.Popen(
        [sys.executable, "-m", __name__],
        env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(forking.communicate)
    return forking


# --- the process that forks, and what it forks --------------------------------------------------


def main() -> None:
    """Ends when its input does. Nobody waits for those that it forked."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _write_and_end(*json.loads(line))
        print(pid, flush=True)


def _write_and_end(kind: str, engine: str, location: str, marker: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        with Path(marker).open("w", encoding="ascii") as lines, _opened(kind, engine, location) as write:
            for n in count():
                write(n)
                print(n, file=lines, flush=True)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


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


if __name__ == "__main__":
    main()
