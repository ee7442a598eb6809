"""``python -m evals.observer.many_facts``: is everything that was said once still there, after it was said in bursts?

A service on this machine, one user, 25 sessions of 200 events, each event a fact of its own, appended 40 at a time;
every session stays below what starts a reflection. Then each fact is asked for among the memories alone, by its own
words. Prints what was not found, what it took, and the usage that the service reports; writes
``evals/results/many_facts.json``. Exits with 1 when a fact is missing."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.bench import machine
from evals.bench.filling import wait_until_embedded
from evals.progress import tracked
from local.api_client import ApiClient
from local.running import EmbedderName, start_server
from neve.domain.times import iso

RESULT = Path("evals/results/many_facts.json")
USER = "/v1/users/talkative"
SESSIONS, EVENTS, BURST = 25, 200, 40
SEED = 20_263
SYLLABLES = "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu ra re ri ro ru"
FORMS = (
    "My cousin {a} lives in {b}.",
    "I have a cat called {a} and a dog called {b}.",
    "I'm allergic to {a} and to {b}.",
    "My colleague {a} moved to {b}.",
    "I bought a boat called {a} from {b}.",
    "I work with {a} at {b}.",
    "My sister {a} married {b}.",
    "I grew up in {a}, near {b}.",
)
"""``a`` and ``b`` are names that nothing else is called."""


@dataclass(frozen=True, slots=True)
class Fact:
    """``names``: the two words that a memory of it holds."""

    text: str
    names: tuple[str, str]


def main() -> int:
    given = _arguments()
    os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")
    with tempfile.TemporaryDirectory(prefix="neve-facts-") as temporary:
        result = _measure(Path(temporary) / "data", given.sessions, given.events, given.embedder)
    print(_sentence(result))
    for text in result["missing"][:20]:
        print(f"  not found: {text}")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if result["missing"] else 0


def facts(count: int, seed: int = SEED) -> list[Fact]:
    """Each with two names of its own."""
    random_ = random.Random(seed)
    syllables = SYLLABLES.split()
    names: dict[str, None] = {}
    while len(names) < 2 * count:
        names["".join(random_.choices(syllables, k=4)).capitalize()] = None
    pairs = iter(names)
    return [
        Fact(FORMS[n % len(FORMS)].format(a=a, b=b), (a, b)) for n, (a, b) in enumerate(zip(pairs, pairs, strict=True))
    ]


def _measure(data: Path, sessions: int, events: int, embedder: EmbedderName) -> dict[str, Any]:
    stated = facts(sessions * events)
    server = start_server(data, embedder=embedder)
    try:
        with closing(ApiClient(server.base_url, server.key)) as client:
            began = time.monotonic()
            passes = sum(
                _tell(client, f"s{n}", stated[n * events : (n + 1) * events])
                for n in tracked("telling, observing", range(sessions))
            )
            observed = time.monotonic()
            wait_until_embedded(client, USER.rpartition("/")[2], others=0)
            searchable = time.monotonic()
            missing = [fact.text for fact in tracked("recalling", stated) if not _recalled(client, fact)]
            stats = client.expect(200, "GET", f"{USER}/stats")
            return {
                "at": iso(datetime.now(UTC)),
                "machine": machine.describe(),
                "embedder": embedder,
                "facts": len(stated),
                "sessions": sessions,
                "passes": passes,
                "memories": stats["memories"]["kind"],
                "missing": missing,
                "observe_s": round(observed - began, 1),
                "index_s": round(searchable - observed, 1),
                "recall_s": round(time.monotonic() - searchable, 1),
                "usage": stats["usage"],
            }
    finally:
        server.stop()


def _tell(client: ApiClient, session: str, stated: Sequence[Fact]) -> int:
    """How many passes it took."""
    client.expect(200, "POST", f"{USER}/sessions", {"session_id": session, "budget_ms": 0})
    path = f"{USER}/sessions/{session}"
    for burst in _bursts(stated):
        events = [{"event_type": "user_message", "content": fact.text} for fact in burst]
        client.expect(201, "POST", f"{path}/events", {"events": events})
    while True:
        job = client.call("POST", f"{path}/observe", {"wait": True}).json()
        if job["status"] not in ("queued", "running"):
            break
    assert job["status"] == "done", job
    assert client.expect(200, "GET", path)["observed_seq"] == len(stated)
    return int(job["result"]["passes"])


def _bursts(stated: Sequence[Fact]) -> Iterator[Sequence[Fact]]:
    for start in range(0, len(stated), BURST):
        yield stated[start : start + BURST]


def _recalled(client: ApiClient, fact: Fact) -> bool:
    query = {"query": " ".join(fact.names), "sources": ["memory"], "limit": 5, "mode": "tool"}
    hits = client.expect(200, "POST", f"{USER}/recall", query)["hits"]
    return any(all(name in hit["text"] for name in fact.names) for hit in hits)


def _sentence(result: dict[str, Any]) -> str:
    found = result["facts"] - len(result["missing"])
    return (
        f"{found:,} of {result['facts']:,} facts of {result['sessions']} sessions are recalled as memories;"
        f" {result['passes']} passes, {sum(result['memories'].values()):,} rows; told and observed in"
        f" {result['observe_s']} s, in the index {result['index_s']} s later, {result['recall_s']} s for the recalls;"
        f" usage {result['usage']}."
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.observer.many_facts", description=__doc__)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--events", type=int, default=EVENTS, help="of each session")
    parser.add_argument("--embedder", choices=("bge-small", "none", "fixture"), default="bge-small")
    parser.add_argument("--out", type=Path, default=RESULT, help=f"default: {RESULT}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
