"""How large a function may be with its layers, and that docs/packaging.md says what is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from infra.packaging.functions import deployed_functions
from infra.packaging.layers import ROOT
from infra.packaging.sizes import LAMBDA_LIMIT_MB, LIMITS_MB, function_sizes, over_limit, table, unzipped_mb

DOCUMENT = ROOT / "docs" / "packaging.md"
TOLERANCE_MB = 1.0
"""A change of our own code is not a reason to measure again."""


@pytest.fixture(scope="module")
def layers(lambda_layers: Mapping[str, Path]) -> dict[str, float]:
    return {name: unzipped_mb(folder) for name, folder in lambda_layers.items()}


@pytest.fixture(scope="module")
def sizes(layers: Mapping[str, float]) -> dict[str, float]:
    functions = deployed_functions()
    code = {name: unzipped_mb(function.code) for name, function in functions.items()}
    return function_sizes(layers, {name: function.layers for name, function in functions.items()}, code)


def test_no_function_is_larger_than_it_may_be(sizes: Mapping[str, float]) -> None:
    assert sizes.keys() >= LIMITS_MB.keys()
    assert over_limit(sizes) == []


def test_the_limits_are_those_of_the_product() -> None:
    assert (LIMITS_MB["observe"], LIMITS_MB["pack"], LIMITS_MB["recall"], LAMBDA_LIMIT_MB) == (60, 60, 240, 250)
    assert over_limit({"observe": 60.1, "pack": 60, "embed": 250.1}) == [
        "embed is 250.1 MB unzipped, more than 250",
        "observe is 60.1 MB unzipped, more than 60",
    ]


def test_the_document_says_what_was_measured(layers: Mapping[str, float], sizes: Mapping[str, float]) -> None:
    used = {name: function.layers for name, function in deployed_functions().items()}
    documented = rows(DOCUMENT.read_text(encoding="utf-8").partition("\n## Sizes\n")[2].partition("\n## ")[0])
    for name, cells in rows(table(layers, used, sizes)).items():
        assert name in documented, f"{name} is not in {DOCUMENT.name}: put the output of `make build` there"
        assert [cell for cell in documented[name] if not is_number(cell)] == [
            cell for cell in cells if not is_number(cell)
        ]
        for measured, written in zip(numbers(cells), numbers(documented[name]), strict=True):
            assert written == pytest.approx(measured, abs=TOLERANCE_MB), f"{name}: {written} in {DOCUMENT.name}"


def rows(text: str) -> dict[str, list[str]]:
    """The cells of every row of a Markdown table by its first one."""
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {cells[0]: cells[1:] for cells in found if not re.fullmatch(r"[-: ]+", cells[0])}


def is_number(cell: str) -> bool:
    return re.fullmatch(r"[\d.]+", cell) is not None


def numbers(cells: list[str]) -> list[float]:
    return [float(cell) for cell in cells if is_number(cell)]
