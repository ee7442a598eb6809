"""What goes wrong in a run, and how often: drawn from its seed, so that one seed has a bad queue and another none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
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
the stream is read once more after it was handled. Stall: a process stands still, for up to 200 s. Where a workload asks
for it, a batch of the stream is lost at once (``stream_gives_up``), or the model takes no request, whatever is in
it (``model_locked``)."""
LAMBDA_S = 60.0
STREAM_TRIES = (10, 10, 10, 3)
"""Ten as in template.yaml. That a batch fails ten times is too rare to be met in every few hundred runs."""
CALM_LATENCY_S = 0.005


@dataclass(frozen=True)
class Settings:
    """Numbers of one run. ``skew_s``: how far the clocks of two processes are apart at most. ``worker_s``: after so
    long a worker is killed, as Lambda does it; None: never. ``latency_s``: of a port call, at most. ``write_s``: what a
    write waits besides, at most, so that more happens between what it was decided on and its effect. ``model_s``: what
    one answer of the model takes. ``keyed``: how many appends carry client ids or a key. ``workers``: of each queue.
    ``sweep_s``: between two sweeps, until it is calm. ``sweepers``: how many may be under way at once, because a
    schedule starts one at least once. ``stream_tries``: of one batch, before it is given up. ``storm_s``: how long the
    faults go on at most when the clients are done, while workers have something to do."""

    rates: dict[str, float]
    latency_s: float
    write_s: float
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
    stream_tries: int
    sweepers: int
    storm_s: float


@dataclass(frozen=True)
class Temper:
    """What the settings of a workload's runs are drawn from. ``harsh``: how many kinds of faults there are at all.
    ``often``: faults that every run has, with their rates."""

    harsh: tuple[float, ...] = (0.0, 0.3, 0.6)
    visibility_s: tuple[float, ...] = (15.0, 75.0, 360.0)
    skew_s: tuple[float, ...] = (0.0, 0.0, 2.0, 40.0)
    worker_s: tuple[float | None, ...] = (LAMBDA_S, None)
    model_s: tuple[float, ...] = (0.5, 3.0, 30.0, 80.0, 200.0)
    think_s: tuple[float, ...] = (0.05, 1.0, 20.0, 120.0)
    latency_s: tuple[float, ...] = (0.005, 0.05, 0.5, 3.0)
    write_s: tuple[float, ...] = (0.0,)
    index_lag_s: tuple[float, ...] = (0.0, 0.2, 2.0)
    search_lag_s: tuple[float, ...] = (0.0, 1.0, 5.0)
    sweep_s: tuple[float, ...] = (600.0, 600.0, 600.0, 15.0)
    sweepers: tuple[int, ...] = (1,)
    storm_s: tuple[float, ...] = (0.0, 60.0, 300.0)
    often: Mapping[str, float] = field(default_factory=dict)


def draw(random: Random, temper: Temper, without: frozenset[str] = frozenset()) -> Settings:
    """``without``: faults that are left out, to see which of them a failure needs."""
    harsh = random.choice(temper.harsh)
    rates = {name: random.choice(RATES) if random.random() < harsh else 0.0 for name in FAULTS}
    for name, share in (("crash", 0.1), ("stall", 0.1), ("stream_again", 2.0), ("queue_twice", 2.0)):
        rates[name] *= share  # there are hundreds of points in a run, and tens of messages
    rates |= temper.often
    return Settings(
        rates={name: 0.0 if name in without else rate for name, rate in rates.items()},
        latency_s=random.choice(temper.latency_s),
        write_s=random.choice(temper.write_s),
        index_lag_s=random.choice(temper.index_lag_s),
        search_lag_s=random.choice(temper.search_lag_s),
        visibility_s=random.choice(temper.visibility_s),
        skew_s=random.choice(temper.skew_s),
        worker_s=random.choice(temper.worker_s),
        model_s=tuple(random.sample(temper.model_s, random.choice((1, 2, 3)))),
        think_s=random.choice(temper.think_s),
        keyed=random.choice((0.0, 0.5, 1.0)),
        workers=random.choice((1, 2, 3)),
        sweep_s=random.choice(temper.sweep_s),
        stream_tries=random.choice(STREAM_TRIES),
        sweepers=random.choice(temper.sweepers),
        storm_s=random.choice(temper.storm_s),
    )


@dataclass
class Chaos:
    """``most``: after so many faults there are no more, to see which one a failure needs. ``struck``: by kind.
    ``rates``: of the kinds that there are now. ``most_s``: what a port call takes at most now, unless it stalls."""

    random: Random
    settings: Settings
    most: int | None = None
    calm: bool = False
    struck: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.rates = {kind: rate for kind, rate in self.settings.rates.items() if rate}
        self.most_s = self.settings.latency_s

    def calm_down(self) -> None:
        """No more faults."""
        self.calm = True
        self.rates = {}
        self.most_s = CALM_LATENCY_S

    def strikes(self, kind: str) -> bool:
        rate = self.rates.get(kind)
        if rate is None or self.random.random() >= rate:
            return False
        if self.most is not None and self.struck.total() >= self.most:
            return False
        self.struck[kind] += 1
        return True

    def latency_s(self) -> float:
        if self.strikes("stall"):
            return self.random.choice((5.0, 20.0, 72.0, 200.0))
        return self.random.random() * self.most_s

    def before_write_s(self) -> float:
        return 0.0 if self.calm else self.up_to(self.settings.write_s)

    def up_to(self, seconds: float) -> float:
        return self.random.random() * seconds if seconds else 0.0
