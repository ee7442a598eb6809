"""``python -m evals.bench.backlog``: what a full embed queue costs those who ask meanwhile.

One service with the real encoder. One user has memories and asks, in mode ``prompt``, first while nothing is queued,
then while the long messages of twenty other users are observed, then, once all that follows from that is done as well
(summaries, documents, words), while they only wait for their vectors. Also
measured: how long the words of those messages take to be found, and whether a question about the newest of each user
finds it before its vector is there.
Writes ``evals/results/backlog.json`` and its part of docs/benchmark.md. Exits with 1 when the 95th percentile under the
backlog is over twice that of the idle service, or a question about something that is indexed finds nothing."""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from evals.bench import machine, report
from evals.bench.filling import fill, wait_until_embedded
from evals.bench.measuring import percentile
from evals.bench.operations import USER, Operations
from evals.bench.texts import memory_texts
from evals.markers import write_between
from evals.progress import tracked
from local.api_client import ApiClient
from local.backend import QUEUE, TABLE
from local.running import EmbedderName, start_server
from neve.domain.times import iso

RESULT = Path("evals/results/backlog.json")
EMBEDDER: EmbedderName = "bge-small"
MEMORIES, RECALLS, WARM_UP = 500, 200, 10
USERS, MESSAGES = 20, 5_094
STATEMENTS = 20
"""In one message: about 400 tokens."""
APPEND = 48
SEED = 20_262
WATCH_S = 60.0
"""How long the vectors are watched: all of them take a quarter of an hour on two cores."""
REPORTED_FIELDS = ("result_state", "degraded", "elapsed_ms", "legs")
"""Of an answer without hits."""
OTHER_WORK = {
    TABLE: "SELECT count(*) FROM outbox",
    QUEUE: "SELECT count(*) FROM messages WHERE queue != 'embed' AND (visible_ms <= :now OR receipt IS NOT NULL)",
}
MARKERS = ("<!-- backlog:begin -->", "<!-- backlog:end -->")


def main() -> int:
    given = _arguments()
    os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")
    with tempfile.TemporaryDirectory(prefix="neve-bench-") as temporary:
        result = _measure(Path(temporary) / "data", given.messages)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(sentence(result))
    if not given.quick:
        write_between(*MARKERS, sentence(result), report.DOCUMENT)
    return 0 if result["p95_ratio"] <= 2 and result["found"] == USERS else 1


