"""``python -m tests.safeguards``: takes each safeguard of the table out of a copy of this repository and runs the test
that has to fail then. Prints a table; fails where a test passes all the same, or does not run. ``--only TEXT``: those
whose line or purpose holds it."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from local.template import ROOT
from tests.safeguards.table import SAFEGUARDS, Safeguard
from tests.safeguards.taken_out import taken_out

FAILED = 1
"""pytest's exit code when a test failed; the others say that none ran."""
INSTALLED = (".venv", ".venv-sam", "layers/encoder/model", "layers/late/model")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.safeguards", description=__doc__)
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    missed = 0
    print("| line | without | test | |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="neve-safeguards-") as folder:
        copy = _copy(Path(folder) / "copy")
        for line, safeguards in SAFEGUARDS.items():
            for safeguard in safeguards:
                if only in line or only in safeguard.keeps:
                    red = _fails_without(safeguard, copy)
                    missed += not red
                    test = safeguard.test.rpartition("/")[2]
                    print(f"| {line} | {safeguard.keeps} | `{test}` | {'red' if red else 'NOT RED'} |", flush=True)
    return bool(missed)


def _copy(to: Path) -> Path:
    """What git knows of, with links to what is installed beside it."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    for name in filter(None, tracked.stdout.split("\0")):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, to / name)
    for name in INSTALLED:
        if (ROOT / name).exists() and not (to / name).exists():
            (to / name).symlink_to((ROOT / name).resolve())
    return to


def _fails_without(safeguard: Safeguard, copy: Path) -> bool:
    path = copy / safeguard.file
    whole = path.read_text(encoding="utf-8")
    path.write_text(taken_out(safeguard, whole), encoding="utf-8")
    try:
        paths = ":".join(str(copy / part) for part in ("layers/core", ".", "sdk/python"))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", safeguard.test, "-n", "0", "-q", "-x"],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        path.write_text(whole, encoding="utf-8")
    if done.returncode not in (0, FAILED):
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
    return done.returncode == FAILED


if __name__ == "__main__":
    sys.exit(main())
