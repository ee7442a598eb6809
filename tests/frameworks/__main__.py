"""Runs the Python adapters and pages with the newest release of each framework: ``make frameworks``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from local.template import ROOT
from tests.frameworks.places import run_tests, served

NEWEST = {
    "test_openai_agents.py": ("openai-agents",),
    "test_strands.py": ("strands-agents", "anthropic"),
    "test_pydantic_ai.py": ("pydantic-ai-slim[openai]",),
    "test_langgraph.py": ("langgraph-checkpoint",),
    "test_google_adk.py": ("google-adk",),
    "test_llamaindex.py": ("llama-index-core",),
    "test_litellm.py": ("litellm",),
}
"""What a suite needs; the first one is the framework. Each has an environment of its own: together, one would hold
another back."""
ALSO = ("pytest", "httpx2")
UV = ROOT / ".venv" / "bin" / "uv"
SHOWN = 6_000
"""Characters of the output of what failed."""


def main() -> int:
    failed = []
    with (
        tempfile.TemporaryDirectory(prefix="neve-frameworks-") as folder,
        served(Path(folder) / "data") as surroundings,
    ):
        for suite, packages in NEWEST.items():
            python = Path(folder) / suite.removesuffix(".py") / "bin" / "python"
            version = installed(python, packages)
            done = run_tests(python, surroundings, suite)
            last = done.stdout.strip().rpartition("\n")[2]
            good = done.returncode == 0 and "skipped" not in last
            print(f"{packages[0]:26} {version:12} {last if good else 'FAILED'}", flush=True)
            if not good:
                failed.append(packages[0])
                print(done.stdout[-SHOWN:], flush=True)
    if failed:
        print(f"Neve does not work with the newest release of {', '.join(failed)}.")
    return 1 if failed else 0


def installed(python: Path, packages: tuple[str, ...]) -> str:
    """Install the newest releases; the version of the first package. Raises CalledProcessError."""
    subprocess.run([str(UV), "venv", "--quiet", "--python", sys.executable, str(python.parents[1])], check=True)
    into = [str(UV), "pip", "install", "--quiet", "--refresh", "--python", str(python), *packages, *ALSO]
    subprocess.run(into, check=True)
    name = packages[0].partition("[")[0]
    asked = [str(python), "-c", f"from importlib.metadata import version; print(version({name!r}))"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
