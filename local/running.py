"""Start the local server in a process of its own: for tests, evals and the benchmark."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from local.template import ROOT

EmbedderName = Literal["bge-small", "fixture", "none"]
StackName = Literal["embedded", "full"]
SearchName = Literal["embedded", "segments"]

START_S = 600.0
"""It is up after 1 s on an idle machine with two cores, on real servers after 10 s. One that fails ends, and is not
waited for; one that hangs is given up after this."""
STOP_S = 120.0
LOOK_S = 0.005
LAST_OUTPUT = 2_000
"""Characters of the output that an error repeats."""
MODEL_KEY = "ANTHROPIC_API_KEY"


class DidNotStart(Exception):
    """The server ended, or said nothing for ``START_S``; the message holds the end of its output."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """``key``: the ready-made API key, of every scope. ``output``: the file with what the server prints."""

    base_url: str
    key: str
    process: subprocess.Popen[bytes]
    output: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def stop(self) -> int:
        """As Ctrl-C does; returns the exit code. Raises subprocess.TimeoutExpired, in which case it was killed."""
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def kill(self) -> None:
        """``kill -9``, and wait for its end. Harmless when it has ended already."""
        self.process.kill()
        self.process.wait()


def start_server(  # noqa: PLR0913
    data: Path,
    *,
    embedder: EmbedderName = "bge-small",
    test_controls: bool = False,
    port: int = 0,
    stack: StackName = "embedded",
    search: SearchName = "embedded",
    env: Mapping[str, str] | None = None,
) -> RunningServer:
    """Returns when it answers. ``port`` 0: a free one. ``env`` is added to this process's environment, of which the key
    of a language model is not handed on. Output and ready file are put beside ``data``. Raises DidNotStart."""
    process, ready, output = launch(
        data, embedder=embedder, test_controls=test_controls, port=port, stack=stack, search=search, env=env
    )
    end = time.monotonic() + START_S
    while not ready.exists():
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            process.wait()
            output_end = output.read_text(encoding="utf-8", errors="replace")[-LAST_OUTPUT:]
            raise DidNotStart(f"the server on {data} did not start (exit code {process.returncode}):\n{output_end}")
        time.sleep(LOOK_S)
    known = json.loads(ready.read_bytes())
    return RunningServer(known["url"], known["api_key"], process, output)


def launch(  # noqa: PLR0913
    data: Path,
    *,
    embedder: EmbedderName,
    test_controls: bool = False,
    port: int = 0,
    stack: StackName = "embedded",
    search: SearchName = "embedded",
    env: Mapping[str, str] | None = None,
) -> tuple[subprocess.Popen[bytes], Path, Path]:
    """Start the process and do not wait. Returns it, the file that it writes once it answers, and that of its
    output."""
    data.parent.mkdir(parents=True, exist_ok=True)
    ready, output = data.with_name(f"{data.name}.ready.json"), data.with_name(f"{data.name}.log")
    ready.unlink(missing_ok=True)
    command = [sys.executable, "-m", "local", "--data", str(data), "--port", str(port), "--embedder", embedder]
    command += ["--stack", stack, "--search", search]
    command += ["--ready-file", str(ready)] + (
        ["--test-controls", "--allow-loopback-webhooks"] if test_controls else []
    )
    paths = [str(ROOT / "layers" / "core"), str(ROOT)]
    inherited = {name: value for name, value in os.environ.items() if name != MODEL_KEY}
    environment = inherited | {"PYTHONPATH": os.pathsep.join(paths)} | dict(env or {})
    with output.open("ab") as stream:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
        )
    return process, ready, output
