"""What a thousand turns and a month cost: measured units times list prices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

from evals.cost.prices import HOURS, PRICES
from local.cloudformation import read_yaml
from local.template import ROOT, Template, read_template
from neve.domain.privacy.screen import metrics
from neve.domain.tenants.policy import PiiClass

Unit = Mapping[str, Any]

THOUSAND = 1000
PLATFORM_LINES = 60
"""Bytes that are taken in of an invocation beside its own lines: the overhead of each event, 26 (*limit*, CloudWatch),
and what goes wrong now and then: assumed. START, END and REPORT are left out (template.yaml, SystemLogLevel)."""
UNOBSERVED = "dev"
"""The stage without alarms and dashboard (template.yaml, condition Observed)."""
ACCESS_LINE = 450
"""Bytes of a line of the access log: the format of template.yaml with values filled in."""
GB = 10**9
VOLUMES = (100_000, 1_000_000, 10_000_000)
"""Turns a month over which the fixed price is spread."""
POLLERS = 5
POLLS_A_MINUTE = 3
"""Lambda's long polls of an idle queue: 20 s each, five beside each other."""
METRICS_A_ROUTE = 5
"""Count, 4XXError, 5XXError, Latency, IntegrationLatency."""


@dataclass(frozen=True, slots=True)
class Line:
    """``units`` of 1,000 of what was measured, or of a month."""

    what: str
    units: float
    price: str

    @property
    def usd(self) -> float:
        return self.units * PRICES[self.price].usd


def of_thousand(measured: Unit) -> list[Line]:
    """Of 1,000 of what was measured. ``measured``: as ``evals/results/cost.json`` keeps it."""
    scale = THOUSAND / measured["times"]
    calls = sum(measured["http"].values()) * scale
    runs = sum(measured["calls"].values()) * scale
    logged = (sum(measured["logged"].values()) * scale + runs * PLATFORM_LINES + calls * ACCESS_LINE) / GB
    lines = [
        Line("API calls", calls, "api call"),
        Line("invocations", runs, "invocation"),
        Line("compute", gb_seconds(measured) * scale, "compute"),
    ]
    lines += [Line(f"{unit}s", units_of(measured, unit) * scale, unit) for unit in ("write unit", "read unit")]
    standard = units_of(measured, "standard request") * scale
    lines += [
        Line("requests, standard queue", standard, "standard request"),
        Line("… fair queue", standard, "fair request"),
        Line("requests, FIFO queues", units_of(measured, "fifo request") * scale, "fifo request"),
        Line("objects written", units_of(measured, "object write") * scale, "object write"),
        Line("objects read", units_of(measured, "object read") * scale, "object read"),
        Line("logs, GB", logged, "log"),
        Line("traces", calls * traced(), "trace"),
    ]
    return lines


def gb_seconds(measured: Unit) -> float:
    functions = _template().functions
    return float(sum(ms / 1000 * functions[name].memory_mb / 1024 for name, ms in measured["billed_ms"].items()))


def units_of(measured: Unit, unit: str) -> float:
    return float(sum(units.get(unit, 0) for units in measured["units"].values()))


def of_a_month(stage: str, schedules: Mapping[str, Unit], *, domain: bool = True) -> list[Line]:
    """Reckon what is paid without a single call. ``schedules``: one run of each, by its function. ``domain`` False: of
    a stage without a search domain."""
    search = search_sizes()[stage]
    data, masters = (int(search["Instances"]), int(search["Masters"])) if domain else (0, 0)
    runs, observed = runs_a_month(), stage != UNOBSERVED
    fifo = [_template().queues[source.queue].fifo for source in _template().queue_sources]
    emitted = {metric for played in schedules.values() for metric in played["metrics"]}
    return [
        Line("search: data nodes", data * HOURS, search["InstanceType"]),
        Line("search: masters", masters * HOURS, "m7g.medium.search"),
        Line("search: disks", data * int(search["VolumeGiB"]), "search disk"),
        Line("schedules: invocations", sum(runs.values()), "invocation"),
        Line("schedules: compute", sum(n * gb_seconds(schedules[it]) for it, n in runs.items()), "compute"),
        Line(
            "schedules: read units",
            sum(n * units_of(schedules[it], "read unit") for it, n in runs.items()),
            "read unit",
        ),
        Line("idle polls, FIFO queues", sum(fifo) * polls(), "fifo request"),
        Line("idle polls, standard queues", (len(fifo) - sum(fifo)) * polls(), "standard request"),
        Line("metrics of schedules", len(emitted), "metric"),
        Line("metrics of alarms", alarm_metrics(observed=observed, domain=domain), "alarm"),
        Line("dashboard", int(observed), "dashboard"),
        Line("key", 1, "key"),
        Line("secret", 1, "secret"),
    ]


