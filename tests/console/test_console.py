"""The console in a real browser, on a service of its own: each file of ``console/test`` by Node's own runner."""

from __future__ import annotations

import re

import pytest

from tests.console.browser import CONSOLE, need_console
from tests.sdk.node import run

FILES = sorted(file.name for file in (CONSOLE / "test").glob("*.test.mjs"))


def test_there_are_files() -> None:
    assert {"core.test.mjs", "views.test.mjs"} <= set(FILES)


@pytest.mark.parametrize("file", FILES)
def test_the_console_is_driven(file: str) -> None:
    """No test of a file may be left out."""
    browser = need_console()
    done = run(
        "node", "--test", "--test-reporter=tap", f"test/{file}", environment={"CHROMIUM": str(browser)}, folder=CONSOLE
    )
    assert done.returncode == 0, done.stdout
    counts = dict(re.findall(r"^# (tests|pass|skipped) (\d+)$", done.stdout, re.MULTILINE))
    assert counts["tests"] == counts["pass"] and int(counts["tests"]) > 0, done.stdout
    assert counts["skipped"] == "0", done.stdout
