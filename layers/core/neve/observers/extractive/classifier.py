"""Classifies what kind of statement a sentence is: a linear model over its words and their order, fitted on sentences
of our own (``python -m evals.observer.fit``; ``statements.json`` holds the weights and the sha256 of the sentences).

A sentence is read as a skeleton: words that were frequent among those sentences stand for themselves, all others for
their shape (a name, a figure, an ending), so that what counts is how something is said, not what it is about. Features
are the skeleton's runs of one to three words."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

MODEL = Path(__file__).with_name("statements.json")
MAX_WORDS = 30
"""The most words of a sentence that are read; what kind it is shows before its end."""
MAX_RUN = 3
SCALE = 100
"""Weights are stored as whole hundredths: they add up to the same on every machine."""

_MEANING = re.compile(r"\s*\(meaning [^()]*\)")
_QUOTED = re.compile(r'"[^"]*"')
_TOKEN = re.compile(r"@date|[^\W\d_]+(?:'[^\W\d_]+)?|\d+(?:[.,:/-]\d+)*|[?!\":;,(]")
_ENDINGS = ("ing", "ed", "ist", "er", "or", "ian", "ly", "s")


class Kind(StrEnum):
    """The kind of a statement. ``self``: who someone is, their health, people, tastes; ``note``: what they do, have,
    plan or lived through."""

    NONE = "none"
    SELF = "self"
    WISH = "wish"
    CORRECTION = "correction"
    BLOCKER = "blocker"
    NOTE = "note"
    MAYBE = "maybe"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Model:
    """The fitted model. ``weights[feature]``: one for each of ``kinds``, in hundredths, like ``bias``. ``words`` stand
    for themselves."""

    kinds: tuple[Kind, ...]
    words: frozenset[str]
    bias: tuple[int, ...]
    weights: dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on a sentence. ``likelihood``: of being worth keeping; ``kind``: the likeliest of those that are."""

    kind: Kind
    likelihood: float


def classify(sentence: str) -> Judged:
    """Classify a sentence, whose dates may be resolved; what it quotes does not count."""
    return judged(sentence, _model())


def judged(sentence: str, model: Model) -> Judged:
    """Classify a sentence as ``classify`` does, by another model."""
    known = [model.weights[f] for f in sorted(features(sentence, model.words)) if f in model.weights]
    share = SCALE * math.sqrt(max(1, len(known)))
    scores = [bias / SCALE + sum(column) / share for bias, *column in zip(model.bias, *known, strict=True)]
    odds = {kind: math.exp(score) for kind, score in zip(model.kinds, scores, strict=True)}
    none = odds.pop(Kind.NONE)
    return Judged(max(odds, key=lambda kind: odds[kind]), 1 - none / (none + sum(odds.values())))


def features(sentence: str, known: Collection[str]) -> set[str]:
    """Return the runs of the sentence's skeleton, and its length. ``known``: the words that stand for themselves."""
    skeleton = ["^", *skeleton_of(sentence, known), "$"]
    runs = {
        " ".join(skeleton[at : at + length])
        for length in range(1, MAX_RUN + 1)
        for at in range(len(skeleton) - length + 1)
    }
    return runs | {f"length {min(len(skeleton) // 3, 6)}"}


def skeleton_of(sentence: str, known: Collection[str]) -> list[str]:
    """Return the first 30 words, each as itself or as its shape."""
    return [word if word in known else shape for word, shape in words_of(sentence)][:MAX_WORDS]


def words_of(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield each word of a sentence in lower case, with its shape."""
    plain = _QUOTED.sub('"', _MEANING.sub(" @date", sentence.replace("’", "'")))
    for n, token in enumerate(_TOKEN.findall(plain)):
        yield token.lower(), _shape(token, first=n == 0)


def _shape(token: str, *, first: bool) -> str:
    if token[0].isdigit():
        return "#"
    if not token[0].isalpha():
        return token
    if token[0].isupper() and not first:
        return "Name"
    lower = token.lower()
    return next((f"-{end}" for end in _ENDINGS if lower.endswith(end) and len(lower) > len(end) + 2), "-")


@cache
def _model() -> Model:
    return read_model(MODEL.read_text(encoding="utf-8"))


def read_model(text: str) -> Model:
    """Read a model from the JSON of ``statements.json``."""
    read = json.loads(text)
    return Model(
        kinds=tuple(Kind(kind) for kind in read["kinds"]),
        words=frozenset(read["words"]),
        bias=tuple(read["bias"]),
        weights={feature: tuple(row) for feature, row in read["weights"].items()},
    )
