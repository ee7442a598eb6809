"""docs/faults.md names every test of this folder, and a test for every fault. That the tests exist is checked with
those of every document (``tests/unit/project/test_documents.py``)."""

from __future__ import annotations

import re

import pytest

from local.template import ROOT

MAP = (ROOT / "docs" / "faults.md").read_text()
NAMED = re.findall(r"(tests/[\w/]+\.py)::(test_\w+)", MAP)
INJECTED = (
    "throttled",
    "`TransactionCanceled` with mixed reasons",
    "answer lost after a successful write",
    "unprocessed items",
    "429, 503, one shard failed",
    "mapping conflict",
    "failed precondition",
    "part of a batch refused",
    "records twice, in another order",
    "a pack object written, its pointer not",
    "expired credentials",
    "skewed clock",
)


def test_every_row_names_a_test() -> None:
    rows = [line for line in MAP.splitlines() if line.startswith("| ") and not line.startswith(("| fault", "| ---"))]
    assert len(rows) >= 30
    assert [row for row in rows if "::test_" not in row] == []


def test_every_test_of_a_fault_is_in_the_map() -> None:
    here = {
        (f"tests/faults/{path.name}", name)
        for path in (ROOT / "tests" / "faults").glob("test_*.py")
        if path.name != "test_fault_map.py"
        for name in re.findall(r"^def (test_\w+)\(", path.read_text(), re.MULTILINE)
    }
    assert here - set(NAMED) == set()


@pytest.mark.parametrize("fault", INJECTED)
def test_every_fault_that_is_injected_has_a_row(fault: str) -> None:
    assert fault in MAP
