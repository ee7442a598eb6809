"""What recall would inject for messages that have nothing to do with the user: ``python -m evals.off_topic --data
FOLDER``.

Takes each conversation of LoCoMo for somebody's memory, an utterance a passage, and looks with the bundled encoder and
the product's gate and terms at what thirty messages of ours would find in it. Prints a table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.locomo.dataset import Conversation, load
from evals.off_topic.messages import OFF_TOPIC
from local.backend import ENCODER
from neve.adapters.embedders.bge_small import BgeSmall
from neve.domain.recall.fusion import calibrate
from neve.domain.recall.query import shape
from neve.domain.recall.query_terms import query_terms
from neve.domain.tenants.policy import Policy

GATE = Policy().recall_threshold
BATCH = 50


class Found(NamedTuple):
    """``nearest``: calibrated similarity of the nearest utterance. ``above``: how many pass the gate."""

    nearest: float
    above: int
    by_words: int


def texts_of(conversation: Conversation) -> list[str]:
    return [f"{turn.speaker}: {turn.text}" for turn in conversation.turns]


def measure(encoder: BgeSmall, texts: Sequence[str]) -> Iterator[Found]:
    """For each message."""
    batches = (texts[start : start + BATCH] for start in range(0, len(texts), BATCH))
    stored = np.stack([_vector(packed) for batch in batches for packed in encoder.embed_passages(batch)])
    for message in OFF_TOPIC:
        cosines = stored @ _vector(encoder.embed_query(message))
        near = [calibrate(float(cosine), encoder.calibration) for cosine in cosines]
        asked = query_terms(shape(message).text_query)
        yield Found(max(near), sum(one >= GATE for one in near), sum(asked.share_of(text) > 0 for text in texts))


def _vector(packed: bytes) -> NDArray[np.float32]:
    return np.frombuffer(packed, "<f4")


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.off_topic", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of locomo10.json and errors.json")
    parser.add_argument("--conversations", type=int, default=5, help="how many, the first ones")
    options = parser.parse_args(arguments)
    encoder = BgeSmall(ENCODER)
    print(f"{len(OFF_TOPIC)} messages, gate {GATE}")
    print("| conversation | utterances | nearest, median | above the gate | of them most | sharing a word |")
    print("| --- | --- | --- | --- | --- | --- |")
    for conversation in load(options.data)[: options.conversations]:
        texts = texts_of(conversation)
        found = list(measure(encoder, texts))
        print(
            f"| {conversation.number} | {len(texts)} | {median(one.nearest for one in found):.2f}"
            f" | {sum(one.above > 0 for one in found)} | {max(one.above for one in found)}"
            f" | {sum(one.by_words > 0 for one in found)} |"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
