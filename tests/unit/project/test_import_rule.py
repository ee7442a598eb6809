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
    "domain": {"domain", "pydantic", "pydantic_core"},
    "ports": {"domain"},
    "observing": {"domain"},
    "attribute_values": {"ports"},
    "config": {"pydantic"},
    "correlation": set(),
    "store": {"attribute_values", "correlation", "domain", "ports", "store", "pydantic", "pydantic_core"},
    "wiring": {"aws_ports", "config", "domain", "ports", "observing", "store"},
    "aws_ports": {"adapters", "config", "observers", "observing", "ports", "boto3"},
    "deployment": {"adapters"},
    "usecases": {"version", "correlation", "domain", "ports", "observing", "store", "wiring", "usecases"},
    "adapters": {"attribute_values", "config", "domain", "ports", "observing", "adapters", "VENDORS"},
    "observers": {"domain", "ports", "observing", "observers", "pydantic", "pydantic_core"},
    "observability": {"config", "aws_lambda_powertools"},
    "http": {
        *("version", "correlation", "domain", "ports", "store", "wiring", "usecases", "observability", "http"),
        *("pydantic", "pydantic_core"),
    },
    "worker": {
        *("correlation", "domain", "ports", "wiring", "usecases", "http", "observability"),
        "aws_lambda_powertools",
    },
    "functions": {
        *("correlation", "deployment", "domain", "store", "wiring", "usecases", "http", "worker", "observability"),
    },
}
"""Keys are parts of ``neve`` (a package or a module of it) and ``functions``; ``version`` is ``neve/__init__.py``.
VENDORS: only adapters may import whatever they adapt."""

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
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            yield name if top != "neve" else f"neve.{rest.partition('.')[0] or 'version'}"


def allowed(part: str, module: str) -> bool:
    may = ALLOWED[part]
    if module.startswith("neve."):
        return module.removeprefix("neve.") in may
    top = module.partition(".")[0]
    if top in ("local", "tests", "evals", "functions"):
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
    )
    assert list(imported(source)) == ["local.engine", "neve.wiring", "boto3", "neve.adapters"]
    assert [allowed("usecases", module) for module in imported(source)] == [False, True, False, False]
    assert allowed("adapters", "boto3")
    assert not allowed("adapters", "local.engine")


@pytest.mark.parametrize("path", [path for path in FILES if path.parts[0] == "functions"], ids=str)
def test_functions_are_thin(path: Path) -> None:
    """Parse, call one use case, map the answer: architecture §1."""
    assert len((ROOT / path).read_text().splitlines()) <= 60


def test_sql_is_written_in_the_embedded_engine_alone() -> None:
    for path in FILES:
        assert "sqlite3" not in set(imported((ROOT / path).read_text())), path