def sentence(result: dict[str, Any]) -> str:
    on, idle, full, read = result["machine"], result["idle"], result["backlog"], result["observing"]
    return (
        f"`python -m evals.bench.backlog`: {result['messages']:,} messages of {result['characters']:,} characters were"
        f" appended for {USERS} users in {result['append_s']:.0f} s. {result['words_s']:.1f} s after the last one all"
        f" words were in the index, and a question about each user's newest message found it for"
        f" {result['found']} of {USERS}. {result['observed_s']:.0f} s later all had been observed, and after"
        f" {result['filed_s']:.0f} s more summarised and filed, with {result['unembedded']:,} vectors still to be made."
        f" Recalls of another user while vectors were made: 95th percentile {full['p95_ms']:.1f} ms,"
        f" {idle['p95_ms']:.1f} ms idle (ratio {result['p95_ratio']:.2f}), medians {full['p50_ms']:.1f} and"
        f" {idle['p50_ms']:.1f} ms; before that, while the messages were observed too, {read['p95_ms']:.1f} and"
        f" {read['p50_ms']:.1f} ms: passes share the interpreter with requests on one machine, which they do not on"
        f" AWS. Vectors were made at {result['vectors_a_second']:.1f} a second. {on['cores']} cores ({on['cpu']}), load"
        f" average {result['load_average']:.1f} before it began, embedder `{result['embedder']}`, {result['at'][:10]}."
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.bench.backlog", description=__doc__)
    parser.add_argument("--messages", type=int, default=MESSAGES)
    parser.add_argument("--out", type=Path, default=RESULT, help=f"default: {RESULT}")
    parser.add_argument("--quick", action="store_true", help="docs/benchmark.md stays as it is")
    return parser.parse_args()


def _measure(data: Path, messages: int) -> dict[str, Any]:
    about = {
        "at": iso(datetime.now(UTC)),
        "machine": machine.describe(),
        "load_average": os.getloadavg()[0],
        "embedder": EMBEDDER,
        "messages": messages,
    }
    server = start_server(data, embedder=EMBEDDER)
    try:
        with closing(ApiClient(server.base_url, server.key)) as client:
            fill(client, USER, MEMORIES, SEED)
            wait_until_embedded(client, USER, others=0)
            asking = Operations(client, "backlog")
            _recalls(asking, WARM_UP)
            idle = _recalls(asking, RECALLS)
            began = time.monotonic()
            characters = _append(client, messages)
            appended = time.monotonic()
            _wait_for(client, "unindexed")
            indexed = time.monotonic()
            missed = [answer for user in range(USERS) if not (answer := _about_newest(client, user))["hits"]]
            observing = _recalls(asking, RECALLS)
            _wait_for(client, "unobserved")
            observed = time.monotonic()
            _wait_for_other_work(data)
            filed = time.monotonic()
            backlog, unembedded = _recalls(asking, RECALLS), _left(client, "unembedded")
            if not unembedded:
                raise RuntimeError("the backlog was gone before the recalls were: take more messages")
            began_watching = time.monotonic()
            time.sleep(WATCH_S)
            made = unembedded - _left(client, "unembedded")
            watched_s = time.monotonic() - began_watching
            return {
                **about,
                "characters": characters,
                "append_s": appended - began,
                "words_s": indexed - appended,
                "vectors_a_second": made / watched_s,
                "found": USERS - len(missed),
                "missed": [{name: answer[name] for name in REPORTED_FIELDS} for answer in missed],
                "observed_s": observed - indexed,
                "filed_s": filed - observed,
                "observing": observing,
                "unembedded": unembedded,
                "idle": idle,
                "backlog": backlog,
                "p95_ratio": backlog["p95_ms"] / idle["p95_ms"],
            }
    finally:
        server.stop()


def _recalls(service: Operations, number: int) -> dict[str, float]:
    taken = []
    for _ in tracked("recalling", range(number)):
        began = time.perf_counter()
        service.recall_in_prompt()
        taken.append((time.perf_counter() - began) * 1000)
    return {"p50_ms": percentile(taken, 0.5), "p95_ms": percentile(taken, 0.95)}


# --- the others -----------------------------------------------------------------------------------


def _append(client: ApiClient, messages: int) -> int:
    """The length of a message, on average. Each user's last one names a thing that nobody else has."""
    texts = iter(memory_texts(messages * STATEMENTS, SEED + 1))
    random, characters = Random(SEED), 0
    for user in tracked("appending", range(USERS)):
        client.expect(200, "POST", f"{_path(user)}/sessions", {"session_id": "s", "budget_ms": 0})
        contents = [" ".join(islice(texts, STATEMENTS)) for _ in range(messages // USERS)]
        contents[-1] = f"{contents[-1]} {_thing(user)}."
        characters += sum(map(len, contents))
        kinds = [random.choice(("user_message", "assistant_response")) for _ in contents]
        events = [{"event_type": kind, "content": text} for kind, text in zip(kinds, contents, strict=True)]
        for first in range(0, len(events), APPEND):
            client.expect(201, "POST", f"{_path(user)}/sessions/s/events", {"events": events[first : first + APPEND]})
    return round(characters / (messages // USERS * USERS))


def _about_newest(client: ApiClient, user: int) -> dict[str, Any]:
    asked = {"query": f"who mentioned the {_thing(user)}?", "mode": "prompt"}
    return dict(client.expect(200, "POST", f"{_path(user)}/recall", asked))


def _thing(user: int) -> str:
    return f"quetzalcoatlus{user}"


def _path(user: int) -> str:
    return f"/v1/users/other-{user}"


def _left(client: ApiClient, what: str) -> int:
    sessions = (client.expect(200, "GET", f"{_path(user)}/sessions/s") for user in range(USERS))
    return sum(int(session["memory_lag"][what]) for session in sessions)


def _wait_for(client: ApiClient, what: str) -> None:
    """Until none is left. With pauses: a question for each user every moment would keep a core from the workers."""
    while _left(client, what):
        time.sleep(0.5)


def _wait_for_other_work(data: Path) -> None:
    """Until no queue but that of the encoder holds what a worker could take, and the stream has handed on everything.
    Read from the files of the engine: the API does not say how long the queues are."""
    while any(_counted(data / file, counting) for file, counting in OTHER_WORK.items()):
        time.sleep(0.5)


def _counted(path: Path, counting: str) -> int:
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        return int(connection.execute(counting, {"now": time.time() * 1000}).fetchone()[0])


if __name__ == "__main__":
    sys.exit(main())
