"""Alarms, dashboard and saved queries: they watch what exists, and say what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from local.template import ROOT, read_template
from neve.ports.table import Index
from neve.workers.sweep import METRICS
from tests.infra.templates import DATA, OBSERVABILITY, SERVICE, expanded, of_type, queue_name, written

WATCHED: Mapping[str, Any] = written(OBSERVABILITY)["Resources"]
ALARMS = {
    logical_id: alarm
    for resources in (WATCHED, written(SERVICE)["Resources"])
    for logical_id, alarm in of_type(resources, "AWS::CloudWatch::Alarm")
}
TOGETHER = dict(of_type(WATCHED, "AWS::CloudWatch::CompositeAlarm"))
PARTS = {name for it in TOGETHER.values() for name in re.findall(r'ALARM\("\$\{(\w+)\}"\)', it["AlarmRule"]["Fn::Sub"])}
METRICS_OF_AN_ALARM = 10
"""CloudWatch, *Service quotas*: metrics of an alarm by metric math."""
SOURCES = [*(ROOT / "layers" / "core" / "neve").rglob("*.py"), *(ROOT / "functions").rglob("*.py")]


@pytest.mark.parametrize("logical_id", sorted({*ALARMS, *TOGETHER}))
def test_an_alarm_names_a_runbook_that_exists(logical_id: str) -> None:
    described = {**ALARMS, **TOGETHER}[logical_id]["AlarmDescription"]
    [path] = re.findall(r"Runbook: (docs/runbooks/[a-z-]+\.md)$", described)
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("logical_id", sorted(ALARMS))
def test_an_alarm_tells_somebody_and_says_when_it_is_over(logical_id: str) -> None:
    alarm = ALARMS[logical_id]
    told = None if logical_id in PARTS else [{"Ref": "AlarmTopic"}]
    assert alarm.get("AlarmActions") == alarm.get("OKActions") == told
    assert alarm["TreatMissingData"] in ("notBreaching", "breaching")


def test_a_fast_burn_wakes_somebody_and_a_slow_one_is_a_ticket() -> None:
    told = {name: it["AlarmActions"] for name, it in TOGETHER.items()}
    assert all(it["AlarmActions"] == it["OKActions"] for it in TOGETHER.values())
    ticket, pager = [{"Ref": "TicketTopic"}], [{"Ref": "AlarmTopic"}]
    assert told == {
        "RecallEmpty": pager,
        "AppendBurnsFast": pager,
        "ReadBurnsFast": pager,
        "AppendBurnsSlow": ticket,
        "ReadBurnsSlow": ticket,
    }


@pytest.mark.parametrize("objective", ["Append", "Read"])
def test_an_objective_is_looked_at_through_a_long_window_and_a_short_one(objective: str) -> None:
    """The long one says that it matters, the short one that it goes on."""
    found = {}
    for part in ("Burn1h", "Burn5m", "Burn1d", "Burn2h"):
        alarm = WATCHED[objective + part]["Properties"]
        [period] = {it["MetricStat"]["Period"] for it in alarm["Metrics"] if "MetricStat" in it}
        found[part] = (period, alarm["Threshold"], alarm["EvaluationPeriods"])
        assert ">= 5" in alarm["Metrics"][0]["Expression"], "four failures are nobody's objective"
    assert found == {
        "Burn1h": (3600, 1.44, 1),
        "Burn5m": (300, 1.44, 1),
        "Burn1d": (86400, 0.3, 1),
        "Burn2h": (7200, 0.3, 1),
    }
    for speed, parts in (("Fast", ("Burn1h", "Burn5m")), ("Slow", ("Burn1d", "Burn2h"))):
        rule = TOGETHER[f"{objective}Burns{speed}"]["AlarmRule"]["Fn::Sub"]
        assert rule == " AND ".join(f'ALARM("${{{objective}{part}}}")' for part in parts)


def test_no_ratio_is_of_a_few_calls() -> None:
    ratios = {
        logical_id: it["Expression"]
        for logical_id, alarm in ALARMS.items()
        for it in alarm.get("Metrics", ())
        if " / " in it.get("Expression", "")
    }
    assert len(ratios) >= 14
    assert {name: it for name, it in ratios.items() if not re.match(r"IF\(.* >= \d+, ", it)} == {}


def test_a_canary_that_does_not_run_is_one_that_fails() -> None:
    alarm = WATCHED["CanaryFails"]["Properties"]
    assert (alarm["TreatMissingData"], alarm["ComparisonOperator"], alarm["Threshold"]) == (
        "breaching",
        "LessThanThreshold",
        1,
    )
    [(_, rule)] = of_type(expanded(stage="prod"), "AWS::Events::Rule")
    assert rule["ScheduleExpression"] == "rate(5 minutes)"
    assert rule["State"] == {"Fn::FindInMap": ["Stages", {"Ref": "Stage"}, "Canary"]}
    assert rule["Targets"][0]["Arn"] == {"Ref": "PreTrafficFunctionAliaslive"}
    runs = {stage: sizes["Canary"] for stage, sizes in written(SERVICE)["Mappings"]["Stages"].items()}
    assert runs == {"dev": "DISABLED", "staging": "ENABLED", "prod": "ENABLED"}
    assert WATCHED["CanaryFails"]["Condition"] == "HasObjectives", "of a stage without a canary no data is no failure"
    assert written(OBSERVABILITY)["Conditions"] == {
        "HasObjectives": {"Fn::Not": [{"Fn::Equals": [{"Ref": "Stage"}, "dev"]}]},
        "HasDomain": {"Fn::Equals": [{"Ref": "Search"}, "opensearch"]},
    }


def test_nothing_found_is_an_alarm_where_something_was_found_before() -> None:
    assert TOGETHER["RecallEmpty"]["AlarmRule"] == {
        "Fn::Sub": 'ALARM("${RecallEmptyForAnHour}") AND ALARM("${RecallFoundLately}")'
    }
    before = WATCHED["RecallFoundLately"]["Properties"]
    assert (before["EvaluationPeriods"], before["DatapointsToAlarm"], before["Threshold"]) == (7, 1, 20)


def test_the_domain_is_watched_as_aws_recommends() -> None:
    watched = {metric for alarm in ALARMS.values() for space, metric, _ in metrics(alarm) if space == "AWS/ES"}
    assert watched >= {
        *("ClusterStatus.red", "ClusterStatus.yellow", "FreeStorageSpace", "ClusterIndexWritesBlocked", "Nodes"),
        *("AutomatedSnapshotFailure", "CPUUtilization", "JVMMemoryPressure", "OldGenJVMMemoryPressure"),
        *("KMSKeyError", "KMSKeyInaccessible", "ThreadpoolWriteRejected", "ThreadpoolSearchRejected"),
    }
    domains = written(DATA)["Mappings"]["Domains"]
    nodes = {stage: sizes["Nodes"] for stage, sizes in written(OBSERVABILITY)["Mappings"]["Stages"].items()}
    assert nodes == {stage: sizes["Instances"] + sizes["Masters"] for stage, sizes in domains.items()}


@pytest.mark.parametrize("logical_id", sorted(ALARMS))
def test_an_alarm_looks_at_no_more_metrics_than_cloudwatch_takes(logical_id: str) -> None:
    """One more is refused, but only by a deployment."""
    assert sum("MetricStat" in it for it in ALARMS[logical_id].get("Metrics", ())) <= METRICS_OF_AN_ALARM


def test_what_the_service_must_not_do_unnoticed_has_an_alarm() -> None:
    watched = {metric for alarm in ALARMS.values() for _, metric, _ in metrics(alarm)}
    assert watched >= {
        *("5XXError", "Latency", "IteratorAge", "ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"),
        *("Throttles", "ReadThrottleEvents", "WriteThrottleEvents", "Errors", "ClusterStatus.red", "FreeStorageSpace"),
        *("RecallDegraded", "RecallNotSearched", "RecallEmpty", "EmbeddingBacklogAgeSeconds", "ScheduledRunsSucceeded"),
        "CompileDegraded",
        *("PassesFailed", "SweepTasksFailed", "ModelInputTokens", "ModelOutputTokens"),
    }


def metrics(alarm: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Namespace, name and dimensions of what an alarm looks at."""
    queried = [it["MetricStat"]["Metric"] for it in alarm.get("Metrics", ()) if "MetricStat" in it]
    for metric in queried or [alarm]:
        dimensions = {it["Name"]: it["Value"] for it in metric.get("Dimensions", ())}
        yield text(metric["Namespace"]), metric["MetricName"], dimensions


