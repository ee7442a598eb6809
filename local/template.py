"""What ``template.yaml`` says about routes, gateway answers, functions, queues, streams and schedules, as values.

The local server has no list of its own: a route or a queue that is not in the template does not exist here either."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from local.cloudformation import TemplateError, read_yaml, resource_of, text_of
from local.limits.alarms import PERIOD_S, Alarm
from local.limits.points import Series
from local.workers.event_filter import Pattern, check_pattern

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "template.yaml"
SHARED_VARIABLES = "POWERTOOLS_"
"""How the names of variables begin that mean the same on one machine."""
REAUTHORIZE_S = 300
"""API Gateway's default."""
EVERY_HOUR = "cron(0 * * * ? *)"
SUMMED = "SUM(FILL(METRICS(), 0))"
"""One of the two expressions over the metrics of an alarm that are evaluated here."""
RATIO = re.compile(r"IF\((\w+) >= (\d+), \1 / (\w+), 0\)")
"""The other one: the share of the second metric that the first one is, where that is a number worth a look."""


@dataclass(frozen=True, slots=True)
class Function:
    """``name`` is the folder under ``functions/``; ``handler`` is ``<module>.<callable>`` inside ``code``.
    ``environment``: what is the same wherever the function runs. The product's own variables are not among them: they
    name deployed stores and folders of layers. ``may_recurse``: Lambda lets it send to its own queue for ever."""

    name: str
    code: Path
    handler: str
    timeout_s: int
    memory_mb: int
    environment: Mapping[str, str]
    may_recurse: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """``path`` as in the template, ``/v1/users/{user_id}``. ``public``: called without the authorizer."""

    method: str
    path: str
    function: str
    public: bool


@dataclass(frozen=True, slots=True)
class GatewayResponse:
    """An answer that the gateway gives by itself. ``body`` and ``headers`` may hold ``$context.requestId``."""

    status: int
    headers: Mapping[str, str]
    body: str


@dataclass(frozen=True, slots=True)
class QueueSpec:
    """``name`` without the stack's prefix and ``.fifo``. ``dead_letters`` is such a name too. ``retention_s``: for how
    long it keeps a message."""

    name: str
    fifo: bool
    delay_s: int
    visibility_s: int
    dead_letters: str | None
    max_receives: int | None
    retention_s: int = 345_600


@dataclass(frozen=True, slots=True)
class QueueSource:
    function: str
    queue: str
    batch_size: int
    partial_failures: bool


@dataclass(frozen=True, slots=True)
class StreamSource:
    """``max_retries``: -1 = until the record expires. ``on_failure``: name of the queue told of a batch given up.
    ``filters``: a record reaches the function when one of them matches."""

    function: str
    batch_size: int
    partial_failures: bool
    bisect: bool
    max_retries: int
    on_failure: str | None
    filters: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    function: str
    every: timedelta
    input: str


@dataclass(frozen=True, slots=True)
class Template:
    """``authorizer_ttl``: how long the gateway keeps an authorizer's answer. ``binary``: functions get every body as
    the bytes that were sent, in base64."""

    functions: Mapping[str, Function]
    authorizer: str
    authorizer_header: str
    authorizer_ttl: timedelta
    routes: tuple[Route, ...]
    gateway_responses: Mapping[str, GatewayResponse]
    queues: Mapping[str, QueueSpec]
    queue_sources: tuple[QueueSource, ...]
    stream_sources: tuple[StreamSource, ...]
    schedules: tuple[Schedule, ...]
    binary: bool = False
    alarms: tuple[Alarm, ...] = ()


def read_template(path: Path = TEMPLATE) -> Template:
    """Raises TemplateError for what the local server cannot carry out, and what ``read_yaml`` raises."""
    return _Reading(read_yaml(path), path.parent).template()


@cache
def own_template() -> Template:
    """Neve's own, read once a process: nobody changes it. Raises what ``read_template`` raises."""
    return read_template()


