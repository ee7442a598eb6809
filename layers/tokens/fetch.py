"""Fetches the o200k_base merge table: one file of one pinned wheel, checked against its sha256.

``python layers/tokens/fetch.py`` fills ``layers/tokens/bpe``; set ``NEVE_BPE_DIR`` to that folder. Only tenants with
``token_counter: o200k_base`` need it. The wheel (41 MB) is never installed or imported; it is built per
platform, so one is named whose table serves all. Exit code 1 and a sentence on stderr when it cannot be had."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = "litellm==1.109.1"
WHEEL_SHA256 = "1c8b4dd671fa0cd0850aa751678704ff77e595fb1e6085b2dc3be39ee19bdaaf"
WHEEL_TARGET = ("--platform=manylinux_2_28_x86_64", "--implementation=cp", "--abi=abi3", "--python-version=3.11")
FILE_IN_WHEEL = "litellm/litellm_core_utils/tokenizers/fb374d419588a4632f3f557e76b4b70aebbca790"
FILE_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
TABLE = Path(__file__).resolve().parent / "bpe" / "o200k_base.tiktoken"


class CannotFetch(Exception):
    """The table could not be downloaded, or is not the pinned one."""


def fetch(table: Path = TABLE) -> bool:
    """Makes sure that the table is there. True when it was downloaded. Raises CannotFetch."""
    if table.is_file() and _sha256(table.read_bytes()) == FILE_SHA256:
        return False
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(_download(Path(scratch))) as archive:
        content = archive.read(FILE_IN_WHEEL)
    if _sha256(content) != FILE_SHA256:
        raise CannotFetch(f"The table in {WHEEL} has sha256 {_sha256(content)}, expected {FILE_SHA256}.")
    table.parent.mkdir(parents=True, exist_ok=True)
    part = table.with_suffix(".part")
    part.write_bytes(content)
    part.replace(table)
    return True


def _download(scratch: Path) -> Path:
    """The wheel, taken by pip from whatever index pip is configured for; pip checks its sum."""
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", *WHEEL_TARGET, "--require-hashes", "--dest", str(scratch)]
    done = subprocess.run([*command, "--requirement", str(requirements)], capture_output=True, text=True, check=False)
    wheels = list(scratch.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        said = done.stderr.strip().splitlines()[-1:] or [f"pip ended with code {done.returncode}"]
        raise CannotFetch(f"The merge table ({WHEEL}) could not be downloaded: {said[0]}")
    return wheels[0]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def main() -> int:
    """Command line entry: says what it did, returns the exit code."""
    try:
        fetched = fetch()
    except CannotFetch as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"o200k_base {'fetched into' if fetched else 'already in'} {TABLE.parent}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
