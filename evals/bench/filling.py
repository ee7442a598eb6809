"""Puts memories into a running service, and waits until they can be recalled by both legs."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import repeat
from typing import Any

from evals.bench.texts import memory_texts
from evals.progress import tracked
from local.api_client import ApiClient
from neve.domain.times import iso

MAX_BYTES = 1_000_000
"""Of an import call; 1 MiB is what it takes."""
MAX_LINES = 5_000
SESSION_ROWS = 20
"""Memories of one conversation."""
DAYS = 540
OTHERS_EACH = 3
LOOK_S = 0.5
JSONL = {"Content-Type": "application/jsonl"}
KINDS = (("observation", 80), ("note", 14), ("manual", 6))
PRIORITIES = (("high", 20), ("medium", 60), ("low", 20))


def fill(client: ApiClient, user: str, count: int, seed: int) -> None:
    """``count`` memories of one user in the past 18 months, from conversations of 20 each."""
    batches = list(_batches(_lines(memory_texts(count, seed), seed)))
    for batch in tracked(f"importing {count:,}", batches):
        _import(client, user, batch)


def fill_others(client: ApiClient, users: int, seed: int) -> None:
    """Other users with a few memories each."""
    lines = list(_lines(memory_texts(users * OTHERS_EACH, seed), seed))
    for number in tracked(f"{users:,} other users", range(users)):
        _import(client, f"other-{number}", lines[number * OTHERS_EACH : (number + 1) * OTHERS_EACH])


def wait_until_embedded(client: ApiClient, user: str, others: int) -> None:
    """Until neither the user nor the last of the others has a pending memory."""
    states = _states(client, user)
    ready = tracked(f"embedding {states['pending']:,}", _ready_one_by_one(client, user), states["pending"])
    for _ in ready:
        continue
    while others and _states(client, f"other-{others - 1}")["pending"]:
        time.sleep(LOOK_S)


def _ready_one_by_one(client: ApiClient, user: str) -> Iterator[None]:
    """One item for every memory that is no longer pending. The count reads every row of the user, so it is asked for
    the less often the longer it takes."""
    pending = _states(client, user)["pending"]
    while pending:
        began = time.monotonic()
        now = _states(client, user)["pending"]
        yield from repeat(None, pending - now)
        pending = now
        time.sleep(max(LOOK_S, 20 * (time.monotonic() - began)))


def _states(client: ApiClient, user: str) -> dict[str, int]:
    found: dict[str, int] = client.expect(200, "GET", f"/v1/users/{user}/stats")["embeddings"]
    return found


def _import(client: ApiClient, user: str, lines: Sequence[str]) -> None:
    while lines:
        body = "\n".join(lines).encode()
        answer = client.expect(200, "POST", f"/v1/users/{user}/memories/import", raw=body, headers=JSONL)
        lines = lines[answer["next_line"] - 1 :] if "next_line" in answer else []


def _lines(texts: Sequence[str], seed: int) -> Iterator[str]:
    random_ = random.Random(seed)
    now = datetime.now(UTC)
    for number, text in enumerate(texts):
        at = iso(now - timedelta(minutes=random_.uniform(0, DAYS * 24 * 60)))
        row: dict[str, Any] = {
            "text": text,
            "kind": _drawn(random_, KINDS),
            "priority": _drawn(random_, PRIORITIES),
            "session_id": f"past-{number // SESSION_ROWS}",
            "created_at": at,
            "observed_at": at,
        }
        yield json.dumps(row)


def _drawn(random_: random.Random, shares: Sequence[tuple[str, int]]) -> str:
    return random_.choices([name for name, _ in shares], [share for _, share in shares])[0]


def _batches(lines: Iterator[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for line in lines:
        if batch and (size + len(line) + 1 > MAX_BYTES or len(batch) == MAX_LINES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += len(line) + 1
    if batch:
        yield batch
