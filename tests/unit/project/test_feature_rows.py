"""docs/features.md lists every row with its kinds and the files of its tests; both are compared with the tests."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import NamedTuple

from local.template import ROOT

HTTP_TESTS = ROOT / "tests" / "http"
DOCUMENT = ROOT / "docs" / "features.md"
LIVE, CONTROLS = 162, 45
"""Rows whose tests also run against a deployed stage, and those that need the test controls alone: no row is lost."""


class Row(NamedTuple):
    """``files``: of its tests, from the root of the repository."""

    kinds: frozenset[str]
    files: frozenset[str]


def rows_of_document() -> dict[str, Row]:
    """The table of the document, by row id."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in DOCUMENT.read_text(encoding="utf-8").splitlines()
        if re.match(r"\| (?:[A-E]\d\d|T0) \|", line)
    ]
    return {
        row: Row(frozenset(kinds.split(", ")), frozenset(re.findall(r"`([^`]+)`", files)))
        for row, _, kinds, files in cells
    }


def rows_of_tests() -> dict[str, Row]:
    """What the tests say, by the row in their names."""
    kinds: dict[str, set[str]] = defaultdict(set)
    files: dict[str, set[str]] = defaultdict(set)
    for path in HTTP_TESTS.rglob("test_*.py"):
        module = ast.parse(path.read_text(encoding="utf-8"))
        of_module = {kind for node in module.body if isinstance(node, ast.Assign) for kind in _kinds(node.value)}
        for node in (node for node in module.body if isinstance(node, ast.FunctionDef)):
            for row in _rows_of(node.name):
                kinds[row] |= of_module | {kind for part in node.decorator_list for kind in _kinds(part)}
                files[row].add(path.relative_to(ROOT).as_posix())
    return {row: Row(frozenset(kinds[row]), frozenset(files[row])) for row in kinds}


def _rows_of(name: str) -> list[str]:
    """``["B30", "B31"]`` of ``test_b30_b31_...``."""
    found = re.match(r"test_((?:(?:[a-e]\d\d|t0)_)+)", name)
    return found[1].upper().strip("_").split("_") if found else []


def _kinds(node: ast.expr) -> set[str]:
    """``{"live"}`` for ``pytest.mark.live``."""
    named = ast.unparse(node)
    return {named.removeprefix("pytest.mark.")} & {"live", "controls"}


def test_every_row_is_listed_with_its_kinds_and_files() -> None:
    assert rows_of_document() == rows_of_tests()


def test_no_row_is_lost() -> None:
    rows = rows_of_document()
    assert sum("live" in row.kinds for row in rows.values()) == LIVE
    assert sum(row.kinds == {"controls"} for row in rows.values()) == CONTROLS
    assert list(rows) == ["T0", *sorted(rows.keys() - {"T0"})], "in the order of their ids"
