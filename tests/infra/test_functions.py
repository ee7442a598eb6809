"""Every function as it would be deployed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from infra.packaging.layers import LAYERS
from local.template import ROOT, read_template
from neve.adapters.aws.clients import PATIENCE
from neve.config import Settings, variable
from neve.usecases.work.observe.dry_run import TIME_S
from tests.infra.permissions import listed, statements, target
from tests.infra.templates import SERVICE, expanded, function_names, functions, made_before, of_type, written

HOOK = "pre_traffic"
LONG = {HOOK: 120, "reflect": 900, "jobs": 900, "librarian": 900, "sweep": 300, "extract": 300, "compact": 300}
"""Nobody waits for them for longer than a request does, and an answer or a batch may take minutes."""
PAUSE_S = 1
"""At most, between two attempts of the SDK."""
NAMES = sorted(function_names().values())
CHECKED = ("Records", "Index", "Embed", "Recall")
HOOK_VARIABLES = {f"{name.upper()}_VERSION" for name in CHECKED}
GOES_BACK = {"DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM", "DEPLOYMENT_STOP_ON_REQUEST"}
SCHEDULES = read_template().schedules
RUNTIME_VARIABLES = {"POWERTOOLS_SERVICE_NAME", "POWERTOOLS_LOG_LEVEL"}


def test_every_folder_is_a_function() -> None:
    assert set(NAMES) == functions().keys() == {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_runs_on_arm64_and_begins_no_trace_by_itself(name: str) -> None:
    """Lambda would record the first run of every second of those that poll or have a schedule."""
    logical_id, properties = functions()[name]
    polling = {one["FunctionName"]["Ref"] for _, one in of_type(expanded(), "AWS::Lambda::EventSourceMapping")}
    of_a_request = f"{logical_id}Aliaslive" not in polling and name not in {HOOK, *(it.function for it in SCHEDULES)}
    assert (properties["Runtime"], properties["Architectures"]) == ("python3.13", ["arm64"])
    assert properties["TracingConfig"] == {"Mode": "Active" if of_a_request else "PassThrough"}
    assert properties["Timeout"] <= LONG.get(name, 60)


@pytest.mark.parametrize("name", NAMES)
def test_lambda_logs_what_is_wrong_and_keeps_no_line_of_the_service(name: str) -> None:
    """The lines are JSON with a level: what Lambda were to leave out would be gone, an alarm's metric with it."""
    logging = functions()[name][1]["LoggingConfig"]
    assert (logging["LogFormat"], logging["SystemLogLevel"]) == ("JSON", "WARN")
    assert logging["ApplicationLogLevel"] == {"Fn::If": ["Debug", "DEBUG", "INFO"]}
    assert written(SERVICE)["Conditions"]["Debug"] == {"Fn::Equals": [{"Ref": "LogLevel"}, "DEBUG"]}


def test_functions_of_the_api_answer_before_the_gateway_gives_up() -> None:
    called = {
        re.findall(r"\$\{(\w+)Aliaslive\}", method["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"])[0]
        for methods in expanded()["Api"]["Properties"]["Body"]["paths"].values()
        for method in methods.values()
    }
    timeouts = {logical_id: properties["Timeout"] for logical_id, properties in functions().values()}
    assert len(called) == 7
    assert {logical_id: timeouts[logical_id] for logical_id in called if timeouts[logical_id] != 28} == {
        "CompactFunction": 300
    }, "a worker, which keeps to the time of a call by itself where it is called"
    assert TIME_S < 28


def test_the_authorizer_outlasts_a_table_that_does_not_answer() -> None:
    """Killed while it waits, it would neither go on with what it knows of a key nor know it afterwards."""
    _, properties = functions()["authorizer"]
    patience = PATIENCE["dynamodb"]
    attempts_s = patience.attempts * (patience.connect_s + patience.read_s)
    assert attempts_s + (patience.attempts - 1) * PAUSE_S < properties["Timeout"] < 28


@pytest.mark.parametrize("name", NAMES)
def test_a_function_logs_into_its_own_group_for_a_while(name: str) -> None:
    logical_id, properties = functions()[name]
    group = expanded()[properties["LoggingConfig"]["LogGroup"]["Ref"]]["Properties"]
    assert group["LogGroupName"]["Fn::Sub"] == f"/aws/lambda/{properties['FunctionName']['Fn::Sub']}"
    retention = written(SERVICE)["Mappings"]["Stages"]
    assert group["RetentionInDays"] == {"Fn::FindInMap": ["Stages", {"Ref": "Stage"}, "LogDays"]}
    assert all(1 <= stage["LogDays"] <= 90 for stage in retention.values()), logical_id


