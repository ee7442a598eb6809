"""Retrieval through the API, on every set of chats that there is a loader for: ``make eval DATA=folder``.

Starts the service on an empty folder, sends the chats, waits until all is observed and embedded, compiles a prompt for
every question and looks for the evidence in it, asks every question of each system, and writes
``evals/results/retrieval.json`` and the tables of ``docs/retrieval.md``. With ``--ways`` the chats are sent as other
backends would send them, for a result and a table of their own.

Exits with 1 where a system finds evidence for fewer questions than plain BM25, our own RRF or mem0."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

from evals.peers.mem0 import NAME as MEM0
from evals.peers.mem0 import PYTHON, Mem0
from evals.progress import tracked
from evals.retrieval.baseline import PlainBm25
from evals.retrieval.chats import Chat, NoSuchData, by_user, existing
from evals.retrieval.evidence import Evidence, evidence_in_prompts
from evals.retrieval.playing import DEPTH, System, ask, digest, named, send, settle
from evals.retrieval.report import behind, console_table, write_markdown, write_ways
from evals.retrieval.scoring import Judged, Ranking, intervals, judge, means
from evals.retrieval.sets import SETS, load_sets
from evals.retrieval.ways import WAYS, as_sent, named_ways
from local.api_client import ApiClient
from local.running import start_server

RESULT, RESULT_OF_WAYS = Path("evals/results/retrieval.json"), Path("evals/results/retrieval_ways.json")
BASELINE = "BM25"
HALVES = {"tuned": True, "reported": False}
PROMPT, EVIDENCE = "prompt", "evidence"
"""Either of ``--systems`` has the evidence in prompts measured; the second is no system."""
SENT = "sent.json"
Beside = Mapping[str, Callable[[Chat, str], Ranking]]
"""What ranks the same messages without Neve, by the name of a row."""


@dataclass
class Run:
    """``evidence``: in compiled prompts."""

    judged: dict[str, list[tuple[Chat, Judged]]] = field(default_factory=lambda: defaultdict(list))
    ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    evidence: Evidence = field(default_factory=Evidence)

    def tables(self, chats: Sequence[Chat]) -> dict[str, Any]:
        sets = dict.fromkeys(chat.set for chat in chats)
        halves = ((s, half, tuned) for s in sets for half, tuned in HALVES.items())
        tables: dict[str, Any] = {s: {} for s in sets}
        for s, half, tuned in halves:
            if any(chat.set == s and chat.tuned == tuned for chat in chats):
                tables[s][half] = self._of_half(s, tuned=tuned)
        return tables

    def _of_half(self, chat_set: str, *, tuned: bool) -> dict[str, Any]:
        systems = {}
        for system, found in self.judged.items():
            rows = [j for chat, j in found if (chat.set, chat.tuned) == (chat_set, tuned)]
            systems[system] = means(rows) | {"95 %": intervals(rows), "any@10 by category": _by_category(rows)}
        return {EVIDENCE: self.evidence.table(chat_set, tuned=tuned), "systems": systems}


def _by_category(rows: Sequence[Judged]) -> dict[str, dict[str, float]]:
    found = {name: means(j for j in rows if j.category == name) for name in sorted({j.category for j in rows})}
    return {name: {"n": table["n"], "any@10": table["any@10"]} for name, table in found.items()}


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        if options.mem0:
            existing(PYTHON, f"{MEM0}, which make .venv-mem0/stamp installs,")
        chats = load_sets(options.data, options.sets.split(","), options.chats)
        if options.ways:
            chats = [chat for way in named_ways(options.ways) for chat in as_sent(way, chats)]
        names = [name for name in options.systems.split(",") if name]
        systems = named([name for name in names if name != EVIDENCE]) if names else named(None)
    except (NoSuchData, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    started = time.monotonic()
    with _service(options) as (client, folder), _beside(chats, mem0=options.mem0) as beside:
        run, settings = _measure(client, chats, systems, beside, folder)
        if {PROMPT, EVIDENCE} & set(names) or not (names or options.ways):
            run.evidence = evidence_in_prompts(client, chats)
    result = {
        "settings": settings | {"seconds": round(time.monotonic() - started)},
        "held_out": {s: {one.name: one.held_out(s) for one in systems} for s in dict.fromkeys(c.set for c in chats)},
        "sets": run.tables(chats),
        "ms": {name: _p50_p95(found) for name, found in run.ms.items()},
    }
    out = options.out or (RESULT_OF_WAYS if options.ways else RESULT)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=1) + "\n")
    print(console_table(result))
    if not options.no_docs:
        (write_ways if options.ways else write_markdown)(result)
    worse = list(behind(result))
    print("\n".join(worse), file=sys.stderr, end="\n" if worse else "")
    return 1 if worse else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="evals.retrieval", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder with one folder a set")
    parser.add_argument("--sets", default=",".join(SETS), help="for example locomo,beam")
    parser.add_argument("--chats", default="", help="numbers within each set, for example 1-5")
    parser.add_argument(
        "--systems", default="", help=f"names, separated by commas; default all; {EVIDENCE}: only that in the prompts"
    )
    parser.add_argument("--keep", type=Path, help="keep the service's folder here, so that the next run sends nothing")
    parser.add_argument("--ways", default="", help=f"send them otherwise: all, or of {', '.join(WAYS)}")
    parser.add_argument("--mem0", action="store_true", help=f"put the questions to {MEM0}, too: make .venv-mem0/stamp")
    parser.add_argument("--out", type=Path, help=f"default: {RESULT}, with --ways {RESULT_OF_WAYS}")
    parser.add_argument("--stack", choices=("embedded", "full"), default="embedded", help="of an own service")
    parser.add_argument("--base-url", help="a running service instead of an own one; needs --key")
    parser.add_argument("--key")
    parser.add_argument("--no-docs", action="store_true", help="leave docs/retrieval.md as it is")
    return parser


@contextmanager
def _service(options: argparse.Namespace) -> Iterator[tuple[ApiClient, Path]]:
    """And the folder in which it is noted what was sent."""
    with tempfile.TemporaryDirectory(prefix="neve-eval-") as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if options.base_url:
            yield ApiClient(options.base_url, options.key), folder
            return
        server = start_server(folder / "data", stack=options.stack)
        try:
            yield ApiClient(server.base_url, server.key), folder
        finally:
            server.stop()


@contextmanager
def _beside(chats: Sequence[Chat], *, mem0: bool) -> Iterator[Beside]:
    plain = {user: PlainBm25(chat) for user, chat in by_user(chats).items()}
    beside: Beside = {BASELINE: lambda chat, text: plain[chat.user].rank(text, DEPTH)}
    if not mem0:
        yield beside
        return
    texts = {user: [message.indexed_text for message in chat.messages] for user, chat in by_user(chats).items()}
    with tempfile.TemporaryDirectory(prefix="neve-mem0-") as folder, closing(Mem0(Path(folder), texts)) as theirs:

        def ranking(chat: Chat, text: str) -> Ranking:
            places = theirs.search(chat.user, text, DEPTH).places
            return [frozenset({chat.messages[place].id}) for place in places]

        yield {**beside, MEM0: ranking}


def _measure(
    client: ApiClient, chats: Sequence[Chat], systems: Sequence[System], beside: Beside, folder: Path
) -> tuple[Run, dict[str, Any]]:
    health = client.expect(200, "GET", "/v1/health")
    _play(client, chats, folder / SENT)
    run = Run()
    asked = [(chat, question) for chat in chats for question in chat.questions]
    for chat, question in tracked("asking", asked):
        judged = {name: judge(rank(chat, question.text), question.evidence) for name, rank in beside.items()}
        for system in systems:
            answered = ask(client, chat, question.text, system)
            run.ms[system.name].append(answered.ms)
            judged[system.name] = judge(answered.ranking, question.evidence)
        for name, scores in judged.items():
            run.judged[name].append((chat, Judged(chat.id, question.category, scores)))
    return run, {
        "chats": {s: [c.number for c in chats if c.set == s] for s in dict.fromkeys(c.set for c in chats)},
        "messages": sum(len(chat.messages) for chat in by_user(chats).values()),
        "questions": len(asked),
        "systems": {system.name: dict(system.fields) for system in systems},
        "embedder": health["embedder"],
        "observer": health["observer"],
    }


def _play(client: ApiClient, chats: Sequence[Chat], noted: Path) -> None:
    """Send what the service does not have yet. Raises ValueError for a folder that was made of other chats."""
    sent: dict[str, str] = json.loads(noted.read_text()) if noted.exists() else {}
    wanted = by_user(chats)
    other = [user for user, chat in wanted.items() if sent.get(user, digest(chat)) != digest(chat)]
    if other:
        raise ValueError(f"{noted} is of another {other[0]}: choose another folder for --keep")
    for chat in tracked("sending", [chat for user, chat in wanted.items() if user not in sent]):
        send(client, chat)
    for chat in tracked("observing, embedding", list(wanted.values())):
        settle(client, chat)
        sent[chat.user] = digest(chat)
        noted.write_text(json.dumps(sent))


def _p50_p95(found: Sequence[float]) -> dict[str, float]:
    cuts = quantiles(found, n=20)
    return {"p50": round(cuts[9], 1), "p95": round(cuts[18], 1)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
