"""Fetches the o200k_base merge table: one file of one pinned wheel, checked against its sha256.

``python layers/tokens/fetch.py`` fills ``layers/tokens/bpe``; set ``NEVE_BPE_DIR`` to that folder. Only tenants with
``token_counter: o200k_base`` need it. The wheel (41 MB) is built per platform, so one is named whose table serves all.
Exit code 1 and a sentence on stderr when it cannot be had."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # it is run by its path, from anywhere

from layers.pinned_wheel import PinnedFile, PinnedWheel, main

WHEEL = PinnedWheel(
    what="o200k_base merge table",
    requirement="litellm==1.109.1",
    sha256="1c8b4dd671fa0cd0850aa751678704ff77e595fb1e6085b2dc3be39ee19bdaaf",
    files={
        "o200k_base.tiktoken": PinnedFile(
            "litellm/litellm_core_utils/tokenizers/fb374d419588a4632f3f557e76b4b70aebbca790",
            "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        )
    },
    target=("--platform=manylinux_2_28_x86_64", "--implementation=cp", "--abi=abi3", "--python-version=3.11"),
)
BPE_FOLDER = Path(__file__).resolve().parent / "bpe"

if __name__ == "__main__":
    sys.exit(main(WHEEL, BPE_FOLDER))
