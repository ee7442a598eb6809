"""The functions as the network of the command line: a request becomes the event of the function that answers it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import httpx2

from local.openapi import FUNCTIONS
from neve.http.router import Router
from tests.unit.api_world import ALL_SCOPES, Api, proxy_event

BASE_URL = "http://neve.test/prod"
CONDITIONS = ("idempotency-key", "if-match", "if-none-match")


@dataclass(frozen=True)
class InProcess(httpx2.BaseTransport):
    """``routers`` by method and path template."""

    routers: Mapping[tuple[str, str], Router]
    scopes: str = ALL_SCOPES

    @classmethod
    def of_all(cls, scopes: str = ALL_SCOPES) -> InProcess:
        routers = [import_module(f"functions.{name}.app").router for name in FUNCTIONS]
        return cls({(one.method, one.path): router for router in routers for one in router.operations}, scopes)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path.removeprefix("/prod")
        for (method, template), router in self.routers.items():
            ids = re.fullmatch(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", template), path)
            if method == request.method and ids:
                event = self._event(request, router, template, ids.groupdict())
                answer = router.handle(event, None)
                return httpx2.Response(answer["statusCode"], headers=answer["headers"], text=answer["body"])
        return httpx2.Response(404, json={"code": "route_not_found", "detail": f"{request.method} {path}"})

    def _event(self, request: httpx2.Request, router: Router, template: str, ids: dict[str, str]) -> dict[str, Any]:
        body = request.content.decode() or None
        headers = {name: value for name, value in request.headers.items() if name in CONDITIONS}
        query = request.url.query.decode()
        return proxy_event(Api(router, scopes=self.scopes), request.method, template, body, query, headers, **ids)
