"""The test controls of the local server (local/controls/routes.py), one method a control."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from local.api_client import ApiClient
from tests.http.driving.at_once import Beside
from tests.patience import PATIENCE_S

Json = dict[str, Any]
SPELL_S = 20.0
"""Of one call of ``drain``."""
EMBED_QUEUE, EXTRACT_QUEUE, COMPACT_QUEUE = "embed", "extract", "compact"


def drain(client: ApiClient) -> Json:
    """Work until stream and queues are empty, in as many calls as that takes: what the last one answered."""
    end = time.monotonic() + PATIENCE_S
    while True:
        drained = dict(client.expect(200, "POST", "/__test/drain", {"timeout_s": SPELL_S}))
        if drained["done"] or time.monotonic() > end:
            return drained


class Controls:
    """``client`` talks to the server without a key. ``log``: the server's, whose entries are JSON, one a line."""

    def __init__(self, client: ApiClient, log: Path | None = None) -> None:
        self._client = client
        self._log = log

    # --- time ------------------------------------------------------------------------------------

    def freeze(self, at: datetime | str) -> None:
        """The clock of requests and workers shows ``at`` and stands still."""
        self._post("clock", {"now": at if isinstance(at, str) else at.isoformat()})

    def advance(self, seconds: float) -> None:
        self._post("clock", {"advance_s": seconds})

    # --- engines and models ----------------------------------------------------------------------

    def fault(self, target: str, fault: str, *, times: int | None = None, match: str | None = None) -> None:
        """The only fault from now on."""
        one = {"target": target, "fault": fault, "times": times, "match": match}
        self.faults({name: value for name, value in one.items() if value is not None})

    def faults(self, *faults: Json) -> None:
        """These faults and no others; none clears them."""
        self._post("faults", list(faults))

    def cut_search(self, leg: Literal["lexical", "vector"] | None) -> None:
        """Make this leg of the search index fail beneath its adapter; None: neither."""
        self._post("cut-search", {"leg": leg})

    def script(self, *answers: Json, purpose: str | None = None, when: str = "") -> None:
        """What the model will answer, in this order: each is the input of its tool call. ``purpose``: only to such
        calls; ``when``: only to those that hold it."""
        of = {"when": when, **({"purpose": purpose} if purpose else {})}
        self._post("llm", {"answers": [{"tool_input": answer, **of} for answer in answers]})

    def calls(self, kind: str, **fields: Any) -> list[Json]:
        """Requests to ``model`` or ``embed`` since the test began, those with these fields."""
        calls = self._get("calls", kind=kind)["calls"]
        return [call for call in calls if all(call.get(name) == value for name, value in fields.items())]

    def logged(self, message: str) -> list[Json]:
        """The entries of the server's log with this message, oldest first."""
        assert self._log is not None, "nobody said where this server logs to"
        lines = (line for line in self._log.read_text("utf-8").splitlines() if line.startswith("{"))
        entries = map(json.loads, lines)
        return [entry for entry in entries if entry["message"] == message]

    def alarms(self) -> dict[str, Json]:
        """Of a deployment, by name: ``went_off``, and the minutes above the threshold."""
        return dict(self._get("alarms")["alarms"])

    def forget_calls(self) -> None:
        self._post("calls/reset", {})

    # --- workers ---------------------------------------------------------------------------------

    def drain(self) -> Json:
        """Work until stream and queues are empty, delays ignored; what keeps failing reaches its DLQ."""
        drained = drain(self._client)
        assert drained["done"], drained
        return drained

    def work_by_themselves(self) -> None:
        """The workers take whatever comes, as for a user, until the test ends."""
        self._post("work", {"by_themselves": True})

    @contextmanager
    def draining(self) -> Iterator[None]:
        """Drain beside what is done within, and wait for its end."""
        with Beside(self.drain, self._client):
            yield

    @contextmanager
    def working(self) -> Iterator[None]:
        """The workers take whatever comes without delay, as long as something is done within."""
        over = threading.Event()

        def work() -> None:
            while not over.is_set():
                self.drain()

        with Beside(work, self._client):
            try:
                yield
            finally:
                over.set()

    def queues(self) -> dict[str, dict[str, int]]:
        return dict(self._get("queues")["queues"])

    def pause(self, worker: str) -> None:
        """Returns when the worker is idle, and stays so."""
        end = time.monotonic() + PATIENCE_S
        while not self._post("pause", {"worker": worker})["idle"]:
            assert time.monotonic() < end, f"{worker} does not come to rest"

    def resume(self, worker: str | None = None) -> None:
        """One worker or all; passes that are held go on."""
        self._post("resume", {"worker": worker} if worker else {})

    @contextmanager
    def paused(self, worker: str) -> Iterator[None]:
        self.pause(worker)
        try:
            yield
        finally:
            self.resume(worker)

    def hold(self, worker: str, at: Literal["model", "object"] = "model") -> None:
        """Keep the worker's next pass inside its model call, or before it writes an object, until ``resume``."""
        self._post("hold-lease", {"worker": worker, "at": at})

    def wait_until_held(self, worker: str) -> None:
        assert self._get("hold-lease", worker=worker, timeout_s=PATIENCE_S / 2)["inside"] == 1

    def redeliver(self, queue: str, *, times: int = 1, concurrent: int = 1) -> int:
        """Deliver the queue's newest message again; how many of these deliveries failed."""
        wanted = {"queue": queue, "times": times, "concurrent": concurrent}
        return int(self._post("redeliver", wanted)["failed"])

    def run(self, schedule: str) -> None:
        self._post("run", {"worker": schedule})

    @contextmanager
    def running(self, schedule: str) -> Iterator[None]:
        """Run it beside what is done within, and wait for its end."""
        with Beside(lambda: self.run(schedule), self._client):
            yield

    # --- data ------------------------------------------------------------------------------------

    def new_tenant(self, tenant_id: str) -> str:
        """Its key, of every scope."""
        return str(self._post("tenants", {"tenant_id": tenant_id})["api_key"])

    def files_with(self, text: str) -> list[str]:
        """The files of the data folder, logs included, whose bytes hold the text."""
        return [hit["place"] for hit in self._get("raw", find=text)["found"]]

    def stored(self, text: str) -> list[str]:
        """What holds the text: files of the data folder, or rows, objects, messages and passages of real servers."""
        self.drain()
        return [hit["place"] for hit in self._get("stored", find=text)["found"]]

    def left(self, *texts: str) -> list[str]:
        """What still holds one of the texts after sweeps: one may send what another has to wipe, and none wipes a file
        while somebody reads in it."""
        end = time.monotonic() + PATIENCE_S
        while True:
            self.drain()
            self.run("sweep")
            places = [place for text in texts for place in self.stored(text)]
            if not places or time.monotonic() > end:
                return places

    def replay(self, match: str) -> int:
        """Deliver again whatever named this text; how much that was."""
        replayed = self._post("replay", {"match": match})
        assert replayed["failed"] == 0, replayed
        return int(replayed["delivered"])

    def back_to_normal(self) -> None:
        """No fault, no script, the real time, nothing held or paused, nothing left to do, and workers that do what a
        drain gives them: no test's outcome depends on who came first."""
        end = time.monotonic() + PATIENCE_S
        while not (drained := self._post("normal", {"timeout_s": SPELL_S, "by_themselves": False}))["done"]:
            assert time.monotonic() < end, drained

    def _post(self, name: str, body: Any) -> Json:
        return dict(self._client.expect(200, "POST", f"/__test/{name}", body))

    def _get(self, name: str, **query: Any) -> Json:
        return dict(self._client.expect(200, "GET", f"/__test/{name}", query=query))
