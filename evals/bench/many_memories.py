"""``python -m evals.bench.many_memories``: how long a chat message waits for its recall among many memories (B50).

One user with 5,000 memories. Writes ``evals/results/many_memories.json`` and its part of docs/benchmark.md. Exits with
1 when the 95th percentile, as the client sees it, is over the budget, or an answer holds more than it may."""

from __future__ import annotations

import sys

from evals.bench.filling import fill, wait_until_embedded
from evals.bench.operations import USER
from evals.bench.prompt_recalls import Among, Result
from local.api_client import ApiClient

MEMORIES = 5_000
SEED = 20_261


def _among(result: Result) -> str:
    return f"with {result['memories']:,} memories"


def _fill(client: ApiClient, memories: int) -> None:
    fill(client, USER, memories, SEED)
    wait_until_embedded(client, USER, others=0)


AMONG = Among("memories", MEMORIES, _fill, _among, str(__doc__))

if __name__ == "__main__":
    sys.exit(AMONG.run())