@dataclass(frozen=True, slots=True)
class _Reading:
    document: Mapping[str, Any]
    folder: Path

    def template(self) -> Template:
        functions = {function.name: function for function in self._functions()}
        api = self._only("AWS::Serverless::Api")
        auth = api["Auth"]
        authorizer = auth["Authorizers"][auth["DefaultAuthorizer"]]
        return Template(
            functions=functions,
            authorizer=self._function_name(resource_of(authorizer["FunctionArn"])),
            authorizer_header=authorizer["Identity"]["Headers"][0],
            authorizer_ttl=timedelta(seconds=authorizer["Identity"].get("ReauthorizeEvery", REAUTHORIZE_S)),
            routes=tuple(self._routes()),
            gateway_responses={name: _gateway_response(it) for name, it in api["GatewayResponses"].items()},
            queues={spec.name: spec for spec in self._queues()},
            queue_sources=tuple(self._queue_sources()),
            stream_sources=tuple(self._stream_sources()),
            schedules=tuple(self._schedules()),
            binary="*~1*" in api.get("BinaryMediaTypes", ()),
            alarms=tuple(self._alarms()),
        )

    def _of_type(self, kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for name, resource in self.document["Resources"].items():
            if resource["Type"] == kind:
                yield name, resource.get("Properties", {})

    def _only(self, kind: str) -> Mapping[str, Any]:
        found = [properties for _, properties in self._of_type(kind)]
        if len(found) != 1:
            raise TemplateError(f"expected one {kind}, found {len(found)}")
        return found[0]

    def _functions(self) -> Iterator[Function]:
        common = self.document.get("Globals", {}).get("Function", {})
        for _, properties in self._of_type("AWS::Serverless::Function"):
            merged = {**common, **properties}
            code = self.folder / merged["CodeUri"]
            yield Function(
                name=code.name,
                code=code,
                handler=merged["Handler"],
                timeout_s=merged["Timeout"],
                memory_mb=merged["MemorySize"],
                environment=dict(self._environment([common, properties])),
                may_recurse=merged.get("RecursiveLoop", "Terminate") == "Allow",
            )

    def _environment(self, given: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
        """Plain values and defaults of parameters, those of the function's own in the end."""
        for variables in (part.get("Environment", {}).get("Variables", {}) for part in given):
            for name, value in variables.items():
                if name.startswith(SHARED_VARIABLES):
                    yield name, self._value(value)

    def _value(self, value: Any) -> str:
        """A plain value, or the default of the parameter that it names."""
        if isinstance(value, dict):
            return str(self.document["Parameters"][resource_of(value)]["Default"])
        return str(value)

    def _function_name(self, logical_id: str) -> str:
        return Path(self.document["Resources"][logical_id]["Properties"]["CodeUri"]).name

    def _events(self, kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every event source of one type with the name of the function that it feeds."""
        for logical_id, properties in self._of_type("AWS::Serverless::Function"):
            for event in properties.get("Events", {}).values():
                if event["Type"] == kind:
                    yield self._function_name(logical_id), event["Properties"]

    def _routes(self) -> Iterator[Route]:
        for function, event in self._events("Api"):
            public = event.get("Auth", {}).get("Authorizer") == "NONE"
            yield Route(event["Method"].upper(), event["Path"], function, public)

    def _queues(self) -> Iterator[QueueSpec]:
        for logical_id, properties in self._of_type("AWS::SQS::Queue"):
            redrive = properties.get("RedrivePolicy")
            yield QueueSpec(
                name=self._queue_name(logical_id),
                fifo=properties.get("FifoQueue", False),
                delay_s=properties.get("DelaySeconds", 0),
                visibility_s=properties.get("VisibilityTimeout", 30),
                retention_s=properties.get("MessageRetentionPeriod", 345_600),
                dead_letters=self._queue_name(resource_of(redrive["deadLetterTargetArn"])) if redrive else None,
                max_receives=redrive["maxReceiveCount"] if redrive else None,
            )

    def _queue_name(self, logical_id: str) -> str:
        name = self.document["Resources"][logical_id]["Properties"]["QueueName"]
        return text_of(name).removeprefix("${AWS::StackName}-").removesuffix(".fifo")

    def _queue_sources(self) -> Iterator[QueueSource]:
        for function, event in self._events("SQS"):
            yield QueueSource(
                function=function,
                queue=self._queue_name(resource_of(event["Queue"])),
                batch_size=event.get("BatchSize", 10),
                partial_failures=_reports_partial_failures(event),
            )

    def _stream_sources(self) -> Iterator[StreamSource]:
        for function, event in self._events("DynamoDB"):
            destination = event.get("DestinationConfig", {}).get("OnFailure")
            yield StreamSource(
                function=function,
                batch_size=event.get("BatchSize", 100),
                partial_failures=_reports_partial_failures(event),
                bisect=event.get("BisectBatchOnFunctionError", False),
                max_retries=event.get("MaximumRetryAttempts", -1),
                on_failure=self._queue_name(resource_of(destination["Destination"])) if destination else None,
                filters=tuple(_pattern(it["Pattern"]) for it in event.get("FilterCriteria", {}).get("Filters", ())),
            )

    def _schedules(self) -> Iterator[Schedule]:
        for function, event in self._events("ScheduleV2"):
            yield Schedule(function, _rate(event["ScheduleExpression"]), event["Input"])

    def _alarms(self) -> Iterator[Alarm]:
        for _, alarm in self._of_type("AWS::CloudWatch::Alarm"):
            stats = {it["Id"]: it["MetricStat"] for it in alarm.get("Metrics", ()) if "MetricStat" in it}
            together = [it["Expression"] for it in alarm.get("Metrics", ()) if "Expression" in it]
            statistics = {it["Stat"] for it in stats.values()} or {alarm["Statistic"]}
            periods = {it["Period"] for it in stats.values()} or {alarm["Period"]}
            ratio = RATIO.fullmatch(together[0]) if len(together) == 1 else None
            if statistics != {"Sum"} or periods != {PERIOD_S} or not (ratio or together in ([], [SUMMED])):
                raise TemplateError(f"alarm {text_of(alarm['AlarmName'])} cannot be evaluated on one machine")
            summed = [stats[ratio[1]]] if ratio else list(stats.values())
            yield Alarm(
                name=text_of(alarm["AlarmName"]).removeprefix("${AWS::StackName}-"),
                series=tuple(self._series(metric) for metric in ([it["Metric"] for it in summed] or [alarm])),
                statistic="Average" if ratio else "Sum",
                threshold=alarm["Threshold"],
                datapoints=alarm["DatapointsToAlarm"],
                periods=alarm["EvaluationPeriods"],
                least=float(ratio[2]) if ratio else 0,
            )

    def _series(self, metric: Mapping[str, Any]) -> Series:
        functions = [it["Value"] for it in metric["Dimensions"] if it["Name"] == "FunctionName"]
        of = self._function_name(resource_of(functions[0])) if functions else ""
        return Series(metric["Namespace"], metric["MetricName"], of)


def _reports_partial_failures(event: Mapping[str, Any]) -> bool:
    return "ReportBatchItemFailures" in event.get("FunctionResponseTypes", [])


def _pattern(text: str) -> Pattern:
    pattern: Pattern = json.loads(text)
    try:
        check_pattern(pattern)
    except ValueError as error:
        raise TemplateError(str(error)) from error
    return pattern


def _rate(expression: str) -> timedelta:
    """On one machine every hour is any hour: its first run is soon after the start."""
    if expression == EVERY_HOUR:
        return timedelta(hours=1)
    found = re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", expression)
    if not found:
        raise TemplateError(f"only rate(...) and {EVERY_HOUR} schedules run on one machine, not {expression}")
    return timedelta(**{f"{found[2]}s": int(found[1])})


def _gateway_response(properties: Mapping[str, Any]) -> GatewayResponse:
    """Static header values stand in single quotes, request values are named (``context.requestId``)."""
    headers = properties["ResponseParameters"]["Headers"]
    return GatewayResponse(
        status=properties["StatusCode"],
        headers={name: value[1:-1] if value.startswith("'") else f"${value}" for name, value in headers.items()},
        body=properties["ResponseTemplates"]["application/json"],
    )
