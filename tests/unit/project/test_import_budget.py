"""What a function imports before its first call: no heavy library that it does not need, and not ever more modules.

Counted in a process of its own, because a count does not depend on how fast the machine is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

HEAVY = {
    *("anthropic", "tiktoken", "opensearchpy", "numpy", "onnxruntime", "tokenizers"),
    *("boto3", "botocore.session", "sqlite3", "local", "stdnum"),
}
"""None of these is imported by a function that answers HTTP without searching. The AWS SDK comes with the engines
that a deployed process installs, not with the functions; Powertools imports ``botocore``'s empty package alone."""

MODULES = {"authorizer": 288, "observe": 470, "pack": 462, "records": 530, "admin": 505}
"""Upper bounds on how many modules an import adds to those that the interpreter begins with, a little above what was
counted on Python 3.11: the authorizer 285, observe 464 with the forms of messages, pack 456, which holds documents,
records 524, which answers for them too, admin 498, which plans reflections and reads the jobs of all users. Pydantic
brings 150, Powertools 60, what looks for personal data 19. Raise one only for a
reason."""

PROGRAM = """
import importlib, json, sys
begun_with = set(sys.modules)
importlib.import_module("functions.{name}.app")
print(json.dumps(sorted(sys.modules.keys() - begun_with)))
"""


def modules_of(name: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(name=name)],
        env={"PYTHONPATH": f"{ROOT / 'layers' / 'core'}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("name", sorted(MODULES))
def test_function_stays_light(name: str) -> None:
    modules = modules_of(name)
    assert sorted(modules & HEAVY) == []
    assert len(modules) <= MODULES[name]


def test_the_count_sees_heavy_imports() -> None:
    heavy = subprocess.run(
        [sys.executable, "-c", "import sys, numpy; print('numpy' in sys.modules, len(sys.modules) > 100)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert heavy.stdout.split() == ["True", "True"]
