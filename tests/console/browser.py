"""A browser, and the console built with Node. A test that asks where one of them is missing is skipped, and the summary
says loudly how many were; with NEVE_REQUIRE_SERVERS=1 or CI=true it fails instead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from local.template import ROOT
from tests.sdk.node import built, missing, run

CONSOLE = ROOT / "console"
BROWSERS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
NO_BROWSER = "the console cannot be tested here: "
"""How the reason of every such skip begins."""
CURE = "apt-get install chromium fonts-liberation fonts-noto-core fonts-noto-cjk, or CHROMIUM=/path/of/one"


def need_console() -> Path:
    """The browser, once the console is built. Skips the test that calls it where browser or Node are missing, or fails
    it where they have to be there; fails it where the console cannot be built."""
    browser = os.environ.get("CHROMIUM") or next((one for one in BROWSERS if Path(one).exists()), None)
    reason = missing() or (None if browser else f"there is no browser: {CURE}")
    if reason or browser is None:
        if os.environ.get("NEVE_REQUIRE_SERVERS") == "1" or os.environ.get("CI") == "true":
            pytest.fail(f"{NO_BROWSER}{reason}", pytrace=False)
        pytest.skip(f"{NO_BROWSER}{reason}")
    if failure := built(CONSOLE, lambda: run("node", "build.mjs", folder=CONSOLE)):
        pytest.fail(failure, pytrace=False)
    return Path(browser)
