"""The table of safeguards names what is there; `python -m tests.safeguards` takes each out and runs its test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from local.template import ROOT
from tests.safeguards.__main__ import ANYWAY, NOT_RED, RED, verdict
from tests.safeguards.table import SAFEGUARDS, Safeguard
from tests.safeguards.taken_out import NotThere, taken_out

ALL = [safeguard for safeguards in SAFEGUARDS.values() for safeguard in safeguards]


@pytest.mark.parametrize("safeguard", ALL, ids=lambda one: one.keeps.replace(" ", "-"))
def test_a_safeguard_of_the_table_is_there_and_so_is_its_test(safeguard: Safeguard) -> None:
    text = (ROOT / safeguard.file).read_text(encoding="utf-8")
    without = taken_out(safeguard, text)
    assert without != text
    path, _, test = safeguard.test.partition("::")
    tests = (ROOT / path).read_text(encoding="utf-8")
    assert not test or re.search(rf"^def {test.partition('[')[0]}\(", tests, re.MULTILINE)


def test_what_is_not_there_is_named() -> None:
    one = Safeguard("it", "file", "no such text", "", "test")
    with pytest.raises(NotThere, match="no such text"):
        taken_out(one, "another text")


@pytest.mark.parametrize(
    ("expected", "says"),
    [("1", RED), ("limit", NOT_RED), ("2", ANYWAY), ("not_installed", ANYWAY)],
)
def test_a_test_that_fails_with_the_safeguard_in_its_place_proves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str, says: str
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # most of their start, and this test needs none of them …
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")  # … but the one whose option is given
    (tmp_path / "product.py").write_text("limit = 1\n")
    (tmp_path / "test_product.py").write_text(
        f"from product import limit\n\n\ndef test_limit():\n    assert limit == {expected}\n"
    )
    one = Safeguard("it", "product.py", "limit = 1", "limit = 3", "test_product.py::test_limit")
    assert verdict(one, tmp_path) == says
    assert (tmp_path / "product.py").read_text() == "limit = 1\n"
