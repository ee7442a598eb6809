"""REQUEST authorizer: an API key becomes a tenant, a key id and scopes. Scopes are checked by the functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neve import wiring
from neve.http.api_keys import caller_of

wiring.prepare()


def handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """The policy covers the whole stage, because API Gateway caches it for every call of the key. Raises
    ``Exception("Unauthorized")``, which is how API Gateway is told 401; any other error becomes a 503."""
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    caller = caller_of(wiring.ports(), headers.get("authorization"))
    if caller is None:
        raise Exception("Unauthorized")
    stage = "/".join(event["methodArn"].split("/")[:2])
    statement = {"Action": "execute-api:Invoke", "Effect": "Allow", "Resource": f"{stage}/*"}
    return {
        "principalId": caller.key_id,
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        "context": {"tenant_id": caller.tenant_id, "key_id": caller.key_id, "scopes": " ".join(caller.scopes)},
    }
