"""``python -m tests.safeguards``: takes each safeguard of the table out of a copy of this repository and runs the test
that has to fail then. Prints a table; fails where a test passes all the same, does not run, or fails with the safeguard
in its place, too. ``--only TEXT``: those whose line or purpose holds it."""

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

PASSED, FAILED = 0, 1
"""pytest's exit codes; the others say that no test ran. A fixture that cannot be made is FAILED, too."""
RED, NOT_RED, ANYWAY = "red", "NOT RED", "FAILS ANYWAY"
INSTALLED = (".venv", ".venv-sam", "layers/encoder/model", "layers/encoder/reranker")


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
                    found = verdict(safeguard, copy)
                    missed += found != RED
                    test = safeguard.test.rpartition("/")[2]
                    print(f"| {line} | {safeguard.keeps} | `{test}` | {found} |", flush=True)
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


def verdict(safeguard: Safeguard, copy: Path) -> str:
    """What the test says of the copy without the safeguard. A test that fails anyway, as where something that it needs
    is not installed, says nothing."""
    if _exit_code(safeguard.test, copy) != PASSED:
        return ANYWAY
    path = copy / safeguard.file
    whole = path.read_text(encoding="utf-8")
    path.write_text(taken_out(safeguard, whole), encoding="utf-8")
    try:
        return RED if _exit_code(safeguard.test, copy) == FAILED else NOT_RED
    finally:
        path.write_text(whole, encoding="utf-8")


def _exit_code(test: str, copy: Path) -> int:
    paths = ":".join(str(copy / part) for part in ("layers/core", ".", "sdk/python"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", test, "-n", "0", "-q", "-x"],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (PASSED, FAILED):
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
