"""``/__test/…``: what a test may ask of the local server, only with ``--test-controls``. Bodies and answers are JSON;
what cannot be done is a 400 with ``{"error"}``.

* ``POST clock`` ``{"now": ISO}`` freezes the clock of requests and workers, with ``"running": true`` it runs on from
  there; ``{"advance_s": 60}`` moves it, ``{}`` gives the real time back. ``GET clock`` reads it. The header
  ``X-Test-Now`` of any request sets the time of that request alone.
* ``POST faults`` ``[{"target", "fault", "times"?, "match"?}]`` (``local/controls/faults.py``) replaces all; ``[]``
  clears.
* ``POST cut-search`` ``{"leg": "lexical"|"vector"|null}`` makes that leg of the search index fail beneath its adapter
  (``local/controls/search_cut.py``).
* ``POST llm`` ``{"answers": [{"tool_input": {…}} | {"error": "unavailable"|"refused"|"content"} | {"status": 413}]}``
  queues model answers, each with optional ``purpose`` (``observe``|``reflect``|``summarise``|``condense``),
  ``when`` (a part of the request that it is for), ``slow_ms`` and ``usage``; an empty list clears. A model that refuses
  *whatever* holds a text is the fault ``{"target": "llm", "fault": "status:400", "match": text}``; an image reads
  ``[image block]`` there.
* ``GET calls?kind=model|embed``: every request to a model or an embedder. ``POST calls/reset`` forgets them.
* ``POST pause`` ``{"worker"}`` returns when it is idle. ``POST resume`` ``{"worker"}`` also lets its held passes
  go on; ``{}`` is for all workers and disarms holds that caught nothing.
* ``POST hold-lease`` ``{"worker": "extract", "at"?: "model"|"object"}`` holds the next model call of that function, or
  its next object before that is written; ``GET hold-lease?worker=extract&timeout_s=10`` waits until one is held.
* ``POST redeliver`` ``{"queue", "times"?, "concurrent"?, "index"?}`` delivers a message again, by default the newest.
* ``POST work`` ``{"by_themselves": false}`` lets the workers do nothing but what a drain gives them; with ``true``, and
  from the next ``hold-lease`` on, they take whatever comes, as at the start.
* ``POST drain`` ``{"timeout_s"?}`` works until stream and queues are empty. ``GET queues`` counts what is in them.
* ``POST normal`` ``{"timeout_s"?, "by_themselves"?}``: no fault, cut, script, hold or pause, the real time; then it
  drains, and forgets the calls.
* ``POST run`` ``{"worker": "sweep"}`` runs a schedule now: under test controls none runs by itself.
* ``POST restart`` ``{"server": "dynamodb"|"opensearch"|"sqs"|"s3", "kill"?}`` stops a server of the full stack and
  starts it again on its port and data, with ``"kill": true`` by ``kill -9``; returns when it answers.
* ``GET alarms``: for each alarm that takes a deployment back whether it ever went off, and the minutes above its
  threshold. What happens while faults are in force does not count.
* ``POST tenants`` ``{"tenant_id"}`` creates a tenant with a key of every scope.
* ``GET raw?find=text`` names the files of the data folder and of shared servers, logs included, that hold the text.
* ``GET stored?find=text`` names what holds the text: on embedded engines files, on real servers what their APIs give:
  rows, objects, messages, passages and terms of the search index. Drain before.
* ``POST replay`` ``{"match"}`` delivers every change of the table and every message again that names this text, as far
  as they are remembered.
* ``POST kill`` ``{"writes", "function"?, "job"?}`` makes that write of the function, or of all, the last thing that the
  process does: ``kill -9`` before the writer hears of it. With ``job`` the first one from there on that leaves a job of
  that kind unfinished. ``GET kill`` counts the writes of each function since then."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from local.controls.controlled_observer import BadAnswer
from local.controls.controls import Controls
from local.controls.faults import BadFault
from local.controls.holds import POINTS
from local.controls.last_write import Moment
from local.controls.raw_search import Found, find_raw
from local.controls.search_cut import LEGS
from local.engine.sqlite_queue import Counts
from local.engines import Engines
from local.http.message import Request, Response, json_response
from local.limits.alarms import Alarms
from local.stack.jars import Server
from local.workers.deliveries import Deliveries
from local.workers.driver import Driver
from local.workers.failure_log import report
from neve.domain.errors import NeveError
from neve.domain.times import iso, parse
from neve.usecases.tell.tenants.create_tenant import create_tenant

PREFIX = "/__test/"
Body = Mapping[str, Any]
Query = Mapping[str, str]


class Refused(ValueError):
    """A control call that cannot be carried out; answered with 400."""


class TestControls:
    __test__ = False  # not a test class, whatever its name

    def __init__(
        self,
        controls: Controls,
        driver: Driver,
        deliveries: Deliveries,
        engines: Engines,
        folder: Path,
        alarms: Alarms,
    ) -> None:
        self._controls = controls
        self._driver = driver
        self._deliveries = deliveries
        self._engines = engines
        self._folder = folder
        self._reads: dict[str, Callable[[Query], Any]] = {
            "clock": lambda _: self._time(),
            "calls": lambda query: {"calls": controls.calls.entries(query.get("kind"))},
            "alarms": lambda _: {"alarms": {name: asdict(it) for name, it in alarms.verdicts().items()}},
            "queues": lambda _: _backlog(*driver.backlog()),
            "hold-lease": self._wait_for_hold,
            "raw": self._raw,
            "stored": self._stored,
            "kill": lambda _: {"writes": controls.faults.last_write.counts()},
        }
        self._writes: dict[str, Callable[[Any], Any]] = {
            "clock": self._set_clock,
            "faults": self._set_faults,
            "cut-search": self._cut_search,
            "llm": self._script,
            "calls/reset": self._reset_calls,
            "pause": self._pause,
            "resume": self._resume,
            "hold-lease": self._hold,
            "redeliver": self._redeliver,
            "replay": self._replay,
            "kill": self._kill,
            "work": self._work,
            "drain": self._drain,
            "normal": self._back_to_normal,
            "run": self._run,
            "restart": self._restart,
            "tenants": self._create_tenant,
        }

    def handle(self, request: Request) -> Response:
        """The answer to a request below ``PREFIX``."""
        name = request.path.removeprefix(PREFIX)
        try:
            if request.method == "GET" and name in self._reads:
                query = {key: values[-1] for key, values in parse_qs(request.query, keep_blank_values=True).items()}
                return json_response(200, self._reads[name](query))
            if request.method == "POST" and name in self._writes:
                return json_response(200, self._writes[name](json.loads(request.body or b"{}")))
        except (Refused, BadFault, BadAnswer, NeveError, LookupError, ValueError) as error:
            return json_response(400, {"error": f"{type(error).__name__}: {error}"})
        except Exception as error:
            report(f"test control {name}", error)
            return json_response(500, {"error": f"{type(error).__name__}: {error}"})
        return json_response(404, {"error": f"there is no test control {request.method} {name}"})

    def time_of(self, request: Request) -> datetime | None:
        """What ``X-Test-Now`` says. Raises Refused."""
        text = request.header("X-Test-Now")
        try:
            return parse(text) if text else None
        except ValueError:
            raise Refused(f"X-Test-Now: {text}") from None

    # --- the clock ------------------------------------------------------------------------------

    def _time(self) -> Body:
        return {"now": iso(self._controls.clock.now())}

    def _set_clock(self, body: Any) -> Body:
        given, clock = _fields(body, "now", "running", "advance_s"), self._controls.clock
        if "advance_s" in given:
            clock.advance(timedelta(seconds=float(given["advance_s"])))
        elif given.get("now") is None:
            clock.reset()
        elif given.get("running"):
            clock.run_from(parse(given["now"]))
        else:
            clock.freeze(parse(given["now"]))
        return self._time()

    # --- engines and models ---------------------------------------------------------------------

    def _set_faults(self, body: Any) -> Body:
        if not isinstance(body, list):
            raise Refused("faults are a list; an empty one clears them")
        self._controls.faults.replace(body)
        return {"faults": len(body)}

    def _cut_search(self, body: Any) -> Body:
        leg = _fields(body, "leg")["leg"]
        if leg not in (None, *LEGS):
            raise Refused(f"leg must be one of {', '.join(LEGS)}, is {leg}")
        self._engines.search_cut.cut(leg)
        return {"cut": leg}

    def _script(self, body: Any) -> Body:
        return {"waiting": self._controls.script.add(_fields(body, "answers")["answers"])}

    def _reset_calls(self, body: Any) -> Body:
        _fields(body)
        self._controls.calls.clear()
        return {}

    # --- workers --------------------------------------------------------------------------------

    def _pause(self, body: Any) -> Body:
        worker = _fields(body, "worker")["worker"]
        return {"paused": worker, "idle": self._driver.pause(worker)}

    def _resume(self, body: Any) -> Body:
        worker = _fields(body, "worker").get("worker")
        if worker is not None:
            if worker in self._driver.workers or worker not in self._engines.template.functions:
                self._driver.resume(worker)
            self._controls.holds.release(worker)
            return {"resumed": [worker]}
        for name in self._driver.workers:
            self._driver.resume(name)
        self._controls.holds.release_all()
        return {"resumed": sorted(self._driver.workers)}

    def _hold(self, body: Any) -> Body:
        given = _fields(body, "worker", "at")
        at = given.get("at", "model")
        if at not in POINTS:
            raise Refused(f"a pass can be held at {' and '.join(POINTS)}, not at {at}")
        if given["worker"] not in self._engines.template.functions:
            raise LookupError(given["worker"])
        self._controls.holds.arm(given["worker"], at)
        self._driver.work_by_themselves(on=True)
        return {"armed": given["worker"], "at": at}

    def _wait_for_hold(self, query: Query) -> Body:
        return {"inside": self._controls.holds.wait_inside(query["worker"], float(query.get("timeout_s", "10")))}

    def _redeliver(self, body: Any) -> Body:
        given = _fields(body, "queue", "times", "concurrent", "index")
        times, concurrent = int(given.get("times", 1)), int(given.get("concurrent", 1))
        index = int(given.get("index", -1))
        failed = self._deliveries.again(given["queue"], times=times, concurrent=concurrent, index=index)
        return {"delivered": times, "failed": failed}

    def _replay(self, body: Any) -> Body:
        delivered, failed = self._deliveries.replay(_fields(body, "match")["match"])
        return {"delivered": delivered, "failed": failed}

    def _kill(self, body: Any) -> Body:
        given = _fields(body, "writes", "function", "job")
        moment = Moment(given.get("function"), int(given["writes"]), given.get("job"))
        if moment.writes < 1:
            raise Refused(f"writes must be a number from 1, is {moment.writes}")
        self._controls.faults.last_write.arm(moment)
        return asdict(moment)

    def _work(self, body: Any) -> Body:
        on = bool(_fields(body, "by_themselves")["by_themselves"])
        self._driver.work_by_themselves(on=on)
        return {"by_themselves": on}

    def _drain(self, body: Any) -> Body:
        drained = self._driver.drain(float(_fields(body, "timeout_s").get("timeout_s", 60.0)))
        return {"done": drained.done, **_backlog(drained.changes, drained.queues)}

    def _back_to_normal(self, body: Any) -> Body:
        given = _fields(body, "timeout_s", "by_themselves")
        if "by_themselves" in given:
            self._work({"by_themselves": given.pop("by_themselves")})
        self._controls.faults.replace([])
        self._engines.search_cut.cut(None)
        self._controls.script.add([])
        self._controls.clock.reset()
        self._resume({})
        drained = self._drain(given)
        self._controls.calls.clear()
        return drained

    def _run(self, body: Any) -> Body:
        worker = _fields(body, "worker")["worker"]
        self._driver.run(worker)
        return {"ran": worker}

    def _restart(self, body: Any) -> Body:
        given, servers = _fields(body, "server", "kill"), self._engines.servers
        if servers is None:
            raise Refused("it has no servers of its own")
        server = Server(given["server"])
        servers.restart(server, kill=bool(given.get("kill", False)))
        return {"restarted": server}

    # --- data -----------------------------------------------------------------------------------

    def _create_tenant(self, body: Any) -> Body:
        tenant_id = _fields(body, "tenant_id")["tenant_id"]
        created = create_tenant(self._engines, tenant_id, label="test")
        return {"tenant_id": tenant_id, "key_id": created.key_id, "api_key": created.key}

    def _raw(self, query: Query) -> Body:
        return _found(find_raw([self._folder, *self._engines.elsewhere], _wanted(query).encode()))

    def _stored(self, query: Query) -> Body:
        return _found(self._engines.stored(_wanted(query)))


def _wanted(query: Query) -> str:
    """Raises Refused."""
    if not query.get("find"):
        raise Refused("find=<text> is missing")
    return query["find"]


def _found(found: Iterable[Found]) -> Body:
    return {"found": [asdict(one) for one in found]}


def _fields(body: Any, *allowed: str) -> dict[str, Any]:
    """The members of a body. Raises Refused for one that is not expected."""
    if not isinstance(body, dict) or not set(body) <= set(allowed):
        raise Refused(f"expected an object with {', '.join(allowed) or 'nothing'}")
    return body


def _backlog(changes: int, queues: Mapping[str, Counts]) -> Body:
    return {"changes": changes, "queues": {name: counts._asdict() for name, counts in queues.items()}}
