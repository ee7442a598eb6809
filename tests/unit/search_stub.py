"""An HTTP server on loopback that answers as OpenSearch does, and fails as a test says."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from neve.adapters.opensearch.mapping import MAPPING_VERSION
from neve.ports.search import IndexModel, Owner

MODEL = IndexModel("stub", 4)
INDEX = "passages-1"
REV_1 = 10
"""A document version of the first rev."""
SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}


@dataclass(frozen=True)
class Reply:
    body: Any
    status: int = 200


class Silence:
    """No answer until the test is over."""


class HangUp:
    """The connection ends without an answer."""


Behaviour = Reply | Silence | HangUp


def refusal(status: int, kind: str) -> Reply:
    return Reply({"error": {"type": kind, "reason": "a sentence that quotes the query"}, "status": status}, status)


def found(*hits: dict[str, Any], **more: Any) -> Reply:
    total = {"value": len(hits), "relation": "eq"}
    buckets = {str(number): {"doc_count": 1} for number in range(10)}
    answer = {
        "timed_out": False,
        "_shards": SHARDS,
        "hits": {"total": total, "hits": list(hits)},
        "aggregations": {"terms": {"buckets": buckets}, "admitted": {"doc_count": len(hits)}},
    }
    return Reply(answer | more)


def hit(owner: Owner, item_id: str, score: float = 1.0) -> dict[str, Any]:
    source = {"tenant": owner.tenant, "user": owner.user, "item_id": item_id, "n": 0, "source": "memory"}
    return {
        "_id": item_id,
        "_version": REV_1,
        "sort": [score, item_id, 0],
        "_source": source | {"fingerprint": f"fp-{item_id}", "length": 3},
    }


def written(*outcomes: dict[str, Any], kind: str = "index") -> Reply:
    """A bulk answer; an outcome is what stands under ``index`` or ``delete``."""
    items = [{kind: {"_id": f"id-{number}"} | outcome} for number, outcome in enumerate(outcomes)]
    return Reply({"errors": any("error" in outcome for outcome in outcomes), "items": items})


DONE: dict[str, Any] = {"status": 201, "result": "created"}


def item_error(status: int, kind: str) -> dict[str, Any]:
    return {"status": status, "error": {"type": kind, "reason": "…"}}


@dataclass
class SearchStub:
    """``next``: how the next calls of an operation (``_search``, ``_bulk``, …) go, in order; then all is well.
    ``asked``: the calls of each operation that arrived."""

    url: str
    next: dict[str, list[Behaviour]] = field(default_factory=lambda: defaultdict(list))
    asked: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    over: threading.Event = field(default_factory=threading.Event)

    def behave(self, operation: str, body: str) -> Behaviour:
        self.asked[operation].append(body)
        if self.next[operation]:
            return self.next[operation].pop(0)
        return self._usual(operation, body)

    def _usual(self, operation: str, body: str) -> Behaviour:
        if operation == "_mapping":
            about = {"model": MODEL.tag, "dimensions": MODEL.dimensions, "mapping": MAPPING_VERSION}
            return Reply({INDEX: {"mappings": {"_meta": about}}})
        if operation == "_bulk":
            actions = [json.loads(line) for line in body.splitlines() if '"_id"' in line]
            return Reply({"errors": False, "items": [_went_well(action) for action in actions]})
        if operation == "_count":
            return Reply({"count": 0, "_shards": SHARDS})
        if operation == "_mget":
            ids = [one["_id"] for one in json.loads(body)["docs"]]
            return Reply({"docs": [{"_id": one, "found": one.endswith("#0")} for one in ids]})
        if operation == "_refresh":
            return Reply({"_shards": SHARDS})
        return found()


def _went_well(action: dict[str, Any]) -> dict[str, Any]:
    [(kind, about)] = action.items()
    outcome = {"status": 404, "result": "not_found"} if kind == "delete" else DONE
    return {kind: {"_id": about["_id"]} | outcome}


@contextmanager
def search_stub() -> Iterator[SearchStub]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    stub = _Handler.stub = SearchStub(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield stub
    finally:
        stub.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stub: SearchStub

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        behaviour = self.stub.behave(self.path.partition("?")[0].rpartition("/")[2], body)
        if isinstance(behaviour, Reply):
            self._send(behaviour)
            return
        if isinstance(behaviour, Silence):
            self.stub.over.wait(30)
        self.close_connection = True

    def _send(self, reply: Reply) -> None:
        raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        head = f"HTTP/1.1 {reply.status} -\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n"
        self.wfile.write(head.encode() + raw)

    do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""
