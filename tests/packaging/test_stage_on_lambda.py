"""Every function under Lambda's own runtime client, on its layers and the variables that the template gives it, with
the AWS adapters on real servers: what was said becomes memory and is found again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from infra.lambda_runtime.process import LambdaProcess, Sandbox
from infra.lambda_runtime.stage import FunctionFailed, Stage
from infra.lambda_runtime.stores import Stores, make_stores
from infra.packaging.functions import DeployedFunction, deployed_functions
from local.stack.jars import Server
from local.template import read_template
from local.workers.worker_events import schedule_event
from tests.packaging.deployment_apis import DeploymentApis
from tests.servers import dynamodb_url, opensearch_url, s3_url, sqs_url

TEMPLATE = read_template()
FUNCTIONS = deployed_functions()
USER = "/v1/users/ann"
FRESH_PROCESSES = 5
MESSAGE = "My telescope is with Bob until Friday; I will collect it then."


@pytest.fixture(scope="module")
def stores() -> Stores:
    urls = {
        Server.DYNAMODB: dynamodb_url(),
        Server.SQS: sqs_url(),
        Server.S3: s3_url(),
        Server.OPENSEARCH: opensearch_url(),
    }
    return make_stores(urls, TEMPLATE)


@pytest.fixture(scope="module")
def apis() -> Iterator[DeploymentApis]:
    with DeploymentApis() as apis:
        yield apis


@pytest.fixture(scope="module")
def stage(
    stores: Stores,
    apis: DeploymentApis,
    sandbox_of: Callable[[DeployedFunction], Sandbox],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stage]:
    check = {f"{name.upper()}_VERSION": apis.version(name) for name in ("records", "index", "embed", "recall")}
    check |= {"AWS_ENDPOINT_URL_LAMBDA": apis.url, "AWS_ENDPOINT_URL_CODEDEPLOY": apis.url}
    output = tmp_path_factory.mktemp("output")
    with Stage(TEMPLATE, FUNCTIONS, stores, sandbox_of, output, more={"pre_traffic": check}) as stage:
        apis.run_functions_with(stage.invoke)
        yield stage


def call(stage: Stage, method: str, path: str, body: Any = None, *, status: int = 200) -> Any:
    response = stage.call(method, path, json.dumps(body).encode() if body is not None else b"")
    assert response.status == status, f"{response.body!r}\n{stage.log_text()}"
    return json.loads(response.body)


def tell(stage: Stage, stores: Stores) -> None:
    """The outbox of every change so far."""
    assert stage.invoke("outbox", stores.changes()) == {"batchItemFailures": []}


def test_what_is_said_becomes_memory_and_is_found(stage: Stage, stores: Stores) -> None:
    assert call(stage, "GET", "/v1/health")["observer"] == "extractive"
    call(stage, "POST", f"{USER}/sessions", {"session_id": "monday"})
    given = {"events": [{"event_type": "user_message", "content": MESSAGE}]}
    assert call(stage, "POST", f"{USER}/sessions/monday/events", given, status=201)["seqs"] == [1]
    created = call(stage, "POST", f"{USER}/memories", {"text": "Ann's telescope is with Bob."}, status=201)
    tell(stage, stores)
    stage.deliver("index")
    stage.deliver("embed")
    assert call(stage, "POST", f"{USER}/sessions/monday/observe", {}, status=202)["status"] == "queued"
    stage.deliver("extract")
    assert call(stage, "GET", f"{USER}/sessions/monday")["observed_seq"] == 1
    assert call(stage, "POST", f"{USER}/sessions/monday/compact", {}, status=202)["status"] == "queued"
    tell(stage, stores)
    stage.deliver("compact")
    assert call(stage, "POST", f"{USER}/sessions/monday/end", {}, status=202)["status"] == "queued"
    tell(stage, stores)
    stage.deliver("compact")
    tell(stage, stores)
    stage.deliver("librarian")
    assert call(stage, "POST", f"{USER}/export", {}, status=202)["status"] == "queued"
    tell(stage, stores)
    stage.deliver("jobs")
    asked = {"query": "Who has the telescope?", "mode": "tool", "budget_ms": 20_000}
    found = call(stage, "POST", f"{USER}/recall", asked)
    assert found["degraded"] == []
    assert {leg["status"] for leg in found["legs"].values()} == {"complete"}
    assert created["id"] in [hit["id"] for hit in found["hits"]]
    assert call(stage, "POST", "/v1/admin/reflect", {"user_id": "ann"}, status=202)["status"] == "queued"
    tell(stage, stores)
    stage.deliver("reflect")


def test_what_happened_is_sent_to_a_webhook(stage: Stage, stores: Stores) -> None:
    """The host is nowhere (RFC 6761): the attempt fails, and is in the list of deliveries."""
    hook = {"url": "https://hooks.neve.invalid/events", "types": ["memory.written"]}
    call(stage, "PUT", "/v1/webhooks/audit", hook, status=201)
    call(stage, "POST", f"{USER}/memories", {"text": "Ann's tripod is with Eve."}, status=201)
    tell(stage, stores)
    stage.deliver("deliver")
    [attempt, *_] = call(stage, "GET", "/v1/webhooks/audit/deliveries")["deliveries"]
    assert (attempt["attempt"], attempt["outcome"]) == (1, "failed")


def test_the_first_recall_of_a_fresh_process_is_whole_within_the_budget_of_a_prompt(
    stage: Stage, sandbox_of: Callable[[DeployedFunction], Sandbox], tmp_path: Path
) -> None:
    """300 ms, the policy's default: what the start costs lies before the budget, and is said once. On a machine that
    does other things besides, one of a few fresh processes has to manage; were the start within the budget, none
    would."""
    call(stage, "POST", f"{USER}/recall", {"query": "Who has the telescope?", "mode": "prompt"})
    function, event = FUNCTIONS["recall"], stage.events["recall"]
    sandbox = sandbox_of(function)
    environment = stage.environment(function, sandbox)
    for attempt in range(FRESH_PROCESSES):
        with LambdaProcess("recall", sandbox, function.handler, environment, tmp_path / f"log-{attempt}") as process:
            answers = [process.invoke(event).result for _ in range(2)]
            output = process.log_text()
        first, second = (json.loads(answer["body"]) for answer in answers if answer is not None)
        if not first["degraded"]:
            break
    assert (first["degraded"], first["budget_ms"], first["result_state"]) == ([], 300, "found"), output
    assert {leg["status"] for leg in first["legs"].values()} == {"complete"}
    assert first["cold_start_ms"] > 0
    assert "cold_start_ms" not in second
    assert "ColdStartSeconds" in output


def test_the_schedule_runs(stage: Stage) -> None:
    for schedule in TEMPLATE.schedules:
        stage.invoke(schedule.function, schedule_event(schedule, datetime.now(UTC)))


def test_a_wrong_key_is_denied_which_the_gateway_turns_into_401(stage: Stage) -> None:
    response = stage.call("GET", f"{USER}/stats", key="nv_wrong_key")
    assert response.status == 401
    assert json.loads(response.body)["code"] == "unauthorized"


def test_a_models_host_is_told_whose_token_it_needs(stage: Stage) -> None:
    assert stage.call("GET", "/mcp").status == 405
    response = stage.call("POST", "/mcp", b"{}")
    assert response.status == 403
    assert b"/tokens" in response.body


def test_a_batch_that_cannot_be_read_is_an_error_of_the_invocation(stage: Stage) -> None:
    with pytest.raises(FunctionFailed, match="dynamodb"):
        stage.invoke("outbox", {"Records": [{"eventSource": "aws:sqs"}]})


def test_the_check_before_a_deployment_passes_on_these_functions(stage: Stage, apis: DeploymentApis) -> None:
    event = {"DeploymentId": "d-1", "LifecycleEventHookExecutionId": "execution-1"}
    assert stage.invoke("pre_traffic", event) == {"passed": True}, stage.log_text()
    status = {"deploymentId": "d-1", "lifecycleEventHookExecutionId": "execution-1", "status": "Succeeded"}
    assert apis.verdicts == [status]


def test_every_function_was_invoked(stage: Stage) -> None:
    """After the tests above: none of the template's functions was left out of them."""
    assert stage.events.keys() == FUNCTIONS.keys()
