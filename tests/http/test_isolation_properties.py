"""Row B41 as a property: whatever calls people of two tenants make with whatever ids they know, no answer holds a text
or an id of anybody but the one it is about.

Everybody's texts hold a word that nobody else writes. Every id that an answer gives away is kept with its owner, and
all of them are tried by everybody, in every place of every operation of docs/openapi.json. The users of one tenant
share its keys, so each may be asked about; an answer about one of them must still hold nothing of the others."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from local.api_client import ApiClient, Reply
from local.openapi import TARGET
from local.running import StackName
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, new_memory_id, new_user, new_word, user_message
from tests.http.driving.stage import Stage

OPERATIONS: dict[str, tuple[str, str]] = {
    operation["operationId"]: (method.upper(), path)
    for path, methods in json.loads(TARGET.read_text())["paths"].items()
    for method, operation in methods.items()
}
IDS = re.compile(r"\b(mem|doc|job|rcl|upl|ses)_[0-9A-HJKMNP-TV-Z]{26}")
KINDS = {
    "mem": "memory_id",
    "doc": "document_id",
    "job": "job_id",
    "rcl": "recall_id",
    "upl": "upload_id",
    "ses": "session_id",
}
PATHS = ("/shared/family/us", "/shared/family/tree", "/notes/tea")
"""Everybody's documents have the same."""
WORDS = ("sister Reykjavik", "dentist appointment", "Where does the sister live?")
SENTENCES = ("My sister lives in Reykjavik.", "I have a dentist appointment tomorrow.", "I prefer green tea.")
ID_KEEPING = {"openSession", "appendMessages", "turn", "importMemories", "drainEmbeddings", "reflect", "putWebhook"}
"""Operations that keep an id which the caller chose: from then on it is the caller's too."""
TRIES = 400
"""Of a call that the drawing left without what it needs."""
SAME_KEY = "everybody's"
"""An ``Idempotency-Key``, which is good for one tenant and one path."""


class Who(NamedTuple):
    """Whom a call is about: a user, or the tenant itself where ``user`` is empty."""

    tenant: int
    user: str


class Step(NamedTuple):
    """One call. All numbers count modulo what there is to choose from by then; ``picks`` choose ids and values."""

    operation: str
    tenant: int
    user: int
    narrow_key: bool
    picks: tuple[int, ...]


def steps(rounds: int) -> st.SearchStrategy[list[Step]]:
    """Every operation so many times, in any order; those that an id in their path leads to thrice as often."""
    by_id = [operation for operation, (_, path) in OPERATIONS.items() if path.replace("{user_id}", "").count("{")]
    orders = st.permutations(sorted([*OPERATIONS, *by_id, *by_id] * rounds))
    return orders.flatmap(lambda order: st.tuples(*(_steps_of(*at) for at in enumerate(order))).map(list))


