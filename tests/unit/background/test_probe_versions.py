"""T0 before a deployment: on the real functions, each called by itself, and what CodeDeploy is told when one of them is
broken."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from local.backend import Choices, EmbeddedPorts
from local.functions import Functions
from local.template import read_template
from neve import wiring
from neve.adapters.aws.clients import aws_client
from neve.adapters.aws.lambda_deployment import ATTEMPTS, BUSY_S, FunctionFailed, LambdaDeployment
from neve.domain.times import iso
from neve.ports.errors import StoreUnavailable
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from neve.usecases.work.background.probe_versions import TENANT, Probe, ProbeFailed, Versions
from tests.unit.world import HandClock, World

VERSIONS = Versions("arn:records:7", "arn:index:7", "arn:embed:7", "arn:recall:7")
HOOK = {"DeploymentId": "d-1", "LifecycleEventHookExecutionId": "hook-1"}
MEMORY = {"id": "mem_1", "rev": 1, "embedding_state": "ready"}


def reply(status: int, body: Any = None) -> dict[str, Any]:
    return {"statusCode": status, "body": json.dumps(body) if body is not None else ""}


class Fleet:
    """Versions that answer what they were told to; ``called`` holds version, method and route of every call."""

    def __init__(self) -> None:
        self.called: list[tuple[str, str, str]] = []
        self.states = ["pending", "ready"]
        self.hits: list[list[dict[str, Any]]] = [[], [{"id": "mem_1", "components": {"rank_vec": 1}}]]
        self.created = reply(201, MEMORY)
        self.embedded: Any = {"batchItemFailures": []}
        self.events: list[dict[str, Any]] = []
        self.clock = HandClock()

    def invoke(self, version: str, event: dict[str, Any]) -> Any:
        self.events.append(event)
        if "Records" in event:
            self.called.append((version, "SQS", json.loads(event["Records"][0]["body"])["id"]))
            return self.embedded
        method, route = event["httpMethod"], event["resource"].removeprefix("/v1/users/{user_id}")
        self.called.append((version, method, route))
        if method == "DELETE":
            return reply(200, {"id": "mem_1"})
        if route == "/recall":
            return reply(200, {"hits": self.hits.pop(0) if len(self.hits) > 1 else self.hits[0]})
        if method == "POST":
            return self.created
        return reply(200, MEMORY | {"embedding_state": self.states.pop(0) if len(self.states) > 1 else self.states[0]})

    def probe(self) -> Probe:
        return Probe(VERSIONS, self.invoke, "t0-a", self.clock)


def test_what_new_versions_write_new_versions_recall() -> None:
    fleet = Fleet()
    fleet.probe().run()
    assert fleet.called == [
        ("arn:records:7", "POST", "/memories"),
        ("arn:index:7", "SQS", "mem_1"),
        ("arn:embed:7", "SQS", "mem_1"),
        ("arn:records:7", "GET", "/memories/{memory_id}"),
        ("arn:records:7", "GET", "/memories/{memory_id}"),
        ("arn:recall:7", "POST", "/recall"),
        ("arn:recall:7", "POST", "/recall"),
        ("arn:records:7", "DELETE", "/memories/{memory_id}"),
    ]
    contexts = [event["requestContext"]["authorizer"] for event in fleet.events if "requestContext" in event]
    assert {context["tenant_id"] for context in contexts} == {TENANT}


def test_it_holds_on_the_functions_of_this_repository(tmp_path: Path) -> None:
    """Nobody reads the stream or the queue here: the vector is made by the message that the probe sends."""
    template = read_template()
    ports = EmbeddedPorts(tmp_path, template, "http://127.0.0.1", Choices(embedder="fixture"))
    with closing(ports):
        wiring.install(ports)
        ports.table.write([put_tenant(TenantRow(TENANT, iso(ports.clock.now())))])
        invoke = Functions(template.functions).invoke
        deleted: list[Any] = []

        def call(version: str, event: dict[str, Any]) -> Any:
            answer = invoke(version, event)
            if event.get("httpMethod") == "DELETE":
                deleted.append(json.loads(answer["body"])["id"])
            return answer

        Probe(Versions("records", "index", "embed", "recall"), call, "t0-a", HandClock()).run()
        assert len(deleted) == 1


def refused(fleet: Fleet) -> None:
    fleet.created = reply(503, {"code": "store_unavailable"})


def not_taken(fleet: Fleet) -> None:
    fleet.embedded = {"batchItemFailures": [{"itemIdentifier": "probe"}]}


def never_embedded(fleet: Fleet) -> None:
    fleet.states = ["pending"]


def by_a_word_only(fleet: Fleet) -> None:
    fleet.hits = [[{"id": "mem_1", "components": {"rank_lex": 1}}]]


@pytest.mark.parametrize(
    ("broken", "step"),
    [(refused, "POST /memories: 503"), (not_taken, "index"), (never_embedded, "embedded"), (by_a_word_only, "meaning")],
)
def test_each_broken_step_is_named_and_what_was_written_is_removed(broken: Any, step: str) -> None:
    fleet = Fleet()
    broken(fleet)
    with pytest.raises(ProbeFailed, match=step):
        fleet.probe().run()
    written = broken is not refused
    assert (fleet.called[-1][1] == "DELETE") is written
    assert sum(fleet.clock.slept) <= 61


# --- the adapter ----------------------------------------------------------------------------------


@pytest.fixture
def stubs() -> Iterator[tuple[LambdaDeployment, Stubber, Stubber]]:
    session = boto3.Session(region_name="eu-central-1", aws_access_key_id="a", aws_secret_access_key="b")
    functions, deployments = aws_client("lambda", session=session), aws_client("codedeploy", session=session)
    with Stubber(functions) as calls, Stubber(deployments) as verdicts:
        yield LambdaDeployment(functions, deployments), calls, verdicts
        calls.assert_no_pending_responses()
        verdicts.assert_no_pending_responses()


def payload(value: Any) -> StreamingBody:
    text = json.dumps(value).encode()
    return StreamingBody(io.BytesIO(text), len(text))


def test_a_version_is_called_by_its_arn(stubs: tuple[LambdaDeployment, Stubber, Stubber]) -> None:
    deployment, calls, _ = stubs
    expected = {"FunctionName": VERSIONS.recall, "Payload": b'{"a": 1}'}
    calls.add_response("invoke", {"StatusCode": 200, "Payload": payload({"statusCode": 200})}, expected)
    assert deployment.invoke(VERSIONS.recall, {"a": 1}) == {"statusCode": 200}


def test_a_version_that_raises_is_a_failure_named_by_its_error(
    stubs: tuple[LambdaDeployment, Stubber, Stubber],
) -> None:
    deployment, calls, _ = stubs
    crash = {"errorType": "ImportModuleError", "errorMessage": "no module"}
    calls.add_response("invoke", {"StatusCode": 200, "FunctionError": "Unhandled", "Payload": payload(crash)})
    with pytest.raises(FunctionFailed, match="arn:embed:7: ImportModuleError"):
        deployment.invoke(VERSIONS.embed, {})


def test_a_version_that_an_account_has_no_room_for_is_asked_again(
    stubs: tuple[LambdaDeployment, Stubber, Stubber],
) -> None:
    deployment, calls, _ = stubs
    slept: list[float] = []
    deployment._pause = slept.append
    for _ in range(3):
        calls.add_client_error("invoke", "TooManyRequestsException", http_status_code=429)
    calls.add_response("invoke", {"StatusCode": 200, "Payload": payload({"statusCode": 200})})
    assert deployment.invoke(VERSIONS.recall, {}) == {"statusCode": 200}
    assert slept == [BUSY_S] * 3
    for _ in range(ATTEMPTS):
        calls.add_client_error("invoke", "TooManyRequestsException", http_status_code=429)
    with pytest.raises(StoreUnavailable, match="TooManyRequests"):
        deployment.invoke(VERSIONS.recall, {})


def test_a_version_that_may_not_be_called_is_a_failure(stubs: tuple[LambdaDeployment, Stubber, Stubber]) -> None:
    deployment, calls, _ = stubs
    calls.add_client_error("invoke", "AccessDeniedException", http_status_code=403)
    with pytest.raises(StoreUnavailable, match="AccessDenied"):
        deployment.invoke(VERSIONS.embed, {})


@pytest.mark.parametrize(("passed", "status"), [(True, "Succeeded"), (False, "Failed")])
def test_codedeploy_is_told(stubs: tuple[LambdaDeployment, Stubber, Stubber], passed: bool, status: str) -> None:
    deployment, _, verdicts = stubs
    expected = {"deploymentId": "d-1", "lifecycleEventHookExecutionId": "hook-1", "status": status}
    verdicts.add_response("put_lifecycle_event_hook_execution_status", {}, expected)
    deployment.report(HOOK, passed=passed)


# --- the function ---------------------------------------------------------------------------------


class Deployed:
    """A deployment that remembers its verdicts."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.verdicts: list[bool] = []

    def invoke(self, version: str, event: dict[str, Any]) -> Any:
        return self.fleet.invoke(version, event)

    def report(self, event: Any, *, passed: bool) -> None:
        assert event == HOOK
        self.verdicts.append(passed)


