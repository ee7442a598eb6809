"""A client of the gateway without a socket in front of it."""

from __future__ import annotations

from local.api_client import ApiClient, Reply
from local.http.gateway import Gateway
from local.http.message import Request

BASE_URL = "http://127.0.0.1"


class InProcess(ApiClient):
    def __init__(self, gateway: Gateway, key: str) -> None:
        super().__init__(BASE_URL, key)
        self._gateway = gateway

    def _exchange(self, method: str, target: str, content: bytes | None, headers: dict[str, str]) -> Reply:
        path, _, query = target.partition("?")
        answer = self._gateway.handle(Request(method, path, query, list(headers.items()), content or b""))
        return Reply(answer.status, {name.lower(): value for name, value in answer.headers}, answer.body)
