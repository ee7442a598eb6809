"""A transcript played turn by turn, every method asked for its request at every turn."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

from evals.progress import tracked
from evals.prompt_cost.baselines import FullHistory, Request, last_messages, rebuilt_memory
from evals.prompt_cost.blocks import text_in
from evals.prompt_cost.provider_cache import ProviderCache
from evals.prompt_cost.sending import Sent, Stream
from evals.prompt_cost.service import Service
from evals.prompt_cost.settings import CACHEABLE_FROM, POLICY, STATIC_PREFIX, WINDOW_TOKENS
from evals.prompt_cost.transcripts import Asked, Stop, Transcript, Turn
from neve.domain.tokens import estimate

NEVE, UNCACHED, CACHED = "Neve", "full history, no cache", "full history, cached"
LAST, REBUILT = "last 20 messages", "memory rebuilt every turn"
METHODS = (NEVE, UNCACHED, CACHED, LAST, REBUILT)
OBSERVED = (NEVE, REBUILT)
"""The methods behind which a model writes the memory."""


@dataclass
class Played:
    """By turn, in order; ``sent`` has the fields of ``Sent``. ``observer``: tokens read and written by the model behind
    the memory. ``epochs``: (epoch, last event that the history does not show); another pair is a new epoch."""

    embedder: str
    transcript: str = ""
    tokens: int = 0
    turns: int = 0
    window: int = WINDOW_TOKENS
    output: list[int] = field(default_factory=list)
    sent: dict[str, list[Sequence[int]]] = field(default_factory=lambda: {method: [] for method in METHODS})
    observer: list[tuple[int, int]] = field(default_factory=list)
    epochs: list[tuple[int, int]] = field(default_factory=list)
    packs: list[int] = field(default_factory=list)
    over_budget: int = 0
    asked: int = 0
    evidence: dict[str, int] = field(default_factory=dict)


def replay(transcript: Transcript, embedder: str) -> Iterator[Played]:
    """What was played up to each stop, as soon as it is reached, in a new data folder. The request is made before the
    turn is appended, as a backend asks for it."""
    stops = {stop.turns: stop for stop in transcript.stops}
    with (
        tempfile.TemporaryDirectory(prefix="neve-prompt-cost-") as folder,
        Service(Path(folder), embedder, POLICY) as service,
    ):
        run = _Run(service, Played(embedder))
        for n, turn in enumerate(tracked(transcript.stops[-1].name, transcript.turns), start=1):
            run.turn(transcript.turns[: n - 1], turn)
            if n in stops:
                yield run.stop(transcript.turns[:n], stops[n])


class _Run:
    def __init__(self, service: Service, played: Played) -> None:
        self._service, self._played = service, played
        self._streams = {method: Stream(ProviderCache(CACHEABLE_FROM)) for method in (NEVE, LAST, REBUILT)}
        self._histories = {
            method: FullHistory(STATIC_PREFIX, CACHEABLE_FROM, cached=method == CACHED) for method in (UNCACHED, CACHED)
        }
        service.open()

    def turn(self, before: Sequence[Turn], turn: Turn) -> None:
        answer = self._service.compile(turn.user)
        for method, request in self._small_ones(answer["request"], before, turn.user).items():
            self._note(method, self._streams[method].send(request))
        for method, history in self._histories.items():
            self._note(method, history.send(turn.user))
            history.keep(turn)
        self._played.output.append(answer_tokens(turn))
        self._note_report(answer["report"])
        spent = self._service.observer.spent
        known = (spent.input, spent.output)
        self._service.append(turn)
        self._played.observer.append((spent.input - known[0], spent.output - known[1]))

    def stop(self, turns: Sequence[Turn], at: Stop) -> Played:
        """What was played so far, and of how many questions all evidence stands word for word in the prompt that asks
        them."""
        evidence = dict.fromkeys(METHODS, 0)
        everything = " ".join(_plain(f"{turn.user} {turn.assistant}") for turn in turns)
        for one in tracked(f"{at.name}: questions", at.asked):
            ours = self._service.compile(one.question)["request"]
            for method, request in self._small_ones(ours, turns, one.question).items():
                text = _plain(text_in(request)).replace(_plain(one.question), "")
                evidence[method] += holds(text, one)
            for method in (UNCACHED, CACHED):
                evidence[method] += holds(everything, one)
        return replace(
            self._played, transcript=at.name, tokens=at.tokens, turns=at.turns, asked=len(at.asked), evidence=evidence
        )

    def _small_ones(self, ours: Request, before: Sequence[Turn], message: str) -> dict[str, Request]:
        return {
            NEVE: ours,
            LAST: last_messages(STATIC_PREFIX, before, message),
            REBUILT: rebuilt_memory(ours, self._service.pack_now()),
        }

    def _note(self, method: str, sent: Sent) -> None:
        self._played.sent[method].append(astuple(sent))

    def _note_report(self, report: Mapping[str, Any]) -> None:
        history = report.get("history") or {}
        self._played.epochs.append((history.get("epoch", 0), (history.get("hidden") or {}).get("to", 0)))
        self._played.packs.append(report.get("pack_version") or 0)
        self._played.over_budget += report["used"] > report["limit"]


def answer_tokens(turn: Turn) -> int:
    """What the model wrote: the answer and the arguments of its calls."""
    return estimate(turn.assistant) + sum(estimate(json.dumps(tool.args)) for tool in turn.tools)


def holds(text: str, asked: Asked) -> bool:
    """Whether a plain text has every one of the words."""
    return all(_plain(words) in text for words in asked.evidence)


def _plain(text: str) -> str:
    return " ".join(text.replace("&lt;", "<").split())