def _steps_of(place: int, operation: str) -> st.SearchStrategy[Step]:
    """Numbers that rise with the place: even the simplest example that Hypothesis begins with goes from one user and
    one id to the next."""
    numbers = st.integers(place, place + 999)
    return st.builds(Step, st.just(operation), numbers, numbers, st.booleans(), st.tuples(*[numbers] * 6))


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Json = field(default_factory=dict)
    body: Any = None
    raw: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Everything that the caller says in it."""
        return f"{self.path} {self.query} {self.body} {(self.raw or b'').decode()} {self.headers}"


@dataclass
class Known:
    """``owners``: who may see an id. ``kinds``: the ids of a path parameter's name, in the order of their appearance.
    ``words``: what only one person writes."""

    owners: dict[str, set[Who]] = field(default_factory=lambda: defaultdict(set))
    kinds: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    words: dict[Who, str] = field(default_factory=dict)

    def learn(self, who: Who, kind: str, identifier: str) -> None:
        if identifier not in self.kinds[kind]:
            self.kinds[kind].append(identifier)
        if not self.owners[identifier]:
            self.owners[identifier].add(who)

    def learn_from(self, who: Who, reply: Reply) -> None:
        for found in IDS.finditer(reply.text):
            self.learn(who, KINDS[found[1]], found[0])
        answer = reply.json() if reply.headers.get("content-type", "").startswith("application/json") else {}
        for name, kind in (("next_cursor", "cursor"), ("key_id", "key_id"), ("key", "key"), ("confirm", "confirm")):
            if name in answer:
                self.learn(who, kind, answer[name])
        # an event's id is made of its session's, and an ETag of the bytes: two people may have the same
        self.kinds["hit"] += [hit["id"] for hit in answer.get("hits", ())]
        self.kinds["etag"] += [reply.headers["etag"]] if "etag" in reply.headers else []

    def may_see(self, who: Who, identifier: str) -> bool:
        owners = self.owners.get(identifier, set())
        whole_tenant = Who(who.tenant, "")
        if who == whole_tenant:
            return any(owner.tenant == who.tenant for owner in owners)
        return who in owners or whole_tenant in owners


class Choice:
    """What one step puts into its request."""

    def __init__(self, known: Known, who: Who, picks: Sequence[int]) -> None:
        self.known, self.who, self._picks = known, who, cycle(picks)

    def one_of(self, *values: Any) -> Any:
        return values[next(self._picks) % len(values)]

    def id(self, kind: str) -> str:
        """Mostly anybody's, sometimes one's own."""
        ids = self.known.kinds[kind]
        own = [one for one in ids if self.known.may_see(self.who, one)]
        return str(self.one_of(*(self.one_of(ids, own, ids) or ids or [new_memory_id()])))

    def some_ids(self, *kinds: str) -> list[str]:
        return list(dict.fromkeys(self.id(kind) for kind in kinds))

    def text(self) -> str:
        """With one's own word, or as anybody could say it."""
        sentence = self.one_of(*SENTENCES)
        return str(self.one_of(f"{self.known.words[self.who]}: {sentence}", sentence))

    def search(self) -> str:
        """For what all have, or for what only one of them wrote."""
        return str(self.one_of(*WORDS, *self.known.words.values()))

    def page(self) -> Json:
        return {"limit": 1, **self.one_of({}, {"cursor": self.id("cursor")})}

    def narrowed(self) -> Json:
        """What a recall may be restricted by."""
        everybodys = {"group": "family", "tags": ["kept"]}
        return {
            **self.one_of({}, {"scope": "global"}, {"scope": "session"}),
            **self.one_of({}, {"session_id": self.id("session_id")}),
            **self.one_of({}, {"sources": ["memory"]}, {"sources": ["document"]}, {"sources": ["event"]}),
            **self.one_of({}, {"legs": ["vector"]}, {"legs": ["lexical"]}),
            **self.one_of({}, {"filters": everybodys}, {"filters": {"after": "2020-01-01T00:00:00Z"}}),
            **self.one_of({}, {"exclude_ids": self.some_ids("memory_id", "hit")}),
        }


def _line(**row: Any) -> bytes:
    return json.dumps(row).encode()


def _event(pick: Choice) -> Json:
    upload = {"type": "image", "media_type": "image/png", "upload_id": pick.id("upload_id")}
    content = pick.one_of(pick.text(), pick.text(), [upload])
    return user_message(content, **pick.one_of({}, {"client_id": "c-1"}, {"client_id": f"c-{pick.one_of(*range(9))}"}))


def _messages(pick: Choice) -> list[Json]:
    return [{"role": "user", "content": pick.text()}, {"role": "assistant", "content": pick.text()}]


def _tool_call(pick: Choice) -> Json:
    arguments = {"query": pick.search(), "limit": 50, "scope": pick.one_of("all", "global")}
    return {"arguments": arguments, **pick.one_of({}, {"session_id": pick.id("session_id")})}


