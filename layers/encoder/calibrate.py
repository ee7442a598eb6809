"""Measures what raw cosine means for an embedding model: the median of random pairs and of known paraphrases.

``python layers/encoder/calibrate.py [bge-small | multi | multi-directions | titan]`` (with ``layers/core`` on the path)
embeds ``paraphrases.jsonl``: everyday statements, each with a question or rewording that asks for it; queries as
queries, passages as passages. For ``multi`` it is ``paraphrases_multi.jsonl``: six pairs in each of eleven languages.
Paraphrase pairs are the lines of the file; random pairs are every query with every other line's passage. Recall maps
the first median to 0.3 and the second to 0.9 (docs/rules/indexing.md#calibration).

``bge-small``, the bundled encoder, and ``multi``, that of many languages, are measured on their files; the records are
in ``calibration.json``. ``multi-directions`` makes what is taken out of the vectors of ``multi`` (ADR 73), of 14
questions and 14 statements in each language of ``languages.jsonl``; its sum belongs into the adapter, and then
``multi`` is to be measured again. ``titan`` asks Bedrock, with the credentials and the region of the AWS SDK, for 168
short texts; the record is for the core layer, in ``layers/core/neve/adapters/embedders/titan_calibration.json``. Both
files hold records by model tag."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neve.adapters.aws.clients import aws_client
from neve.adapters.embedders.bge_small import BgeSmall
from neve.adapters.embedders.multi_e5 import DIRECTIONS, MultilingualE5, PlainE5
from neve.adapters.embedders.titan_embedder import CALIBRATIONS, TitanEmbedder
from neve.adapters.model_files import FolderFiles
from neve.ports.models import Embedder

FOLDER = Path(__file__).resolve().parent
METHOD = (
    "cosine of embed_query(query) with embed_passages(passage) over {file};"
    " paraphrase: the two of a line; random: a query with the passage of every other line{others}"
)
ENGLISH, MANY = "paraphrases.jsonl", "paraphrases_multi.jsonl"


class Pair(NamedTuple):
    query: str
    passage: str
    language: str = "en"


def measure(embedder: Embedder, pairs: Sequence[Pair], file: str = ENGLISH) -> dict[str, str | int | float]:
    """The calibration record of one model. ``file``: where the pairs are from."""
    queries = [_floats(embedder.embed_query(pair.query)) for pair in pairs]
    passages = [_floats(vector) for vector in embedder.embed_passages([pair.passage for pair in pairs])]
    known = [_cosine(query, passage) for query, passage in zip(queries, passages, strict=True)]
    random = [
        _cosine(query, passage)
        for n, query in enumerate(queries)
        for other, passage in enumerate(passages)
        if n != other and pairs[n].language == pairs[other].language
    ]
    return {
        "method": METHOD.format(file=file, others=" in its language" if file == MANY else ""),
        "paraphrase_pairs": len(known),
        "random_pairs": len(random),
        "paraphrase_median": round(median(known), 4),
        "random_median": round(median(random), 4),
    }


def read_pairs(path: Path = FOLDER / ENGLISH) -> list[Pair]:
    """The pair of each line."""
    return [Pair(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def _floats(vector: bytes) -> array[float]:
    return array("f", vector)


def _cosine(left: array[float], right: array[float]) -> float:
    """Of two normalised vectors."""
    return sum(a * b for a, b in zip(left, right, strict=True))


def write_record(embedder: Embedder, path: Path, file: str = ENGLISH) -> dict[str, str | int | float]:
    """Measure, and put the record among those of the file ``path``; returns it."""
    record = measure(embedder, read_pairs(FOLDER / file), file)
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[embedder.model.tag] = record
    path.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return record


def write_directions(plain: PlainE5, path: Path = FOLDER / DIRECTIONS.name) -> str:
    """Write the directions that say in which language a text is, and whether it is a question: those of the mean
    questions and the mean statements of each language in ``languages.jsonl``. Returns the file's sum, which the adapter
    pins."""
    means: dict[tuple[str, str], list[NDArray[np.float32]]] = {}
    for line in map(json.loads, (FOLDER / "languages.jsonl").read_text(encoding="utf-8").splitlines()):
        for kind, prefix in (("question", "query: "), ("statement", "passage: ")):
            mean = plain.mean(prefix + line[kind])
            means.setdefault((line["language"], kind), []).append(mean / np.linalg.norm(mean))
    _, _, directions = np.linalg.svd(np.array([np.mean(of, axis=0) for of in means.values()]), full_matrices=False)
    rows = [[round(float(number), 5) for number in row] for row in directions]
    path.write_text("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]\n")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> int:
    """Command line entry: measures one model and rewrites its record."""
    parser = argparse.ArgumentParser(description="Measure what raw cosine means for an embedding model.")
    parser.add_argument(
        "model", nargs="?", choices=("bge-small", "multi", "multi-directions", "titan"), default="bge-small"
    )
    model = parser.parse_args().model
    if model == "titan":
        record = write_record(TitanEmbedder(aws_client("bedrock-runtime"), calibrations=None), CALIBRATIONS)
    elif model == "multi":
        record = write_record(MultilingualE5(FolderFiles(FOLDER / "multi"), FOLDER), FOLDER / "calibration.json", MANY)
    elif model == "multi-directions":
        record = {"sha256": write_directions(PlainE5(FolderFiles(FOLDER / "multi")))}
    else:
        record = write_record(BgeSmall(FOLDER), FOLDER / "calibration.json")
    sys.stdout.write(json.dumps(record, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
