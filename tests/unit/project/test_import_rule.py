"""Dependencies point inwards: which part of the repository may import which."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NEVE = ROOT / "layers" / "core" / "neve"

ALLOWED: dict[str, set[str]] = {
    "domain": {"domain", "pydantic", "typing_extensions", "pydantic_core", "Stemmer", "stdnum", "ulid", "jwt"},
    "caching": {"observability", "troubles"},
    "troubles": set(),
    "observing": {"domain"},
    "ports": {"caching", "domain", "observing", "ports"},
    "attribute_values": {"ports"},
    "config": {"pydantic"},
    "correlation": set(),
    "being_erased": set(),
    "store": {
        *("attribute_values", "being_erased", "correlation", "domain", "ports", "store", "troubles", "pydantic"),
        "pydantic_core",
    },
    "scope": {"domain", "ports", "store"},
    "usecases": {
        *("version", "caching", "correlation", "domain", "ports", "observing", "scope", "store", "usecases"),
        *("being_erased", "troubles"),
    },
    "observers": {"domain", "ports", "observing", "observers", "pydantic", "pydantic_core"},
    "adapters": {
        "attribute_values",
        "caching",
        "config",
        "domain",
        "ports",
        "observing",
        "store",
        "adapters",
        "VENDORS",
    },
    "readable_table": {"caching", "observability", "ports", "store"},
    "aws_ports": {
        "readable_table",
        "adapters",
        "caching",
        "config",
        "domain",
        "observers",
        "observing",
        "ports",
        "boto3",
    },
    "deployment": {"adapters"},
    "wiring": {"aws_ports", "config", "ports"},
    "observability": {"config", "troubles", "aws_lambda_powertools"},
    "http": {
        *("version", "caching", "correlation", "domain", "ports", "scope", "store", "usecases", "observability"),
        *("being_erased", "readable_table", "http", "pydantic", "pydantic_core", "typing_extensions", "_typeshed"),
    },
    "batch": {"correlation", "ports", "observing", "usecases", "observability"},
    "workers": {"correlation", "domain", "ports", "observing", "usecases", "observability", "workers"},
    "worker": {
        *("correlation", "domain", "ports", "observing", "scope", "usecases", "observability", "workers"),
        "aws_lambda_powertools",
    },
    "functions": {
        *("correlation", "deployment", "domain", "ports", "store", "wiring", "usecases", "http", "batch", "worker"),
        *("workers", "observability"),
    },
    "mcp": {"neve_mcp"},
}
"""Keys are parts of ``neve`` (a package or a module of it), ``functions``, and ``mcp``, the function that asks the API
like anybody; ``version`` is ``neve/__init__.py``.
VENDORS: only adapters may import whatever they adapt. The composition root (``wiring``) is asked by functions, and by
``local`` and ``infra`` outside."""

OUTSIDE_WORLD = {"time", "random", "secrets", "uuid", "threading", "socket", "subprocess", "importlib"}
PURE = {"domain", "usecases", "store", "scope"}
"""Time, chance and threads come through the ports there (``clock``, ``ids``, ``tasks``)."""

FLOORS = ("work", "tell", "ask", "core")
"""Folders of ``usecases/`` (ADR 59). Each imports from those behind it alone, and holds the capabilities."""

WITHOUT_CIRCLES = {
    **{f"neve.usecases.{floor}": NEVE / "usecases" / floor for floor in FLOORS},
    "neve.domain": NEVE / "domain",
    "neve.http": NEVE / "http",
    "neve.http.schemas": NEVE / "http" / "schemas",
    "local": ROOT / "local",
}
"""Packages whose folders import one another in one direction only."""

FILES = sorted(path.relative_to(ROOT) for folder in (NEVE, ROOT / "functions") for path in folder.rglob("*.py"))


def part_of(path: Path) -> str:
    """The key of ``ALLOWED`` that a file belongs to."""
    if path.parts[0] == "functions":
        return "mcp" if path.parts[1] == "mcp" else "functions"
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


# --- folders beside each other ------------------------------------------------------------------

Arrows = Mapping[str, Mapping[str, str]]
"""Folder -> the folders beside it that it imports from, each with a file that does so."""


def arrows_between(package: str, top: Path) -> Arrows:
    """Between the folders of a package, whatever is inside of them."""
    folders = sorted(folder.name for folder in top.iterdir() if (folder / "__init__.py").is_file())
    found: dict[str, dict[str, str]] = {folder: {} for folder in folders}
    for folder in folders:
        for path in sorted((top / folder).rglob("*.py")):
            for module in modules_of(path.read_text()):
                other = module.removeprefix(f"{package}.").partition(".")[0]
                if module.startswith(f"{package}.") and other in found and other != folder:
                    found[folder].setdefault(other, path.relative_to(top).as_posix())
    return found


def modules_of(source: str) -> Iterator[str]:
    """What a file imports, by its full name; of ``from a import b`` that is ``a.b``, whether it is a module or not."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def shortest_circle(arrows: Arrows) -> str | None:
    """In words; None where there is none."""
    circles = [path for folder in arrows if (path := way_back(arrows, folder))]
    if not circles:
        return None
    path = min(circles, key=lambda one: (len(one), one))
    steps = zip(path, (*path[1:], path[0]), strict=True)
    return ", ".join(f"{arrows[folder][other]} imports {other}" for folder, other in steps)


def way_back(arrows: Arrows, start: str) -> list[str]:
    """The folders of the shortest way from a folder to itself, of which it is the first; empty without one."""
    ways, seen = [[start]], {start}
    for way in ways:
        for other in arrows[way[-1]]:
            if other == start:
                return way
            if other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return []


@pytest.mark.parametrize("package", WITHOUT_CIRCLES)
def test_folders_do_not_import_in_a_circle(package: str) -> None:
    """What two folders share stands below both of them: in a third one, in ``store``, or in ``domain``."""
    arrows = arrows_between(package, WITHOUT_CIRCLES[package])
    assert any(arrows.values())
    circle = shortest_circle(arrows)
    assert circle is None, circle


def test_floors_import_from_below_alone() -> None:
    arrows = arrows_between("neve.usecases", NEVE / "usecases")
    assert set(arrows) == set(FLOORS)
    upwards = [arrows[low][high] for n, high in enumerate(FLOORS) for low in FLOORS[n + 1 :] if high in arrows[low]]
    assert upwards == []


def test_a_circle_is_seen_and_named(tmp_path: Path) -> None:
    sources = {
        "inner/a.py": "from house import middle\n",
        "middle/b.py": "import house.middle.c\nfrom house.plain import f\n",
        "middle/deep/c.py": "def f():\n    from house.outer.d import g\n",
        "outer/d.py": "from other.inner import h\nfrom house.plain import f\n",
        "plain.py": "from house.inner import a\n",
    }
    for name, source in sources.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(source)
    arrows = arrows_between("house", tmp_path)
    assert arrows == {"inner": {"middle": "inner/a.py"}, "middle": {"outer": "middle/deep/c.py"}, "outer": {}}
    assert shortest_circle(arrows) is None
    (tmp_path / "outer" / "e.py").write_text("from house.inner import a\n")
    seen = "inner/a.py imports middle, middle/deep/c.py imports outer, outer/e.py imports inner"
    assert shortest_circle(arrows_between("house", tmp_path)) == seen