REQUESTS: dict[str, Callable[[Choice], Json]] = {
    "openSession": lambda p: {"body": {"session_id": p.id("session_id"), "title": p.text(), "budget_ms": 2000}},
    "appendEvents": lambda p: {"body": {"events": [_event(p), answered(p.text())]}},
    "appendMessages": lambda p: {"body": {"messages": _messages(p)}},
    "turn": lambda p: {
        "body": {
            **p.one_of({}, {"messages": _messages(p)}),
            **p.one_of(
                {"compile": {"message": p.text()}},
                {"recall": {"query": p.search(), "limit": 50, "threshold": 0}},
            ),
        }
    },
    "observeSession": lambda p: {"body": p.one_of({}, {}, {"dry_run": True})},
    "compactSession": lambda p: {"body": {"reason": p.one_of("tokens", "manual")}},
    "endSession": lambda p: {"body": p.one_of({}, {"outcome": "SUCCESS"})},
    "retractEvents": lambda p: {
        "body": {"from_seq": p.one_of(2, 3), **p.one_of({}, {"to_seq": 3}), "reason": p.one_of("edited", "deleted")}
    },
    "listEvents": lambda p: {"query": {"limit": p.one_of(1, 200)}},
    "readPack": lambda p: {
        "query": {
            **p.one_of({}, {"session_id": p.id("session_id")}, {"session_id": p.id("session_id"), "version": 1}),
            **p.one_of({}, {"format": "text"}),
        },
        "headers": p.one_of({}, {"If-None-Match": p.one_of(*p.known.kinds["etag"])}),
    },
    "listPackVersions": lambda p: {"query": {"session_id": p.id("session_id"), **p.page()}},
    "diffPackVersions": lambda p: {
        "query": {
            "session_id": p.one_of(f"session-of-{p.who.user}", p.id("session_id")),
            "from": 1,
            "to": p.one_of(1, 1, 2),
        }
    },
    "recall": lambda p: {
        "body": {
            # with debug an answer repeats the query, which is then one that everybody may ask
            **p.one_of({"query": p.search()}, {"query": p.one_of(*WORDS), "debug": True}),
            **p.narrowed(),
            "limit": 50,
            "threshold": 0,
        }
    },
    "callRecallMemory": lambda p: {"body": _tool_call(p)},
    "callSearchConversation": lambda p: {
        "body": {"arguments": {"query": p.search(), "conversation_id": p.id("session_id")}}
    },
    "callSearchKnowledge": lambda p: {"body": {"arguments": {"query": p.search(), "top_k": 50}}},
    "callReadDocument": lambda p: {
        "body": {"arguments": {"path": p.one_of(*PATHS, f"/artifacts/{new_memory_id().removeprefix('mem_')}")}}
    },
    "getDocument": lambda p: {"query": {"path": p.one_of(*PATHS), **p.one_of({}, {"rev": 1}, {"chunks": "true"})}},
    "putDocument": lambda p: {"query": {"path": p.one_of(*PATHS)}, "body": {"text": p.text(), "group": "family"}},
    "deleteDocuments": lambda p: {"query": p.one_of({"path": p.one_of(*PATHS)}, {"prefix": "/shared/"})},
    "listDocuments": lambda p: {"query": p.page()},
    "listDocumentVersions": lambda p: {"query": {"path": p.one_of(*PATHS), **p.page()}},
    "moveDocument": lambda p: {
        "body": {"path": p.one_of(*PATHS), "to": p.one_of(*PATHS), **p.one_of({}, {"prefix": True})}
    },
    "restoreDocument": lambda p: {"query": {"path": p.one_of(*PATHS)}, "body": {"rev": 1}},
    "evolveDocument": lambda p: {
        "body": {"path": p.one_of(*PATHS), "to": p.one_of(*PATHS), "text": p.text(), "reason": "It changed."}
    },
    "compileContext": lambda p: {
        "body": {"session_id": p.id("session_id"), "message": p.text(), "format": p.one_of("anthropic", "openai")}
    },
    "reportUsage": lambda p: {
        "body": {
            "session_id": p.id("session_id"),
            "pack_version": 1,
            "model": "claude-sonnet-4-5",
            "usage": {"input": 10, "cache_read": 0, "cache_write": 0, "output": 1},
        }
    },
    "readRecall": lambda p: {"query": p.one_of({}, {"why_not": p.id("memory_id")})},
    "listRecalls": lambda p: {"query": p.page()},
    "listSessions": lambda p: {"query": p.page()},
    "listMemories": lambda p: {
        "query": {**p.page(), **p.one_of({}, {"group": "family"}, {"session_id": p.id("session_id")})}
    },
    "createMemory": lambda p: {
        "body": {
            "text": p.text(),
            "group": "family",
            **p.one_of({}, {"session_id": p.id("session_id")}),
            **p.one_of({}, {"kind": "fact", "category": "PERSON"}),
        }
    },
    "updateMemory": lambda p: {"body": {"text": p.text(), "tags": ["kept"]}},
    "evolveMemory": lambda p: {"body": {"text": p.text(), "reason": p.text()}},
    "importMemories": lambda p: {
        "raw": _line(id=p.id("memory_id"), text=p.text(), **p.one_of({}, {"session_id": p.id("session_id")}))
    },
    "listInbox": lambda p: {"query": p.page()},
    "approveInboxItem": lambda _: {"body": {}},
    "rejectInboxItem": lambda _: {"body": {}},
    "editInboxItem": lambda p: {"body": {"text": p.text()}},
    "supersedeInboxItem": lambda p: {"body": p.one_of({}, {"target_id": p.id("memory_id")})},
    "markMemoriesUsed": lambda p: {"body": {"ids": p.some_ids("memory_id", "memory_id")}},
    "createUpload": lambda _: {"body": {"media_type": "image/png"}},
    "createKey": lambda p: {"body": {"scopes": p.one_of(["chat"], ["records"], ["admin"])}},
    "createToken": lambda p: {"body": {"scopes": p.one_of(["chat"], ["records", "admin"])}},
    "createUserToken": lambda p: {"body": {"scopes": p.one_of(["self"], ["chat", "records"])}},
    "reflect": lambda p: {"body": p.one_of({}, {"user_id": p.id("user_id")}, {"dry_run": True})},
    "deleteMemory": lambda p: {
        "query": p.one_of({}, {"purge_packs": "true"}, {"cascade": "true"}, {"dry_run": "true"})
    },
    "eraseUser": lambda p: {"query": p.one_of({}, {"close": "true"})},
    "drainEmbeddings": lambda p: {"body": p.one_of({}, {"user_id": p.id("user_id")})},
    "writePolicy": lambda p: {"body": {"recall_limit": 20 + p.who.tenant, "write_tools": "on"}},
    "patchPolicy": lambda p: {"body": {"recall_limit": 20 + p.who.tenant, "write_tools": "on"}},
    "forgetMemories": lambda p: {
        "body": p.one_of(
            {"query": p.search()},
            {"filters": {"group": "family"}},
            {"sessions": [p.id("session_id")]},
            {"confirm": p.id("confirm")},
        )
    },
    "callRemember": lambda p: {
        "body": {
            "arguments": {"text": p.text(), **p.one_of({}, {"seq": p.one_of(1, 3)})},
            **p.one_of({}, {"session_id": p.id("session_id"), "tool_use_id": "toolu_1"}),
        }
    },
    "callCorrect": lambda p: {
        "body": {"arguments": {"id": p.id("memory_id"), "text": p.text(), "reason": "It changed."}}
    },
    "callForget": lambda p: {
        "body": {
            "arguments": p.one_of({"query": p.search()}, {"id": p.id("memory_id")}, {"confirm": p.id("confirm")}),
            **p.one_of({}, {"tool_use_id": "toolu_2"}),
        }
    },
    "listUsers": lambda p: {"query": p.page()},
    "listKeys": lambda p: {"query": p.page()},
    "putWebhook": lambda _: {"body": {"url": "https://example.invalid/", "types": ["memory.written"]}},
    "readFeed": lambda p: {"query": p.one_of({}, {"user_id": p.id("user_id")}, {"limit": 3})},
}
"""What an operation is asked with beside the ids in its path; nothing for those that are not here."""


