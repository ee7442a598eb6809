"""A function's process: Lambda's runtime client with the function, its layers and the standard library alone."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from infra.lambda_runtime.runtime_api import NoOutcome, Outcome, RuntimeApi

ISOLATED = ("-I", "-S", "-B")
"""No variables, no packages of this machine; and no compiled files, because Lambda's /opt cannot be written."""
PROGRAM = """
import runpy, sys
code, opt, runtime, handler = sys.argv[1:]
sys.path[:0] = [code, opt]
sys.path.append(runtime)
sys.argv = ["bootstrap", handler]
runpy.run_module("awslambdaric", run_name="__main__")
"""
"""Lambda's order: the function, its layers, the standard library, what the image brings."""
END_S = 10.0
LAST_OUTPUT = 3_000
"""Characters of the output that an error repeats."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """``code``: the function's folder. ``opt``: its layers. ``runtime``: the packages of Lambda's image."""

    code: Path
    opt: Path
    runtime: Path

    def command(self, handler: str) -> list[str]:
        return [
            *(sys.executable, *ISOLATED, "-c", PROGRAM),
            *(str(self.code), str(self.opt / "python"), str(self.runtime), handler),
        ]

    def run(self, program: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """A program of its own in the same place, without the runtime client."""
        path = f"import sys; sys.path[:0] = {[str(self.code), str(self.opt / 'python')]!r}\n"
        return subprocess.run(
            [sys.executable, *ISOLATED, "-c", path + program],
            env=dict(environment or {}),
            cwd=self.code,
            capture_output=True,
            text=True,
            check=False,
        )


class LambdaProcess:
    """Started at once. A context manager that ends it. ``output``: the file with what it prints. ``started``: when, as
    a ``time.perf_counter()``."""

    def __init__(self, name: str, sandbox: Sandbox, handler: str, environment: Mapping[str, str], output: Path) -> None:
        self._name, self._output = name, output
        self._api = RuntimeApi()
        self._api.__enter__()
        own = {
            "AWS_LAMBDA_RUNTIME_API": self._api.address,
            "AWS_LAMBDA_FUNCTION_NAME": name,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
            "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
            "LAMBDA_TASK_ROOT": str(sandbox.code),
            "TZ": ":UTC",
        }
        self.started = time.perf_counter()
        with output.open("wb") as stream:
            self._process = subprocess.Popen(
                sandbox.command(handler),
                env={**own, **environment},
                cwd=sandbox.code,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
            )

    @property
    def ready(self) -> float:
        """When it had started, as a ``time.perf_counter()``. Raises ValueError before its first answer."""
        if self._api.first_asked is None:
            raise ValueError(f"{self._name} has not started yet")
        return self._api.first_asked

    def invoke(self, event: Any, timeout_s: float = 60.0) -> Outcome:
        """Raises NoOutcome, with the end of what the function printed, when it answers nothing."""
        try:
            return self._api.invoke(self._name, event, timeout_s, lambda: self._process.poll() is None)
        except NoOutcome as error:
            raise NoOutcome(f"{error}; its output ends with:\n{self.log_text()[-LAST_OUTPUT:]}") from None

    def log_text(self) -> str:
        return self._output.read_text(encoding="utf-8", errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._api.__exit__(kind, error, trace)
