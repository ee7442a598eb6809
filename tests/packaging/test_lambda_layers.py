"""The layers as they are deployed: every package of the locks, for arm64 and Python 3.13, and nothing that never
runs."""

from __future__ import annotations

import ast
import re
import struct
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from infra.packaging.build import LAMBDA, ONLY_ABOUT_THE_INSTALL, find_interpreter
from infra.packaging.fingerprint import build_sha
from infra.packaging.functions import deployed_functions
from infra.packaging.layers import AWS_SERVICES, LAYERS, LOCKS, ROOT

EM_AARCH64 = 183
"""``e_machine`` of an ELF header, in its bytes 18 and 19."""
ENVIRONMENT = {
    "python_version": "3.13",
    "python_full_version": "3.13.0",
    "implementation_name": "cpython",
    "platform_machine": "aarch64",
    "platform_system": "Linux",
    "sys_platform": "linux",
}
"""What the markers of a lock are asked of on Lambda."""

BESIDE_CORE = sorted(
    {name for one in deployed_functions().values() if "core" in one.layers for name in one.layers} - {"core"}
)
"""Layers that lie over the core layer: that of a function without it brings all that it needs."""

Layers = Mapping[str, Path]


def locked(lock: Path) -> Iterator[Requirement]:
    """Each pinned requirement of a lock that Lambda needs."""
    for line in lock.read_text().splitlines():
        if line and not line.startswith(("#", " ")):
            requirement = Requirement(line.removesuffix("\\").strip())
            if requirement.marker is None or requirement.marker.evaluate(dict(ENVIRONMENT)):
                yield requirement


def installed(layer: Path) -> dict[NormalizedName, str]:
    """Version by name, of what left its metadata in the layer."""
    found: dict[NormalizedName, str] = {}
    for metadata in layer.glob("python/*.dist-info/METADATA"):
        head = metadata.read_text(encoding="utf-8").partition("\n\n")[0]
        name, version = (re.search(rf"^{field}: (.+)$", head, re.MULTILINE) for field in ("Name", "Version"))
        assert name and version
        found[canonicalize_name(name[1])] = version[1]
    return found


@pytest.mark.parametrize("name", LAYERS)
def test_layer_holds_its_lock_and_no_more(lambda_layers: Layers, name: str) -> None:
    wanted = {canonicalize_name(r.name): str(r.specifier).removeprefix("==") for r in locked(LAYERS[name].lock)}
    assert wanted
    assert installed(lambda_layers[name]) == wanted


@pytest.mark.parametrize("name", [*LAYERS, "runtime"])
def test_layer_runs_the_versions_that_the_tests_run(name: str) -> None:
    """Whatever the markers say: who asks for a package differs, its version does not."""
    everywhere = {version(r) for lock in ("run.txt", "dev.txt") for r in locked(ROOT / "requirements" / lock)}
    assert {version(r) for r in locked(LOCKS / f"{name}.txt")} <= everywhere


def version(requirement: Requirement) -> str:
    return f"{requirement.name}{requirement.specifier}"


@pytest.mark.parametrize("name", BESIDE_CORE)
def test_layer_repeats_nothing_of_the_core_layer(lambda_layers: Layers, name: str) -> None:
    assert installed(lambda_layers[name]).keys() & installed(lambda_layers["core"]).keys() == set()


def test_every_binary_is_for_arm64_and_this_python(lambda_layers: Layers) -> None:
    binaries = [path for layer in lambda_layers.values() for path in layer.rglob("*") if is_elf(path)]
    assert len(binaries) > 20
    for path in binaries:
        assert machine(path) == EM_AARCH64, path
        tags = re.search(r"\.(?:(cpython-\d+)[^.]*|(abi3))\.so$", path.name)
        if tags:
            assert tags[1] in (None, "cpython-313"), path
        else:
            assert path.parent.name.endswith(".libs") or path.name.startswith("lib"), f"{path}: no tag"


def is_elf(path: Path) -> bool:
    if not path.is_file() or not (".so" in path.suffixes or path.suffix == ""):
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def machine(path: Path) -> int:
    with path.open("rb") as file:
        number: int = struct.unpack_from("<H", file.read(20), 18)[0]
        return number


