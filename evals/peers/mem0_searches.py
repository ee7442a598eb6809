"""The other side of ``evals/peers/mem0.py``. Keeps the texts of a file, a list for each user, without a model; then
answers each line of standard input, a user, a question and how much may be found as JSON, by the milliseconds that its
search took and the places of what it found."""

from __future__ import annotations

import json
import os
import struct
import sys
import time
from pathlib import Path
from typing import Any

from neve.adapters.embedders.bge_small import BgeSmall

DIMENSIONS = 384


class Encoder:
    """``mem0.embeddings.base.EmbeddingBase``, as far as it is asked for."""

    def __init__(self, layer: Path) -> None:
        self._model = BgeSmall(layer)

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        vector = self._model.embed_query(text) if memory_action == "search" else self._model.embed_passages([text])[0]
        return list(struct.unpack(f"<{DIMENSIONS}f", vector))

    def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


def main() -> None:
    texts, folder, layer = (Path(argument) for argument in sys.argv[1:])
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder), "OPENAI_API_KEY": "is never used"}
    memory = _memory(folder)
    memory.embedding_model = Encoder(layer)
    for user, of_user in json.loads(texts.read_text(encoding="utf-8")).items():
        for place, text in enumerate(of_user):
            memory.add(text, user_id=user, metadata={"place": place}, infer=False)
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        user, question, k = json.loads(line)
        began = time.perf_counter()
        found = memory.search(question, filters={"user_id": user}, top_k=k)["results"]
        took_ms = (time.perf_counter() - began) * 1000
        print(json.dumps([took_ms, [one["metadata"]["place"] for one in found]]), flush=True)


def _memory(folder: Path) -> Any:
    from mem0 import Memory  # type: ignore[import-not-found]  # in .venv-mem0

    store = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": DIMENSIONS}
    config = {
        "vector_store": {"provider": "qdrant", "config": store},
        "history_db_path": str(folder / "history.db"),
    }
    return Memory.from_config(config)


if __name__ == "__main__":
    main()
