"""The classifier: what a sentence looks like to it, and that the weights are those of the sentences beside them."""

from __future__ import annotations

import hashlib
import json
import math

from evals.observer.__main__ import dialogues, outcome, score
from evals.observer.fit import TRAIN, fit
from neve.observers.extractive.classifier import MODEL, Kind, Model, features, judged, read_model, skeleton_of


def test_a_sentence_is_read_as_a_skeleton() -> None:
    known = {"i", "moved", "to", "with"}
    assert skeleton_of('I moved to Bergen with 2 "old" cats yesterday (meaning 2026-03-09)', known) == [
        *("i", "moved", "to", "Name", "with", "#", '"', "-s", "-", "@date")
    ]


def test_features_are_runs_of_up_to_three_words() -> None:
    assert features("I run", {"i", "run"}) == {
        *("^", "i", "run", "$", "^ i", "i run", "run $", "^ i run", "i run $", "length 1")
    }


def test_scores_are_weights_over_the_root_of_what_is_known() -> None:
    model = Model((Kind.NONE, Kind.NOTE), frozenset({"i"}), (0, 50), {"i": (0, 100), "^": (-100, 0)})
    found = judged("I yodel", model)
    note, none = 0.5 + 1 / math.sqrt(2), -1 / math.sqrt(2)
    assert found.kind is Kind.NOTE
    assert math.isclose(found.likelihood, 1 - math.exp(none) / (math.exp(none) + math.exp(note)))


def test_a_model_learns_what_it_was_shown() -> None:
    texts = [f"I play the {what}." for what in ("cello", "flute", "tuba")] + [f"Play {what}." for what in ("it", "on")]
    model = read_model(json.dumps(fit(texts, [Kind.NOTE] * 3 + [Kind.NONE] * 2)))
    assert judged("I play the oboe", model).likelihood > 0.6
    assert judged("Play it", model).likelihood < 0.5


def test_the_weights_are_those_of_the_sentences() -> None:
    assert f'"sha256": "{hashlib.sha256(TRAIN.read_bytes()).hexdigest()}"' in MODEL.read_text(encoding="utf-8")


def test_the_labelled_dialogues_keep_what_they_should() -> None:
    """Of what is worth keeping at least 85 %, and at most 5 % of the lines false."""
    total = score([outcome(dialogue) for dialogue in dialogues("dev")])
    assert total.dialogues == 150
    assert total.kept_of_wanted >= 85
    assert total.false_lines <= 5
    assert total.false_alarms <= 5
