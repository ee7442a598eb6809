"""Every row of the feature table that this version brings has a black-box test named after its id."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

HTTP_TESTS = Path(__file__).resolve().parents[2] / "http"

LIVE_ROWS = """
A06 A20 A21 A22 A23 A24 A25 A29 A31 A33 A34 A35 A36 B08 B10 B11 B12 B16 B17 B19 B20 B21 B36 B41 B50 C01 C04 C07 C08 C11
C13 C14 C18 C22 C23 C24 C26 C32 C34 C35 C36 C37 C38 D02 D27 D52 T0
"""
"""Those that also run against a deployed stage."""
CONTROLS_ROWS = """
A01 A02 A03 A04 A05 A07 A08 A09 A10 A11 A12 A13 A14 A26 A27 A28 A30 A32 B18 B37 C05 C12 C15 C27 C28 C31 C33 D49
"""
"""Those that need the test controls."""


def kinds_by_row() -> dict[str, set[str]]:
    """Row id -> the kinds (live, controls) of its tests."""
    rows: dict[str, set[str]] = defaultdict(set)
    for path in HTTP_TESTS.glob("test_*.py"):
        module = ast.parse(path.read_text(encoding="utf-8"))
        of_module = {kind for node in module.body if isinstance(node, ast.Assign) for kind in _kinds(node.value)}
        for node in module.body:
            if isinstance(node, ast.FunctionDef) and (found := re.match(r"test_([abcd]\d\d|t0)_", node.name)):
                rows[found[1].upper()] |= of_module | {kind for part in node.decorator_list for kind in _kinds(part)}
    return rows


def _kinds(node: ast.expr) -> set[str]:
    """``{"live"}`` for ``pytest.mark.live``."""
    named = ast.unparse(node)
    return {named.removeprefix("pytest.mark.")} & {"live", "controls"}


def test_every_row_is_tested() -> None:
    live, controls, found = LIVE_ROWS.split(), CONTROLS_ROWS.split(), kinds_by_row()
    assert (len(live), len(controls)) == (47, 28)
    assert [row for row in live if "live" not in found[row]] == []
    assert [row for row in controls if "controls" not in found[row]] == []
    assert set(found) <= {*live, *controls}, "a test names a row that is not in the lists above"
