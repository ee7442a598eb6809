"""Measures how large the code is and how it reads: ``python -m infra.figures``.

Lines are lines of files, as ``wc -l`` counts them. A fragment is a docstring of a function, method or class that begins
with a word that no main clause begins with (``OPENERS``). A crumb is a file of use cases or of the domain with one
importer and less than 60 lines."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEVE = ROOT / "layers" / "core" / "neve"
OPENERS = frozenset(
    (
        *("Of", "What", "As", "Whether", "Those", "Who", "Whom", "Whose", "Whoever", "Where", "When", "Which", "That"),
        *("By", "For", "From", "With", "Without", "And", "Or", "But", "None", "Also", "At", "In", "On", "Not", "Nor"),
        *(
            "Behind",
            "Beside",
            "Above",
            "Below",
            "Before",
            "Between",
            "Inside",
            "Its",
            "Their",
            "How",
            "Why",
            "So",
            "To",
        ),
        *("Everything", "Everybody", "Nobody", "Nothing", "Somebody", "Somewhere", "Anything", "Each", "Every", "Any"),
        *("Those,", "None:", "Not,", "True", "False"),
    )
)
CRUMB_LINES = 60
SHORT = 3
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def main() -> int:
    for name, count in figures().items():
        print(f"{name:<52}{count:>9,}")
    return 0


def figures() -> dict[str, int]:
    """Give every figure by its name, in the order of the report."""
    core, tests = list(python_files(NEVE)), list(python_files(ROOT / "tests"))
    functions = [node for path in core for node in _defined(path) if not isinstance(node, ast.ClassDef)]
    documented = [found for path in core for node in _defined(path) if (found := ast.get_docstring(node))]
    return {
        "lines of layers/core/neve": _lines(core),
        "files of layers/core/neve": len(core),
        "lines of tests": _lines(tests),
        "lines of docs/rules": _lines((ROOT / "docs" / "rules").glob("*.md")),
        "functions": len(functions),
        f"functions of {SHORT} lines or fewer": sum(_body_lines(node) <= SHORT for node in functions),
        "docstrings": len(documented),
        "docstrings that begin with a fragment": sum(is_fragment(text) for text in documented),
        "public names that are defined more than once": len(_repeated(core)),
        f"files with one importer and under {CRUMB_LINES} lines": len(_crumbs(core)),
    }


def python_files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*.py")) if "__pycache__" not in path.parts)


def is_fragment(docstring: str) -> bool:
    """Say whether a docstring begins without a main clause."""
    return docstring.split(maxsplit=1)[0].rstrip(",:;") in OPENERS


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _defined(path: Path) -> Iterator[Definition]:
    return (node for node in ast.walk(_tree(path)) if isinstance(node, Definition))


def _lines(paths: Iterable[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in paths)


def _body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of the body, its docstring left out."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def _repeated(paths: Iterable[Path]) -> list[str]:
    """Give the public functions and classes of modules whose name another module defines as well."""
    defined = ({node.name for node in _tree(path).body if isinstance(node, Definition)} for path in paths)
    names = Counter(name for of_module in defined for name in of_module if not name.startswith("_"))
    return sorted(name for name, count in names.items() if count > 1)


def _crumbs(paths: Iterable[Path]) -> list[str]:
    """Give the small files of use cases and of the domain that one file imports."""
    modules = {path: ".".join(path.relative_to(NEVE.parent).with_suffix("").parts) for path in paths}
    importers = Counter(name for path in modules for name in _imported(path))
    return sorted(
        modules[path]
        for path in modules
        if path.relative_to(NEVE).parts[0] in ("usecases", "domain")
        and path.name != "__init__.py"
        and importers[modules[path]] == 1
        and _lines([path]) < CRUMB_LINES
    )


def _imported(path: Path) -> set[str]:
    found = set[str]()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found


if __name__ == "__main__":
    sys.exit(main())
