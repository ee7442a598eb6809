"""``python -m evals.token_estimate``: how many tokens of o200k_base one of the default counter's is, by language
(docs/rules/tokens.md#languages). The merge table is that of the ``tokens`` layer."""

from __future__ import annotations

import json
import os

from local.template import ROOT
from neve.adapters.o200k import BPE_DIR_VARIABLE, token_counter
from neve.domain.tokens import estimate

SAID = ROOT / "evals" / "token_estimate.json"
"""Two sentences, which say the same in each language."""


def main() -> None:
    os.environ.setdefault(BPE_DIR_VARIABLE, str(ROOT / "layers" / "tokens" / "bpe"))
    count = token_counter("o200k_base")
    print("| language | estimate | o200k_base | ratio |\n| --- | --- | --- | --- |")
    for language, text in json.loads(SAID.read_text(encoding="utf-8")).items():
        estimated, counted = estimate(text), count(text)
        print(f"| {language} | {estimated} | {counted} | {counted / estimated:.2f} |")


if __name__ == "__main__":
    main()
