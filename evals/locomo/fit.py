"""Fit the weights of the rerank stage: ``python -m evals.locomo.fit --data FOLDER [--conversations 1-5] [--out FILE]``.

Asks every question of the given conversations through the API with the rerank stage off, so that the candidates are
those of RRF and the model that is fitted has no say in what it is fitted on. Takes the features of the utterances among
the hits from ``domain/recall/rerank.py`` itself, and maximises the likelihood of the evidence under a softmax over each
question's candidates, with an L2 penalty on standardised weights.

Writes ``evals/results/rerank.json``: the fitted weights and the product's, any@10 and MRR@10 of both on the same
candidates, and the sha256 of what they were fitted on. The product's weights are changed by hand, rounded."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.locomo.dataset import Conversation, Question, load
from evals.locomo.playing import send, settle
from evals.progress import tracked
from local.api_client import ApiClient
from local.running import start_server
from neve.adapters.embedders.bge_small import BgeSmall
from neve.domain.recall.rerank import WEIGHTS, Utterance, features
from neve.ports import Calibration

Matrix = NDArray[np.float64]
NAMES = tuple(WEIGHTS)
L2 = 30.0
STEPS, RATE = 400, 0.05
DEEPEST = 50
"""The most hits a call returns."""
ENCODER = Path("layers/encoder")
RESULT = Path("evals/results/rerank.json")


@dataclass(frozen=True, slots=True)
class Asked:
    """``x[candidate, feature]`` of one question and which candidates are evidence."""

    x: Matrix
    right: NDArray[np.bool_]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="evals.locomo.fit", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--conversations", default="1-5")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args(arguments)
    first, _, last = options.conversations.partition("-")
    wanted = range(int(first), int(last or first) + 1)
    conversations = [c for c in load(options.data) if c.number in wanted]
    questions = [(c, q) for c in conversations for q in c.questions]
    usable = [one for one in _ask_all(conversations, questions) if one is not None]
    result = _result(usable, len(questions)) | {
        "conversations": options.conversations,
        "candidates": f"RRF, {DEEPEST} deep, rerank off",
        "l2": L2,
        "sha256": _sums(options.data, usable),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(options.out.read_text(), end="")
    return 0


def _ask_all(
    conversations: Sequence[Conversation], questions: Sequence[tuple[Conversation, Question]]
) -> list[Asked | None]:
    calibration = BgeSmall(ENCODER).calibration
    with tempfile.TemporaryDirectory(prefix="neve-fit-") as folder:
        server = start_server(Path(folder) / "data")
        try:
            client = ApiClient(server.base_url, server.key)
            for conversation in tracked("sending", conversations):
                send(client, conversation)
                settle(client, conversation)
            return [_ask(client, c, q, calibration) for c, q in tracked("asking", questions)]
        finally:
            server.stop()


def _result(usable: Sequence[Asked], questions: int) -> dict[str, Any]:
    fitted, product = fit(usable), np.array(list(WEIGHTS.values()), np.float64)
    found = {"fitted": fitted, "product": product}
    return {
        "weights": {
            name: {label: round(float(weights[n]), 2) for label, weights in found.items()}
            for n, name in enumerate(NAMES)
        },
        "quality": {label: _quality(usable, weights, questions) for label, weights in found.items()},
        "questions": questions,
        "questions with evidence among the candidates": len(usable),
    }


def _sums(data: Path, usable: Sequence[Asked]) -> dict[str, str]:
    """Of the files read, and of the features and labels that the weights were fitted on."""
    matrices = hashlib.sha256()
    for one in usable:
        matrices.update(one.x.tobytes())
        matrices.update(one.right.tobytes())
    files = (data / "locomo10.json", ENCODER / "model" / "model.onnx")
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    return sums | {"features and labels": matrices.hexdigest()}


def _ask(client: ApiClient, conversation: Conversation, question: Question, calibration: Calibration) -> Asked | None:
    """None when no candidate is evidence: such a question says nothing about the order."""
    body = {
        "query": question.text,
        "k": DEEPEST,
        "mode": "tool",
        "sources": ["event"],
        "threshold": 0,
        "rerank": "off",
    }
    hits = client.expect(200, "POST", f"/v1/users/{conversation.id}/recall", body)["hits"]
    utterances = [_utterance(hit, calibration) for hit in hits]
    floor = min((u.similarity for u in utterances if u.similarity is not None), default=0.0)
    found = features(question.text, utterances, floor)
    place = {(turn.session, turn.seq): turn.dia_id for turn in conversation.turns}
    right = np.array([place[hit["session_id"], hit["seq"]] in question.raw for hit in hits], np.bool_)
    if not right.any():
        return None
    return Asked(np.array([[found[hit["id"]][name] for name in NAMES] for hit in hits], np.float64), right)


def _utterance(hit: dict[str, Any], calibration: Calibration) -> Utterance:
    raw = hit["components"].get("sim_raw")
    spread = calibration.paraphrase_median - calibration.random_median
    return Utterance(
        id=hit["id"],
        session_id=hit["session_id"],
        seq=hit["seq"],
        speaker=hit["speaker"],
        text=hit["text"],
        bm25=hit["components"].get("bm25"),
        similarity=None if raw is None else (raw - calibration.random_median) / spread,
    )


def fit(asked: Sequence[Asked]) -> Matrix:
    """Adam on the mean log likelihood; features are standardised for the penalty only."""
    everything = np.concatenate([one.x for one in asked])
    mean, deviation = everything.mean(0), everything.std(0) + 1e-9
    scaled = [((one.x - mean) / deviation, one.right / one.right.sum()) for one in asked]
    weights = momentum = variance = np.zeros(len(NAMES))
    for step in range(1, STEPS + 1):
        gradient = L2 * weights
        for x, target in scaled:
            logits = x @ weights
            odds = np.exp(logits - logits.max())
            gradient = gradient + x.T @ (odds / odds.sum() - target)
        gradient = gradient / len(scaled)
        momentum = 0.9 * momentum + 0.1 * gradient
        variance = 0.99 * variance + 0.01 * gradient**2
        step_size = np.sqrt(variance / (1 - 0.99**step)) + 1e-8
        weights = weights - RATE * momentum / (1 - 0.9**step) / step_size
    return np.asarray(weights / deviation, np.float64)


def _quality(asked: Sequence[Asked], weights: Matrix, questions: int) -> dict[str, float]:
    """Percentages of all questions, those without evidence among the candidates included."""
    ranks = [int(np.flatnonzero(one.right[np.argsort(-(one.x @ weights), kind="stable")])[0]) + 1 for one in asked]
    best = [rank for rank in ranks if rank <= 10]
    return {
        "any@10": round(100 * len(best) / questions, 1),
        "mrr@10": round(100 * sum(1 / rank for rank in best) / questions, 1),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
