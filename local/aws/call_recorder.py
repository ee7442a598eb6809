"""Which permission every function uses, written down while the functions run: what its role has to grant, and no more.

Actions are IAM's (a transaction needs the actions of its parts), targets are named as in ``infra/recorded_calls.json``:
``table``, ``table/index/rank``, ``bucket/packs/*``, ``queue/embed``, ``search``, ``secret/anthropic``."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from local.functions import current_function

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

TRANSACTION_PARTS = {
    "Put": "dynamodb:PutItem",
    "Delete": "dynamodb:DeleteItem",
    "Update": "dynamodb:UpdateItem",
    "ConditionCheck": "dynamodb:ConditionCheckItem",
}
OTHER_NAMES = {
    "s3:HeadObject": "s3:GetObject",
    "s3:ListObjectsV2": "s3:ListBucket",
    "sqs:SendMessageBatch": "sqs:SendMessage",
    "bedrock-runtime:InvokeModel": "bedrock:InvokeModel",
}
"""Calls whose permission is called otherwise."""

Recorded = dict[str, dict[str, list[str]]]
"""Function → action → targets, all sorted."""


class CallRecorder:
    """Calls made outside of a function are not recorded. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: set[tuple[str, str, str]] = set()

    def aws_call(self, params: Mapping[str, Any], model: Any, **_: Any) -> None:
        """A handler of botocore's event ``provide-client-params``."""
        if not current_function.get():
            return
        service, call = str(model.service_model.service_name), str(model.name)
        for action, target in _permissions(service, call, params):
            self._note(action, target)

    def watch(self, client: OpenSearch) -> None:
        """Record the requests that a client of the search domain sends from now on."""
        send = client.transport.perform_request

        def recorded(method: str, *given: Any, **more: Any) -> Any:
            self._note(f"es:ESHttp{method.capitalize()}", "search")
            return send(method, *given, **more)

        vars(client.transport)["perform_request"] = recorded

    def recorded(self) -> Recorded:
        found: Recorded = {}
        with self._lock:
            for function, action, target in sorted(self._seen):
                found.setdefault(function, {}).setdefault(action, []).append(target)
        return found

    def write(self, folder: Path) -> None:
        """As a new file of the folder, which many processes write into. ``infra/recorded_calls.py`` reads them."""
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f"{uuid4().hex}.partial"
        partial.write_text(json.dumps(self.recorded(), indent=2) + "\n", encoding="utf-8")
        partial.rename(partial.with_suffix(".json"))

    def _note(self, action: str, target: str) -> None:
        function = current_function.get()
        if function:
            with self._lock:
                self._seen.add((function, action, target))


def _permissions(service: str, call: str, params: Mapping[str, Any]) -> list[tuple[str, str]]:
    action = f"{service}:{call}"
    action = OTHER_NAMES.get(action, action)
    if call == "TransactWriteItems":
        return [(TRANSACTION_PARTS[part], "table") for item in params["TransactItems"] for part in item]
    if service == "dynamodb":
        index = params.get("IndexName")
        return [(action, f"table/index/{index}" if index else "table")]
    if call == "CopyObject":
        return [("s3:GetObject", _objects(params["CopySource"]["Key"])), ("s3:PutObject", _objects(params["Key"]))]
    if service == "s3":
        key = params.get("Key")
        return [(action, _objects(key) if key else "bucket")]
    if service == "sqs":
        name = params["QueueUrl"].rpartition("/")[2].removesuffix(".fifo")
        dead = "-dlq" if name.endswith("-dlq") else ""
        return [(action, f"queue/{name.removesuffix(dead).rpartition('-')[2]}{dead}")]
    return [(action, {"secretsmanager": "secret/anthropic", "bedrock-runtime": "bedrock/titan"}.get(service, service))]


def _objects(key: str) -> str:
    """The part of the bucket that a key is in."""
    return f"bucket/{key.partition('/')[0]}/*"
