"""The soak's own parts: what it does to the service and when, how its clients repeat, and that its checks find what is
wrong."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from evals.soak.in_stores import StoreChecks
from evals.soak.journal import Account
from evals.soak.report import summary
from evals.soak.schedule import FAULTS, MAX_FAULT_S, RESTARTS, schedule
from evals.soak.sending import Attempt, Call, Sender, Unexpected
from local.backend import Choices, EmbeddedPorts
from local.template import read_template
from neve.domain.documents.change import DocumentChange
from neve.domain.records.sessions import EventType
from neve.domain.tenants.policy import Policy
from neve.ports.queue import Message, QueueName
from neve.ports.search import Owner
from neve.ports.table import Delete, key_of
from neve.scope import SessionData, SessionScope, Tenant, UserData, UserScope
from neve.store import rows
from neve.store.keys import DOCUMENT_REV, Keys, SessionKeys, UserKeys
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.tell.sessions.open_session import OpenSession, open_session
from neve.usecases.work.indexing.index_events import reindex_events
from neve.usecases.work.indexing.index_memories import index_memories
from neve.usecases.work.indexing.indexed_collections import DOCUMENTS
from neve.usecases.work.observe.observe_session import observe_session

ANN = Account("acme", "ann")
KEYS = Keys("acme")


# --- the schedule -------------------------------------------------------------------------------


@pytest.mark.parametrize("minutes", [1.0, 15.0])
def test_every_fault_and_every_restart_has_its_time(minutes: float) -> None:
    steps = schedule(minutes, 1, restarts=True)
    assert sorted(step.name for step in steps if step.restart is None) == sorted(name for name, _ in FAULTS)
    assert {(step.restart, step.kill) for step in steps if step.restart is not None} == set(RESTARTS)
    ends = [step.at_s + step.lasts_s for step in steps]
    assert all(end < later.at_s for end, later in zip(ends, steps[1:], strict=False)), "no two at once"
    assert steps[0].at_s > 0 and ends[-1] < minutes * 60
    assert all(step.lasts_s <= MAX_FAULT_S for step in steps)


def test_a_seed_decides_the_order_and_files_are_not_restarted() -> None:
    assert schedule(15, 1, restarts=True) == schedule(15, 1, restarts=True)
    assert schedule(15, 1, restarts=True) != schedule(15, 2, restarts=True)
    assert not any(step.restart for step in schedule(15, 1, restarts=False))


# --- a client's requests ------------------------------------------------------------------------


class Scripted(BaseHTTPRequestHandler):
    """Answers in order; remembers what it was asked."""

    url: str
    answers: list[tuple[int, dict[str, Any]]]
    asked: list[tuple[str | None, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append((self.headers["Idempotency-Key"], body))
        status, answer = self.answers.pop(0)
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on the test's output."""


@pytest.fixture
def service() -> Iterator[type[Scripted]]:
    Scripted.answers, Scripted.asked = [], []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    Scripted.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Scripted
    server.shutdown()
    server.server_close()


@pytest.fixture
def sender(service: type[Scripted]) -> Iterator[Sender]:
    sender = Sender(service.url, {"acme": "key"}, lambda: "calm", random.Random(1))
    yield sender
    sender.close()


CREATE = Call("create", "POST", "/v1/x", {"a": 1}, key="k", good=(201,), good_again=(404,))


def test_an_unknown_outcome_is_repeated_with_the_same_key_and_body(service: type[Scripted], sender: Sender) -> None:
    service.answers += [(503, {}), (409, {"code": "idempotency_in_progress"}), (429, {}), (201, {"id": "m"})]
    reply = sender.send(ANN, CREATE)
    assert reply is not None and reply.json() == {"id": "m"}
    assert service.asked == [("k", b'{"a": 1}')] * 4
    assert [attempt.good for attempt in sender.attempts] == [False, False, False, True]
    assert sender.attempts[1].outcome == "409 idempotency_in_progress"


@pytest.mark.parametrize("answer", [(500, {"code": "internal"}), (409, {"code": "client_id_conflict"}), (404, {})])
def test_what_no_fault_explains_is_not_repeated(
    service: type[Scripted], sender: Sender, answer: tuple[int, dict[str, Any]]
) -> None:
    service.answers += [answer]
    with pytest.raises(Unexpected, match=str(answer[0])):
        sender.send(ANN, CREATE)
    assert len(service.asked) == 1


def test_some_answers_are_good_only_behind_an_unknown_outcome(service: type[Scripted], sender: Sender) -> None:
    service.answers += [(503, {}), (404, {})]
    reply = sender.send(ANN, CREATE)
    assert reply is not None and reply.status == 404


