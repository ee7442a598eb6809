"""``python -m infra.sdk.wheel``: builds the Python SDK, installs it into an empty environment and imports it there.

It prints sizes and what an import costs, and fails where that is more than it may be."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[2]
SOURCE, OUT = ROOT / "sdk" / "python", ROOT / "build" / "sdk"
IMPORT_MS = 80
"""Of processor time in a bare interpreter, at most."""
RUNS = 7
IMPORTED = """
import time
began = time.process_time()
import neve
took = time.process_time() - began
import sys
assert "httpx2" not in sys.modules and "neve.types" not in sys.modules
print(took)
"""
USED = """
import asyncio, neve, neve.types
from neve import AsyncNeve, Neve
assert neve.types.RecallView
client = Neve("nv_x", "http://127.0.0.1:9")
client.user("ada").session("s1").context("hi")
asyncio.run(AsyncNeve("nv_x", "http://127.0.0.1:9").user("ada").session("s1").context("hi"))
"""


def main() -> int:
    shutil.rmtree(OUT, ignore_errors=True)
    uv = str(Path(sys.executable).parent / "uv")
    _run(uv, "build", "--quiet", "--wheel", "--out-dir", str(OUT), str(SOURCE))
    (wheel,) = OUT.glob("neve-*.whl")
    _run(uv, "venv", "--quiet", "--python", sys.executable, str(OUT / "venv"))
    python = OUT / "venv" / "bin" / "python"
    _run(uv, "pip", "install", "--quiet", "--python", str(python), str(wheel))
    took = sorted(float(_run(str(python), "-I", "-c", IMPORTED)) * 1000 for _ in range(RUNS))
    _run(str(python), "-I", "-c", USED)
    hint = subprocess.run([OUT / "venv" / "bin" / "neve"], capture_output=True, text=True, check=False)
    _run(uv, "pip", "install", "--quiet", "--python", str(python), f"{wheel}[cli]")
    listed = _run(str(OUT / "venv" / "bin" / "neve"), "--help")
    served = [str(OUT / "venv" / "bin" / "neve"), "--key", "nv_x", "--user", "ada", "mcp"]
    more = subprocess.run(served, capture_output=True, text=True, check=False)
    _run(uv, "pip", "install", "--quiet", "--python", str(python), f"{wheel}[mcp]")
    ended = subprocess.run(served, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        installed = sum(one.file_size for one in archive.infolist())
    print(
        f"{wheel.name}: {wheel.stat().st_size / 1024:.0f} KiB, {installed / 1024:.0f} KiB installed, {len(names)} files"
    )
    best, middle = took[0], took[RUNS // 2]
    print(
        f"import neve: {best:.0f} ms of processor time, the best of {RUNS} runs; {middle:.0f} ms the one in the middle"
    )
    wrong = [
        *(["the wheel lacks py.typed"] if "neve/py.typed" not in names else []),
        *([f"an import may take {IMPORT_MS} ms"] if took[0] > IMPORT_MS else []),
        *(["without click, neve does not say what it needs"] if "neve[cli]" not in hint.stderr else []),
        *(["neve --help does not list its commands"] if "memory" not in listed else []),
        *(["without mcp, neve mcp does not say what it needs"] if "neve[mcp]" not in more.stderr else []),
        *([f"neve mcp does not serve: {ended.stderr}"] if ended.returncode else []),
    ]
    print(
        "\n".join(wrong)
        or "The wheel installs into an empty environment, imports, and brings the command line with [cli] and [mcp]."
    )
    return bool(wrong)


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=OUT if OUT.exists() else ROOT)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)[:200]}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
