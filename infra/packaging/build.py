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

from infra.packaging.layers import AWS_SERVICES, NUMBERS_OF, ROOT, Layer

ONLY_ABOUT_THE_INSTALL = ("RECORD", "INSTALLER", "REQUESTED", "WHEEL", "top_level.txt", "direct_url.json")
"""Of a dist-info folder. METADATA stays for vulnerability scanners, the licence because it has to."""


VERSION = "import sys; print(sys.implementation.name, '.'.join(map(str, sys.version_info[:2])))"


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
    if compile_packages(packages, target.python):
        (folder / compiled_mark(layer.name)).write_text(f"{target.python}\n", encoding="ascii")


def compiled_mark(layer: str) -> str:
    """The file of a layer that says that it is compiled, and for what. It is in BuildSha, which compiled files
    themselves are not, because two runs of the compiler need not agree in every byte."""
    return f"python/.compiled-{layer}"


def compile_packages(packages: Path, python: str) -> bool:
    """Compiled files beside the sources, which Python then takes without a look at either's time or content: the
    sources of a layer never change. False, and nothing done, when no interpreter of that version is here: compiled
    files are good for the minor version that made them, on whatever processor. Raises CannotBuild."""
    interpreter = find_interpreter(python)
    if interpreter is None:
        return False
    command = [interpreter, "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash"]
    _run([*command, "-s", str(packages), "-p", "/opt/python", str(packages)], f"compiling for {python}")
    return True


def find_interpreter(python: str) -> str | None:
    """A CPython of a minor version such as ``3.13``: this one, one on the path or of pyenv, or what uv finds."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [sys.executable, shutil.which(f"python{python}"), *map(str, sorted(pyenv.glob(f"{python}.*/bin/python")))]
    for candidate in filter(None, found):
        if _is_version(candidate, python):
            return candidate
    asked = subprocess.run(
        [uv.find_uv_bin(), "python", "find", "--quiet", python], capture_output=True, text=True, check=False
    )
    candidate = asked.stdout.strip()
    return candidate if asked.returncode == 0 and _is_version(candidate, python) else None


def _is_version(interpreter: str, python: str) -> bool:
    """A shim on the path may stand for no interpreter at all."""
    output = subprocess.run([interpreter, "-I", "-c", VERSION], capture_output=True, text=True, check=False)
    return output.returncode == 0 and output.stdout.strip() == f"cpython {python}"


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
    _keep_used_numbers(packages / "stdnum")


def _keep_called_services(data: Path) -> None:
    if not data.is_dir():
        return
    for service in data.iterdir():
        if service.is_dir() and service.name not in AWS_SERVICES:
            shutil.rmtree(service)


def _keep_used_numbers(stdnum: Path) -> None:
    if not stdnum.is_dir():
        return
    for inside in stdnum.iterdir():
        if inside.is_dir() and inside.name not in NUMBERS_OF:
            shutil.rmtree(inside)
        elif inside.suffix == ".dat":
            inside.unlink()
