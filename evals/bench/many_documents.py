"""``python -m evals.bench.many_documents``: how long a chat message waits for its recall among many documents (D47).

One user with 5,000 documents of three paragraphs each. Writes ``evals/results/many_documents.json`` and its part of
docs/benchmark.md. Exits with 1 when the 95th percentile, as the client sees it, is over the budget, an answer holds
more than it may, or no document was found."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from evals.bench.operations import USER
from evals.bench.prompt_recalls import Among, Answers, Result
from evals.bench.texts import memory_texts
from evals.progress import tracked
from local.api_client import ApiClient

DOCUMENTS = 5_000
PARAGRAPHS, STATEMENTS = 3, 4
"""Of a document, and of each of its paragraphs."""
SEED = 20_262
LOOK_S = 1.0


def _among(result: Result) -> str:
    return f"with {result['documents']:,} documents of {PARAGRAPHS} paragraphs"


def _fill(client: ApiClient, count: int) -> None:
    statements = iter(memory_texts(count * PARAGRAPHS * STATEMENTS, SEED))
    for number in tracked(f"writing {count:,}", range(count)):
        paragraphs = (" ".join(next(statements) for _ in range(STATEMENTS)) for _ in range(PARAGRAPHS))
        path = {"path": f"/reference/{number // 100}/{number}"}
        client.expect(201, "PUT", f"/v1/users/{USER}/documents", {"text": "\n\n".join(paragraphs)}, query=path)
    first = _unembedded(client)
    for _ in tracked(f"embedding {first:,}", _ready_one_by_one(client, first), first):
        continue


def _ready_one_by_one(client: ApiClient, pending: int) -> Iterator[None]:
    while pending:
        now = _unembedded(client)
        yield from (None for _ in range(pending - now))
        pending = now
        time.sleep(LOOK_S)


def _unembedded(client: ApiClient) -> int:
    return int(client.expect(200, "GET", f"/v1/users/{USER}/stats")["memory_lag"]["unembedded"])


def _with_documents(answers: Answers) -> Result:
    return {"with_documents": sum(any(hit["source"] == "document" for hit in answer["hits"]) for answer in answers)}


def _found(result: Result) -> str:
    return f" {result['with_documents']} found documents,"


def _some_found(result: Result) -> bool:
    return bool(result["with_documents"])


AMONG = Among("documents", DOCUMENTS, _fill, _among, str(__doc__), _with_documents, _found, _some_found)

if __name__ == "__main__":
    sys.exit(AMONG.run())