def text(value: Any) -> str:
    return str(value["Fn::Sub"]) if isinstance(value, dict) and "Fn::Sub" in value else str(value)


def test_alarms_watch_functions_queues_and_routes_that_exist() -> None:
    functions = {f"${{Service}}-{name}" for name in read_template().functions}
    queues = {
        f"${{Service}}-{queue_name(it)}{'.fifo' if it.get('FifoQueue') else ''}"
        for _, it in of_type(expanded(), "AWS::SQS::Queue")
    }
    routes = {(route.method, route.path) for route in read_template().routes}
    for _, alarm in of_type(WATCHED, "AWS::CloudWatch::Alarm"):
        for namespace, _, dimensions in metrics(alarm):
            if namespace == "AWS/Lambda":
                assert text(dimensions["FunctionName"]) in functions
            if namespace == "AWS/SQS":
                assert text(dimensions["QueueName"]) in queues
            if namespace == "AWS/ApiGateway" and "Resource" in dimensions:
                assert (dimensions["Method"], dimensions["Resource"]) in routes
            if namespace == "Neve":
                assert dimensions["Stage"] == {"Ref": "Stage"}
                assert dimensions["Function"] in read_template().functions
    dead = {queue for queue in queues if "-dlq" in queue}
    seen = {
        text(dimensions["QueueName"])
        for alarm in ALARMS.values()
        for _, metric, dimensions in metrics(alarm)
        if metric == "ApproximateNumberOfMessagesVisible"
    }
    assert seen == dead, "every dead-letter queue has its alarm"


