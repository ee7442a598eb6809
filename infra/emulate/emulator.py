"""Ministack on 127.0.0.1, in the environment of ``requirements/emulate.txt``."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from local.template import ROOT

PROGRAM = ROOT / ".venv-emulate" / "bin" / "ministack"
REGION = "us-east-1"
STARTS_S = 60.0
LOOK_S = 0.2


class NoEmulator(Exception):
    """It is not installed, or does not start; the message says which."""


@contextmanager
def emulator(folder: Path) -> Iterator[str]:
    """Its address. Everything that it keeps is in memory; ``folder`` takes what it prints. Raises NoEmulator."""
    if not PROGRAM.exists():
        raise NoEmulator(f"{PROGRAM} is not there: `make emulate` installs requirements/emulate.txt")
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    own = {"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port), "MINISTACK_REGION": REGION, "AWS_ENDPOINT_URL": url}
    with (folder / "emulator.log").open("wb") as output:
        process = subprocess.Popen(
            [str(PROGRAM)], cwd=folder, env=os.environ | own, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        _wait_for(url, process)
        yield url
    finally:
        process.terminate()
        process.wait(STARTS_S)


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + STARTS_S
    while process.poll() is None and time.monotonic() < end:
        with suppress(URLError, OSError), urlopen(f"{url}/_ministack/health", timeout=STARTS_S):  # noqa: S310
            return
        time.sleep(LOOK_S)
    raise NoEmulator(f"it did not answer (exit code {process.poll()})")
