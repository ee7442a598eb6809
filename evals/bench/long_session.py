"""``python -m evals.bench.long_session``: a session of 500 turns, with a prompt (E8) asked for before each answer.

One service on embedded engines; compactions, passes and reflections run beside it as they come. Between two turns the
chat waits for its model, for half a second at least; with ``--pause-s 0`` the turns follow each other at once, so that
the embedding of what was said keeps two cores busy throughout. A prompt must never exceed its budget, the last ones
must be answered about as fast as the first, what was decided in the first turn must still be found, and the log must
hold every event once. Beside each prompt another one is asked for in the session of another user, which stays at 25
turns: a machine that became slower meanwhile, or has more to do behind the requests, makes both slower. Its message is
as long and is its own, because the vector of one that was asked about already is remembered. Writes
``evals/results/long_session.json`` and its part of docs/benchmark.md; exits with 1 when one of these does not hold."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from evals.bench import machine, report
from evals.bench.measuring import percentile
from evals.bench.texts import memory_texts, questions
from evals.markers import write_between
from evals.progress import tracked
from local.api_client import ApiClient
from local.backend import EMBEDDERS
from local.running import start_server
from neve.domain.times import iso

RESULT = Path("evals/results/long_session.json")
MARKERS = ("<!-- long-session:begin -->", "<!-- long-session:end -->")
USER, BESIDE = "ann", "bob"
SESSION = "long"
TURNS = 500
PAUSE_S = 0.5
ENDS = 50
"""Prompts of the two parts that are compared."""
FLAT = 1.2
BESIDE_TURNS = 25
"""What the long session has on average while its first prompts are taken."""
WINDOW = 16_000
"""Tokens, as docs/prompt-cost.md takes them: with turns of some 300 a compaction comes every 30."""
DECISION = "I decided to name the boat Merganser."
QUESTION = "What did I decide to name the boat?"
SEED = 20_263
PAGE = 200
STATEMENTS = 5
"""In one message."""


@dataclass(slots=True)
class Outcome:
    """Times in ms, over HTTP. ``over_budget``: prompts above their limit. ``lost``: events that the log does not hold
    once each. ``found``: whether the first decision is among the hits of a question about it."""

    turns: int
    prompts_ms: list[float] = field(default_factory=list, repr=False)
    beside_ms: list[float] = field(default_factory=list, repr=False)
    largest: int = 0
    over_budget: int = 0
    compactions: int = 0
    lost: int = 0
    found: bool = False

    def p95(self, values: list[float]) -> tuple[float, float]:
        """Of the first and the last ``ENDS``."""
        return percentile(values[:ENDS], 0.95), percentile(values[-ENDS:], 0.95)

    def p50(self, values: list[float]) -> tuple[float, float]:
        return percentile(values[:ENDS], 0.5), percentile(values[-ENDS:], 0.5)

    @property
    def growth(self) -> float:
        """Of the 95th percentile of a prompt."""
        first, last = self.p95(self.prompts_ms)
        return last / first

    @property
    def growth_beside(self) -> float:
        """The same, against that of the prompts beside them."""
        first, last = self.p95(self.beside_ms)
        return self.growth / (last / first)

    @property
    def good(self) -> bool:
        """A machine that became slower meanwhile is no fault of the session."""
        flat = min(self.growth, self.growth_beside) <= FLAT
        return self.found and not (self.over_budget or self.lost) and flat


def main() -> int:
    given = _arguments()
    os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="neve-bench-") as temporary:
        server = start_server(Path(temporary) / "data", embedder=given.embedder)
        try:
            with closing(ApiClient(server.base_url, server.key)) as client:
                outcome = _play(client, given.turns, given.pause_s)
        finally:
            server.stop()
    about = {"at": iso(datetime.now(UTC)), "machine": machine.describe(), "load_average": load}
    text = _sentence(outcome, about, given)
    print(text)
    if not given.quick:
        about |= {"embedder": given.embedder, "pause_s": given.pause_s}
        given.out.write_text(json.dumps(about | asdict(outcome), indent=1) + "\n", encoding="utf-8")
        write_between(*MARKERS, text, report.DOCUMENT)
    return 0 if outcome.good else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.bench.long_session", description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--pause-s", type=float, default=PAUSE_S, help="between two turns; default: %(default)s")
    parser.add_argument("--embedder", choices=EMBEDDERS, default="bge-small")
    parser.add_argument("--out", type=Path, default=RESULT, help=f"default: {RESULT}")
    parser.add_argument("--quick", action="store_true", help="nothing is kept")
    given = parser.parse_args()
    if given.turns < 2 * ENDS:
        parser.error(f"--turns must be at least {2 * ENDS}")
    return given


def _sentence(outcome: Outcome, about: dict[str, Any], given: argparse.Namespace) -> str:
    first, last = outcome.p95(outcome.prompts_ms)
    median_first, median_last = outcome.p50(outcome.prompts_ms)
    beside_first, beside_last = outcome.p95(outcome.beside_ms)
    on = about["machine"]
    return (
        f"`python -m evals.bench.long_session`: {outcome.turns} turns in one session, {given.pause_s:g} s between them,"
        f" W = {WINDOW:,}. 95th percentile"
        f" of a prompt {first:.1f} ms in the first {ENDS} turns and {last:.1f} ms in the last {ENDS}, medians"
        f" {median_first:.1f} and {median_last:.1f} ms; of the prompts of a session that stays at {BESIDE_TURNS} turns"
        f" {beside_first:.1f} and {beside_last:.1f} ms. Growth {outcome.growth:.2f}, against those"
        f" {outcome.growth_beside:.2f}. The largest prompt had {outcome.largest:,} tokens, {outcome.over_budget} were"
        f" over their budget. {outcome.compactions} compactions; {outcome.lost} events were lost; what was decided in"
        f" the first turn was {'found' if outcome.found else 'not found'}."
        f" {on['cores']} cores ({on['cpu']}), load average {about['load_average']:.1f} before it began, embedder"
        f" `{given.embedder}`, {about['at'][:10]}."
    )


def _play(client: ApiClient, turns: int, pause_s: float) -> Outcome:
    outcome = Outcome(turns)
    client.expect(200, "PUT", "/v1/policy", {"window": WINDOW})
    statements = iter(memory_texts((3 * turns + 2 * BESIDE_TURNS) * STATEMENTS, SEED))
    asked = iter(questions(2 * turns + BESIDE_TURNS, SEED + 1))
    for user in (USER, BESIDE):
        client.expect(200, "POST", f"/v1/users/{user}/sessions", {"session_id": SESSION, "budget_ms": 0})
        _append(client, user, DECISION, "A fine name.")
    for _ in range(1, BESIDE_TURNS):
        _append(client, BESIDE, _message(statements, asked), _some(statements))
    _wait_for_words(client, BESIDE)
    for _ in tracked("turns", range(1, turns)):
        message = _message(statements, asked)
        report = _timed(outcome.prompts_ms, partial(_prompt, client, USER, message))["report"]
        outcome.largest = max(outcome.largest, report["used"])
        outcome.over_budget += report["used"] > report["limit"]
        _timed(outcome.beside_ms, partial(_prompt, client, BESIDE, _message(statements, asked)))
        outcome.compactions += _append(client, USER, message, _some(statements))["compaction"] == "queued"
        time.sleep(pause_s)
    outcome.lost = 2 * turns - len(set(_seqs(client, 2 * turns)))
    outcome.found = _is_found(client)
    return outcome


def _timed(into: list[float], call: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    answer = call()
    into.append((time.perf_counter() - began) * 1000)
    return answer


def _some(texts: Iterator[str]) -> str:
    return " ".join(islice(texts, STATEMENTS))


def _message(statements: Iterator[str], asked: Iterator[str]) -> str:
    return f"{_some(statements)} {next(asked)}"


def _prompt(client: ApiClient, user: str, message: str) -> dict[str, Any]:
    return _post(client, 200, f"{user}/context", {"session_id": SESSION, "message": message})


def _post(client: ApiClient, status: int, path: str, body: dict[str, Any]) -> dict[str, Any]:
    return dict(client.expect(status, "POST", f"/v1/users/{path}", body))


def _append(client: ApiClient, user: str, text: str, answer: str) -> dict[str, Any]:
    events = [
        {"event_type": "user_message", "content": text},
        {"event_type": "assistant_response", "content": answer},
    ]
    return _post(client, 201, f"{user}/sessions/{SESSION}/events", {"events": events})


def _seqs(client: ApiClient, last: int) -> Iterator[int]:
    path = f"/v1/users/{USER}/sessions/{SESSION}/events"
    for first in range(1, last + 1, PAGE):
        page = client.expect(200, "GET", path, query={"from_seq": first, "limit": PAGE})
        yield from (event["seq"] for event in page["events"])


def _wait_for_words(client: ApiClient, user: str) -> None:
    while client.expect(200, "GET", f"/v1/users/{user}/sessions/{SESSION}")["memory_lag"]["unindexed"]:
        time.sleep(0.5)


def _is_found(client: ApiClient) -> bool:
    """Once its words are in the index; a manual search, which has time."""
    _wait_for_words(client, USER)
    hits = _post(client, 200, f"{USER}/recall", {"query": QUESTION, "mode": "tool"})["hits"]
    return any("Merganser" in hit["text"] for hit in hits)


if __name__ == "__main__":
    sys.exit(main())
