"""The real encoder for the tests. Without its files a test of it is skipped, and the summary says loudly how
many were. With NEVE_REQUIRE_SERVERS=1 or CI=true it fails instead."""

from __future__ import annotations

import os

import pytest

from local.template import ROOT

MODEL = ROOT / "layers" / "encoder" / "model" / "model.onnx"
NO_ENCODER = "the real encoder cannot run here: "
"""How the reason of every such skip begins."""


def need_encoder() -> None:
    """Skips the test that calls it where the encoder's files are missing, or fails it where they must be there."""
    if MODEL.is_file():
        return
    reason = f"{NO_ENCODER}{MODEL} is missing, run 'make encoder'"
    if os.environ.get("NEVE_REQUIRE_SERVERS") == "1" or os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
