"""What goes wrong in a run, and how often: drawn from its seed, so that one seed has a bad queue and another none."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

RATES = (0.02, 0.06, 0.2)
FAULTS = (
    *("table_refused", "table_lost", "table_repeated"),
    *("queue_refused", "queue_lost", "queue_part", "queue_twice", "delete_lost"),
    *("stream_again", "objects_refused", "objects_lost", "search_refused", "search_lost"),
    *("embed_fails", "embed_down", "model_down", "model_refuses", "stall", "crash"),
)
"""Refused: before the effect. Lost: after it, the caller is told that it failed. Repeated: the adapter has sent the
transaction twice. Part: some messages of a call were sent. Twice: a message is in a queue two times. Again: a batch of
the stream is read once more after it was handled. Stall: a process stands still, for up to 200 s."""
LAMBDA_S = 60.0
CALM_LATENCY_S = 0.005


@dataclass(frozen=True)
class Settings:
    """Numbers of one run. ``skew_s``: how far the clocks of two processes are apart at most. ``worker_s``: after so
    long a worker is killed, as Lambda does it; None: never. ``latency_s``: of a port call, at most. ``model_s``: what
    one answer of the model takes. ``keyed``: how many appends carry client ids or a key. ``workers``: of each queue.
    ``sweep_s``: between two sweeps, until it is calm."""

    rates: dict[str, float]
    latency_s: float
    index_lag_s: float
    search_lag_s: float
    visibility_s: float
    skew_s: float
    worker_s: float | None
    model_s: tuple[float, ...]
    think_s: float
    keyed: float
    workers: int
    sweep_s: float


@dataclass(frozen=True)
class Temper:
    """What the settings of a workload's runs are drawn from. ``harsh``: how many kinds of faults there are at all."""

    harsh: tuple[float, ...] = (0.0, 0.3, 0.6)
    visibility_s: tuple[float, ...] = (15.0, 75.0, 360.0)
    skew_s: tuple[float, ...] = (0.0, 0.0, 2.0, 40.0)
    worker_s: tuple[float | None, ...] = (LAMBDA_S, None)
    model_s: tuple[float, ...] = (0.5, 3.0, 30.0, 80.0, 200.0)
    think_s: tuple[float, ...] = (0.05, 1.0, 20.0, 120.0)


def draw(random: Random, temper: Temper, without: frozenset[str] = frozenset()) -> Settings:
    """``without``: faults that are left out, to see which of them a failure needs."""
    harsh = random.choice(temper.harsh)
    rates = {name: random.choice(RATES) if random.random() < harsh else 0.0 for name in FAULTS}
    for name, share in (("crash", 0.1), ("stall", 0.1), ("stream_again", 2.0), ("queue_twice", 2.0)):
        rates[name] *= share  # there are hundreds of points in a run, and tens of messages
    return Settings(
        rates={name: 0.0 if name in without else rate for name, rate in rates.items()},
        latency_s=random.choice((0.005, 0.05, 0.5, 3.0)),
        index_lag_s=random.choice((0.0, 0.2, 2.0)),
        search_lag_s=random.choice((0.0, 1.0, 5.0)),
        visibility_s=random.choice(temper.visibility_s),
        skew_s=random.choice(temper.skew_s),
        worker_s=random.choice(temper.worker_s),
        model_s=tuple(random.sample(temper.model_s, random.choice((1, 2, 3)))),
        think_s=random.choice(temper.think_s),
        keyed=random.choice((0.0, 0.5, 1.0)),
        workers=random.choice((1, 2, 3)),
        sweep_s=random.choice((600.0, 600.0, 600.0, 15.0)),
    )


@dataclass
class Chaos:
    """``most``: after so many faults there are no more, to see which one a failure needs. ``struck``: by kind."""

    random: Random
    settings: Settings
    most: int | None = None
    calm: bool = False
    struck: Counter[str] = field(default_factory=Counter)

    def strikes(self, kind: str) -> bool:
        rate = self.settings.rates[kind]
        if self.calm or not rate or self.random.random() >= rate:
            return False
        if self.most is not None and self.struck.total() >= self.most:
            return False
        self.struck[kind] += 1
        return True

    def latency_s(self) -> float:
        if self.strikes("stall"):
            return self.random.choice((5.0, 20.0, 72.0, 200.0))
        return self.random.random() * (CALM_LATENCY_S if self.calm else self.settings.latency_s)

    def up_to(self, seconds: float) -> float:
        return self.random.random() * seconds if seconds else 0.0
