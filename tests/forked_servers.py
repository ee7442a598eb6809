"""Servers that start in a moment: a process that has loaded everything forks one for every start.

Each is a process of its own and runs ``python -m local`` from its first line on; only what Python loads, 1.4 s of
processor time a start, is there already, and what a process reads and compiles once. ``python -m tests.forked_servers``
is the process that forks."""

from __future__ import annotations

import atexit
import faulthandler
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy.ma  # noqa: F401  # numpy's own, in the first call of many a function

import local.aws.full_stack  # noqa: F401  # with what it imports
from local import __main__ as service
from local.aws.local_servers import local_session
from local.functions import Functions
from local.running import (
    LAST_OUTPUT,
    LOOK_S,
    MODEL_KEY,
    START_S,
    STOP_S,
    DidNotStart,
    EmbedderName,
    SearchName,
    StackName,
)
from local.template import ROOT, own_template
from neve.adapters.aws.clients import aws_client
from neve.domain.observe.answer import observation_schema
from neve.domain.words import characters, chunks, parts, plain_words
from neve.observers.extractive.classifier import classify

STANDARD_STREAMS = (0, 1, 2)
ASK = signal.SIGINT
"""As Ctrl-C does."""
ABORT_S = 10.0
"""For a process to write down what its threads are at."""
LAST_THREADS = 30_000
"""Characters of what it wrote."""


class DidNotStop(Exception):
    """A server that was asked to end ran on."""


@dataclass(frozen=True, slots=True)
class ForkedServer:
    """``key``: the ready-made API key, of every scope. ``output``: the file with what the server prints."""

    base_url: str
    key: str
    pid: int
    output: Path
    _servers: ForkedServers = field(repr=False)

    def stop(self) -> int:
        """As Ctrl-C does it; returns the exit code. Raises DidNotStop, with what each of its threads was at."""
        os.kill(self.pid, ASK)
        end = time.monotonic() + STOP_S
        while (code := self._servers.exit_code(self.pid)) is None:
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGABRT)
                if not self.ends_within(ABORT_S):
                    self.kill()
                raise DidNotStop(f"within {STOP_S:.0f} s:\n{self.output.read_text()[-LAST_THREADS:]}")
            time.sleep(LOOK_S)
        return code

    def kill(self) -> None:
        """``kill -9``, and wait for its end. Harmless when it has ended already."""
        _kill(self.pid)

    def ends_within(self, seconds: float) -> bool:
        """By itself."""
        end = time.monotonic() + seconds
        while is_alive(self.pid):
            if time.monotonic() > end:
                return False
            time.sleep(LOOK_S)
        return True


