"""Every function as it would be deployed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from infra.packaging.layers import LAYERS
from local.template import ROOT
from neve.config import Settings, variable
from tests.infra.templates import SERVICE, expanded, functions, of_type, written

HOOK = "pre_traffic"
NAMES = sorted(functions())
HOOK_VARIABLES = {"RECORDS_VERSION", "INDEX_VERSION", "EMBED_VERSION", "RECALL_VERSION"}
RUNTIME_VARIABLES = {"POWERTOOLS_SERVICE_NAME", "POWERTOOLS_LOG_LEVEL"}


def test_every_folder_is_a_function() -> None:
    assert set(NAMES) == {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_runs_traced_on_arm64(name: str) -> None:
    _, properties = functions()[name]
    assert (properties["Runtime"], properties["Architectures"]) == ("python3.13", ["arm64"])
    assert properties["TracingConfig"] == {"Mode": "Active"}
    assert properties["Timeout"] <= (120 if name == HOOK else 60)


def test_functions_of_the_api_answer_before_the_gateway_gives_up() -> None:
    called = {
        re.findall(r"\$\{(\w+)Aliaslive\}", method["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"])[0]
        for methods in expanded()["Api"]["Properties"]["Body"]["paths"].values()
        for method in methods.values()
    }
    timeouts = {logical_id: properties["Timeout"] for logical_id, properties in functions().values()}
    assert len(called) == 5
    assert {timeouts[logical_id] for logical_id in called} == {28}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_logs_into_its_own_group_for_a_while(name: str) -> None:
    logical_id, properties = functions()[name]
    group = expanded()[properties["LoggingConfig"]["LogGroup"]["Ref"]]["Properties"]
    assert group["LogGroupName"]["Fn::Sub"] == f"/aws/lambda/{properties['FunctionName']['Fn::Sub']}"
    kept = written(SERVICE)["Mappings"]["Stages"]
    assert group["RetentionInDays"] == {"Fn::FindInMap": ["Stages", {"Ref": "Stage"}, "LogDays"]}
    assert all(1 <= stage["LogDays"] <= 90 for stage in kept.values()), logical_id


def test_every_function_has_a_role_of_its_own() -> None:
    roles = [str(properties["Role"]) for _, properties in functions().values()]
    assert len(set(roles)) == len(roles)


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


def test_traffic_moves_behind_the_check_and_the_alarms() -> None:
    resources = expanded()
    for name, (logical_id, _) in functions().items():
        alias = resources[f"{logical_id}Aliaslive"]
        if name == HOOK:
            assert "UpdatePolicy" not in alias
            continue
        update = alias["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]
        checked = {"Ref": "PreTrafficFunction"} if name == "recall" else None
        assert update.get("BeforeAllowTrafficHook") == checked, "once a stack: a new account runs ten functions at once"
        group = resources[update["DeploymentGroupName"]["Ref"]]["Properties"]
        condition, watched, ignored = group["AlarmConfiguration"]["Fn::If"]
        alarms = {alarm["Name"]["Ref"] for alarm in watched["Alarms"]}
        assert (condition, watched["Enabled"], ignored) == ("Watched", True, {})
        assert alarms == {"ApiFailures", "ApiFunctionFailures", "WorkerFailures"}
        assert {resources[alarm]["Type"] for alarm in alarms} == {"AWS::CloudWatch::Alarm"}
    assert written(SERVICE)["Parameters"]["DeploymentAlarms"]["Default"] == "watch"
    assert written(SERVICE)["Conditions"]["Watched"] == {"Fn::Equals": [{"Ref": "DeploymentAlarms"}, "watch"]}
    shifts = {stage: it["Shift"] for stage, it in written(SERVICE)["Mappings"]["Stages"].items()}
    assert shifts["prod"].startswith("Canary") and shifts["staging"].startswith("Canary")


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
    }
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
    assert knowing == {"extract", "compact"}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_that_is_told_where_a_layer_is_has_it(name: str) -> None:
    """``admin`` names the encoder's model in health without loading it."""
    _, properties = functions()[name]
    layers = {re.sub(r"Layer[0-9a-f]{10}$", "", layer["Ref"]) for layer in properties["Layers"]}
    variables = set(properties["Environment"]["Variables"])
    needs = {"Core"}
    needs |= {"Tokens"} if variable("bpe_dir") in variables else set()
    needs |= {"Search"} if variable("search_endpoint") in variables else set()
    needs |= {"Encoder"} if variable("encoder_dir") in variables and name != "admin" else set()
    needs |= {"Late"} if variable("late_dir") in variables else set()
    needs |= {"Llm"} if variable("anthropic_secret") in variables else set()
    assert layers == needs


def test_a_layer_is_where_its_variable_says() -> None:
    places = {Path("/opt") / place for layer in LAYERS.values() for place in layer.content}
    variables = functions()["extract"][1]["Environment"]["Variables"]
    assert Path(variables[variable("bpe_dir")]) in places
    encoder = Path(functions()["embed"][1]["Environment"]["Variables"][variable("encoder_dir")])
    assert {encoder / "model", encoder / "calibration.json"} <= places
    late = Path(functions()["embed"][1]["Environment"]["Variables"][variable("late_dir")])
    assert {late / "model", late / "basis.bin"} <= places