def test_a_message_that_failed_once_is_no_alarm() -> None:
    """A queue's age counts messages in flight: one that failed is hidden for the visibility timeout, and comes again by
    itself."""
    hidden = {
        f"${{Service}}-{queue_name(it)}{'.fifo' if it.get('FifoQueue') else ''}": it["VisibilityTimeout"]
        for _, it in of_type(expanded(), "AWS::SQS::Queue")
        if "VisibilityTimeout" in it
    }
    late = {
        text(dimensions["QueueName"]): alarm["Threshold"]
        for alarm in ALARMS.values()
        for _, metric, dimensions in metrics(alarm)
        if metric == "ApproximateAgeOfOldestMessage"
    }
    assert len(late) >= 6
    assert {queue: most for queue, most in late.items() if most <= hidden[queue]} == {}


def watched_by(metric: str, dimension: str, *alarms: str) -> set[str]:
    """What these alarms, or all of them, look at under that metric, without the stack's prefix."""
    return {
        text(dimensions[dimension]).removeprefix("${Service}-").removesuffix(".fifo")
        for logical_id in alarms or WATCHED
        if WATCHED[logical_id]["Type"] == "AWS::CloudWatch::Alarm"
        for _, name, dimensions in metrics(WATCHED[logical_id]["Properties"])
        if name == metric
    }


def test_no_function_is_throttled_unnoticed() -> None:
    template = read_template()
    called = {route.function for route in template.routes} | {template.authorizer}
    assert watched_by("Throttles", "FunctionName", "ApiFunctionsThrottled") == called
    others = set(template.functions) - called - {"pre_traffic"}  # its own caller asks again
    assert watched_by("Throttles", "FunctionName", "WorkersThrottled", "DeliveriesThrottled") == others


def test_no_call_is_refused_by_the_gateway_unnoticed() -> None:
    """The stage's rate: API Gateway counts what it refuses among all other 4xx, and only its log says which. What needs
    no key is not among them: anybody could set the alarm off."""
    [(_, refused)] = of_type(WATCHED, "AWS::Logs::MetricFilter")
    [counted] = refused["MetricTransformations"]
    watched = {(namespace, metric) for namespace, metric, _ in metrics(WATCHED["CallsThrottled"]["Properties"])}
    assert watched == {(text(counted["MetricNamespace"]), counted["MetricName"]), ("AWS/ApiGateway", "Count")}
    log = written(SERVICE)["Resources"]["Api"]["Properties"]["AccessLogSetting"]["Format"]
    assert '"gateway_answer":"$context.error.responseType"' in log and '"route":"$context.resourcePath"' in log
    [public] = {route.path for route in read_template().routes if route.public}
    uncounted = f'($.route != "{public}") && ($.plan != "throttled")'
    assert refused["FilterPattern"] == f'{{ ($.gateway_answer = "THROTTLED") && {uncounted} }}'
    assert '"plan":"$context.authorizer.plan"' in log
    assert expanded()["Observability"]["Properties"]["Parameters"]["ApiLogGroup"] == {"Ref": "ApiLogs"}


def test_no_loop_ends_unnoticed_and_no_asynchronous_event_is_dropped_unnoticed() -> None:
    template = read_template()
    fed = {source.function for source in template.queue_sources}
    assert watched_by("RecursiveInvocationsDropped", "FunctionName") == fed
    started = {schedule.function for schedule in template.schedules}
    assert watched_by("AsyncEventsDropped", "FunctionName") == started


