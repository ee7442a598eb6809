"""Makes the basis onto which token vectors are projected: ``basis.bin``, and what it was made from: ``basis.json``.

``python layers/late/make_basis.py`` (with ``layers/core`` on the path) encodes text of our own: the statements and
conversations that the observer is measured with, the sample conversation, and chats put together from ``chat.json``,
which was written for this. Then it takes the mean of the normalised states and the 64 directions in which they vary
most, each divided by the fourth root of its variance: two bits say the same of every dimension, so the first ones must
not be much wider than the last.

Measured on LoCoMo 1-3 (180 questions, MaxSim alone, any@10 / MRR): 384 dimensions as they are 82.2 / 59.4; 64 without
the division 76.7 / 53.7 in codes, with it 78.9 / 54.5; with the repository's documents among the text 77.8 / 53.8 and
79.4 / 54.2. On ``paraphrases.jsonl`` (MRR): 89.4; 84.4 and 85.7; with documents 80.5 and 80.3. All of it in trials on a
part of the text.

The files are committed and not made by a build: the model's arithmetic differs in the last digits between processors, a
basis made elsewhere would be another one, and vectors of two bases cannot be compared. Whoever makes a new one changes
``BASIS_SHA256`` of the adapter, and with it the model's tag: every tenant's passages are then encoded again.

``--check`` makes nothing. It says what projection and codes cost on ``paraphrases.jsonl``, which the basis has not
seen: how well each question finds its statement among all of them."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2]))  # it is run by its path, from anywhere

from neve.adapters.embedders.late_interaction import DIMENSIONS, FETCH, STATE, read_basis
from neve.adapters.embedders.onnx_model import OnnxModel
from neve.adapters.embedders.token_codes import from_codes, normalised, to_codes

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
SEED = 20
CHATS = 1_200
"""Texts that are put together from ``chat.json``."""
EVENED = -0.25
"""The power of its variance by which a direction is multiplied."""
HELD_OUT = ROOT / "layers" / "encoder" / "paraphrases.jsonl"


def statements() -> Iterator[str]:
    """Of the observer's own examples, and of the sample conversation."""
    for path in sorted((ROOT / "evals" / "observer").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            example = json.loads(line)
            yield from (f"{turn['by']}: {turn['text']}" for turn in example.get("turns", ()))
            if "text" in example:
                yield f"user: {example['text']}"
    sample = json.loads((ROOT / "local" / "sample" / "conversation.json").read_text(encoding="utf-8"))
    for session in sample["sessions"]:
        yield from (
            f"{by}: {text}" for event in session["events"] for by, text in event.items() if isinstance(text, str)
        )


def chats() -> Iterator[str]:
    words: dict[str, list[str]] = json.loads((FOLDER / "chat.json").read_text(encoding="utf-8"))
    drawn = random.Random(SEED)
    kinds = [*["turns"] * 6, "answers", *["questions"] * 2]
    for _ in range(CHATS):
        slots = {name: drawn.choice(found) for name, found in words.items()}
        kind = drawn.choice(kinds)
        text = drawn.choice(words[kind]).format(**slots)
        yield text if kind == "questions" else f"{slots['speakers']}: {text}"


def own_texts() -> list[str]:
    return [*statements(), *chats()]


def make(texts: Sequence[str]) -> dict[str, Any]:
    """Writes both files; returns what ``basis.json`` says. The covariance is added up text by text."""
    model = OnnxModel(FOLDER / "model", FETCH)
    tokens, total, products = 0, np.zeros(STATE), np.zeros((STATE, STATE))
    for text in texts:
        states = normalised(model.states(text)).astype(np.float64)
        tokens += len(states)
        total += states.sum(axis=0)
        products += states.T @ states
    mean = total / tokens
    values, directions = np.linalg.eigh(products / tokens - np.outer(mean, mean))
    chosen = directions[:, ::-1][:, :DIMENSIONS]
    chosen = chosen * np.sign(
        chosen[np.abs(chosen).argmax(axis=0), np.arange(DIMENSIONS)]
    )  # a direction has no sign of its own
    chosen = chosen * values[::-1][:DIMENSIONS] ** EVENED
    content = np.vstack([mean[None], chosen.T]).astype("<f4").tobytes()
    (FOLDER / "basis.bin").write_bytes(content)
    return {
        "sha256": hashlib.sha256(content).hexdigest(),
        "texts": len(texts),
        "texts_sha256": hashlib.sha256("\n".join(texts).encode()).hexdigest(),
        "tokens": tokens,
        "variance_kept": round(float(values[::-1][:DIMENSIONS].sum() / values.sum()), 4),
    }


def check() -> dict[str, Any]:
    """Of the held-out questions: MRR and the share that stands first, by full states, projected ones, and codes."""
    pairs = [json.loads(line) for line in HELD_OUT.read_text(encoding="utf-8").splitlines()]
    model, (mean, directions) = OnnxModel(FOLDER / "model", FETCH), read_basis(FOLDER / "basis.bin")
    full = {text: normalised(model.states(text)) for pair in pairs for text in pair.values()}
    small = {text: normalised((states - mean) @ directions) for text, states in full.items()}
    coded = {text: from_codes(to_codes(vectors)) for text, vectors in small.items()}
    return {
        "questions": len(pairs),
        "full": _found(pairs, full, full),
        "projected": _found(pairs, small, small),
        "codes": _found(pairs, small, coded),
    }


def _found(pairs: Sequence[dict[str, str]], queries: dict[str, Any], passages: dict[str, Any]) -> dict[str, float]:
    ranks = []
    for n, pair in enumerate(pairs):
        query = queries[pair["query"]][1:-1]
        scores = [float((query @ passages[other["passage"]].T).max(axis=1).mean()) for other in pairs]
        ranks.append(1 + sum(score > scores[n] for score in scores))
    first = sum(rank == 1 for rank in ranks) / len(ranks)
    return {"mrr": round(float(np.mean([1 / rank for rank in ranks])), 4), "first": round(first, 4)}


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the basis of token vectors, or say what it costs.")
    parser.add_argument("--check", action="store_true", help="only measure, on text that the basis has not seen")
    path = FOLDER / "basis.json"
    if parser.parse_args().check:
        record = check()
    else:
        record = make(own_texts())
        path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(record, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