def test_the_summary_counts_by_kind_and_window() -> None:
    attempts = [Attempt("pack", "calm", "200", True, ms) for ms in (1.0, 2.0, 30.0)]
    attempts += [Attempt("pack", "table error", "503 store_unavailable", False, 900.0)]
    found = summary(attempts)
    assert (found["requests"], found["not_answered_well"]) == (4, 1)
    assert found["by_kind"]["pack"]["p50_ms"] == 2.0 and found["by_kind"]["pack"]["p95_ms"] == 30.0
    assert found["outcomes_by_window"] == {"table error": {"503 store_unavailable": 1}}


# --- the checks of the stores -------------------------------------------------------------------


@pytest.fixture
def engines(tmp_path: Path) -> Iterator[EmbeddedPorts]:
    """A user with one session, observed and packed, one memory and one document; all of it in the index."""
    ports = EmbeddedPorts(tmp_path, read_template(), "http://127.0.0.1", Choices("fixture"))
    tenant = Tenant("acme", Policy())
    open_session(UserScope(ports, tenant, "ann"), OpenSession(session_id="s1", budget_ms=10_000))
    events = [NewEvent(EventType.USER_MESSAGE, "I live in Lisbon now.", client_id="c1")]
    append_events(SessionScope(ports, tenant, "ann", "s1"), events)
    observe_session(SessionScope(ports, tenant, "ann", "s1"), 1, closing=True)
    create_memory(UserScope(ports, tenant, "ann"), NewMemory(text="Remember the tea."))
    revs = {
        row["id"]: row["rev"] for row in ports.table.query(KEYS.of_user("ann").partition, prefix="MEM#", limit=9).items
    }
    index_memories(UserData(ports, UserKeys("acme", "ann")), revs)
    tea = write_document(UserScope(ports, tenant, "ann"), "/notes/tea", DocumentChange(text="Green, at noon.")).document
    index_memories(UserData(ports, UserKeys("acme", "ann")), {str(tea.id): tea.rev}, collection=DOCUMENTS)
    reindex_events(SessionData(ports, SessionKeys("acme", "ann", "s1")), 1, (1, 1))
    yield ports
    ports.close()


def check(engines: EmbeddedPorts) -> StoreChecks:
    checks = StoreChecks(engines, {})
    checks.run([ANN])
    return checks


def test_a_healthy_folder_is_consistent(engines: EmbeddedPorts) -> None:
    checks = check(engines)
    assert checks.findings == []
    assert checks.counts["events"] == checks.counts["pack objects"] == checks.counts["pack manifests"] == 1
    assert checks.counts["passages expected"] == checks.counts["passages in the search index"] == 5
    assert checks.counts["documents"] == 1


def _lose_event(engines: EmbeddedPorts) -> None:
    engines.table.write([Delete(KEYS.of_user("ann").of_session("s1").event(1))])


def _lose_passage(engines: EmbeddedPorts) -> None:
    engines.search.trim(Owner("acme", "ann"), "evt:s1:1", keep=0, version=1)


def _lose_revision(engines: EmbeddedPorts) -> None:
    [place] = engines.table.query(KEYS.of_user("ann").partition, prefix=DOCUMENT_REV, limit=9).items
    engines.table.write([Delete(key_of(place))])


def _lose_object(engines: EmbeddedPorts) -> None:
    engines.objects.delete(KEYS.of_user("ann").of_session("s1").pack_object(1))


def _damage_object(engines: EmbeddedPorts) -> None:
    name = KEYS.of_user("ann").of_session("s1").pack_object(1)
    body = json.loads(engines.objects.get(name) or b"")
    engines.objects.put(name, json.dumps(body | {"text": "else"}).encode(), content_type="application/json")


def _leave_message(engines: EmbeddedPorts) -> None:
    engines.queue.send(QueueName.EXTRACT, [Message({}, "g", "d")])


def _double_observation(engines: EmbeddedPorts) -> None:
    items = engines.table.query(KEYS.of_user("ann").partition, prefix="MEM#", limit=9).items
    [first] = [memory for memory in map(rows.read_memory, items) if memory.kind == "observation"]
    twin = replace(first, id="mem_01M7YRQPKPC2BMS0V3TTR39XNG", version=0)
    engines.table.write([rows.put_memory(KEYS.of_user("ann"), twin)])


def _lose_client_id(engines: EmbeddedPorts) -> None:
    engines.table.write([Delete(KEYS.of_user("ann").of_session("s1").client_id("c1"))])


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_lose_event, "s1: gaps below 1"),
        (_lose_passage, "5 passages in the rows, 4 in the search index"),
        (_lose_revision, "/notes/tea: no revision 1"),
        (_lose_object, "no object of"),
        (_damage_object, "is not a whole pack"),
        (_leave_message, "queue extract"),
        (_double_observation, "s1: observed twice"),
        (_lose_client_id, "client ids of the events and their rows differ"),
    ],
)
def test_each_harm_is_found(engines: EmbeddedPorts, harm: Callable[[EmbeddedPorts], None], said: str) -> None:
    harm(engines)
    findings = check(engines).findings
    assert any(said in finding for finding in findings), findings
