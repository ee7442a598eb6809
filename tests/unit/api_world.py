"""The functions called as API Gateway calls them, on the engines of a ``World``: no socket, the same events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from neve import wiring
from neve.http.problems import CONTENT_TYPE
from neve.http.router import Router
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from tests.unit.world import World

ALL_SCOPES = "chat records admin"


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def fields(self) -> list[str]:
        """The fields that a problem names."""
        return [error["field"] for error in self.json["errors"]]


@dataclass
class Api:
    """Calls one router. ``path`` in ``call`` is ``<resource>?<query>`` with the ids in braces' place given by name."""

    router: Router
    tenant: str = "acme"
    scopes: str = ALL_SCOPES

    def call(
        self,
        method: str,
        resource: str,
        body: Any = None,
        *,
        query: str = "",
        headers: Mapping[str, str] | None = None,
        raw: str | None = None,
        **ids: str,
    ) -> Reply:
        text = raw if raw is not None else None if body is None else json.dumps(body)
        return self.send(proxy_event(self, method, resource, text, query, dict(headers or {}), **ids))

    def send(self, event: Mapping[str, Any]) -> Reply:
        answer = self.router.handle(event, None)
        assert answer["isBase64Encoded"] is False
        reply = Reply(answer["statusCode"], answer["headers"], answer["body"])
        assert self._is_declared(event, reply), f"{reply.status} {reply.text} is not declared by the operation"
        return reply

    def _is_declared(self, event: Mapping[str, Any], reply: Reply) -> bool:
        place = event["httpMethod"], event["resource"]
        operation = next((o for o in self.router.operations if (o.method, o.path) == place), None)
        if reply.headers.get("Content-Type") != CONTENT_TYPE:
            return operation is not None and reply.status in operation.responses
        code: str = reply.json["code"]
        return code in (operation.all_codes if operation else ("route_not_found",))


def proxy_event(
    api: Api, method: str, resource: str, body: str | None, query: str, headers: dict[str, str], **ids: str
) -> dict[str, Any]:
    pairs = parse_qsl(query, keep_blank_values=True)
    multi: dict[str, list[str]] = {}
    for name, value in pairs:
        multi.setdefault(name, []).append(value)
    path = resource.format(**ids)
    return {
        "resource": resource,
        "path": path,
        "httpMethod": method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": dict(pairs) or None,
        "multiValueQueryStringParameters": multi or None,
        "pathParameters": ids or None,
        "requestContext": {
            "requestId": "req-1",
            "authorizer": {"tenant_id": api.tenant, "key_id": "k1", "scopes": api.scopes},
        },
        "body": body,
        "isBase64Encoded": False,
    }


def installed(world: World) -> Iterator[World]:
    """The world as the process's engines, with its tenant's row. Restores what was there."""
    before = list(wiring._installed)
    world.table.write([put_tenant(TenantRow(world.tenant.id, "2026-03-10T09:30:00.000Z"))])
    wiring.install(world)
    yield world
    wiring._installed[:] = before
