"""The reader of the templates agrees with cfn-lint's own, which the tests have and the local server has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.infra.templates import ALL, written


@pytest.mark.parametrize("path", ALL, ids=lambda path: str(path.name))
def test_a_template_is_read_as_the_linter_reads_it(path: Path) -> None:
    from cfnlint.decode.cfn_yaml import load  # type: ignore[import-untyped]  # half a second: not in every process

    assert written(path) == load(str(path))
