"""The real encoders for the tests. Without its files a test of one is skipped, and the summary says loudly how
many were. With NEVE_REQUIRE_SERVERS=1 or CI=true it fails instead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from local.template import ROOT

MODEL = ROOT / "layers" / "encoder" / "model" / "model.onnx"
MULTI_MODEL = ROOT / "layers" / "encoder" / "multi" / "model.onnx"
RERANKER_MODEL = ROOT / "layers" / "encoder" / "reranker" / "model.onnx"
NO_ENCODER = "the real encoder cannot run here: "
"""How the reason of every such skip begins."""


def need_encoder() -> None:
    """Skips the test that calls it where the encoder's files are missing, or fails it where they must be there."""
    _need(MODEL, "make encoder")


def need_reranker() -> None:
    """The same of the cross-encoder."""
    _need(RERANKER_MODEL, "make reranker")


def need_multi() -> None:
    """The same of the encoder of many languages."""
    _need(MULTI_MODEL, "make multi")


def _need(model: Path, fetched_by: str) -> None:
    if model.is_file():
        return
    reason = f"{NO_ENCODER}{model} is missing, run '{fetched_by}'"
    if os.environ.get("NEVE_REQUIRE_SERVERS") == "1" or os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
