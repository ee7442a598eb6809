"""The calls of the API as use cases on given ports."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.memories import Kind, Memory, Provenance
from neve.domain.records.sessions import EventType, Participant
from neve.domain.sessions.transcript import event_text
from neve.scope import SessionScope, UserScope
from neve.store.idempotency import IdempotencyKey
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.ask.compile.command import CompileCommand
from neve.usecases.ask.compile.compile_context import compile_context
from neve.usecases.ask.memories.list_memories import MemoryFilter, get_memory, list_memories
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.ask.recall.command import RecallCommand
from neve.usecases.ask.recall.recall import recall
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.forget.confirm import confirm_forgetting
from neve.usecases.tell.forget.list_to_forget import ToForget, list_to_forget
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.mark_used import mark_used
from neve.usecases.tell.memories.store_fact import store_fact
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.end_session import end_session
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.tell.requests.request_export import request_export
from neve.usecases.tell.requests.request_observation import request_observation
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.tell.sessions.create_upload import create_upload
from neve.usecases.tell.sessions.open_session import OpenSession, open_session
from neve.usecases.work.background.read_admin_job import read_admin_job
from tests.simulation.clients.history import (
    ADA,
    BEN,
    SPEAKER,
    AppendedEvent,
    AppendGiven,
    Picture,
    PromptGiven,
    RecallGiven,
    RetractGiven,
    TimedGiven,
)
from tests.simulation.clients.seen import (
    SeenEvent,
    SeenExport,
    SeenJob,
    SeenList,
    SeenMemory,
    SeenPack,
    SeenPart,
    SeenPrompt,
    SeenRecall,
    SeenRetraction,
    SeenUpload,
)
from tests.simulation.machine.ports import SimPorts

PAGE = 3
"""Memories of one page: a list takes several."""
LOG_PAGE = 200
RECALL_K = 50
"""More than a client writes."""
TOOL_DATA = {"tool_use_id": "1", "name": "lookup"}


class UseCaseApi:
    """Every method raises NeveError and StoreUnavailable."""

    def open(self, ports: SimPorts, keys: SessionKeys) -> SeenPack:
        people = (Participant(ADA, "Ada", keys.user), Participant(BEN, "Ben"))
        opened = open_session(_user(ports, keys), OpenSession(session_id=keys.session, participants=people))
        manifest = opened.pack.manifest
        return SeenPack(
            manifest.pack_version if manifest else None,
            manifest.sha256 if manifest else None,
            opened.pack.text or "",
        )

    def append(self, ports: SimPorts, keys: SessionKeys, given: AppendGiven) -> list[int]:
        events = [_event(event) for event in given.events]
        route = f"POST /v1/users/{keys.user}/sessions/{keys.session}/events"
        key = IdempotencyKey(route, given.key, given.key) if given.key else None
        return append_events(_session(ports, keys), events, key).seqs

    def retract(self, ports: SimPorts, keys: SessionKeys, given: RetractGiven) -> SeenRetraction:
        wanted = Retract(given.from_seq, given.to_seq, given.reason)
        done = retract_events(_session(ports, keys), wanted)
        return SeenRetraction(done.job_id, done.from_seq, done.to_seq, done.epoch)

    def read_log(self, ports: SimPorts, keys: SessionKeys) -> list[SeenEvent]:
        found = list_events(_session(ports, keys), 1, LOG_PAGE).events
        return [SeenEvent(event.seq, event_text(event), event.client_id) for event in found]

    def upload(self, ports: SimPorts, keys: UserKeys, media_type: str, size: int | None) -> SeenUpload:
        made = create_upload(_user(ports, keys), media_type, size)
        return SeenUpload(made.upload_id, made.url)

    def read_pack(self, ports: SimPorts, keys: SessionKeys) -> SeenPack:
        view = read_pack(_session(ports, keys))
        manifest = view.manifest
        version, sha256 = (manifest.pack_version, manifest.sha256) if manifest else (None, None)
        return SeenPack(version, sha256, view.text or "")

    def recall(self, ports: SimPorts, keys: SessionKeys, given: RecallGiven) -> SeenRecall:
        wanted = RecallCommand(given.query, session_id=keys.session, k=RECALL_K, mode="tool", legs=given.legs)
        answer = recall(_user(ports, keys), wanted)
        return SeenRecall(tuple(SeenMemory(hit.id, hit.text, 0) for hit in answer.hits), tuple(answer.degraded))

    def context(self, ports: SimPorts, keys: SessionKeys, given: PromptGiven) -> SeenPrompt:
        command = CompileCommand(
            given.message, retrieval=given.retrieval, format=given.format, history_window=given.window
        )
        made = compile_context(_session(ports, keys), command)
        pack = made.material.pack
        return SeenPrompt(
            made.epoch.epoch if made.epoch and made.material.log and not made.plan.for_message else None,
            pack.manifest.pack_version if pack and pack.manifest else None,
            tuple(made.degraded),
            dict(made.request or {}),
        )

    def list_memories(self, ports: SimPorts, keys: UserKeys) -> list[SeenMemory]:
        """All pages."""
        found: list[SeenMemory] = []
        cursor: str | None = None
        while True:
            page, cursor = list_memories(_user(ports, keys), MemoryFilter(), PAGE, cursor)
            found += map(_seen, page)
            if cursor is None:
                return found

    def get_memory(self, ports: SimPorts, keys: UserKeys, memory_id: str) -> SeenMemory:
        return _seen(get_memory(_user(ports, keys), memory_id))

    def create_memory(self, ports: SimPorts, keys: SessionKeys, text: str, local: bool) -> SeenMemory:
        session = keys.session if local else None
        return _seen(create_memory(_user(ports, keys), NewMemory(text, Kind.MANUAL, session_id=session)))

    def create_timed(self, ports: SimPorts, keys: SessionKeys, given: TimedGiven, local: bool) -> SeenMemory:
        wanted = NewMemory(
            given.text,
            Kind.MANUAL,
            session_id=keys.session if local else None,
            valid_from=given.valid_from,
            valid_until=given.valid_until,
        )
        return _seen(create_memory(_user(ports, keys), wanted))

    def update_memory(self, ports: SimPorts, keys: UserKeys, memory_id: str, rev: int, text: str) -> SeenMemory:
        return _seen(update_memory(_user(ports, keys), memory_id, MemoryChange({"text": text}), [rev]))

    def delete_memory(self, ports: SimPorts, keys: UserKeys, memory_id: str, rev: int) -> None:
        delete_memory(_user(ports, keys), memory_id, [rev])

    def state_fact(self, ports: SimPorts, keys: SessionKeys, text: str, local: bool) -> SeenMemory:
        origin = Provenance("human_edit", keys.session if local else None)
        stored = store_fact(_user(ports, keys), FactCandidate(text, "PREFERENCE", origin), via="api")
        assert stored.memory is not None
        return _seen(stored.memory)

    def evolve_memory(self, ports: SimPorts, keys: UserKeys, memory_id: str, text: str) -> SeenMemory:
        return _seen(evolve_memory(_user(ports, keys), memory_id, Evolution(text, "it changed")))

    def mark_used(self, ports: SimPorts, keys: UserKeys, ids: Sequence[str]) -> list[str]:
        return mark_used(_user(ports, keys), ids).used

    def observe(self, ports: SimPorts, keys: SessionKeys, wait: bool) -> SeenJob:
        job = request_observation(_session(ports, keys), wait)
        return SeenJob(job.id, job.status)

    def compact(self, ports: SimPorts, keys: SessionKeys, wait: bool) -> SeenJob:
        job = request_compaction(_session(ports, keys), "manual", wait)
        return SeenJob(job.id, job.status)

    def end(self, ports: SimPorts, keys: SessionKeys) -> SeenJob:
        job = end_session(_session(ports, keys))
        return SeenJob(job.id, job.status)

    def read_job(self, ports: SimPorts, keys: UserKeys, job_id: str) -> SeenJob:
        job = get_job(_user(ports, keys), job_id)
        return SeenJob(job.id, job.status)

    def export(self, ports: SimPorts, keys: UserKeys) -> SeenJob:
        job = request_export(_user(ports, keys))
        return SeenJob(job.id, job.status)

    def list_to_forget(self, ports: SimPorts, keys: UserKeys) -> SeenList:
        shown = list_to_forget(_user(ports, keys), ToForget())
        return SeenList(shown.confirm or "", tuple((memory.id, memory.rev) for memory in shown.memories))

    def forget(self, ports: SimPorts, keys: UserKeys, confirm: str) -> SeenJob:
        job = confirm_forgetting(_user(ports, keys), confirm)
        return SeenJob(job.id, job.status)

    def read_export(self, ports: SimPorts, keys: UserKeys, job_id: str) -> SeenExport:
        job = read_admin_job(tenant_scope(ports, keys.tenant), job_id)
        return seen_export(job.status, job.result)


def seen_export(status: str, result: Mapping[str, Any] | None) -> SeenExport:
    """A part whose user is being erased has no address."""
    parts = (result or {}).get("parts", ())
    return SeenExport(status, tuple(SeenPart(part["bytes"], part["url"]) for part in parts if "url" in part))


def _event(event: AppendedEvent) -> NewEvent:
    data = TOOL_DATA if event.kind in ("tool_call", "tool_result") else {}
    said = NewEvent(EventType(event.kind), content_of(event), event.client_id, SPEAKER, dict(data))
    return replace(said, participant=event.participant)


def content_of(event: AppendedEvent) -> str | list[dict[str, Any]]:
    """As a caller sends it."""
    if not event.pictures:
        return event.text
    return [{"type": "text", "text": event.text}, *map(_block, event.pictures)]


def _block(picture: Picture) -> dict[str, Any]:
    block = {"type": "image", "media_type": picture.media_type}
    if picture.upload_id is not None:
        return block | {"upload_id": picture.upload_id}
    return block | {"data": base64.b64encode(picture.data).decode()}


def _user(ports: SimPorts, keys: UserKeys) -> UserScope:
    return tenant_scope(ports, keys.tenant).of_user(keys.user)


def _session(ports: SimPorts, keys: SessionKeys) -> SessionScope:
    return _user(ports, keys).of_session(keys.session)


def _seen(memory: Memory) -> SeenMemory:
    return SeenMemory(memory.id, memory.text, memory.rev)
