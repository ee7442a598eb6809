"""Row C38: what a stage must show after it was deployed. T0 is in test_t0.py."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from local.api_client import ApiClient, Reply
from local.openapi import TARGET
from tests.http.driving.people import Json, Person, new_memory_id, new_user, used
from tests.http.driving.schedules import states_ordered
from tests.http.driving.stage import Stage

pytestmark = pytest.mark.live

POLICY_S = 90

ROUTES = {
    operation["operationId"]: (method.upper(), path)
    for path, operations in json.loads(TARGET.read_bytes())["paths"].items()
    for method, operation in operations.items()
    if method != "parameters" and path != "/v1/health"
}
"""Method and path by operation id: everything that needs a token."""


def nulls(value: Any, at: str = "answer") -> Iterator[str]:
    """Places of nulls. What has no value is left out of an answer."""
    if value is None:
        yield at
    for name, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from nulls(part, f"{at}.{name}")


class Caller:
    """Calls every route once, with ids that earlier answers gave."""

    def __init__(self, user: Person) -> None:
        self.api = user.api
        self.ids = {"user_id": user.id, "session_id": "s1"}
        self.left = set(ROUTES)

    def eventually(self, operation: str, body: Any) -> Json:
        """Call as soon as every process has read the policy, which each does once a minute."""
        method, path = ROUTES[operation]
        end = time.monotonic() + POLICY_S
        while self.api.call(method, path.format(**self.ids), body).status == 403 and time.monotonic() < end:
            time.sleep(1)
        return self(operation, body)

    def __call__(self, operation: str, body: Any = None, **more: Any) -> Json:
        self.left.remove(operation)
        method, path = ROUTES[operation]
        reply = self.api.call(method, path.format(**self.ids), body, **more)
        assert 200 <= reply.status < 300, f"{operation}: {reply.status} {reply.text}"
        is_json = reply.headers.get("content-type", "").startswith("application/json")
        assert not (is_json and list(nulls(reply.json()))), f"{operation} answers null: {reply.text}"
        return dict(reply.json()) if reply.body else {}


def test_c38_every_route_refuses_a_call_without_a_token(stage: Stage) -> None:
    names = ("session_id", "memory_id", "item_id", "job_id", "recall_id", "key_id", "webhook_id")
    ids = {"user_id": new_user(), **dict.fromkeys(names, "x")}
    with closing(ApiClient(stage.base_url)) as nobody:
        answers: dict[str, Reply] = {
            operation: nobody.call(method, path.format(**ids)) for operation, (method, path) in ROUTES.items()
        }
        assert nobody.call("GET", "/v1/health").status == 200
    assert len(answers) >= 33
    assert {operation: reply.status for operation, reply in answers.items() if reply.status != 401} == {}


def test_c38_every_route_answers_a_call_with_a_token(user: Person) -> None:
    call = Caller(user)
    call("openSession", {"session_id": "s1"})
    turn = [
        {"event_type": "user_message", "content": "I moved to Lisbon."},
        {"event_type": "assistant_response", "content": "Noted."},
    ]
    call("appendEvents", {"events": turn})
    call("appendMessages", {"messages": [{"role": "user", "content": "Where can I eat?"}]})
    call("turn", {"messages": [{"role": "assistant", "content": "At Ana's."}], "compile": {"message": "Thanks!"}})
    call("readSession")
    call("listSessions")
    call("listEvents")
    call("retractEvents", {"from_seq": 2, "reason": "edited"})
    call("createUpload", {"media_type": "image/png"})
    call.ids["job_id"] = call("observeSession", {})["id"]
    call("readJob")
    call("compactSession", {"reason": "manual"})
    call("endSession", {})

    call.ids["memory_id"] = call("createMemory", {"text": "Lives in Lisbon.", "kind": "note"})["id"]
    call("updateMemory", {"text": "Lives in Porto."})
    call("readMemory")
    call.ids["memory_id"] = call("evolveMemory", {"text": "Lives in Braga.", "reason": "moved"})["id"]
    call("traceMemory")
    call("listMemories")
    for decision, body in (("approve", {}), ("reject", {}), ("edit", {"importance": 4}), ("supersede", {})):
        [call.ids["item_id"]] = user.bring_in({"text": f"To {decision}.", "status": "inbox"})
        target = {"target_id": call.ids["memory_id"]} if decision == "supersede" else {}
        call(f"{decision}InboxItem", {**body, **target})
    call("listInbox")
    call.ids["memory_id"] = call.ids["item_id"]
    call("importMemories", raw=json.dumps({"id": new_memory_id(), "text": "Has a cat."}).encode())
    call("markMemoriesUsed", {"ids": [call.ids["memory_id"]]})

    call("readPack", query={"session_id": "s1"})
    version = call("listPackVersions", query={"session_id": "s1"})["versions"][0]["pack_version"]
    call("diffPackVersions", query={"session_id": "s1", "from": version, "to": version})
    call.ids["recall_id"] = call("recall", {"query": "Where do I live?"})["recall_id"]
    call("readRecall")
    call("listRecalls")
    call("compileContext", {"session_id": "s1", "message": "Where do I live?"})
    call("listTools")
    call("callRecallMemory", {"arguments": {"query": "Porto"}})
    call("callSearchConversation", {"arguments": {"query": "Lisbon", "conversation_id": "s1"}})
    place = {"path": "/notes/smoke"}
    call("putDocument", {"text": "Smoke rises."}, query=place)
    call("getDocument", query=place)
    call("listDocuments")
    call("listDocumentVersions", query=place)
    call("moveDocument", {**place, "to": "/notes/moved"})
    call("restoreDocument", {"rev": 1}, query={"path": "/notes/moved"})
    call("evolveDocument", {"path": "/notes/moved", "to": "/notes/new", "text": "It rose.", "reason": "It did."})
    call("callSearchKnowledge", {"arguments": {"query": "smoke"}})
    call("callReadDocument", {"arguments": {"path": "/notes/new"}})
    call("forgetMemories", {"filters": {"kind": "note"}})
    call("deleteDocuments", query={"prefix": "/notes/"})
    call("reportUsage", used("s1", input=10, output=1))
    call("deleteMemory")
    call("userStats")

    call("tenantUsage")
    found = call("readPolicy")
    call("writePolicy", found["policy"], headers={"If-Match": f'"{found["rev"]}"'})
    call("patchPolicy", {"recall_limit": 5, "write_tools": "on"})
    memory = call.ids["memory_id"]
    call.eventually("callRemember", {"arguments": {"text": "User sails."}})
    call.eventually("callCorrect", {"arguments": {"id": memory, "text": "User rows.", "reason": "smoke"}})
    call.eventually("callForget", {"arguments": {"query": "rows"}})
    user.api.expect(200, "PUT", "/v1/policy", found["policy"])
    call("listUsers")
    call.ids["webhook_id"] = f"smoke-{user.id[-8:]}"
    call("putWebhook", {"url": "https://example.invalid/neve", "types": ["memory.written"]})
    call("readWebhook")
    call("listWebhooks")
    assert call("testWebhook")["failure"] in ("name", "timeout"), "nobody has this name"
    call("listDeliveries")
    call("deleteWebhook")
    call("readFeed", query={"user_id": user.id, "types": "memory.written"})
    call("listKeys")
    call.ids["key_id"] = call("createKey", {"scopes": ["chat"], "label": "smoke"})["key_id"]
    call("revokeKey")
    call("createUserToken", {"scopes": ["chat"], "ttl_s": 60})
    call("createToken", {"scopes": ["chat"], "ttl_s": 60})
    call("reflect", {"user_id": user.id, "dry_run": True})
    call.ids["job_id"] = call("drainEmbeddings", {"user_id": user.id})["id"]
    call("readAdminJob")
    call("readWork")
    call("deleteSession")
    call("exportUser")
    call("eraseUser")
    assert call.left == set(), "routes of the description that nobody called"


def test_c38_every_schedule_is_enabled(schedules: dict[str, str]) -> None:
    assert schedules == dict.fromkeys(states_ordered(), "ENABLED") != {}