@pytest.mark.parametrize("name", LAYERS)
def test_nothing_that_never_runs_is_in_a_layer(lambda_layers: Layers, name: str) -> None:
    layer = lambda_layers[name]
    names = {path.name for path in layer.rglob("*")}
    assert names & {"tests", "bin", ".lock", *ONLY_ABOUT_THE_INSTALL} == set()
    assert list(layer.rglob("*.pyi")) == []
    assert [path for path in layer.rglob("*") if path.is_symlink()] == []
    assert {path.name for path in layer.iterdir()} == {"python"} | {
        place.split("/")[0] for place in LAYERS[name].content
    }


@pytest.mark.skipif(find_interpreter(LAMBDA.python) is None, reason="no CPython of Lambda's version is here")
@pytest.mark.parametrize("name", LAYERS)
def test_every_source_is_compiled_for_lambdas_python_and_never_looked_at(lambda_layers: Layers, name: str) -> None:
    """A compiled file begins with the version's number and with flags: 1 is by hash, without a check of the source."""
    packages = lambda_layers[name] / "python"
    tag = f"cpython-{LAMBDA.python.replace('.', '')}"
    sources = [path for path in packages.rglob("*.py") if _compiles(path)]
    compiled = {path: path.parent / "__pycache__" / f"{path.stem}.{tag}.pyc" for path in sources}
    assert sources
    assert [path for path, pyc in compiled.items() if not pyc.is_file()] == []
    heads = {pyc.read_bytes()[:8] for pyc in compiled.values()}
    assert len(heads) == 1
    assert struct.unpack("<HHI", heads.pop())[1:] == (0x0A0D, 1)


def _compiles(path: Path) -> bool:
    try:
        ast.parse(path.read_bytes())
    except SyntaxError:
        return False
    return True


def test_the_product_is_in_the_core_layer_as_it_is(lambda_layers: Layers) -> None:
    source, deployed = ROOT / "layers" / "core" / "neve", lambda_layers["core"] / "python" / "neve"
    files = {path.relative_to(source) for path in source.rglob("*") if path.suffix in (".py", ".json")}
    there = {path.relative_to(deployed) for path in deployed.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert there == files
    assert all((source / path).read_bytes() == (deployed / path).read_bytes() for path in files)


def clients_in(path: Path) -> Iterator[str]:
    """The services that a file makes clients of: ``aws_client("s3")``, ``session.client("s3")``."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in ("aws_client", "client"):
                yield str(node.args[0].value)


def test_botocore_knows_the_services_that_the_adapters_call(lambda_layers: Layers) -> None:
    called = {service for path in (ROOT / "layers" / "core" / "neve").rglob("*.py") for service in clients_in(path)}
    assert called == set(AWS_SERVICES)
    data = lambda_layers["core"] / "python" / "botocore" / "data"
    assert {path.name for path in data.iterdir() if path.is_dir()} == called


def test_every_layer_has_a_recipe_for_sam() -> None:
    for name, layer in LAYERS.items():
        recipe = (ROOT / "layers" / name / "Makefile").read_text()
        assert f"\nbuild-{layer.logical_id}:\n" in recipe
        assert f" NAME={name} " in recipe


def test_sam_never_takes_a_layer_of_an_earlier_build() -> None:
    """Its cache is by ``layers/<name>``: a new lock would deploy the old packages."""
    settings = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    assert settings["default"]["build"]["parameters"]["cached"] is False


def test_build_sha_follows_content_alone(lambda_layers: Layers, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "a.py").write_text("a = 1\n")
        (folder / "b.py").write_text("b = 1\n")
    (second / "__pycache__").mkdir()
    (second / "__pycache__" / "a.pyc").write_bytes(b"compiled")
    assert build_sha({"layer": first}) == build_sha({"layer": second})
    assert build_sha({"layer": first}) != build_sha({"other": first})
    (second / "b.py").write_text("b = 2\n")
    assert build_sha({"layer": first}) != build_sha({"layer": second})
    (second / "b.py").write_text("b = 1\n")
    (second / "b.py").rename(second / "c.py")
    assert build_sha({"layer": first}) != build_sha({"layer": second})
    assert build_sha({"t": first / "a.py"}) != build_sha({"t": second / "c.py"})
    assert len(build_sha({"layer": first})) == 16


def test_every_function_of_the_template_is_in_the_size_table() -> None:
    assert {function.code for function in deployed_functions().values()} == {
        path.parent for path in (ROOT / "functions").glob("*/app.py")
    }
