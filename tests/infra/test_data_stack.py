"""What is kept: encrypted, closed to the public, recoverable, and erasable."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from local.template import ROOT
from neve.ports.table import INDEX_PROJECTION
from tests.infra.templates import ACCOUNT, DATA, SERVICE, expanded, of_type, written

RESOURCES: Mapping[str, Any] = written(DATA)["Resources"]
KEY = {"Fn::GetAtt": ["Key", "Arn"]}
STAGES = ("dev", "staging", "prod")
ROLES = ("RecallRole", "IndexRole", "EmbedRole", "LibrarianRole", "AdminRole", "JobsRole")
"""What the policy of the domain names: of a role that was removed it would keep a number that nobody has."""


def properties(logical_id: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = RESOURCES[logical_id]["Properties"]
    return found


@pytest.mark.parametrize("logical_id", ["Key", "Table", "Bucket", "BucketPolicy", "Domain", "AnthropicSecret", *ROLES])
def test_a_store_outlives_its_stack(logical_id: str) -> None:
    assert RESOURCES[logical_id]["DeletionPolicy"] == "RetainExceptOnCreate"
    assert RESOURCES[logical_id]["UpdateReplacePolicy"] == "Retain"


def test_a_first_deployment_that_fails_leaves_nothing_behind() -> None:
    """What it left would be in the way of the next one: most have fixed names."""
    policies = {resource.get("DeletionPolicy", "Delete") for resource in RESOURCES.values()}
    assert policies == {"RetainExceptOnCreate", "Delete"}
    fallible = {"AnthropicSecret", "BucketPolicy", "KeyAlias", "SearchArnParameter"}
    assert fallible <= set(RESOURCES["Table"]["DependsOn"]), "what is protected from deletion is made last"


def test_nothing_that_is_kept_is_in_the_service_stack() -> None:
    stateful = {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::OpenSearchService::Domain", "AWS::KMS::Key"}
    assert {resource["Type"] for resource in expanded().values()}.isdisjoint(stateful | {"AWS::SecretsManager::Secret"})


# --- the table --------------------------------------------------------------------------------------


def test_the_table_is_protected_and_recoverable() -> None:
    table = properties("Table")
    assert table["DeletionProtectionEnabled"] is True
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert table["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert table["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": KEY}
    assert table["BillingMode"] == "PAY_PER_REQUEST"


def test_indexes_project_what_the_port_promises() -> None:
    indexes = {index["IndexName"]: index for index in properties("Table")["GlobalSecondaryIndexes"]}
    projected = {name: set(index["Projection"].get("NonKeyAttributes", ())) for name, index in indexes.items()}
    assert projected == {"recent": set()} | {index.value: set(names) for index, names in INDEX_PROJECTION.items()}
    assert indexes["recent"]["Projection"]["ProjectionType"] == "ALL"


# --- objects ----------------------------------------------------------------------------------------


def test_the_bucket_is_closed_and_forgets_what_is_deleted() -> None:
    bucket = properties("Bucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    [encryption] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": KEY}
    assert "VersioningConfiguration" not in bucket, "an erased object would live on as an old version"
    assert "ReplicationConfiguration" not in bucket
    rules = bucket["LifecycleConfiguration"]["Rules"]
    by_id = {rule["Id"]: {name: rule[name] for name in rule if name not in ("Id", "Status")} for rule in rules}
    assert by_id == {
        "abort-multipart-uploads": {"AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}},
        "expire-uploads": {"Prefix": "uploads/", "ExpirationInDays": 1},
        "expire-exports": {"Prefix": "exports/", "ExpirationInDays": 7},
    }
    assert {rule["Status"] for rule in rules} == {"Enabled"}


def test_the_bucket_speaks_tls_only() -> None:
    statements = {it["Sid"]: it for it in properties("BucketPolicy")["PolicyDocument"]["Statement"]}
    assert {it["Effect"] for it in statements.values()} == {"Deny"}
    assert {it["Principal"] for it in statements.values()} == {"*"}
    assert statements["TlsOnly"]["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert statements["Tls12OrNewer"]["Condition"] == {"NumericLessThan": {"s3:TlsVersion": "1.2"}}
    assert all(len(it["Resource"]) == 2 for it in statements.values()), "the bucket and what is in it"


# --- search -----------------------------------------------------------------------------------------


def test_the_domain_is_encrypted_everywhere() -> None:
    domain = properties("Domain")
    assert domain["EngineVersion"] == "OpenSearch_2.19"
    assert domain["EncryptionAtRestOptions"] == {"Enabled": True, "KmsKeyId": {"Ref": "Key"}}
    assert domain["NodeToNodeEncryptionOptions"] == {"Enabled": True}
    assert domain["DomainEndpointOptions"]["EnforceHTTPS"] is True
    assert "TLS-1-2" in domain["DomainEndpointOptions"]["TLSSecurityPolicy"]
    assert domain["EBSOptions"]["VolumeType"] == "gp3"
    assert set(domain["LogPublishingOptions"]) == {"ES_APPLICATION_LOGS"}, "slow logs would hold queries"


def test_the_domain_lets_in_the_roles_of_its_functions_and_the_operator() -> None:
    allowed: dict[str, set[str]] = {}
    operators = 0
    for statement in properties("Domain")["AccessPolicies"]["Statement"]:
        if "Fn::If" in statement:
            condition, then, otherwise = statement["Fn::If"]
            assert (condition, otherwise) == ("HasOperator", {"Ref": "AWS::NoValue"})
            assert then["Principal"] == {"AWS": {"Ref": "OperatorArn"}}
            operators += 1
            continue
        assert statement["Effect"] == "Allow"
        principals = statement["Principal"]["AWS"]
        for principal in principals if isinstance(principals, list) else [principals]:
            path = statement["Resource"]["Fn::Sub"].rpartition("domain/neve-${Stage}")[2]
            actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
            allowed.setdefault(principal["Fn::GetAtt"][0], set()).update(f"{action} {path}" for action in actions)
    assert allowed == {
        "RecallRole": {"es:ESHttpPost /*/_search", "es:ESHttpGet /*/_mapping"},
        "LibrarianRole": {"es:ESHttpPost /*/_search", "es:ESHttpGet /*/_mapping"},
        "AdminRole": {"es:ESHttpGet /*/_mapping"},
        "IndexRole": {"es:ESHttpGet /*", "es:ESHttpPost /*", "es:ESHttpPut /*"},
        "EmbedRole": {"es:ESHttpGet /*", "es:ESHttpPost /*", "es:ESHttpPut /*"},
        "JobsRole": {"es:ESHttpGet /*", "es:ESHttpPost /*", "es:ESHttpPut /*"},
    }
    assert operators == 1


def test_production_survives_the_loss_of_a_zone() -> None:
    sizes = written(DATA)["Mappings"]["Domains"]
    assert set(sizes) == set(STAGES)
    assert (sizes["prod"]["Instances"], sizes["prod"]["Zones"], sizes["prod"]["Masters"]) == (3, 3, 3)
    watched = written(ROOT / "infra" / "observability.yaml")["Mappings"]["Stages"]
    for stage, size in sizes.items():
        assert watched[stage]["FreeMiB"] == 250 * size["VolumeGiB"], "a quarter of the disk"


# --- the key ----------------------------------------------------------------------------------------


def test_the_key_turns_and_is_used_through_the_stores() -> None:
    key = properties("Key")
    assert key["EnableKeyRotation"] is True
    [account, stores] = key["KeyPolicy"]["Statement"]
    assert account["Principal"]["AWS"]["Fn::Sub"].endswith(":root")
    condition = stores["Condition"]["StringEquals"]
    assert condition["kms:CallerAccount"] == {"Ref": "AWS::AccountId"}
    services = {service["Fn::Sub"].partition(".")[0] for service in condition["kms:ViaService"]}
    assert services == {"dynamodb", "s3", "secretsmanager"}
    assert "kms:*" not in stores["Action"]


# --- where the stacks meet ----------------------------------------------------------------------------


def handed_over() -> set[str]:
    return {it["Name"]["Fn::Sub"] for _, it in of_type(RESOURCES, "AWS::SSM::Parameter")}


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_is_given_what_its_data_stack_writes_down(stage: str) -> None:
    given = yaml.safe_load((ROOT / "infra" / "parameters" / f"{stage}.yaml").read_text(encoding="utf-8"))
    declared = written(SERVICE)["Parameters"]
    assert set(given) == set(declared) - {"BuildSha", "LogLevel", "DeploymentAlarms", "Boundary"}
    assert given["Stage"] == stage
    paths = {value for value in given.values() if value.startswith("/")}
    assert paths == {path.replace("${Stage}", stage) for path in handed_over()}
    for name, value in given.items():
        assert value.startswith("/") == (declared[name]["Type"] == "AWS::SSM::Parameter::Value<String>"), name
        if "AllowedValues" in declared[name]:
            assert value in declared[name]["AllowedValues"]
        elif not value.startswith("/"):
            assert re.fullmatch(declared[name].get("AllowedPattern", ""), value), name


def test_values_of_parameter_store_are_left_to_cloudformation() -> None:
    """The transformation sees only the path of such a parameter: it must not put it where the value belongs."""
    text = json.dumps(expanded())
    assert "/neve/dev/" not in text
    assert '{"Ref": "TableStream"}' in text and '{"Ref": "TableName"}' in text


def test_every_stack_has_a_place_in_samconfig() -> None:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    deployed = {name: it["deploy"]["parameters"] for name, it in config.items() if name not in ("version", "default")}
    assert set(deployed) == {"account", "console", *STAGES, *(f"{stage}-data" for stage in STAGES)}
    assert len({it["stack_name"] for it in deployed.values()}) == len(deployed)
    for stage in STAGES:
        assert ROOT / deployed[f"{stage}-data"]["template_file"] == DATA
        assert deployed[f"{stage}-data"]["parameter_overrides"] == f"Stage={stage}"
        assert "template_file" not in deployed[stage], "what `sam build` made is deployed"
    assert Path(ROOT / deployed["account"]["template_file"]) == ACCOUNT
