"""Reading what ``layers/encoder/calibrate.py`` measured."""

from __future__ import annotations

import json
from pathlib import Path

from neve.ports.errors import EmbeddingUnavailable
from neve.ports.models import Calibration


def read_calibration(path: Path, tag: str) -> Calibration:
    """Read the medians of the model ``tag``. Raises EmbeddingUnavailable without them, or with such that mean
    nothing."""
    try:
        measured = json.loads(path.read_text(encoding="utf-8"))[tag]
        found = Calibration(float(measured["random_median"]), float(measured["paraphrase_median"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbeddingUnavailable(f"no calibration for {tag} in {path}: {error}") from error
    if found.random_median >= found.paraphrase_median:
        raise EmbeddingUnavailable(f"no calibration for {tag} in {path}: random pairs are as alike as paraphrases")
    return found
