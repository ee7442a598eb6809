"""Builds a layer: the wheels of its lock for Lambda's platform, and its own content, without what never runs.

No Docker and no Lambda machine: wheels are only unpacked. uv does it rather than pip, because uv reads the lock's
markers for the target; pip reads them for the Python that runs it, and would install another numpy."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import uv

from infra.packaging.layers import AWS_SERVICES, ROOT, Layer

ONLY_ABOUT_THE_INSTALL = ("RECORD", "INSTALLER", "REQUESTED", "WHEEL", "top_level.txt", "direct_url.json")
"""Of a dist-info folder. METADATA stays for vulnerability scanners, the licence because it has to."""


class CannotBuild(Exception):
    """A layer could not be built; the message says which step failed and what it said."""


@dataclass(frozen=True, slots=True)
class Target:
    """``python`` such as ``3.13``. ``platform`` in uv's words; None is the machine and the C library this runs on."""

    python: str
    platform: str | None


LAMBDA = Target("3.13", "aarch64-manylinux_2_34")
"""The runtime python3.13 is Amazon Linux 2023, whose C library is glibc 2.34."""
HERE = Target(f"{sys.version_info.major}.{sys.version_info.minor}", None)
"""To run a layer's content where it is built."""


def build_layer(layer: Layer, target: Target, folder: Path) -> None:
    """Fills ``folder``, which becomes /opt. What was there is removed. Raises CannotBuild."""
    shutil.rmtree(folder, ignore_errors=True)
    packages = folder / "python"
    packages.mkdir(parents=True)
    install(layer.lock, target, packages)
    _fetch(layer)
    for place, source in layer.content.items():
        _copy(ROOT / source, folder / place)
    _strip(packages, layer.dropped)


def install(lock: Path, target: Target, folder: Path) -> None:
    """Unpacks every wheel of a lock that the target needs. Raises CannotBuild, also when one has no fitting wheel."""
    command = [uv.find_uv_bin(), "pip", "install", "--quiet", "--python", sys.executable, "--target", str(folder)]
    command += ["--only-binary", ":all:", "--require-hashes", "--no-deps", "--link-mode", "copy"]
    command += ["--python-version", target.python]
    command += ["--python-platform", target.platform] if target.platform else []
    _run([*command, "--requirement", str(lock)], f"installing {lock.name} for {target.python} {target.platform}")


def _fetch(layer: Layer) -> None:
    if layer.fetch is not None:
        _run([sys.executable, str(ROOT / layer.fetch)], layer.fetch)


def _run(command: list[str], step: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotBuild(f"{step}: {done.stderr.strip() or f'exit code {done.returncode}'}")


def _copy(source: Path, to: Path) -> None:
    if not source.exists():
        raise CannotBuild(f"{source.relative_to(ROOT)} is not there")
    to.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    else:
        shutil.copy(source, to)


# --- what never runs ----------------------------------------------------------------------------


def _strip(packages: Path, dropped: tuple[str, ...]) -> None:
    """Removes command-line scripts, tests, type stubs, notes of the installer, and ``dropped``. Every folder that is
    named has to be there, so that the list does not outlive its reason."""
    for name in dropped:
        shutil.rmtree(packages / name)
    shutil.rmtree(packages / "bin", ignore_errors=True)
    for parent, folders, files in os.walk(packages):
        for folder in {"tests", "__pycache__"}.intersection(folders):
            folders.remove(folder)
            shutil.rmtree(Path(parent) / folder)
        unwanted = ONLY_ABOUT_THE_INSTALL if parent.endswith(".dist-info") else ()
        for name in files:
            if name in unwanted or name.endswith(".pyi"):
                (Path(parent) / name).unlink()
    (packages / ".lock").unlink(missing_ok=True)
    _keep_called_services(packages / "botocore" / "data")


def _keep_called_services(data: Path) -> None:
    if not data.is_dir():
        return
    for service in data.iterdir():
        if service.is_dir() and service.name not in AWS_SERVICES:
            shutil.rmtree(service)