class ForkedServers:
    """Those that still run when it is closed are killed."""

    def __init__(self) -> None:
        paths = os.pathsep.join([str(ROOT / "layers" / "core"), str(ROOT)])
        inherited = {name: value for name, value in os.environ.items() if name != MODEL_KEY}
        self._forking = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=ROOT,
            env={**inherited, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def start(
        self,
        data: Path,
        *,
        stack: StackName = "embedded",
        embedder: EmbedderName = "fixture",
        search: SearchName = "embedded",
        env: Mapping[str, str] | None = None,
    ) -> ForkedServer:
        """Under test controls; returns when it answers. ``env`` is added to its environment. Raises DidNotStart."""
        ready, output = data.with_name(f"{data.name}.ready.json"), data.with_name(f"{data.name}.log")
        ready.unlink(missing_ok=True)
        arguments = ["--data", str(data), "--port", "0", "--stack", stack, "--embedder", embedder, "--test-controls"]
        arguments += ["--search", search, "--allow-loopback-webhooks"]
        pid = self.begin([*arguments, "--ready-file", str(ready)], output, env=env)
        end = time.monotonic() + START_S
        while not ready.exists():
            if not is_alive(pid) or time.monotonic() > end:
                _kill(pid)
                raise DidNotStart(f"the server on {data} did not start:\n{output.read_text()[-LAST_OUTPUT:]}")
            time.sleep(LOOK_S)
        known = json.loads(ready.read_bytes())
        return ForkedServer(known["url"], known["api_key"], pid, output, self)

    def begin(
        self,
        arguments: Sequence[str],
        output: Path,
        *,
        errors: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> int:
        """``python -m local`` with these; its process id. ``errors``: where it does not print them among the rest."""
        files = {"output": str(output), "errors": str(errors or output)}
        return int(self._ask({"arguments": list(arguments), "env": dict(env or {}), **files}))

    def exit_code(self, pid: int) -> int | None:
        """None: it runs."""
        code: int | None = self._ask({"ended": pid})
        return code

    def close(self) -> None:
        assert self._forking.stdin is not None and self._forking.stdout is not None
        self._forking.stdin.close()
        self._forking.wait()
        self._forking.stdout.close()

    def _ask(self, what: dict[str, Any]) -> Any:
        assert self._forking.stdin is not None and self._forking.stdout is not None
        print(json.dumps(what), file=self._forking.stdin, flush=True)
        return json.loads(self._forking.stdout.readline())


@cache
def forked_servers() -> ForkedServers:
    """One a process of the test run."""
    made = ForkedServers()
    atexit.register(made.close)
    return made


def _kill(pid: int) -> None:
    while is_alive(pid):
        with suppress(ProcessLookupError):  # it ended since it was looked at
            os.kill(pid, signal.SIGKILL)
        time.sleep(LOOK_S)


def is_alive(pid: int) -> bool:
    """The process that forked it notices its end at once."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# --- the process that forks ---------------------------------------------------------------------


def main() -> None:
    """Ends when its input does, and its servers with it."""
    functions = Functions(own_template().functions)
    for name in own_template().functions:
        functions.load(name)
    read_descriptions()
    classify("I moved to Zürich.")
    observation_schema()
    for folded in ("zürich", "บ้าน"):
        for chunk in chunks(folded):
            parts(chunk)
            characters(chunk)
        plain_words(folded)
    signal.signal(signal.SIGCHLD, lambda *_: _reap(os.WNOHANG))
    for line in sys.stdin:
        asked = json.loads(line)
        if "ended" in asked:
            print(json.dumps(_codes.get(asked["ended"])), flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            _serve(asked)
        _codes.pop(pid, None)
        _running.add(pid)
        print(pid, flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for pid in _running:
        os.kill(pid, signal.SIGKILL)
    _reap(0)


def read_descriptions() -> None:
    """Of the services that the full stack talks to: their clients are made, and ask nobody."""
    session = local_session(short_way=True)
    for make in (
        partial(aws_client, "dynamodb"),
        partial(aws_client, "dynamodbstreams"),
        partial(aws_client, "sqs"),
        partial(aws_client, "s3"),
    ):
        make(endpoint_url="http://127.0.0.1", session=session).close()


_running: set[int] = set()
_codes: dict[int, int] = {}
"""Exit codes of those that have ended."""


def _reap(options: int) -> None:
    """Of servers that have ended; with 0 of all, once they have."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, options))[0] != 0:
            _running.discard(ended[0])
            _codes[ended[0]] = os.waitstatus_to_exitcode(ended[1])


def _serve(given: dict[str, Any]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    files = (os.open(given[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) for name in ("output", "errors"))
    for stream, file in zip(STANDARD_STREAMS, (os.open(os.devnull, os.O_RDONLY), *files), strict=True):
        os.dup2(file, stream)
    faulthandler.enable(os.open(given["errors"], os.O_WRONLY | os.O_APPEND))
    os.environ.update(given["env"])
    sys.argv[1:] = given["arguments"]
    code = 1
    try:
        code = service.main()
    except SystemExit as refused:  # what it was started with
        code = int(refused.code or 0)
    finally:
        sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
