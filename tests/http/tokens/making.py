"""Making access tokens, and clients that send them."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from local.api_client import ApiClient, Reply
from tests.http.driving.people import Json, Person
from tests.http.driving.stage import Stage

EVERY_SCOPE = ("chat", "records", "documents", "self")


def token_of(user: Person, *scopes: str, **more: Any) -> str:
    made = user.expect(201, "POST", "/tokens", {"scopes": list(scopes or EVERY_SCOPE), **more})
    assert made.keys() == {"token", "expires_at"}
    return str(made["token"])


@contextmanager
def holding(stage: Stage, user: Person, *scopes: str, **more: Any) -> Iterator[Person]:
    """The person, whose calls are made with a token of theirs."""
    with closing(ApiClient(stage.base_url, token_of(user, *scopes, **more))) as client:
        yield replace(user, api=client)


@contextmanager
def with_key(stage: Stage, api: ApiClient, *scopes: str) -> Iterator[tuple[str, ApiClient]]:
    """The id of another key of the tenant, and a client with it; it is revoked in the end."""
    made = api.expect(201, "POST", "/v1/keys", {"scopes": list(scopes)})
    try:
        with closing(ApiClient(stage.base_url, made["key"])) as client:
            yield made["key_id"], client
    finally:
        api.expect(204, "DELETE", f"/v1/keys/{made['key_id']}")


def refused(reply: Reply, status: int, code: str) -> Json:
    problem = dict(reply.json())
    assert (reply.status, problem["code"]) == (status, code), reply.text
    return problem


def claims_of(token: str) -> Json:
    return dict(_part(token.split(".")[1]))


def head_of(token: str) -> Json:
    return dict(_part(token.split(".")[0]))


def rewritten(token: str, head: Json | None = None, **claims: Any) -> str:
    """The token with another head or other claims, under the signature that it had."""
    signature = token.split(".")[2]
    return ".".join((_text({**head_of(token), **(head or {})}), _text({**claims_of(token), **claims}), signature))


def _part(text: str) -> Any:
    return json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def _text(part: Json) -> str:
    return urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