def test_every_function_has_a_role_of_its_own() -> None:
    roles = [str(properties["Role"]) for _, properties in functions().values()]
    assert len(set(roles)) == len(roles)


@pytest.mark.parametrize("name", NAMES)
def test_a_function_is_made_when_its_role_may_all_that_it_needs(name: str) -> None:
    """Lambda refuses a traced function whose role may not write traces, and a source whose role may not read it: on a
    first deployment the policies must stand before the function, also those of a role that another stack has made."""
    logical_id, properties = functions()[name]
    before = made_before(logical_id)
    role = properties["Role"]
    if "Fn::GetAtt" in role:
        [made] = {role["Fn::GetAtt"][0]}
        assert {"TracingPolicy", made} <= before
        assert {"Ref": "TracingPolicy"} in expanded()[made]["Properties"]["ManagedPolicyArns"]
        return
    [parameter] = re.findall(r"role/\$\{(\w+)\}$", role["Fn::Sub"])
    attached = {
        it for it, policy in of_type(expanded(), "AWS::IAM::RolePolicy") if policy["RoleName"] == {"Ref": parameter}
    }
    managed = {
        it for it, policy in of_type(expanded(), "AWS::IAM::ManagedPolicy") if {"Ref": parameter} in policy["Roles"]
    }
    assert managed == {"TracingPolicy"}
    assert len(attached) == 1
    assert attached | managed <= before


def test_a_source_begins_when_its_function_may_read_it() -> None:
    for logical_id, mapping in of_type(expanded(), "AWS::Lambda::EventSourceMapping"):
        assert mapping["FunctionName"]["Ref"] in made_before(logical_id)
        assert "TracingPolicy" in made_before(logical_id)


# --- versions -------------------------------------------------------------------------------------


def version_ids(build_sha: str) -> dict[str, str]:
    """Logical id of the version behind each function's alias."""
    aliases = of_type(expanded(build_sha), "AWS::Lambda::Alias")
    return {
        alias["FunctionName"]["Ref"]: alias["FunctionVersion"]["Fn::GetAtt"][0]
        for _, alias in aliases
        if alias["Name"] == "live"
    }


def test_versions_follow_the_build() -> None:
    """A shared layer that changes reaches an alias only through a new version."""
    first, again, second = (version_ids(sha) for sha in ("a" * 16, "a" * 64, "b" * 16))
    assert set(first) == {logical_id for logical_id, _ in functions().values()}
    assert first == again, "the same first ten digits"
    assert not set(first.values()) & set(second.values())
    versions = [properties for _, properties in of_type(expanded("b" * 16), "AWS::Lambda::Version")]
    assert len(versions) == len(first)