def of_traffic(result: Mapping[str, Any]) -> list[Line]:
    """Reckon what a month with calls costs beside each of them: metrics that are emitted in every hour, those of the
    routes that have some, as if all of them were called."""
    idle = {metric for played in result["schedules"].values() for metric in played["metrics"]}
    own = {metric for played in (result["turn"], result["end"]) for metric in played["metrics"]} - idle
    return [
        Line("metrics of routes", METRICS_A_ROUTE * measured_routes(), "metric"),
        Line("metrics of our own", len(own), "metric"),
    ]


def runs_a_month() -> dict[str, float]:
    """Of each schedule, by its function."""
    return {it.function: HOURS * 3600 / it.every.total_seconds() for it in _template().schedules}


def polls() -> int:
    return POLLERS * POLLS_A_MINUTE * 60 * HOURS


def theirs() -> list[Line]:
    """1,000 turns on AgentCore Memory, short-term: two events and a retrieval each."""
    return [Line("events", 2 * THOUSAND, "their event"), Line("retrievals", THOUSAND, "their retrieval")]


def total(lines: list[Line]) -> float:
    return sum(line.usd for line in lines)


# --- what the templates say -----------------------------------------------------------------------


@cache
def _template() -> Template:
    return read_template()


@cache
def _written(name: str) -> Any:
    return read_yaml(ROOT / "infra" / name)


def search_sizes() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = _written("data.yaml")["Mappings"]["Domains"]
    return found


def _of_type(resources: Mapping[str, Any], kind: str, without: str = "") -> Iterator[Any]:
    """``without``: a condition whose resources are left out."""
    found = (one for one in resources.values() if one["Type"] == kind and one.get("Condition", "-") != without)
    return (one["Properties"] for one in found)


@cache
def _service() -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_yaml(ROOT / "template.yaml")["Resources"]
    return found


def alarm_metrics(*, observed: bool, domain: bool) -> int:
    """Count those of template.yaml and, where the stage is ``observed``, of infra/observability.yaml."""
    without = "" if domain else "HasDomain"
    watched = list(_of_type(_service(), "AWS::CloudWatch::Alarm", without))
    if observed:
        watched += _of_type(_written("observability.yaml")["Resources"], "AWS::CloudWatch::Alarm", without)
    return sum(max(1, sum("MetricStat" in one for one in alarm.get("Metrics", ()))) for alarm in watched)


def measured_routes() -> int:
    """Count the routes that have metrics of their own."""
    return sum(one["MetricsEnabled"] is True for one in _service()["Api"]["Properties"]["MethodSettings"])


def traced() -> float:
    """The part of the requests that X-Ray records, at any traffic: the rule has no reservoir."""
    [rule] = _of_type(_service(), "AWS::XRay::SamplingRule")
    taken = rule["SamplingRule"]
    if taken["ReservoirSize"]:
        raise ValueError("with a reservoir the part depends on the traffic")
    return float(taken["FixedRate"])


def own_metrics() -> set[tuple[str, str]]:
    """Name and function of every metric in the namespace Neve: each is paid for, whether somebody looks at it or
    not."""
    text = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    return {
        (name, function)
        for names, functions in re.findall(r"^\| (`[^|]+`) \| ([^|]+) \|", text, re.MULTILINE)
        for written in re.findall(r"`([^`]+)`", names)
        for name in _of_every_class(written)
        for function in functions.split(", ")
    }


def _of_every_class(name: str) -> list[str]:
    """``PiiRedacted<Class>`` is one metric for each class of personal data."""
    verb = name.removeprefix("Pii").removesuffix("<Class>")
    return [name] if verb == name else list(metrics(verb, dict.fromkeys(get_args(PiiClass), 0)))
