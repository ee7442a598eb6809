"""docs/security.md names files and tests that exist: a control that nobody proves is a wish."""

from __future__ import annotations

import re

import pytest

from local.template import ROOT
from tests.unit.project import documents as d

DOCUMENT = ROOT / "docs" / "security.md"
TABLE = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in DOCUMENT.read_text(encoding="utf-8").split("## Threats")[1].split("Files without")[0].splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| threat"))
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0])
def test_a_threat_has_a_control_a_place_and_a_proof(row: list[str]) -> None:
    _, control, places, proofs = row
    assert control
    named = re.findall(r"`([^`]+)`", places)
    assert named
    assert [name for name in named if not d.exists(name, DOCUMENT)] == []
    proving = re.findall(r"`(test_\w+)`", proofs)
    assert proving
    assert [name for name in proving if not d.is_test(None, name)] == []


def test_the_threats_that_were_asked_for_are_there() -> None:
    threats = " ".join(row[0] for row in TABLE)
    asked = ("stolen API key", "tenant confusion", "prompt injection", "logs", "poisoned pack", "SSRF", "replay")
    assert all(word in threats for word in (*asked, "oversized", "IAM", "keys are lost", "supply chain", "erasure"))
