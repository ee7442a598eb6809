"""What is decided in one place is decided nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

NEVE = Path(__file__).resolve().parents[3] / "layers" / "core" / "neve"
GENERATIONS = re.compile(r"""(?:born|died)_gen\b["'\])]*\s*(?:[<>]|is None|is not None)""")
KEYS = re.compile(r"""["'](?:MEM[DT]?|SES[A-Z]?|SUMX?|DOC[A-Z]?|EVT|CID|FP|PRP|PACK|USER|JOBL?)#""")


def found(rule: re.Pattern[str], allowed: str) -> list[str]:
    """Lines of the product that ``rule`` matches, but for those of one file."""
    files = (path for path in NEVE.rglob("*.py") if path != NEVE / allowed)
    return [
        f"{path.relative_to(NEVE)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if rule.search(line)
    ]


def test_only_one_file_says_what_a_generation_sees() -> None:
    assert found(GENERATIONS, "domain/memories/visibility.py") == []


def test_only_one_file_spells_sort_keys() -> None:
    assert found(KEYS, "store/keys.py") == []


@pytest.mark.parametrize(
    "line",
    ['if item["born_gen"] > head.gen', "memory.born_gen <= gen", "one.died_gen is None", "x.died_gen is not None"],
)
def test_the_rule_finds_the_predicate_written_again(line: str) -> None:
    assert GENERATIONS.search(line)


@pytest.mark.parametrize("line", ['prefix="MEM#"', 'f"FP#{one}"', "'SESF#'"])
def test_the_rule_finds_a_key_written_again(line: str) -> None:
    assert KEYS.search(line)
