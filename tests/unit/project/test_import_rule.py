"""Dependencies point inwards: which part of the repository may import which."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NEVE = ROOT / "layers" / "core" / "neve"

ALLOWED: dict[str, set[str]] = {
    "domain": {"domain", "pydantic", "pydantic_core", "Stemmer", "stdnum", "ulid"},
    "caching": {"observability", "troubles"},
    "troubles": set(),
    "observing": {"domain"},
    "ports": {"caching", "domain", "observing"},
    "attribute_values": {"ports"},
    "config": {"pydantic"},
    "correlation": set(),
    "store": {"attribute_values", "correlation", "domain", "ports", "store", "troubles", "pydantic", "pydantic_core"},
    "scope": {"domain", "ports", "store"},
    "usecases": {
        *("version", "caching", "correlation", "domain", "ports", "observing", "scope", "store", "usecases"),
        "troubles",
    },
    "observers": {"domain", "ports", "observing", "observers", "pydantic", "pydantic_core"},
    "adapters": {"attribute_values", "caching", "config", "domain", "ports", "observing", "adapters", "VENDORS"},
    "aws_ports": {"adapters", "caching", "config", "domain", "observers", "observing", "ports", "boto3"},
    "deployment": {"adapters"},
    "wiring": {"aws_ports", "config", "ports"},
    "observability": {"config", "troubles", "aws_lambda_powertools"},
    "http": {
        *("version", "caching", "correlation", "domain", "ports", "scope", "store", "usecases", "observability"),
        *("http", "pydantic", "pydantic_core"),
    },
    "batch": {"correlation", "ports", "observing", "usecases", "observability"},
    "workers": {"correlation", "domain", "ports", "observing", "usecases", "observability", "workers"},
    "worker": {
        *("correlation", "domain", "ports", "observing", "scope", "usecases", "observability"),
        "aws_lambda_powertools",
    },
    "functions": {
        *("correlation", "deployment", "domain", "ports", "store", "wiring", "usecases", "http", "batch", "worker"),
        *("workers", "observability"),
    },
}
"""Keys are parts of ``neve`` (a package or a module of it) and ``functions``; ``version`` is ``neve/__init__.py``.
VENDORS: only adapters may import whatever they adapt. The composition root (``wiring``) is asked by functions, and by
``local`` and ``infra`` outside."""

OUTSIDE_WORLD = {"time", "random", "secrets", "uuid", "threading", "socket", "subprocess", "importlib"}
PURE = {"domain", "usecases", "store", "scope"}
"""Time, chance and threads come through the ports there (``clock``, ``ids``, ``tasks``)."""

FILES = sorted(path.relative_to(ROOT) for folder in (NEVE, ROOT / "functions") for path in folder.rglob("*.py"))


def part_of(path: Path) -> str:
    """The key of ``ALLOWED`` that a file belongs to."""
    if path.parts[0] == "functions":
        return "functions"
    first = (ROOT / path).relative_to(NEVE).parts[0].removesuffix(".py")
    return "version" if first == "__init__" else first


def imported(source: str) -> Iterator[str]:
    """Every module that a file imports, at any depth, as a part of ``neve`` or as a distribution's top name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"neve.{alias.name}" for alias in node.names] if node.module == "neve" else [node.module or ""]
        elif isinstance(node, ast.Call):
            names = [dynamic] if (dynamic := imported_by_call(node)) else []
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            yield name if top != "neve" else f"neve.{rest.partition('.')[0] or 'version'}"


def imported_by_call(call: ast.Call) -> str | None:
    """What ``import_module("x")``, ``importlib.import_module("x")`` and ``__import__("x")`` import. A name that is
    computed counts as ``a computed name``, which nobody may import."""
    named = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
    if named not in ("import_module", "__import__"):
        return None
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else "a computed name"


def allowed(part: str, module: str) -> bool:
    may = ALLOWED[part]
    if module == "a computed name":
        return False
    if module.startswith("neve."):
        return module.removeprefix("neve.") in may
    top = module.partition(".")[0]
    if top in ("local", "tests", "evals", "functions"):
        return False
    if part in PURE and top in OUTSIDE_WORLD:
        return False
    return top in sys.stdlib_module_names or top in may or "VENDORS" in may


@pytest.mark.parametrize("path", FILES, ids=str)
def test_file_imports_only_what_its_part_may(path: Path) -> None:
    part = part_of(path)
    if part == "version":
        assert list(imported((ROOT / path).read_text())) == []
        return
    wrong = [module for module in imported((ROOT / path).read_text()) if not allowed(part, module)]
    assert wrong == []


def test_the_rule_sees_what_it_should() -> None:
    source = (
        "import local.engine\nfrom neve import wiring\nimport boto3\ndef f():\n    from neve.adapters import clock\n"
        "    import_module('neve.adapters.o200k')\n    __import__('sqlite3')\n    importlib.import_module(name)\n"
    )
    found = [
        *("local.engine", "neve.wiring", "boto3", "neve.adapters", "neve.adapters", "sqlite3", "a computed name"),
    ]
    assert list(imported(source)) == found
    assert [module for module in found if allowed("usecases", module)] == ["sqlite3"]
    assert [part for part in sorted(ALLOWED) if allowed(part, "neve.wiring")] == ["functions"]
    assert allowed("adapters", "boto3")
    assert not allowed("adapters", "local.engine")
    assert not allowed("adapters", "a computed name")


@pytest.mark.parametrize("module", sorted(OUTSIDE_WORLD))
def test_time_chance_and_threads_come_through_the_ports(module: str) -> None:
    assert [part for part in sorted(PURE) if allowed(part, module)] == []
    assert allowed("adapters", module)


@pytest.mark.parametrize("path", [path for path in FILES if path.parts[0] == "functions"], ids=str)
def test_functions_are_thin(path: Path) -> None:
    """Parse, call one use case, map the answer."""
    assert len((ROOT / path).read_text().splitlines()) <= 60


def test_sql_is_written_in_the_embedded_engine_alone() -> None:
    for path in FILES:
        assert "sqlite3" not in set(imported((ROOT / path).read_text())), path
