"""LoCoMo through the API: ``python -m evals.locomo --data FOLDER``.

Starts the service on an empty folder, sends the ten conversations, waits until all is observed and embedded, asks every
question for each source, and writes ``evals/results/locomo.json`` and the tables of ``docs/retrieval.md``."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.locomo.baseline import PlainBm25
from evals.locomo.dataset import Conversation, Question, load
from evals.locomo.playing import DEPTH, SYSTEMS, TUNED_ON, ask, send, settle
from evals.locomo.report import REST, console_table, write_markdown
from evals.locomo.scoring import Judged, Ranking, grouped, judge, means
from evals.progress import tracked
from local.api_client import ApiClient
from local.running import start_server

RESULT = Path("evals/results/locomo.json")
LABELS = ("raw", "audited")
BASELINE = "bm25 plain"
HELD_OUT = {BASELINE: True} | {system.name: system.held_out for system in SYSTEMS}
"""Whether conversations 6-10 are held out for a system."""


@dataclass
class Run:
    judged: dict[str, dict[str, list[Judged]]] = field(default_factory=dict)

    def add(self, system: str, conversation: Conversation, question: Question, ranking: Ranking) -> None:
        by_label = self.judged.setdefault(system, {label: [] for label in LABELS})
        for label, evidence in (("raw", question.raw), ("audited", question.audited)):
            by_label[label].append(Judged(conversation.number, question.category, judge(ranking, evidence)))

    def tables(self) -> dict[str, Any]:
        return {
            system: {
                label: {
                    "overall": means(rows),
                    REST: means(rest) if (rest := [j for j in rows if j.conversation not in TUNED_ON]) else None,
                    "by category": grouped(rows, lambda j: str(j.category)),
                    "by conversation": grouped(rows, lambda j: f"{j.conversation:02d}"),
                }
                for label, rows in by_label.items()
            }
            for system, by_label in self.judged.items()
        }


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="evals.locomo", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with locomo10.json and errors.json")
    parser.add_argument("--conversations", default="1-10", help="for example 1-5")
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--stack", choices=("embedded", "full"), default="embedded", help="of an own service")
    parser.add_argument("--base-url", help="a running service instead of an own one; needs --key")
    parser.add_argument("--key")
    parser.add_argument("--no-docs", action="store_true", help="leave docs/retrieval.md as it is")
    options = parser.parse_args(arguments)
    first, _, last = options.conversations.partition("-")
    wanted = range(int(first), int(last or first) + 1)
    conversations = [c for c in load(options.data) if c.number in wanted]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="neve-locomo-") as folder:
        server = None
        if not options.base_url:
            server = start_server(Path(folder) / "data", stack=options.stack)
        client = ApiClient(options.base_url or server.base_url, options.key or server.key)  # type: ignore[union-attr]
        try:
            run, settings = _measure(client, conversations)
        finally:
            if server:
                server.stop()
    result = {
        "settings": settings | {"seconds": round(time.monotonic() - started)},
        "held_out": HELD_OUT,
        "results": run.tables(),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(console_table(result))
    if not options.no_docs:
        write_markdown(result)
    return 0


def _measure(client: ApiClient, conversations: Sequence[Conversation]) -> tuple[Run, dict[str, Any]]:
    health = client.expect(200, "GET", "/v1/health")
    for conversation in tracked("sending", conversations):
        send(client, conversation)
    for conversation in tracked("observing, embedding", conversations):
        settle(client, conversation)
    run = Run()
    asked = [(c, q) for c in conversations for q in c.questions]
    plain = {c.number: PlainBm25(c) for c in conversations}
    for conversation, question in tracked("asking", asked):
        run.add(BASELINE, conversation, question, plain[conversation.number].rank(question.text, DEPTH))
        for system in SYSTEMS:
            run.add(system.name, conversation, question, ask(client, conversation, question, system))
    stats = [client.expect(200, "GET", f"/v1/users/{c.id}/stats") for c in conversations]
    return run, {
        "conversations": [c.number for c in conversations],
        "turns": sum(len(c.turns) for c in conversations),
        "questions": len(asked),
        "k": DEPTH,
        "threshold": 0,
        "mode": "tool",
        "embedder": health["embedder"],
        "observer": health["observer"],
        "stats": stats,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
