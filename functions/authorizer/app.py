"""REQUEST authorizer: an API key or an access token becomes a tenant, a key id, scopes, and of a token the user and its
end. Scopes, user and end are checked by the functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neve import wiring
from neve.http.api_keys import caller_of

wiring.prepare()

NOBODY = "nobody"


def handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """The policy covers the whole stage, because API Gateway caches it for every call of the key.

    A key that is wrong, revoked or of another stage is denied, which is a 401 (template.yaml). It is not raised: that
    would be a failure of the function, and one caller with an old key could roll back every deployment. Raises
    StoreUnavailable when nobody can know, which is a 503."""
    api, stage, *_ = event["methodArn"].split("/")
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    caller = caller_of(wiring.ports(), headers.get("authorization")) if stage == wiring.stage() else None
    if caller is None:
        return {"principalId": NOBODY, "policyDocument": _policy("Deny", f"{api}/{stage}/*")}
    return {
        "principalId": caller.key_id,
        "policyDocument": _policy("Allow", f"{api}/{stage}/*"),
        "context": caller.context,
        "usageIdentifierKey": caller.usage_key(stage),
    }


def _policy(effect: str, resource: str) -> dict[str, Any]:
    statement = {"Action": "execute-api:Invoke", "Effect": effect, "Resource": resource}
    return {"Version": "2012-10-17", "Statement": [statement]}
