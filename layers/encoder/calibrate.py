"""Measures what raw cosine means for an embedding model: the median of random pairs and of known paraphrases.

``python layers/encoder/calibrate.py [bge-small | titan]`` (with ``layers/core`` on the path) embeds
``paraphrases.jsonl``: everyday statements, each with a question or rewording that asks for it; queries as queries,
passages as passages. Paraphrase pairs are the lines of the file; random pairs are every query with every other line's
passage. Recall maps the first median to 0.3 and the second to 0.9 (docs/rules/indexing.md#calibration).

``bge-small``, the bundled encoder, is measured on its files; the record is in ``calibration.json``. ``titan`` asks
Bedrock, with the credentials and the region of the AWS SDK, for 168 short texts; the record is for the core layer, in
``layers/core/neve/adapters/embedders/titan_calibration.json``. Both files hold records by model tag."""

from __future__ import annotations

import argparse
import json
import sys
from array import array
from pathlib import Path
from statistics import median

from neve.adapters.aws.clients import aws_client
from neve.adapters.embedders.bge_small import BgeSmall
from neve.adapters.embedders.titan_embedder import CALIBRATIONS, TitanEmbedder
from neve.ports.models import Embedder

FOLDER = Path(__file__).resolve().parent
METHOD = (
    "cosine of embed_query(query) with embed_passages(passage) over paraphrases.jsonl;"
    " paraphrase: the two of a line; random: a query with the passage of every other line"
)


def measure(embedder: Embedder, pairs: list[tuple[str, str]]) -> dict[str, str | int | float]:
    """The calibration record of one model. ``pairs`` are (query, passage)."""
    queries = [_floats(embedder.embed_query(query)) for query, _ in pairs]
    passages = [_floats(vector) for vector in embedder.embed_passages([passage for _, passage in pairs])]
    known = [_cosine(query, passage) for query, passage in zip(queries, passages, strict=True)]
    random = [
        _cosine(query, passage)
        for n, query in enumerate(queries)
        for other, passage in enumerate(passages)
        if n != other
    ]
    return {
        "method": METHOD,
        "paraphrase_pairs": len(known),
        "random_pairs": len(random),
        "paraphrase_median": round(median(known), 4),
        "random_median": round(median(random), 4),
    }


def read_pairs(path: Path = FOLDER / "paraphrases.jsonl") -> list[tuple[str, str]]:
    """(query, passage) of each line."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(line["query"], line["passage"]) for line in lines]


def _floats(vector: bytes) -> array[float]:
    return array("f", vector)


def _cosine(left: array[float], right: array[float]) -> float:
    """Of two normalised vectors."""
    return sum(a * b for a, b in zip(left, right, strict=True))


def write_record(embedder: Embedder, path: Path) -> dict[str, str | int | float]:
    """Measure, and put the record among those of the file; returns it."""
    record = measure(embedder, read_pairs())
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[embedder.model.tag] = record
    path.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return record


def main() -> int:
    """Command line entry: measures one model and rewrites its record."""
    parser = argparse.ArgumentParser(description="Measure what raw cosine means for an embedding model.")
    parser.add_argument("model", nargs="?", choices=("bge-small", "titan"), default="bge-small")
    if parser.parse_args().model == "titan":
        record = write_record(TitanEmbedder(aws_client("bedrock-runtime"), calibrations=None), CALIBRATIONS)
    else:
        record = write_record(BgeSmall(FOLDER), FOLDER / "calibration.json")
    sys.stdout.write(json.dumps(record, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