def request_of(operation: str, who: Who, pick: Choice) -> Request:
    method, path = OPERATIONS[operation]
    more = REQUESTS[operation](pick) if operation in REQUESTS else {}
    if method != "GET" and pick.one_of(False, False, True):
        more["headers"] = {**more.get("headers", {}), "Idempotency-Key": SAME_KEY}
    # whoever is being erased has nothing to say any more
    path = path.replace("{user_id}", new_user() if operation == "eraseUser" else who.user)
    if operation == "deleteSession":  # one's own is looked at to the end
        others = [one for one in pick.known.kinds["session_id"] if one != f"session-of-{who.user}"]
        path = path.replace("{session_id}", pick.one_of(*others))
    return Request(method, re.sub(r"\{(\w+)\}", lambda name: pick.id(name[1]), path), **more)


# --- two tenants --------------------------------------------------------------------------------


@dataclass
class Tenant:
    """``narrow``: with the last key that was made and not yet revoked, None without one."""

    wide: ApiClient
    key_id: str
    people: list[Person]
    narrow: ApiClient | None = None


class Neighbours:
    """Makes the calls, listens to every answer, and keeps what it tells."""

    def __init__(self, stage: Stage, tenants: Sequence[Tenant], tally: Counter[tuple[str, int]]) -> None:
        self._stage, self._tenants, self._tally = stage, tenants, tally
        self.known = Known()
        for number, tenant in enumerate(tenants):
            self.known.learn(Who(number, ""), "key_id", tenant.key_id)
            self.known.learn(Who(number, ""), "webhook_id", f"webhook-of-{number}")
            for left in tenant.wide.expect(200, "GET", "/v1/webhooks")["webhooks"]:  # of an example before
                self.known.owners[left["id"]].add(Who(number, ""))
            for someone in tenant.people:
                self._introduce(Who(number, someone.id))

    def _introduce(self, who: Who) -> None:
        self.known.learn(who, "user_id", who.user)
        self.known.owners[who.user].add(who)
        session = f"session-of-{who.user}"
        self.known.learn(who, "session_id", session)
        self.known.owners[session].add(who)  # a namesake's has the same name
        self.known.words[who] = f"zq{new_word()}"

    def everybody(self) -> Iterator[tuple[Who, Person]]:
        for number, tenant in enumerate(self._tenants):
            for someone in tenant.people:
                yield Who(number, someone.id), someone

    # --- calls -----------------------------------------------------------------------------------

    def make(self, step: Step) -> None:
        number = step.tenant % len(self._tenants)
        tenant = self._tenants[number]
        someone = Who(number, tenant.people[step.user % len(tenant.people)].id)
        who = someone if "{user_id}" in OPERATIONS[step.operation][1] else Who(number, "")
        request = request_of(step.operation, who, Choice(self.known, someone, step.picks))
        if request.path == f"/v1/keys/{tenant.key_id}":
            return  # everybody's hands would be tied
        note(f"{step.operation} about {who}: {request.text}")
        client = tenant.narrow if step.narrow_key and tenant.narrow else tenant.wide
        reply = self.ask(step.operation, who, request, client)
        if step.operation == "createKey" and reply.status == 201 and "key" in reply.json():
            self._forget_key(tenant)
            tenant.narrow = ApiClient(self._stage.base_url, reply.json()["key"])
        if step.operation == "revokeKey" and reply.status == 204:
            self._forget_key(tenant)

    def ask(self, operation: str, who: Who, request: Request, client: ApiClient) -> Reply:
        r = request
        reply = client.call(r.method, r.path, r.body, query=r.query, raw=r.raw, headers=r.headers)
        self._tally[operation, reply.status // 100] += 1
        self._judge(who, request, reply)
        if reply.status < 300 and operation in ID_KEEPING:
            for identifier in [one for one in self.known.owners if one in request.text]:
                self.known.owners[identifier].add(who)
        self.known.learn_from(who, reply)
        return reply

    def make_the_rest(self) -> None:
        """Calls that were drawn, and never with what they need: with one's own ids, until each was answered well."""
        random = Random(len(self._tally))
        for operation, (_, path) in OPERATIONS.items():
            if "{item_id}" in path and not self._tally[operation, 2]:
                self._let_something_wait(operation)
            for _ in range(TRIES):
                if self._tally[operation, 2]:
                    break
                picks = tuple(random.randrange(1_000) for _ in range(6))
                self.make(Step(operation, random.randrange(2), random.randrange(3), False, picks))

    def _let_something_wait(self, why: str) -> None:
        """Everybody gets one more item: those of the beginning may be decided by now."""
        self.known.kinds["item_id"] = [new_memory_id() for _ in self.everybody()]
        for item, (who, someone) in zip(self.known.kinds["item_id"], self.everybody(), strict=True):
            text = f"{self.known.words[who]} {why}."
            line = _line(id=item, kind="fact", category="PERSON", status="inbox", text=text)
            self._import(who, someone, [line], key=f"{SAME_KEY}-{why}")

    def _judge(self, who: Who, request: Request, reply: Reply) -> None:
        heard = f"{reply.headers} {reply.text} {_inside_cursors(reply)}"
        about = f"{who} asked {request} and heard {reply.status} {heard}"
        assert reply.status < 500, about
        for writer, word in self.known.words.items():  # an observation begins with a capital
            assert writer == who or word not in heard.lower(), f"the words of {writer}: {about}"
        body = request.text
        for identifier in list(self.known.owners):
            # what the caller has just said may be repeated: it is no news
            if identifier in heard and identifier not in body:
                owners = self.known.owners[identifier]
                assert self.known.may_see(who, identifier), f"{identifier} of {owners}: {about}"

    def _forget_key(self, tenant: Tenant) -> None:
        if tenant.narrow:
            tenant.narrow.close()
        tenant.narrow = None

    # --- what they have --------------------------------------------------------------------------

    def settle_in(self) -> None:
        """Everybody gets something of everything."""
        for who, someone in self.everybody():
            session, word = f"session-of-{who.user}", self.known.words[who]
            first, second = new_memory_id(), new_memory_id(1)
            rows = _line(id=first, text=f"{word}: {SENTENCES[0]}", group="family", tags=["kept"])
            rows += b"\n" + _line(id=second, text=SENTENCES[0], group="family", tags=["kept"])
            for n in range(2, 6):
                unsure = _line(id=new_memory_id(n), kind="fact", category="PERSON", status="inbox", text=f"{word} {n}.")
                rows += b"\n" + unsure
            events = [
                user_message(f"{word}: {SENTENCES[1]}"),
                answered("Noted."),
                user_message(SENTENCES[2]),
                answered(word),
            ]
            for operation, path, more in (
                ("openSession", "/sessions", {"body": {"session_id": session, "title": word, "budget_ms": 0}}),
                ("appendEvents", f"/sessions/{session}/events", {"body": {"events": events}}),
                ("observeSession", f"/sessions/{session}/observe", {"body": {}}),
                ("createUpload", "/uploads", {"body": {"media_type": "image/png"}}),
            ):
                asked = Request("POST", someone.path + path, **more, headers={"Idempotency-Key": SAME_KEY})
                self._tell(operation, who, someone, asked)
            self._import(who, someone, rows.split(b"\n"))
        self.wait_for_workers()
        for who, someone in self.everybody():
            self._first_look(who, someone)

    def _import(self, who: Who, someone: Person, lines: Sequence[bytes], key: str = SAME_KEY) -> None:
        """All of them: a call that runs out of time says which line is next."""
        while lines:
            headers = {"Idempotency-Key": key}
            asked = Request("POST", f"{someone.path}/memories/import", raw=b"\n".join(lines), headers=headers)
            imported = self._tell("importMemories", who, someone, asked).json()
            assert not imported["rejected"], imported
            lines = lines[imported["next_line"] - 1 :] if "next_line" in imported else []
            key = f"{key}-{len(lines)}"

    def wait_for_workers(self) -> None:
        for _, someone in self.everybody():
            someone.settle()

    def look_around(self) -> None:
        """Everything that everybody can see of themselves: what a call put into the wrong place is heard here."""
        for who, someone in self.everybody():
            session = f"session-of-{who.user}"
            for operation, path, query in (
                ("listMemories", "/memories", {"limit": 200}),
                ("listDocuments", "/documents/list", {"limit": 200}),
                ("listSessions", "/sessions", {}),
                ("listEvents", f"/sessions/{session}/events", {"limit": 200}),
                ("readPack", "/pack", {"session_id": session, "format": "text"}),
            ):
                self._tell(operation, who, someone, Request("GET", someone.path + path, query))
            for words in WORDS:
                self._search(who, someone, words)

    def _first_look(self, who: Who, someone: Person) -> None:
        """Tells memories, a pack, a recall, and cursors of both lists."""
        self._tell("listMemories", who, someone, Request("GET", f"{someone.path}/memories", {"limit": 200}))
        self._tell("listMemories", who, someone, Request("GET", f"{someone.path}/memories", {"limit": 1}))
        pack = {"session_id": f"session-of-{who.user}"}
        self._tell("readPack", who, someone, Request("GET", f"{someone.path}/pack", pack))
        for words in WORDS[:2]:
            found = self._search(who, someone, words)
            assert "memory" in {hit["source"] for hit in found["hits"]}, found
        self._tell("listRecalls", who, someone, Request("GET", f"{someone.path}/recalls", {"limit": 1}))
        waiting = self._tell("listInbox", who, someone, Request("GET", f"{someone.path}/inbox")).json()["items"]
        self.known.kinds["item_id"] += [item["id"] for item in waiting]
        assert len(waiting) >= 4, waiting

    def _search(self, who: Who, someone: Person, words: str) -> Json:
        body = {"query": words, "limit": 50, "threshold": 0}
        return dict(self._tell("recall", who, someone, Request("POST", f"{someone.path}/recall", body=body)).json())

    def _tell(self, operation: str, who: Who, someone: Person, request: Request) -> Reply:
        reply = self.ask(operation, who, request, someone.api)
        assert reply.status < 300, f"{request} -> {reply.status} {reply.text}"
        return reply


def _inside_cursors(reply: Reply) -> str:
    return " ".join(
        urlsafe_b64decode(found[1]).decode(errors="replace")
        for found in re.finditer(r'"next_cursor": ?"([A-Za-z0-9_=-]+)"', reply.text)
    )


# --- the tests ----------------------------------------------------------------------------------


@dataclass
class Neighbourhood:
    """Makes new users of the two tenants for each example, and undoes what is the tenants' own."""

    stage: Stage
    clients: tuple[ApiClient, ApiClient]
    person: Callable[[ApiClient], Person]
    tally: Counter[tuple[str, int]] = field(default_factory=Counter)
    neighbours: type[Neighbours] = Neighbours

    @contextmanager
    def with_users(self, *counts: int) -> Iterator[Neighbours]:
        """So many users of each tenant, and one of each that has the same id."""
        assert self.stage.other_key is not None
        keys = [key.split("_")[1] for key in (self.stage.key, self.stage.other_key)]
        namesake = self.person(self.clients[0])
        tenants = [
            Tenant(client, key, [*(self.person(client) for _ in range(count)), replace(namesake, api=client)])
            for client, key, count in zip(self.clients, keys, counts, strict=True)
        ]
        policies = [client.expect(200, "GET", "/v1/policy")["policy"] for client in self.clients]
        neighbours = self.neighbours(self.stage, tenants, self.tally)
        try:
            yield neighbours
        finally:
            for tenant, policy in zip(tenants, policies, strict=True):
                if tenant.narrow:
                    tenant.narrow.close()
                tenant.wide.expect(200, "PUT", "/v1/policy", policy)
                for key in neighbours.known.kinds["key_id"]:
                    if key != tenant.key_id and Who(tenants.index(tenant), "") in neighbours.known.owners[key]:
                        assert tenant.wide.call("DELETE", f"/v1/keys/{key}").status in (204, 404)


@pytest.fixture
def neighbourhood(
    stage: Stage, api: ApiClient, api_c: ApiClient, person: Callable[[ApiClient], Person]
) -> Neighbourhood:
    return Neighbourhood(stage, (api, api_c), person)


def generated(rounds: int, examples: int) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Populations and calls, the same ones in every run; a failure comes with the calls that led to it."""

    def decorate(example: Callable[..., None]) -> Callable[[], None]:
        wanted = settings(
            max_examples=examples,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],  # making a failure smaller takes seconds for each call that is left out
            suppress_health_check=list(HealthCheck),
        )
        users = st.tuples(st.integers(1, 2), st.integers(1, 2))
        return wanted(given(users, steps(rounds))(example))

    return decorate


@pytest.mark.live
def test_b41_no_answer_holds_anything_of_another(neighbourhood: Neighbourhood) -> None:
    @generated(rounds=2, examples=2)
    def whoever_asks(users: tuple[int, int], asked: list[Step]) -> None:
        with neighbourhood.with_users(*users) as neighbours:
            neighbours.settle_in()
            for step in asked:
                neighbours.make(step)
            neighbours.make_the_rest()
            neighbours.wait_for_workers()
            neighbours.look_around()

    whoever_asks()
    answered_well = {operation for operation, hundreds in neighbourhood.tally if hundreds == 2}
    assert answered_well == set(OPERATIONS)


@pytest.mark.controls
@pytest.mark.parametrize("leg", ["vector", "lexical"])
def test_b41_nor_does_it_with_a_failing_leg(
    neighbourhood: Neighbourhood, controls: Controls, stack: StackName, leg: str
) -> None:
    """Once on real servers: a leg that fails above its adapter fails the same way there."""

    @generated(rounds=1, examples=1 if stack == "full" else 2)
    def whoever_asks(users: tuple[int, int], asked: list[Step]) -> None:
        controls.faults()
        with neighbourhood.with_users(*users) as neighbours:
            neighbours.settle_in()
            controls.fault(leg, "error")
            for step in asked:
                neighbours.make(step)
            neighbours.wait_for_workers()
            neighbours.look_around()

    whoever_asks()
    assert neighbourhood.tally["recall", 2] > 0
