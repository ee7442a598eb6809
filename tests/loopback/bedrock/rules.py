"""The rules by which Bedrock refuses an InvokeModel: its path, its signature, and the body of Anthropic's models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.loopback import anthropic_rules
from tests.loopback.anthropic_rules import blocks_of
from tests.loopback.refusal import Json, Refused, one_of

BODY_VERSION = "bedrock-2023-05-31"
PATH = re.compile(r"/model/([^/]+)/invoke")
MODEL = re.compile(r"([a-z]+\.)?anthropic\.claude-[a-z0-9.:-]+")
SIGNED_WITH = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/\d{8}/([^/]+)/bedrock/aws4_request, SignedHeaders=([^,]+), Signature=(\w{64})"
)


class NotSigned(Exception):
    """Answered with 403."""


def model_of(path: str) -> str | None:
    """The model that a path asks; None for a path that Bedrock does not have."""
    found = PATH.fullmatch(path)
    name = unquote(found[1]) if found else ""
    return name if MODEL.fullmatch(name) else None


def check_signature(path: str, headers: Mapping[str, str], body: bytes, secret: str, region: str) -> None:
    """Raises NotSigned."""
    found = SIGNED_WITH.fullmatch(headers.get("authorization", ""))
    if found is None or "x-amz-date" not in headers:
        raise NotSigned("MissingAuthenticationTokenException")
    key, signed_region, names, signature = found.groups()
    signed = {name: headers.get(name, "") for name in names.split(";")}
    if signed_region != region or not {"host", "x-amz-date"} <= signed.keys():
        raise NotSigned("InvalidSignatureException")
    asked = AWSRequest("POST", f"http://{headers['host']}{path}", headers=signed, data=body)
    asked.context["timestamp"] = headers["x-amz-date"]
    signer = SigV4Auth(Credentials(key, secret), "bedrock", region)
    right = signer.signature(signer.string_to_sign(asked, signer.canonical_request(asked)), asked)
    if right != signature:
        raise NotSigned("InvalidSignatureException")


def check(body: object, model: str) -> Json:
    """The body as Anthropic's own API would have it. Raises Refused."""
    found = dict(body) if isinstance(body, dict) else {}
    one_of(found.pop("anthropic_version", None), "anthropic_version", (BODY_VERSION,))
    for name in ("model", "stream"):
        if name in found:
            raise Refused(name, "Extra inputs are not permitted")
    asked = anthropic_rules.check({"model": model, **found})
    for at, message in enumerate(asked["messages"]):
        for place, block in enumerate(blocks_of(message)):
            if block["type"] == "image" and block["source"]["type"] != "base64":
                raise Refused(f"messages.{at}.content.{place}.image.source.type", "Input should be 'base64'")
    return asked
