"""Fit the classifier of the observer without a model: ``python -m evals.observer.fit``.

Reads ``train.jsonl`` (``{"kind": "note", "text": "I play the cello."}``, one sentence each, all written for this) and
writes ``layers/core/neve/observers/extractive/statements.json``: softmax regression over the features of
``classifier.py``, by as many steps of gradient descent as below, weights rounded to hundredths."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neve.observers.extractive.candidates import as_statement
from neve.observers.extractive.classifier import MODEL, SCALE, Kind, features, words_of
from neve.observers.extractive.english.sentences import sentences

TRAIN = Path(__file__).with_name("train.jsonl")
SPOKEN_ON = date(2026, 3, 10)
MIN_COUNT = 2
"""Sentences in which a word or feature must occur."""
L2 = 0.1
STEPS = 250

Matrix = NDArray[np.float64]


def as_text(model: dict[str, Any]) -> str:
    """JSON with one feature a line, so that a change of the model can be read."""
    weights = ",\n".join(
        f"{json.dumps(f, ensure_ascii=False)}: {json.dumps(row)}" for f, row in model["weights"].items()
    )
    rest = [f"{json.dumps(name)}: {json.dumps(model[name], ensure_ascii=False)}" for name in model if name != "weights"]
    return "{\n" + ",\n".join([*rest, f'"weights": {{\n{weights}\n}}']) + "\n}\n"


def main() -> int:
    rows = [json.loads(line) for line in TRAIN.read_text(encoding="utf-8").splitlines()]
    model = fit([row["text"] for row in rows], [Kind(row["kind"]) for row in rows])
    model["sha256"] = hashlib.sha256(TRAIN.read_bytes()).hexdigest()
    MODEL.write_text(as_text(model), encoding="utf-8")
    print(f"{len(rows)} sentences, {len(model['words'])} words, {len(model['weights'])} features: {MODEL}")
    return 0


def fit(texts: Sequence[str], kinds: Sequence[Kind]) -> dict[str, Any]:
    """The JSON of a model, without the sum of its sentences."""
    sentences = [_as_judged(text) for text in texts]
    read = [(text, kind) for text, kind in zip(sentences, kinds, strict=True) if text]
    words = _frequent([{word for word, _ in words_of(text)} for text, _ in read])
    known = frozenset(word for word in words if word[0].isalpha())
    found = [features(text, known) for text, _ in read]
    names = _frequent(found)
    x = _matrix(found, names)
    labels = list(Kind)
    y = np.array([[float(kind is label) for label in labels] for _, kind in read], np.float64)
    weights = np.rint(_descended(x, y) * SCALE).astype(int)
    rows = {name: weights[n].tolist() for n, name in enumerate(names) if weights[n].any()}
    return {"kinds": labels, "words": sorted(known), "bias": weights[-1].tolist(), "weights": rows}


def _as_judged(text: str) -> str | None:
    """The first sentence as the observer hands it to the classifier; None for a question, which it never sees."""
    found = sentences(text)
    return as_statement(found[0], SPOKEN_ON).text if found and not found[0].question else None


def _frequent(sets: Sequence[set[str]]) -> list[str]:
    counts = Counter(one for found in sets for one in found)
    return sorted(one for one, n in counts.items() if n >= MIN_COUNT)


def _matrix(found: Sequence[set[str]], names: Sequence[str]) -> Matrix:
    """Rows of equal length 1, with a column of ones behind them for the bias."""
    place = {name: n for n, name in enumerate(names)}
    x = np.zeros((len(found), len(names) + 1))
    for row, one in enumerate(found):
        columns = [place[name] for name in one if name in place]
        x[row, columns] = 1 / np.sqrt(max(1, len(columns)))
    x[:, -1] = 1
    return x


def _descended(x: Matrix, y: Matrix) -> Matrix:
    """Nesterov's gradient descent on the cross entropy; the bias is not penalised."""
    weights = ahead = np.zeros((x.shape[1], y.shape[1]))
    penalty = np.full((x.shape[1], 1), L2)
    penalty[-1] = 0
    rate = 1 / (0.5 * _largest_square(x) + L2)
    for step in range(STEPS):
        logits = x @ ahead
        odds = np.exp(logits - logits.max(1, keepdims=True))
        gradient = x.T @ (odds / odds.sum(1, keepdims=True) - y) + penalty * ahead
        before, weights = weights, ahead - rate * gradient
        ahead = weights + step / (step + 3) * (weights - before)
    return np.asarray(weights, np.float64)


def _largest_square(x: Matrix) -> float:
    """The largest eigenvalue of x'x, by power iteration, a little above."""
    direction = np.ones(x.shape[1])
    for _ in range(30):
        direction = x.T @ (x @ direction)
        direction /= np.linalg.norm(direction)
    return 1.05 * float(np.linalg.norm(x @ direction) ** 2)


if __name__ == "__main__":
    sys.exit(main())