def deployments(stage: str) -> dict[str, dict[str, Any]]:
    """What moves the traffic of a function's alias, by the function's name; none for one that no deployment moves."""
    resources = expanded(stage=stage)
    aliases = {name: resources[f"{logical_id}Aliaslive"] for name, (logical_id, _) in functions().items()}
    return {
        name: alias["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]
        for name, alias in aliases.items()
        if "UpdatePolicy" in alias
    }


def test_the_check_runs_once_a_stack() -> None:
    """All aliases are moved at once: a check of each would be more functions than a new account runs, which is ten."""
    hooks = {
        (name, when): called
        for name, update in deployments("prod").items()
        for when, called in update.items()
        if when.endswith("Hook")
    }
    assert hooks == {("recall", "BeforeAllowTrafficHook"): {"Ref": "PreTrafficFunction"}}
    [calls] = [it for it in statements(HOOK) if listed(it["Action"]) == ["lambda:InvokeFunction"]]
    assert {target(it) for it in calls["Resource"]} == {f"versions/{name}" for name in CHECKED}


@pytest.mark.parametrize("stage", ["staging", "prod"])
def test_the_traffic_of_every_function_moves_behind_the_alarms(stage: str) -> None:
    """Also of those that the check does not call, and of those whose deployment does not wait for it."""
    resources, moved = expanded(stage=stage), deployments(stage)
    assert set(moved) == set(functions()) - {HOOK}
    shift = written(SERVICE)["Mappings"]["Stages"][stage]["Shift"]
    assert re.fullmatch(r"Canary10Percent(5|10)Minutes", shift)
    for name, update in moved.items():
        group = resources[update["DeploymentGroupName"]["Ref"]]["Properties"]
        assert shift in json.dumps(group["DeploymentConfigName"]), name
        back = group["AutoRollbackConfiguration"]
        assert (back["Enabled"], set(back["Events"])) == (True, GOES_BACK)
        condition, watched, ignored = group["AlarmConfiguration"]["Fn::If"]
        alarms = {alarm["Name"]["Ref"] for alarm in watched["Alarms"]}
        assert (condition, watched["Enabled"], ignored) == ("Watched", True, {})
        assert alarms == {"ApiFailures", "ApiFunctionFailures", "WorkerFailures", "DeliverFailures"}
        assert {resources[alarm]["Type"] for alarm in alarms} == {"AWS::CloudWatch::Alarm"}


def test_alarms_of_a_deployment_can_be_taken_off_and_are_on() -> None:
    assert written(SERVICE)["Parameters"]["DeploymentAlarms"]["Default"] == "watch"
    assert written(SERVICE)["Conditions"]["Watched"] == {"Fn::Equals": [{"Ref": "DeploymentAlarms"}, "watch"]}
    rollback = (ROOT / "docs" / "runbooks" / "rollback.md").read_text(encoding="utf-8")
    assert "DeploymentAlarms=ignore" in rollback
    [named] = re.findall(r"for one function: ([a-z_#\s]+?)\naws ", rollback)
    assert set(named.replace("#", " ").split()) == set(functions()) - {HOOK}


def test_codedeploy_may_call_the_hook_and_the_hook_calls_new_versions() -> None:
    _, hook = functions()[HOOK]
    assert hook["FunctionName"]["Fn::Sub"].startswith("CodeDeployHook_"), "all that CodeDeploy's role may call"
    variables = hook["Environment"]["Variables"]
    for name in HOOK_VARIABLES:
        logical_id, _ = functions()[name.removesuffix("_VERSION").lower()]
        assert variables[name] == {"Ref": version_ids("0123456789abcdef")[logical_id]}


def test_the_alarms_of_a_deployment_watch_every_function() -> None:
    watched = {
        dimension["Value"]["Ref"]
        for alarm in ("ApiFunctionFailures", "WorkerFailures")
        for metric in expanded()[alarm]["Properties"]["Metrics"]
        for dimension in metric.get("MetricStat", {}).get("Metric", {}).get("Dimensions", [])
    } | {dimension["Value"]["Ref"] for dimension in expanded()["DeliverFailures"]["Properties"]["Dimensions"]}
    assert watched == {logical_id for name, (logical_id, _) in functions().items() if name != HOOK}


# --- settings -------------------------------------------------------------------------------------


def test_every_setting_is_set_and_every_variable_is_read() -> None:
    settings = {variable(field) for field in Settings.model_fields}
    given = {name: set(it["Environment"]["Variables"]) for name, (_, it) in functions().items()}
    assert set().union(*given.values()) - RUNTIME_VARIABLES - HOOK_VARIABLES == settings
    hook = (ROOT / "functions" / HOOK / "app.py").read_text(encoding="utf-8")
    read = {f"{name}_VERSION" for name in re.findall(r'"([A-Z]+)"', hook)}
    assert read == HOOK_VARIABLES == given[HOOK] - RUNTIME_VARIABLES - {variable("stage")}


def test_only_the_observers_know_the_model_key() -> None:
    secret = variable("anthropic_secret")
    knowing = {name for name, (_, it) in functions().items() if secret in it["Environment"]["Variables"]}
    assert knowing == {"extract", "compact", "reflect", "librarian"}


def test_who_counts_what_the_observer_cannot_read_knows_the_observer() -> None:
    """Of messages that are appended, by a turn too, and of a pass: the default would count those in every other
    language than English though a model observes."""
    knowing = {name for name, (_, it) in functions().items() if variable("observer") in it["Environment"]["Variables"]}
    assert knowing >= {"observe", "recall", "extract", "compact", "admin"}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_that_is_told_where_a_layer_is_has_it(name: str) -> None:
    """``admin`` names the encoder's model in health without loading it."""
    _, properties = functions()[name]
    layers = {re.sub(r"Layer[0-9a-f]{10}$", "", layer["Ref"]) for layer in properties["Layers"]}
    variables = set(properties["Environment"]["Variables"])
    needs = {"Mcp"} if name == "mcp" else {"Core"}  # nothing of the service's package is imported there
    needs |= {"Tokens"} if variable("bpe_dir") in variables else set()
    needs |= {"Search", "Numbers"} if variable("search") in variables else set()
    needs |= {"Encoder"} if variable("encoder_dir") in variables and name != "admin" else set()
    needs |= {"Llm"} if variable("anthropic_secret") in variables else set()
    assert layers == needs


def test_a_layer_is_where_its_variable_says() -> None:
    places = {Path("/opt") / place for layer in LAYERS.values() for place in layer.content}
    variables = functions()["extract"][1]["Environment"]["Variables"]
    assert Path(variables[variable("bpe_dir")]) in places
    encoder = Path(functions()["embed"][1]["Environment"]["Variables"][variable("encoder_dir")])
    assert {encoder / "model", encoder / "calibration.json"} <= places
