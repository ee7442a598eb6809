"""``python -m infra.sdk``: writes what is generated of the Python SDK; with ``--check`` it says what is old instead."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from infra.sdk.raw_file import raw_file
from infra.sdk.types_file import types_file
from infra.sdk.unasync import without_waiting

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "sdk" / "python" / "neve"
BY_HAND = ("__init__.py", "concurrency.py")


def generated() -> Iterator[tuple[Path, str]]:
    """Every generated file with its text."""
    document = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    yield PACKAGE / "types.py", formatted(types_file(document))
    raw = formatted(raw_file(document))
    yield PACKAGE / "_async" / "raw.py", raw
    for source in sorted((PACKAGE / "_async").glob("*.py")):
        if source.name not in BY_HAND:
            text = raw if source.name == "raw.py" else source.read_text(encoding="utf-8")
            yield PACKAGE / "_sync" / source.name, formatted(without_waiting(text, f"_async/{source.name}"))


def formatted(text: str) -> str:
    """As `make lint` wants it."""
    for command in (["check", "--quiet", "--fix-only", "--select", "I,F401"], ["format", "--quiet"]):
        run = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(PACKAGE / "_sync" / "made.py"), "-"]
        text = subprocess.run(run, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def old() -> list[Path]:
    """Generated files whose text is another."""
    return [path for path, text in generated() if not path.exists() or path.read_text(encoding="utf-8") != text]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.sdk", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    if parser.parse_args().check:
        found = [str(path.relative_to(ROOT)) for path in old()]
        print("\n".join([f"{name} is old: make sdk-generate" for name in found]) or "The Python SDK is as generated.")
        return bool(found)
    for path, text in generated():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
