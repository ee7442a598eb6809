"""The table of safeguards names what is there; `python -m tests.safeguards` takes each out and runs its test."""

from __future__ import annotations

import re

import pytest

from local.template import ROOT
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