def test_no_call_that_a_prompt_waits_for_is_slow_unnoticed() -> None:
    watched = {
        dimensions["Resource"].rpartition("/")[2]
        for _, alarm in of_type(WATCHED, "AWS::CloudWatch::Alarm")
        for _, metric, dimensions in metrics(alarm)
        if metric == "Latency"
    }
    assert watched == {"recall", "context", "pack", "sessions", "events", "memories"}


def test_no_queue_waits_unnoticed() -> None:
    """A night may last for a night: its planner says what is not done (NightlyReflectionLate)."""
    fed = {source.queue for source in read_template().queue_sources}
    assert watched_by("ApproximateAgeOfOldestMessage", "QueueName") == fed - {"reflect"}
    assert WATCHED["NightlyReflectionLate"]["Properties"]["MetricName"] == "NightlyReflectionAgeSeconds"


@pytest.mark.parametrize("logical_id", ["PassesRefused", "FilingsFailed", "ReflectionsFailed"])
def test_one_refusal_of_the_language_model_is_enough(logical_id: str) -> None:
    """Nothing is delivered again, nothing is a dead letter, and a quiet stage has few passes to count."""
    alarm = WATCHED[logical_id]["Properties"]
    added = [it["MetricStat"] for it in alarm.get("Metrics", ()) if "MetricStat" in it]
    counted = {(it["Stat"], it["Period"]) for it in added} or {(alarm["Statistic"], alarm["Period"])}
    assert (counted, alarm["EvaluationPeriods"], alarm["Threshold"]) == ({("Sum", 3600)}, 1, 1)
    assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"


def test_no_refused_pass_is_left_out_of_the_count() -> None:
    """A compaction observes the tail, and a retraction reads again: on a stage with a wrong key these may be all."""
    assert watched_by("PassesRefused", "Function") == watched_by("PassesFailed", "Function") == {"extract", "compact"}


def test_a_change_stream_that_nobody_reads_is_noticed() -> None:
    """It has no age then, and no dead letters: what shows it is that the sweep does the outbox's work."""
    resent = {metric for metric in METRICS.values() if metric.endswith("Resent")}
    assert len(resent) == 4
    assert {metric for _, metric, _ in metrics(WATCHED["SweepResends"]["Properties"])} == resent


def test_indexes_of_the_table_are_watched_each_for_itself() -> None:
    for metric in ("ReadThrottleEvents", "WriteThrottleEvents"):
        watched = watched_by(metric, "GlobalSecondaryIndexName", "IndexesThrottled")
        assert watched == {index.value for index in Index} - {Index.MAIN.value}
    assert watched_by("TransactionConflict", "TableName") == {str({"Ref": "TableName"})}


def test_our_own_metrics_are_written_somewhere() -> None:
    """An alarm on a metric that nobody writes is silent for ever."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    named = {name for alarm in ALARMS.values() for namespace, name, _ in metrics(alarm) if namespace == "Neve"}
    body = WATCHED["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
    named |= {metric[1] for widget in json.loads(body)["widgets"] for metric in _series(widget) if metric[0] == "Neve"}
    assert sorted(name for name in named if f'"{name}"' not in code) == []


def _series(widget: Mapping[str, Any]) -> list[list[str]]:
    found: list[list[str]] = widget["properties"].get("metrics", [])
    return found


def test_saved_queries_read_log_groups_that_exist() -> None:
    groups = {
        it["LogGroupName"]["Fn::Sub"].replace("${AWS::StackName}", "${Service}")
        for _, it in of_type(expanded(), "AWS::Logs::LogGroup")
    }
    queries = [it for _, it in of_type(WATCHED, "AWS::Logs::QueryDefinition")]
    assert len({it["Name"]["Fn::Sub"] for it in queries}) == len(queries) > 5
    for query in queries:
        assert {group["Fn::Sub"] for group in query["LogGroupNames"]} <= groups
    every = {group for group in groups if group.startswith("/aws/lambda/")}
    fed = {f"/aws/lambda/${{Service}}-{source.function}" for source in read_template().queue_sources}
    assert _groups_of("FailuresByPlace") == every
    assert _groups_of("PostponedMessages") == fed


def _groups_of(query: str) -> set[str]:
    return {group["Fn::Sub"] for group in WATCHED[query]["Properties"]["LogGroupNames"]}


def test_the_nested_stack_is_given_its_parameters() -> None:
    nested = expanded()["Observability"]["Properties"]
    assert set(nested["Parameters"]) == set(written(OBSERVABILITY)["Parameters"])
    assert ROOT / nested["TemplateURL"] == OBSERVABILITY
