"""The API of a stage."""

from __future__ import annotations

import json
import re

from local.template import ROOT
from tests.infra.templates import OBSERVABILITY, SERVICE, Properties, expanded, of_type, written

METHODS = ("get", "put", "post", "patch", "delete")
OPENAPI = json.loads((ROOT / "docs" / "openapi.json").read_bytes())


def api() -> Properties:
    properties: Properties = expanded()["Api"]["Properties"]
    return properties


def deployed_stage() -> Properties:
    [(_, properties)] = of_type(expanded(), "AWS::ApiGateway::Stage")
    return properties


MCP_METHODS = ("post", "get", "delete")
"""Those that a client of streamable HTTP tries; all but the first are told so."""


def test_every_route_of_the_openapi_is_deployed_and_the_reverse() -> None:
    """And with each GET its HEAD. What is spoken at ``/mcp`` is described by its own protocol."""
    described = {(method, path) for path, it in OPENAPI["paths"].items() for method in it if method in METHODS}
    described |= {("head", path) for method, path in described if method == "get"}
    deployed = {(method, path) for path, it in api()["Body"]["paths"].items() for method in it}
    assert {(method, path) for method, path in deployed if path == "/mcp"} == {(it, "/mcp") for it in MCP_METHODS}
    assert {(method, path) for method, path in deployed if path != "/mcp"} == described


def test_every_route_but_health_needs_a_key() -> None:
    public = {
        (method, path)
        for path, methods in api()["Body"]["paths"].items()
        for method, it in methods.items()
        if not any("ApiKey" in one for one in it.get("security", ()))
    }
    assert public == {("get", "/v1/health"), ("head", "/v1/health")}
    authorizer = api()["Body"]["securityDefinitions"]["ApiKey"]["x-amazon-apigateway-authorizer"]
    assert authorizer["authorizerResultTtlInSeconds"] <= 60
    assert authorizer["authorizerUri"]["Fn::Sub"][1] == {"__FunctionArn__": {"Ref": "AuthorizerFunctionAliaslive"}}


def test_what_lacks_a_parameter_is_refused_by_its_function_which_names_it() -> None:
    """A request validator of the gateway would answer first, with DEFAULT_4XX: that something cannot be accepted."""
    assert "x-amazon-apigateway-request-validators" not in api()["Body"]
    validated = [
        path
        for path, methods in api()["Body"]["paths"].items()
        for it in methods.values()
        if "x-amazon-apigateway-request-validator" in it or it.get("parameters")
    ]
    assert validated == []


def test_access_logs_hold_the_route_and_neither_path_nor_headers() -> None:
    written_down = json.loads(deployed_stage()["AccessLogSetting"]["Format"])
    values = set(written_down.values())
    assert "$context.resourcePath" in values
    personal = (
        "$context.path",
        "$context.identity",
        "$input",
        "authorization",
        "querystring",
        "header",
    )
    assert not [value for value in values if any(part in value.lower() for part in personal)]
    group = expanded()[deployed_stage()["AccessLogSetting"]["DestinationArn"]["Fn::GetAtt"][0]]["Properties"]
    assert group["RetentionInDays"]


def test_only_routes_that_an_alarm_watches_have_metrics_of_their_own() -> None:
    """Five of each that is called are paid for."""
    watched = {
        (named["Method"], named["Resource"])
        for _, alarm in of_type(written(OBSERVABILITY)["Resources"], "AWS::CloudWatch::Alarm")
        if "Resource" in (named := {one["Name"]: one["Value"] for one in alarm.get("Dimensions", ())})
    }
    measured = {
        (one["HttpMethod"], one["ResourcePath"].replace("~1", "/")[1:] or "/")
        for one in deployed_stage()["MethodSettings"]
        if one["MetricsEnabled"]
    }
    assert len(watched) == 6 and measured == watched


