"""The console of a stage: one origin with the API, a bucket that only its distribution reads, no inline script."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from infra.operate.console import NotBuilt, put_console
from infra.operate.stages import NoSuchStage
from local.console.page import CSP
from tests.infra.templates import CONSOLE, written

RESOURCES = written(CONSOLE)["Resources"]
DISTRIBUTION = RESOURCES["Distribution"]["Properties"]["DistributionConfig"]
BUCKET = "console-of-dev"


def test_only_this_distribution_reads_the_bucket_and_over_tls() -> None:
    allowed, denied = RESOURCES["BucketPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert (allowed["Principal"], allowed["Action"]) == ({"Service": "cloudfront.amazonaws.com"}, "s3:GetObject")
    assert "${Distribution}" in json.dumps(allowed["Condition"]["StringEquals"])
    assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert set(RESOURCES["Bucket"]["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}
    control = RESOURCES["AccessControl"]["Properties"]["OriginAccessControlConfig"]
    assert (control["SigningBehavior"], control["OriginAccessControlOriginType"]) == ("always", "s3")


def test_page_and_api_are_of_one_origin_and_no_answer_of_the_api_is_kept() -> None:
    page, api = DISTRIBUTION["DefaultCacheBehavior"], DISTRIBUTION["CacheBehaviors"][0]
    origins = {origin["Id"]: origin for origin in DISTRIBUTION["Origins"]}
    assert (page["TargetOriginId"], api["TargetOriginId"], api["PathPattern"]) == ("page", "api", "/v1/*")
    assert api["CachePolicyId"] == "4135ea2d-6df8-44a3-9df3-4b5a84be39ad", "CachingDisabled"
    assert api["OriginRequestPolicyId"] == "b689b0a8-53d0-40ab-baf2-68738e2966ac", "with Authorization, without Host"
    assert origins["api"]["CustomOriginConfig"]["OriginProtocolPolicy"] == "https-only"
    assert {page["ViewerProtocolPolicy"], api["ViewerProtocolPolicy"]} == {"redirect-to-https", "https-only"}


def test_the_page_has_the_policy_that_it_has_on_one_machine() -> None:
    headers = RESOURCES["Headers"]["Properties"]["ResponseHeadersPolicyConfig"]["SecurityHeadersConfig"]
    assert headers["ContentSecurityPolicy"] == {"Override": True, "ContentSecurityPolicy": CSP}
    assert "unsafe" not in CSP
    assert headers["ReferrerPolicy"]["ReferrerPolicy"] == "no-referrer"
    assert DISTRIBUTION["DefaultCacheBehavior"]["ResponseHeadersPolicyId"] == {"Ref": "Headers"}


# --- put-console -------------------------------------------------------------------------------------------


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[boto3.Session]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    with mock_aws():
        made = boto3.Session(region_name="us-east-1")
        made.client("s3").create_bucket(Bucket=BUCKET)
        made.client("ssm").put_parameter(Name="/neve/dev/console/bucket-name", Value=BUCKET, Type="String")
        yield made


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    for name in ("index.html", "app-1a.js", "app-2b.css", "icon-3c.svg"):
        (tmp_path / name).write_text(name)
    return tmp_path


def test_the_page_is_put_behind_what_it_names(session: boto3.Session, dist: Path) -> None:
    put = list(put_console(session, "dev", dist))
    assert put == [f"console/{name} put" for name in ("app-1a.js", "app-2b.css", "icon-3c.svg", "index.html")]

    def kept(name: str) -> tuple[Any, Any]:
        head = session.client("s3").head_object(Bucket=BUCKET, Key=f"console/{name}")
        return head["ContentType"], head["CacheControl"]

    assert kept("index.html") == ("text/html; charset=utf-8", "no-cache")
    assert kept("app-1a.js") == ("text/javascript; charset=utf-8", "public, max-age=31536000, immutable")


def test_what_is_missing_is_named(session: boto3.Session, dist: Path, tmp_path: Path) -> None:
    with pytest.raises(NotBuilt, match="make console"):
        list(put_console(session, "dev", tmp_path / "none"))
    with pytest.raises(NoSuchStage, match="/neve/prod/console/bucket-name"):
        list(put_console(session, "prod", dist))
