"""The template as the local server reads it, and what it has to agree with elsewhere in the repository."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from local.cloudformation import TemplateError
from local.template import TEMPLATE, read_template
from neve.http.problems import GATEWAY, PROBLEMS
from neve.ports.queue import QueueName
from tests.unit.gateway_answers import GATEWAY_RETRY_S, gateway_body

TEXT = TEMPLATE.read_text(encoding="utf-8")


def test_every_function_has_its_code() -> None:
    template = read_template()
    assert set(template.functions) == {
        *("authorizer", "observe", "pack", "recall", "records", "admin", "mcp"),
        *(
            "outbox",
            "index",
            "embed",
            "extract",
            "compact",
            "deliver",
            "sweep",
            "reflect_planner",
            "reflect",
            "librarian",
            "jobs",
            "pre_traffic",
        ),
    }
    missing = [name for name, function in template.functions.items() if not (function.code / "app.py").is_file()]
    assert missing == []


def test_routes_are_unique_and_only_health_is_public() -> None:
    routes = read_template().routes
    assert len({(route.method, route.path) for route in routes}) == len(routes)
    assert {route.path for route in routes if route.public} == {"/v1/health"}


def test_functions_take_the_globals_they_do_not_set() -> None:
    functions = read_template().functions
    assert (functions["observe"].timeout_s, functions["observe"].memory_mb) == (28, 512)
    assert (functions["embed"].timeout_s, functions["embed"].memory_mb) == (60, 1769)
    assert functions["pack"].environment["POWERTOOLS_LOG_LEVEL"] == "INFO"


def test_names_of_deployed_stores_and_layers_are_nothing_to_one_machine() -> None:
    variables = {name for function in read_template().functions.values() for name in function.environment}
    assert variables == {"POWERTOOLS_SERVICE_NAME", "POWERTOOLS_LOG_LEVEL"}


def test_queues_have_dead_letters_and_outwait_their_worker() -> None:
    template = read_template()
    assert {source.queue for source in template.queue_sources} == set(QueueName) - {QueueName.DELIVER_DEAD}
    for source in template.queue_sources:
        spec = template.queues[source.queue]
        assert spec.visibility_s == 6 * template.functions[source.function].timeout_s
        assert spec.dead_letters is not None
        assert template.queues[spec.dead_letters].fifo == spec.fifo
        assert source.partial_failures
    assert template.queues["extract"].delay_s == 5
    ordered = [name for name, spec in template.queues.items() if spec.fifo and spec.dead_letters]
    assert ordered == ["extract", "compact", "deliver"]


def test_the_stream_and_the_schedule() -> None:
    template = read_template()
    (stream,) = template.stream_sources
    assert (stream.function, stream.bisect, stream.partial_failures) == ("outbox", True, True)
    assert template.queues[stream.on_failure or ""].dead_letters is None
    every = {schedule.function: schedule.every for schedule in template.schedules}
    assert every == {"sweep": timedelta(minutes=10), "reflect_planner": timedelta(hours=1)}


def test_gateway_answers_are_those_of_the_problem_table() -> None:
    answers = read_template().gateway_responses
    assert set(answers) == set(GATEWAY)
    for kind, code in GATEWAY.items():
        answer = answers[kind]
        assert answer.status == PROBLEMS[code].status
        assert json.loads(answer.body) == gateway_body(code)
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.headers["X-Request-Id"] == "$context.requestId"
        retry = GATEWAY_RETRY_S.get(code)
        assert answer.headers.get("Retry-After") == (str(retry) if retry else None)


def test_a_cron_schedule_is_refused_with_its_expression(tmp_path: Path) -> None:
    changed = tmp_path / "template.yaml"
    changed.write_text(TEXT.replace("rate(10 minutes)", "cron(0 3 * * ? *)"), encoding="utf-8")
    with pytest.raises(TemplateError, match="cron"):
        read_template(changed)


def test_a_filter_that_one_machine_cannot_carry_out_is_refused(tmp_path: Path) -> None:
    changed = tmp_path / "template.yaml"
    known = '["event","recall","queued_job","retraction","session","pack","proposal"]'
    assert known in TEXT
    changed.write_text(TEXT.replace(known, '[{"prefix":"ev"}]'), encoding="utf-8")
    with pytest.raises(TemplateError, match="prefix"):
        read_template(changed)
