"""mem0 as a library, on its embedded store, with Neve's encoder: in a process and an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from local.backend import ENCODER
from local.template import ROOT

NAME = "mem0 2.2.1"
PYTHON = ROOT / ".venv-mem0" / "bin" / "python"


class Found(NamedTuple):
    """``places``: of the texts among those of the user, from 0, best first. ``ms``: that the search took."""

    ms: float
    places: Sequence[int]


class Mem0:
    def __init__(self, folder: Path, texts: Mapping[str, Sequence[str]]) -> None:
        """``folder``: an empty one. ``texts``: of each user, kept as they are, without a model. Raises RuntimeError
        where it does not get ready."""
        kept = folder / "texts.json"
        kept.write_text(json.dumps(texts), encoding="utf-8")
        paths = os.pathsep.join(map(str, (ROOT / "layers/core", ROOT)))
        self._process = subprocess.Popen(
            [PYTHON, "-m", "evals.peers.mem0_searches", kept, folder, ENCODER],
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if self._answer() != "ready":
            raise RuntimeError(f"{NAME} did not get ready")

    def search(self, user: str, question: str, k: int) -> Found:
        if self._process.stdin is None:
            raise RuntimeError(f"{NAME} is not asked over a pipe")
        self._process.stdin.write(json.dumps([user, question, k]) + "\n")
        self._process.stdin.flush()
        return Found(*self._answer())

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _answer(self) -> Any:
        if self._process.stdout is None:
            raise RuntimeError(f"{NAME} does not answer over a pipe")
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{NAME} ended with {self._process.wait()}")
        return json.loads(line)