@pytest.mark.parametrize("name", ["", "RECALL_VERSION"])
@pytest.mark.parametrize("broken", [None, refused, by_a_word_only])
def test_the_hook_always_gives_a_verdict(
    name: str, broken: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fleet = Fleet()
    if broken is not None:
        broken(fleet)
    deployed = Deployed(fleet)
    for variable, version in zip(("RECORDS", "INDEX", "EMBED", "RECALL"), "abcd", strict=True):
        monkeypatch.setenv(f"{variable}_VERSION", version)
    if name:
        monkeypatch.delenv(name)
    functions = Functions(read_template().functions)
    functions.load("pre_traffic")
    monkeypatch.setattr(sys.modules["neve_function_pre_traffic"], "connect", lambda: deployed)
    monkeypatch.setattr(wiring, "_installed", [World.make(tmp_path)])
    expected = broken is None and not name
    assert functions.invoke("pre_traffic", HOOK) == {"passed": expected}
    assert deployed.verdicts == [expected]


@pytest.mark.parametrize("broken", [None, refused])
def test_the_canary_asks_what_has_the_traffic_and_tells_nobody_but_its_metric(
    broken: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = Fleet()
    if broken is not None:
        broken(fleet)
    asked: list[str] = []

    class Live(Deployed):
        def invoke(self, version: str, event: dict[str, Any]) -> Any:
            asked.append(version)
            return super().invoke(version.split(":")[1], event)

        def report(self, event: Any, *, passed: bool) -> None:
            raise AssertionError("there is no deployment")

    deployed = Live(fleet)

    monkeypatch.delenv("POWERTOOLS_METRICS_DISABLED", raising=False)
    for variable, version in zip(("RECORDS", "INDEX", "EMBED", "RECALL"), "abcd", strict=True):
        monkeypatch.setenv(f"{variable}_VERSION", f"function:{version}:17")
    functions = Functions(read_template().functions)
    functions.load("pre_traffic")
    monkeypatch.setattr(sys.modules["neve_function_pre_traffic"], "connect", lambda: deployed)
    monkeypatch.setattr(wiring, "_installed", [World.make(tmp_path)])
    assert functions.invoke("pre_traffic", {"source": "neve.schedule"}) == {"passed": broken is None}
    assert asked and {arn.rpartition(":")[2] for arn in asked} == {"live"}
    [line] = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "ProbesPassed" in line]
    assert (line["Function"], line["ProbesPassed"]) == ("pre_traffic", [float(broken is None)])
