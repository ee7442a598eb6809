"""Fit the weights of the rerank stage: ``python -m evals.retrieval.fit --data FOLDER --keep FOLDER``.

Reads the service's folder that ``python -m evals.retrieval --keep FOLDER`` left behind, and asks every question of the
first five chats of each set with the rerank stage off, so that the candidates are those of RRF and the model that is
fitted has no say in what it is fitted on. Takes the features from ``domain/recall/rerank.py`` itself and maximises the
likelihood of the evidence under a softmax over each question's candidates, every set counting the same, with an L2
penalty on standardised weights.

Writes ``evals/results/rerank.json``: the fitted weights and the product's, any@10 and MRR@10 of both and of RRF on the
same candidates, and the sha256 of what they were fitted on. The product's weights are changed by hand, rounded."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.progress import tracked
from evals.retrieval.chats import TUNED_ON, Chat, Question
from evals.retrieval.sets import SETS, load_sets
from local.backend import ENCODER, Choices, EmbeddedPorts
from local.bootstrap import TENANT
from local.template import read_template
from neve.domain.ids import event_id
from neve.domain.indexing.passage import Source
from neve.domain.recall.rerank import LINEAR, features
from neve.domain.tenants.policy import Policy
from neve.scope import Tenant, UserScope
from neve.usecases.ask.recall.command import RERANK_DEPTH, RecallCommand, resolve
from neve.usecases.ask.recall.search import search
from neve.usecases.ask.recall.stages.rerank import considered
from neve.usecases.ask.recall.time_budget import TimeBudget

Matrix = NDArray[np.float64]
NAMES = LINEAR._fields
L2 = 30.0
STEPS, RATE = 400, 0.05
PATIENT_MS = 60_000
RESULT = Path("evals/results/rerank.json")


@dataclass(frozen=True, slots=True)
class Asked:
    """``x[candidate, feature]`` of one question in the order of RRF, and which candidates are evidence."""

    chat: Chat
    x: Matrix
    right: NDArray[np.bool_]

    @property
    def usable(self) -> bool:
        """A question without evidence among its candidates says nothing about their order."""
        return bool(self.right.any())


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="evals.retrieval.fit", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--keep", type=Path, required=True, help="what the eval was given, its service stopped")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--l2", type=float, default=L2)
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args(arguments)
    chats = load_sets(options.data, options.sets.split(","), f"1-{TUNED_ON}")
    asked = ask_all(options.keep, chats)
    fitted = fit([one for one in asked if one.usable], options.l2)
    result = _result(
        asked, {"fitted": fitted, "product": np.array([getattr(LINEAR, name) for name in NAMES], np.float64)}
    ) | {
        "chats": [chat.id for chat in chats],
        "candidates": f"RRF, {RERANK_DEPTH} deep, rerank off",
        "l2": options.l2,
        "sha256": _sums(options.data, chats, asked),
    }
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(options.out.read_text(), end="")
    return 0


def ask_all(keep: Path, chats: Sequence[Chat]) -> list[Asked]:
    with closing(EmbeddedPorts(keep / "data", read_template(), "", Choices())) as ports:
        scopes = {chat.id: UserScope(ports, Tenant(TENANT, Policy()), chat.id) for chat in chats}
        questions = [(chat, question) for chat in chats for question in chat.questions]
        return [_ask(scopes[chat.id], chat, question) for chat, question in tracked("asking", questions)]


def _ask(scope: UserScope, chat: Chat, question: Question) -> Asked:
    command = RecallCommand(
        query=question.text, k=RERANK_DEPTH // 2, mode="tool", sources=(Source.EVENT,), threshold=0, rerank="off"
    )
    request = resolve(scope.policy, command)
    budget = TimeBudget(scope.ports.clock, PATIENT_MS, scope.ports.clock.monotonic_ms())
    found = search(scope, request, budget)
    if found.degraded:
        raise RuntimeError(f"a degraded answer is not a measurement: {found.degraded}")
    cosines = {one.row.id: one.components.get("sim_raw") for one in found.ranked}
    floor = min((cosine for cosine in cosines.values() if cosine is not None), default=0.0)
    candidates = [considered(one, cosines[one.row.id]) for one in found.ranked]
    by_id = features(question.text, candidates, floor)
    evidence = {event_id(m.session, m.seq) for m in chat.messages if m.id in question.evidence}
    x = np.array([[getattr(by_id[one.id], name) for name in NAMES] for one in candidates], np.float64)
    return Asked(chat, x.reshape(-1, len(NAMES)), np.array([one.id in evidence for one in candidates], np.bool_))


def fit(asked: Sequence[Asked], l2: float) -> Matrix:
    """Adam on the mean log likelihood; features are standardised for the penalty only."""
    everything = np.concatenate([one.x for one in asked])
    mean, deviation = everything.mean(0), everything.std(0) + 1e-9
    share = _shares(asked)
    scaled = [((one.x - mean) / deviation, one.right / one.right.sum(), share[one.chat.set]) for one in asked]
    weights = momentum = variance = np.zeros(len(NAMES))
    for step in range(1, STEPS + 1):
        gradient = l2 * weights / len(scaled)
        for x, target, part in scaled:
            logits = x @ weights
            odds = np.exp(logits - logits.max())
            gradient = gradient + part * (x.T @ (odds / odds.sum() - target))
        momentum = 0.9 * momentum + 0.1 * gradient
        variance = 0.99 * variance + 0.01 * gradient**2
        step_size = np.sqrt(variance / (1 - 0.99**step)) + 1e-8
        weights = weights - RATE * momentum / (1 - 0.9**step) / step_size
    return np.asarray(weights / deviation, np.float64)


def _shares(asked: Sequence[Asked]) -> dict[str, float]:
    """What one question of each set counts, so that every set counts the same."""
    sets = [one.chat.set for one in asked]
    return {name: 1 / len(set(sets)) / sets.count(name) for name in set(sets)}


def _result(asked: Sequence[Asked], found: Mapping[str, Matrix]) -> dict[str, Any]:
    sets = list(dict.fromkeys(one.chat.set for one in asked))
    return {
        "weights": {
            name: {label: round(float(weights[n]), 2) for label, weights in found.items()}
            for n, name in enumerate(NAMES)
        },
        "quality": {
            name: {
                label: quality([one for one in asked if one.chat.set == name], weights)
                for label, weights in (("RRF", None), *found.items())
            }
            for name in sets
        },
        "questions": len(asked),
        "questions with evidence among the candidates": sum(one.usable for one in asked),
    }


def quality(asked: Sequence[Asked], weights: Matrix | None) -> dict[str, float]:
    """Percentages of all questions, those without evidence among the candidates included. None: the order of RRF."""
    ranks = [_first_right(one, weights) for one in asked if one.usable]
    best = [rank for rank in ranks if rank <= 10]
    return {
        "any@1": round(100 * ranks.count(1) / len(asked), 1),
        "any@10": round(100 * len(best) / len(asked), 1),
        "mrr@10": round(100 * sum(1 / rank for rank in best) / len(asked), 1),
    }


def _first_right(one: Asked, weights: Matrix | None) -> int:
    order = np.arange(len(one.right)) if weights is None else np.argsort(-(one.x @ weights), kind="stable")
    return int(np.flatnonzero(one.right[order])[0]) + 1


def _sums(data: Path, chats: Sequence[Chat], asked: Sequence[Asked]) -> dict[str, str]:
    """Of the encoder, of the sets' files, and of the features and labels that the weights were fitted on."""
    matrices = hashlib.sha256()
    for one in asked:
        matrices.update(one.x.tobytes())
        matrices.update(one.right.tobytes())
    sets = list(dict.fromkeys(chat.set for chat in chats))
    files = [file for name in sets for file in sorted((data / name).glob("*.json"))]
    files.append(ENCODER / "model" / "model.onnx")
    sums = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    return sums | {"features and labels": matrices.hexdigest()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