def test_one_request_in_twenty_is_traced() -> None:
    [(_, rule)] = of_type(expanded(), "AWS::XRay::SamplingRule")
    taken = rule["SamplingRule"]
    assert (taken["FixedRate"], taken["ReservoirSize"]) == (0.05, 0)
    assert taken["ServiceName"] == {"Fn::Sub": "${AWS::StackName}/${Stage}"}


def test_execution_logs_are_off_and_every_method_is_throttled() -> None:
    for setting in deployed_stage()["MethodSettings"]:
        assert setting["LoggingLevel"] == "OFF"
        assert not setting.get("DataTraceEnabled")
        assert setting["ThrottlingRateLimit"] and setting["ThrottlingBurstLimit"]
    assert deployed_stage()["MethodSettings"][0]["ResourcePath"] == "/*"
    assert deployed_stage()["TracingEnabled"] is True
    named = {
        (s["HttpMethod"].lower(), s["ResourcePath"][1:].replace("~1", "/"))
        for s in deployed_stage()["MethodSettings"][1:]
    }
    deployed = {(method, path) for path, it in api()["Body"]["paths"].items() for method in it}
    assert named <= deployed
    assert ("get", "/v1/health") in named


def test_there_is_one_stage_and_no_other() -> None:
    """SAM deploys one called ``Stage`` beside it, open to all and without limits, unless told what it writes."""
    deployments = [properties for _, properties in of_type(expanded(), "AWS::ApiGateway::Deployment")]
    assert [properties.get("StageName") for properties in deployments] == [None]
    assert deployed_stage()["StageName"] == {"Ref": "Stage"}


def test_clients_speak_tls_1_2_or_newer() -> None:
    assert (api()["SecurityPolicy"], api()["EndpointAccessMode"]) == ("SecurityPolicy_TLS13_1_2_2021_06", "BASIC")


def test_a_401_says_how_to_be_somebody() -> None:
    """RFC 9110 wants the header in each, and clients of MCP look for it."""
    answers = api()["Body"]["x-amazon-apigateway-gateway-responses"]
    refused = {kind: it["responseParameters"] for kind, it in answers.items() if it["statusCode"] == "401"}
    header = "gatewayresponse.header.WWW-Authenticate"
    assert {kind: it.get(header) for kind, it in refused.items()} == {
        "UNAUTHORIZED": "'Bearer'",
        "ACCESS_DENIED": "'Bearer error=\"invalid_token\"'",
        "EXPIRED_TOKEN": "'Bearer error=\"invalid_token\"'",
    }


def test_what_the_authorizer_denies_is_a_401_and_its_failure_says_when_to_come_again() -> None:
    answers = api()["Body"]["x-amazon-apigateway-gateway-responses"]
    denied = answers["ACCESS_DENIED"]
    assert denied["statusCode"] == "401"
    assert "stage" in json.loads(denied["responseTemplates"]["application/json"])["detail"]
    for kind in ("AUTHORIZER_CONFIGURATION_ERROR", "AUTHORIZER_FAILURE", "INTEGRATION_FAILURE"):
        assert answers[kind]["statusCode"] == "503"
        assert answers[kind]["responseParameters"]["gatewayresponse.header.Retry-After"] == "'2'"


def test_bodies_arrive_as_they_were_sent() -> None:
    assert api()["Body"]["x-amazon-apigateway-binary-media-types"] == ["*/*"]


def test_nothing_is_compressed() -> None:
    assert "MinimumCompressionSize" not in written(SERVICE)["Resources"]["Api"]["Properties"]
    assert "minimumCompressionSize" not in api()


def test_a_route_is_called_through_the_alias_and_may_be() -> None:
    permitted = {
        permission["FunctionName"]["Ref"]
        for _, permission in of_type(expanded(), "AWS::Lambda::Permission")
        if permission["Principal"] == "apigateway.amazonaws.com"
    }
    used = {
        alias
        for methods in api()["Body"]["paths"].values()
        for method in methods.values()
        for alias in re.findall(r"\$\{(\w+)\}/invocations", method["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"])
    }
    assert permitted == used | {"AuthorizerFunctionAliaslive"}
    assert all(alias.endswith("Aliaslive") for alias in permitted)
