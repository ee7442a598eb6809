"""The gate where texts come in: events, sessions, memories, an observer's answer, idempotency."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from neve.domain.documents.change import DocumentChange
from neve.domain.errors import NeveError
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.memories import Kind, Provenance, Status
from neve.domain.records.sessions import EventType
from neve.domain.tenants.policy import PiiActions, Policy
from neve.observing import Observed, ObservedLine
from neve.scope import SessionScope, UserScope
from neve.store.tenants.tenant_rows import set_numbers
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.tell.documents.evolve_document import DocumentEvolution, evolve_document
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.evolve_memory import Evolution as MemoryEvolution
from neve.usecases.tell.memories.evolve_memory import evolve_memory
from neve.usecases.tell.memories.import_memories import ImportedRow, ImportReport, import_memories
from neve.usecases.tell.memories.store_fact import store_fact
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.tell.sessions.open_session import OpenSession, open_session
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from tests.unit.api_world import Api, installed
from tests.unit.world import World

USER, CALL = EventType.USER_MESSAGE, EventType.TOOL_CALL
CARD = "4111 1111 1111 1111"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World.make(tmp_path)
    world.open()
    yield world
    world.table.close()


@pytest.fixture
def session(world: World) -> SessionScope:
    return world.user("ann").of_session("s1")


def with_policy(scope: UserScope, **pii: str) -> UserScope:
    policy = Policy(pii=PiiActions.model_validate(pii))
    return replace(scope, tenant=replace(scope.tenant, policy=policy))


# --- events -------------------------------------------------------------------------------------


def test_everything_of_an_event_is_screened_but_ids(session: SessionScope) -> None:
    data = {
        "tool_use_id": CARD,
        "name": "login",
        "args": {"password": "hunter2", "n": 4111111111111111, "deep": [{f"to {CARD}": 1.5}], "token": True},
        f"for {CARD}": "x",
    }
    blocks = [
        {"type": "text", "text": "Card 4111 1111"},
        {
            "type": "image",
            "media_type": "image/png",
            "url": "https://x.example/a.png?AWSAccessKeyId=AKIAABCDEFGH12345678",
        },
        {"type": "text", "text": "1111 1111."},
        {"type": "image", "media_type": "image/png", "url": "https://ann:hunter22@x.example/a.png"},
    ]
    events = [NewEvent(USER, blocks, name=f"Ann {CARD}"), NewEvent(CALL, "", event_data=data)]
    appended = append_events(session, events)
    assert appended.redacted == {"card_number": 5, "password": 2}
    message, called = list_events(session, 1, 10).events
    assert message.name == "Ann [removed]"
    assert message.content == [
        {"type": "text", "text": "Card [removed]"},
        blocks[1],
        {"type": "text", "text": "[removed]."},
        {"type": "text", "text": "[image removed]"},
    ]
    assert called.event_data == {
        "tool_use_id": CARD,
        "name": "login",
        "args": {"password": "[*]", "n": "[removed]", "deep": [{"to [removed]": 1.5}], "token": True},
        "for [removed]": "x",
    }


NAMED_VALUES = [
    ({"X-Api-Key": ["abc12345"]}, {"X-Api-Key": ["[*]"]}),
    ({"form": {"password": ["hunter2", "hunter3"]}}, {"form": {"password": ["[*]", "[*]"]}}),
    ({"passwords": ["hunter2"]}, {"passwords": ["[*]"]}),
    ({"env": [{"name": "DB_PASSWORD", "value": "hunter2"}]}, {"env": [{"name": "DB_PASSWORD", "value": "[*]"}]}),
    ({"name": "Password", "value": "hunter2"}, {"name": "Password", "value": "[*]"}),
    ({"pin": 4821, "card_pin": "4821"}, {"pin": "[*]", "card_pin": "[*]"}),
    ({"security_code": "123"}, {"security_code": "[*]"}),
]
HARMLESS_VALUES: list[dict[str, Any]] = [
    {"pin": 13, "pincode": "560001", "spin": 4821, "security_code": "ISIN-1"},
    {"password": {"type": "string", "minLength": 8}},
    {"password": "required", "secret": "true", "api_key": "string"},
    {"name": "password_reset", "value": "sent"},
    {"name": "password", "label": "Ann"},
    {"secrets": ["db-credentials", "registry"], "tokens": [4821, 4822]},
]


@pytest.mark.parametrize(("data", "kept"), NAMED_VALUES)
def test_a_value_with_such_a_name_is_taken_out(session: SessionScope, data: dict[str, Any], kept: Any) -> None:
    append_events(session, [NewEvent(CALL, "", event_data={"args": data, **data})])
    [shown] = list_events(session, 1, 10).events
    assert shown.event_data == {"args": kept, **kept}


@pytest.mark.parametrize("data", HARMLESS_VALUES)
def test_a_value_that_is_none_stays(session: SessionScope, data: dict[str, Any]) -> None:
    assert append_events(session, [NewEvent(CALL, "", event_data={"args": data, **data})]).redacted == {}


def test_an_event_without_any_of_it_is_kept_as_it_is(session: SessionScope) -> None:
    event = NewEvent(USER, [{"type": "text", "text": "My sister Anna"}], name="Ann", event_data={"n": [1, 2.5, None]})
    assert append_events(session, [event]).redacted == {}
    [shown] = list_events(session, 1, 10).events
    assert (shown.content, shown.name, shown.event_data) == (event.content, event.name, event.event_data)


def test_what_was_taken_out_makes_no_two_events_of_one_client_id(session: SessionScope) -> None:
    append_events(session, [NewEvent(USER, f"Pay with {CARD}", client_id="c1")])
    again = append_events(session, [NewEvent(USER, "Pay with 5500 0055 5555 5559", client_id="c1")])
    assert again.seqs == [1]
    with pytest.raises(NeveError, match="client_id_conflict"):
        append_events(session, [NewEvent(USER, "Pay in cash", client_id="c1")])


def test_what_the_policy_allows_stays(session: SessionScope) -> None:
    allowed = with_policy(session, card_number="allow")
    assert isinstance(allowed, SessionScope)
    assert append_events(allowed, [NewEvent(USER, f"{CARD}, SSN 123-45-6789")]).redacted == {"ssn": 1}
    assert list_events(session, 1, 1).events[0].content == f"{CARD}, SSN [removed]"


def test_a_sessions_title_and_meta_are_screened(world: World) -> None:
    wanted = OpenSession(session_id="s2", title=f"With {CARD}", user_meta={"ssn": "123-45-6789", "name": "Ann"})
    head = open_session(world.user(), replace(wanted, budget_ms=0)).view.head
    assert (head.title, head.user_meta) == ("With [removed]", {"ssn": "[removed]", "name": "Ann"})


# --- memories -----------------------------------------------------------------------------------


def fields_at_fault(refused: pytest.ExceptionInfo[NeveError]) -> list[str]:
    return fields_of(refused.value)


def fields_of(refusal: NeveError) -> list[str]:
    assert refusal.code == "pii_blocked"
    assert not any(part in str(refusal) + repr(refusal.errors) for part in ("4111", "1111", "hunter2"))
    return [error.field for error in refusal.errors]


def fields_of_lines(report: ImportReport) -> dict[str, list[str]]:
    """Those at fault, by the lines that were refused."""
    return {at: fields_of(refusal) for at, refusal in report.refused}


def test_a_memory_that_holds_it_is_refused_and_names_fields_and_classes(world: World) -> None:
    wanted = NewMemory(text=f"Pay with {CARD}", kind=Kind.MANUAL, label="MRN 1234567", tags=("a", "password=hunter2"))
    with pytest.raises(NeveError) as refused:
        create_memory(world.user(), wanted)
    assert fields_at_fault(refused) == ["text", "tags[1]"]
    assert refused.value.errors[0].message == "contains data that the policy blocks: card_number"
    assert refused.value.metrics == {"PiiBlockedCardNumber": 1, "PiiBlockedPassword": 1}
    assert world.memories() == []


def test_what_is_redacted_is_kept_without_and_may_be_blocked_by_policy(world: World) -> None:
    wanted = NewMemory(text="Her MRN: 001234567.", kind=Kind.NOTE, group="MRN 001234567", tags=("health",))
    memory = create_memory(world.user(), wanted)
    assert (memory.text, memory.group, memory.tags) == ("Her MRN: [removed].", "MRN [removed]", ("health",))
    with pytest.raises(NeveError) as refused:
        create_memory(with_policy(world.user(), medical_record_number="block"), wanted)
    assert fields_at_fault(refused) == ["text", "group"]


def test_a_change_passes_the_same_gate(world: World) -> None:
    memory = create_memory(world.user(), NewMemory(text="Pays in cash.", kind=Kind.NOTE, tags=("a",)))
    with pytest.raises(NeveError) as refused:
        update_memory(world.user(), memory.id, MemoryChange({"text": f"Pays with {CARD}", "tags": ("b", CARD)}), None)
    assert fields_at_fault(refused) == ["text", "tags[1]"]
    change = MemoryChange({"text": "MRN 001234567", "label": None, "tags": (), "status": Status.RESOLVED})
    changed = update_memory(world.user(), memory.id, change, None)
    assert (changed.text, changed.label, changed.tags, changed.status) == ("MRN [removed]", None, (), Status.RESOLVED)


def test_what_a_sessions_summary_says_beside_its_text_passes_the_gate(world: World) -> None:
    session_summary = NewMemory("We talked about money.", Kind.SESSION_SUMMARY, emotional_tone="calm, MRN 001234567")
    at_fault = replace(
        session_summary, emotional_tone=f"worried about {CARD}", key_topics=("bees", "password: hunter2")
    )
    with pytest.raises(NeveError) as refused:
        create_memory(world.user(), at_fault)
    assert fields_at_fault(refused) == ["emotional_tone", "key_topics[1]"]
    memory = create_memory(world.user(), session_summary)
    assert memory.emotional_tone == "calm, MRN [removed]"
    with pytest.raises(NeveError) as refused:
        update_memory(world.user(), memory.id, MemoryChange({"emotional_tone": CARD, "key_topics": (CARD,)}), None)
    assert fields_at_fault(refused) == ["emotional_tone", "key_topics[0]"]
    change = MemoryChange({"emotional_tone": None, "key_topics": ("bees", "MRN 001234567")})
    changed = update_memory(world.user(), memory.id, change, None)
    assert (changed.emotional_tone, changed.key_topics) == (None, ("bees", "MRN [removed]"))
    report = import_memories(world.user(), [ImportedRow(at="lines[1]", **asdict(at_fault))])
    assert fields_of_lines(report) == {"lines[1]": ["lines[1].emotional_tone", "lines[1].key_topics[1]"]}


def test_a_line_of_an_import_is_refused_and_the_others_are_kept(world: World) -> None:
    lines = [
        ImportedRow(text="Keeps bees.", kind=Kind.NOTE, at="lines[1]"),
        ImportedRow(text=f"Pays with {CARD}", kind=Kind.NOTE, at="lines[3]"),
        ImportedRow(text="Her MRN: 001234567.", kind=Kind.NOTE, at="lines[4]"),
    ]
    assert fields_of_lines(import_memories(world.user(), lines)) == {"lines[3]": ["lines[3].text"]}
    assert sorted(memory.text for memory in world.memories()) == ["Her MRN: [removed].", "Keeps bees."]


def test_what_an_import_says_of_an_end_and_of_a_model_passes_the_gate(world: World) -> None:
    line = ImportedRow(
        id="x1",
        text="Lives in Bonn.",
        kind=Kind.NOTE,
        status=Status.SUPERSEDED,
        superseded_reason="moved, MRN 001234567",
        model="model-1",
        at="lines[2]",
    )
    for field, at_fault in {
        "lines[2].superseded_reason": replace(line, superseded_reason=f"moved, card {CARD}"),
        "lines[2].provenance.model": replace(line, model=f"sk-ant-api03-{'a' * 60}"),
    }.items():
        assert fields_of_lines(import_memories(world.user(), [at_fault])) == {"lines[2]": [field]}
    assert import_memories(world.user(), [line]).imported == ["x1"]
    memory = world.memory("x1")
    assert (memory.superseded_reason, memory.provenance.model) == ("moved, MRN [removed]", "model-1")


# --- facts --------------------------------------------------------------------------------------


def test_a_fact_of_a_caller_is_refused_and_one_of_a_model_rejected(world: World) -> None:
    def fact(text: str) -> FactCandidate:
        return FactCandidate(text=text, category="BIOGRAPHY", origin=Provenance("user_stated", trust="user"))

    with pytest.raises(NeveError) as refused:
        store_fact(world.user(), fact(f"User pays with {CARD}"), via="api")
    assert fields_at_fault(refused) == ["text"]
    stored = store_fact(world.user(), fact("User has the MRN 001234567"), via="api")
    assert (stored.memory and stored.memory.text, stored.criteria.pii) == ("User has the MRN [removed]", "redacted")
    rejected = store_fact(world.user(), fact(f"User pays with {CARD}"), via="librarian")
    assert (rejected.decision, rejected.criteria.pii, rejected.memory) == ("rejected", "blocked", None)
    assert stored.memory is not None
    with pytest.raises(NeveError) as refused:
        evolve_memory(world.user(), stored.memory.id, MemoryEvolution(f"User pays with {CARD}", "changed"))
    assert fields_at_fault(refused) == ["text"]


# --- documents ----------------------------------------------------------------------------------


def test_a_document_is_refused_for_a_persons_words_and_kept_without_for_a_models(world: World) -> None:
    held = DocumentChange(text=f"Card {CARD}", tags=("a", "SSN 123-45-6789"), name="MRN 001234567")
    with pytest.raises(NeveError) as refused:
        write_document(world.user(), "/people/ann", held)
    assert fields_at_fault(refused) == ["text", "tags[1]"]
    with pytest.raises(NeveError) as refused:
        write_document(world.user(), f"/people/{CARD}", DocumentChange(text="Ann"))
    assert fields_at_fault(refused) == ["query.path"]
    with pytest.raises(NeveError) as refused:
        write_document(world.user(), "/people/ann", replace(held, provenance=Provenance("human_edit", trust="user")))
    assert fields_at_fault(refused) == ["text", "tags[1]"]
    by_model = replace(held, provenance=Provenance("assistant", trust="assistant"))
    document = write_document(world.user(), "/people/ann", by_model).document
    assert (document.text, document.tags, document.name) == ("Card [removed]", ("a", "SSN [removed]"), "MRN [removed]")
    with pytest.raises(NeveError) as refused:
        evolve_document(
            world.user(), DocumentEvolution("/people/ann", "/people/anna", DocumentChange(text="Anna"), f"by {CARD}")
        )
    assert fields_at_fault(refused) == ["reason"]


# --- a model's answer ---------------------------------------------------------------------------


def test_an_observers_lines_are_kept_without_it_and_counted(world: World, session: SessionScope) -> None:
    world.say("I pay for everything at once.", "Noted.")
    world.observer.answers.append(
        Observed(
            has_memory=True,
            lines=(ObservedLine(f"🟡 User pays with {CARD}.", 1, 2),),
            model="scripted",
            current_task=f"Pay with {CARD}",
            thread_title="Paying",
        )
    )
    report = observe_session(session, 1, ObservationReport())
    [memory] = world.memories()
    assert memory.text == "🟡 User pays with [removed]."
    assert (report.result()["redacted"], report.uncounted()) == ({"card_number": 2}, {"card_number": 2})
    later = ObservationReport.going_on(report.result())
    assert (later.result()["redacted"], later.uncounted()) == ({"card_number": 2}, {})


# --- policy -------------------------------------------------------------------------------------


def test_a_policy_says_nothing_of_what_no_detector_looks_for() -> None:
    assert PiiActions().actions["medical_record_number"] == "redact"
    for wrong in ({"name": "allow"}, {"card_number": "hide"}, {"iban": "hide"}, {"passport": "block"}):
        with pytest.raises(ValidationError):
            Policy.model_validate({"pii": wrong})


def test_what_was_stored_of_a_policy_is_what_it_says() -> None:
    set_so = Policy.model_validate({"pii": {"ssn": "allow"}})
    stored = Policy.stored(json.loads(json.dumps(set_numbers(set_so))))
    assert stored.pii.actions == {**PiiActions().actions, "ssn": "allow"}
    assert Policy.stored({}).pii == PiiActions()


def test_a_policy_that_was_stored_with_names_places_and_relatives_is_read() -> None:
    before = {"ssn": "allow", "name": "allow", "place": "allow", "relative": "allow"}
    stored = Policy.stored({"pii": before}).pii
    assert (stored, stored.model_dump()) == (PiiActions(ssn="allow"), PiiActions(ssn="allow").model_dump())


# --- over HTTP ----------------------------------------------------------------------------------


def test_an_idempotency_record_knows_nothing_of_what_was_taken_out(world: World) -> None:
    """Two bodies that differ in a card number alone are one: a hash of so few digits could be turned back into them."""
    path = "/v1/users/{user_id}/sessions/{session_id}/events"
    headers = {"Idempotency-Key": "once"}
    answers = []
    for restored in installed(world):
        api = Api(import_module("functions.observe.app").router, tenant=restored.tenant.id)
        for card in (CARD, "5500 0055 5555 5559"):
            body = {"events": [{"event_type": "user_message", "content": f"Pay with {card}"}]}
            answers.append(api.call("POST", path, body, headers=headers, user_id="ann", session_id="s1"))
        cash = {"events": [{"event_type": "user_message", "content": "Pay in cash"}]}
        answers.append(api.call("POST", path, cash, headers=headers, user_id="ann", session_id="s1"))
    assert [answer.status for answer in answers] == [201, 201, 422]
    assert [answer.json.get("seqs") for answer in answers[:2]] == [[1], [1]]
    assert answers[2].json["code"] == "idempotency_mismatch"


def test_what_is_refused_is_counted(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    for restored in installed(world):
        api = Api(import_module("functions.records.app").router, tenant=restored.tenant.id)
        refused = api.call("POST", "/v1/users/{user_id}/memories", {"text": f"Pays with {CARD}"}, user_id="ann")
    assert (refused.status, refused.fields) == (422, ["text"])
    captured = capsys.readouterr()
    assert '"PiiBlockedCardNumber":[1.0]' in captured.out
    assert "4111" not in captured.out + captured.err
