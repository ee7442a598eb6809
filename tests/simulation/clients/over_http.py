"""The calls of the API as API Gateway hands them to the functions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from neve.domain.errors import NeveError
from neve.domain.sessions.transcript import content_text
from neve.ports.errors import StoreUnavailable
from neve.store.keys import SessionKeys, UserKeys
from tests.simulation.clients.history import (
    ADA,
    BEN,
    SPEAKER,
    AppendedEvent,
    AppendGiven,
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
    SeenPrompt,
    SeenRecall,
    SeenRetraction,
    SeenUpload,
)
from tests.simulation.clients.use_cases import RECALL_K, TOOL_DATA, content_of, seen_export
from tests.simulation.machine.handlers import call
from tests.simulation.machine.ports import SimPorts

USER = "/v1/users/{user_id}"
SESSION = USER + "/sessions/{session_id}"
MEMORY = USER + "/memories/{memory_id}"
PAGE = "3"


class HttpApi:
    """See ``UseCaseApi``. 503 is StoreUnavailable, any other refusal the NeveError that it was made of."""

    def open(self, _: SimPorts, keys: SessionKeys) -> SeenPack:
        people = [{"id": ADA, "name": "Ada", "user_id": keys.user}, {"id": BEN, "name": "Ben"}]
        body = {"session_id": keys.session, "participants": people}
        opened = _ask("pack", "POST", USER + "/sessions", keys, body)
        return _pack(opened["pack"])

    def append(self, _: SimPorts, keys: SessionKeys, given: AppendGiven) -> list[int]:
        headers = {"Idempotency-Key": given.key} if given.key else {}
        body = {"events": [_event(event) for event in given.events]}
        return list(_ask("observe", "POST", SESSION + "/events", keys, body, headers=headers)["seqs"])

    def retract(self, _: SimPorts, keys: SessionKeys, given: RetractGiven) -> SeenRetraction:
        end = {} if given.to_seq is None else {"to_seq": given.to_seq}
        body = {"from_seq": given.from_seq, **end, "reason": given.reason}
        done = _ask("observe", "POST", SESSION + "/events/retract", keys, body)
        return SeenRetraction(done["job_id"], done["from_seq"], done["to_seq"], done["epoch"])

    def read_log(self, _: SimPorts, keys: SessionKeys) -> list[SeenEvent]:
        page = _ask("observe", "GET", SESSION + "/events", keys, query={"limit": "200"})
        return [SeenEvent(one["seq"], content_text(one["content"]), one.get("client_id")) for one in page["events"]]

    def upload(self, _: SimPorts, keys: UserKeys, media_type: str, size: int | None) -> SeenUpload:
        body = {"media_type": media_type} | ({} if size is None else {"size": size})
        made = _ask("observe", "POST", USER + "/uploads", keys, body)
        return SeenUpload(made["upload_id"], made["url"])

    def read_pack(self, _: SimPorts, keys: SessionKeys) -> SeenPack:
        return _pack(_ask("pack", "GET", USER + "/pack", keys, query={"session_id": keys.session}))

    def recall(self, _: SimPorts, keys: SessionKeys, given: RecallGiven) -> SeenRecall:
        body = {"query": given.query, "session_id": keys.session, "limit": RECALL_K, "mode": "tool", "legs": given.legs}
        answer = _ask("recall", "POST", USER + "/recall", keys, body)
        return SeenRecall(tuple(SeenMemory(h["id"], h["text"], 0) for h in answer["hits"]), tuple(answer["degraded"]))

    def context(self, _: SimPorts, keys: SessionKeys, given: PromptGiven) -> SeenPrompt:
        body: dict[str, Any] = {"session_id": keys.session, "retrieval": given.retrieval, "format": given.format}
        body |= {} if given.message is None else {"message": given.message}
        body |= {"history_window": given.window} if given.window else {}
        answer = _ask("recall", "POST", USER + "/context", keys, body)
        report = answer["report"]
        history = report.get("history")
        return SeenPrompt(
            history["epoch"] if history and not history["cut_for_message"] else None,
            report.get("pack_version"),
            tuple(answer["degraded"]),
            answer["request"],
        )

    def list_memories(self, _: SimPorts, keys: UserKeys) -> list[SeenMemory]:
        found: list[SeenMemory] = []
        query = {"limit": PAGE}
        while True:
            page = _ask("records", "GET", USER + "/memories", keys, query=query)
            found += map(_memory, page["memories"])
            if "next_cursor" not in page:
                return found
            query = {"limit": PAGE, "cursor": page["next_cursor"]}

    def get_memory(self, _: SimPorts, keys: UserKeys, memory_id: str) -> SeenMemory:
        return _memory(_ask("records", "GET", MEMORY, keys, memory_id=memory_id))

    def create_memory(self, _: SimPorts, keys: SessionKeys, text: str, local: bool) -> SeenMemory:
        body = {"text": text} | ({"session_id": keys.session} if local else {})
        return _memory(_ask("records", "POST", USER + "/memories", keys, body))

    def create_timed(self, _: SimPorts, keys: SessionKeys, given: TimedGiven, local: bool) -> SeenMemory:
        times = {"valid_from": given.valid_from, "valid_until": given.valid_until}
        body = {"text": given.text} | {name: at for name, at in times.items() if at is not None}
        body |= {"session_id": keys.session} if local else {}
        return _memory(_ask("records", "POST", USER + "/memories", keys, body))

    def update_memory(self, _: SimPorts, keys: UserKeys, memory_id: str, rev: int, text: str) -> SeenMemory:
        headers = {"If-Match": f'"{rev}"'}
        return _memory(_ask("records", "PATCH", MEMORY, keys, {"text": text}, headers=headers, memory_id=memory_id))

    def delete_memory(self, _: SimPorts, keys: UserKeys, memory_id: str, rev: int) -> None:
        _ask("records", "DELETE", MEMORY, keys, headers={"If-Match": f'"{rev}"'}, memory_id=memory_id)

    def state_fact(self, _: SimPorts, keys: SessionKeys, text: str, local: bool) -> SeenMemory:
        body = {"text": text, "kind": "fact", "category": "PREFERENCE"}
        body |= {"session_id": keys.session} if local else {}
        return _memory(_ask("records", "POST", USER + "/memories", keys, body))

    def evolve_memory(self, _: SimPorts, keys: UserKeys, memory_id: str, text: str) -> SeenMemory:
        body = {"text": text, "reason": "it changed"}
        return _memory(_ask("records", "POST", MEMORY + "/evolve", keys, body, memory_id=memory_id))

    def mark_used(self, _: SimPorts, keys: UserKeys, ids: Sequence[str]) -> list[str]:
        body = {"ids": list(dict.fromkeys(ids))}
        return list(_ask("records", "POST", USER + "/memories/used", keys, body)["used"])

    def observe(self, _: SimPorts, keys: SessionKeys, wait: bool) -> SeenJob:
        return _job(_ask("observe", "POST", SESSION + "/observe", keys, {"wait": wait}))

    def compact(self, _: SimPorts, keys: SessionKeys, wait: bool) -> SeenJob:
        return _job(_ask("observe", "POST", SESSION + "/compact", keys, {"reason": "manual", "wait": wait}))

    def end(self, _: SimPorts, keys: SessionKeys) -> SeenJob:
        return _job(_ask("observe", "POST", SESSION + "/end", keys, {}))

    def read_job(self, _: SimPorts, keys: UserKeys, job_id: str) -> SeenJob:
        return _job(_ask("observe", "GET", USER + "/jobs/{job_id}", keys, job_id=job_id))

    def export(self, _: SimPorts, keys: UserKeys) -> SeenJob:
        return _job(_ask("admin", "POST", USER + "/export", keys))

    def list_to_forget(self, _: SimPorts, keys: UserKeys) -> SeenList:
        shown = _ask("recall", "POST", USER + "/memories/forget", keys, {"filters": {"after": "1970-01-01T00:00:00Z"}})
        return SeenList(shown.get("confirm", ""), tuple((one["id"], one["rev"]) for one in shown["memories"]))

    def forget(self, _: SimPorts, keys: UserKeys, confirm: str) -> SeenJob:
        return _job(_ask("recall", "POST", USER + "/memories/forget", keys, {"confirm": confirm}))

    def read_export(self, _: SimPorts, keys: UserKeys, job_id: str) -> SeenExport:
        job = _ask("admin", "GET", "/v1/admin/jobs/{job_id}", keys, job_id=job_id)
        return seen_export(job["status"], job.get("result"))


def _ask(  # noqa: PLR0913
    function: str,
    method: str,
    resource: str,
    keys: UserKeys,
    body: Mapping[str, Any] | None = None,
    *,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    **ids: str,
) -> dict[str, Any]:
    """The JSON of a 2xx answer."""
    sent = {"Content-Type": "application/json", **(headers or {})}
    ids = {"user_id": keys.user} | ids
    if "{session_id}" in resource and isinstance(keys, SessionKeys):
        ids["session_id"] = keys.session
    answer = call(
        function,
        {
            "httpMethod": method,
            "resource": resource,
            "path": resource.format(**{name: quote(value) for name, value in ids.items()}),
            "headers": sent,
            "multiValueHeaders": {name: [value] for name, value in sent.items()},
            "queryStringParameters": query,
            "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} if query else None,
            "pathParameters": ids,
            "requestContext": {
                "requestId": "simulated",
                "authorizer": {"tenant_id": keys.tenant, "key_id": "k1", "scopes": "chat records admin"},
            },
            "body": None if body is None else json.dumps(body),
            "isBase64Encoded": False,
        },
    )
    reply: dict[str, Any] = json.loads(answer["body"] or "{}")
    if answer["statusCode"] == 503:
        raise StoreUnavailable("http", reply["code"])
    if answer["statusCode"] == 500:
        raise RuntimeError(f"{method} {resource}: {reply}")
    if answer["statusCode"] >= 400:
        raise NeveError(reply["code"], reply.get("detail", ""))
    return reply


def _event(appended: AppendedEvent) -> dict[str, Any]:
    event: dict[str, Any] = {"event_type": appended.kind, "content": content_of(appended), "name": SPEAKER}
    if appended.kind in ("tool_call", "tool_result"):
        event["event_data"] = TOOL_DATA
    event |= {"participant": appended.participant} if appended.participant else {}
    return event | ({"client_id": appended.client_id} if appended.client_id else {})


def _pack(body: Mapping[str, Any]) -> SeenPack:
    return SeenPack(body.get("pack_version"), body.get("sha256"), body.get("text", ""))


def _memory(body: Mapping[str, Any]) -> SeenMemory:
    return SeenMemory(body["id"], body["text"], body["rev"])


def _job(body: Mapping[str, Any]) -> SeenJob:
    return SeenJob(body["id"], body["status"])
