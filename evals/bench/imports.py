"""What each function imports, and how long that takes: in a process of its own, as a cold start does it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from evals.bench.measuring import percentile
from local.template import ROOT, Template

RUNS = 5
HEAVY = ("anthropic", "tiktoken", "opensearchpy", "numpy", "onnxruntime", "tokenizers", "boto3")
"""Packages that a function on the chat path is not to import."""
_SCRIPT = """
import json, sys, time
known, began = set(sys.modules), time.perf_counter()
import functions.{name}.app
taken = (time.perf_counter() - began) * 1000
loaded = set(sys.modules) - known
print(json.dumps({{"modules": len(loaded), "ms": taken, "heavy": [name for name in {heavy!r} if name in sys.modules]}}))
"""


def measure_imports(template: Template) -> dict[str, dict[str, Any]]:
    """By function: ``modules`` beyond those that Python starts with, ``ms`` (median of five, bytecode cached), and
    which of the heavy packages are among them."""
    found = {}
    for name in sorted(template.functions):
        runs = [_run(name) for _ in range(RUNS + 1)][1:]
        found[name] = runs[0] | {"ms": percentile([run["ms"] for run in runs], 0.5)}
    return found


def _run(name: str) -> dict[str, Any]:
    paths = os.pathsep.join((str(ROOT / "layers" / "core"), str(ROOT)))
    script = _SCRIPT.format(name=name, heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": paths}, capture_output=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found
