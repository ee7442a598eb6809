"""The pages of docs/frameworks whose code is an adapter in itself: it runs as it stands there, offline."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from local.template import ROOT
from tests.frameworks.places import PYTHON_TESTS
from tests.frameworks.test_python_adapters import SUITES

PAGES = sorted(path.name for path in PYTHON_TESTS.glob("test_*.py") if path.name not in SUITES)


@pytest.mark.parametrize("suite", PAGES)
def test_the_code_of_a_page_is_a_whole_adapter(suite: str, passes: Callable[[str], None]) -> None:
    passes(suite)


def test_the_index_names_every_page_once() -> None:
    folder = ROOT / "docs" / "frameworks"
    index = (folder / "README.md").read_text(encoding="utf-8")
    pages = [path.name for path in folder.glob("*.md") if path.name != "README.md"]
    assert [name for name in pages if index.count(f"({name})") != 1] == []
