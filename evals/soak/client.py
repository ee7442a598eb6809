"""One chat backend with several users, by a script that its seed decides."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from evals.soak.journal import Account, Append, Journal, KnownMemory
from evals.soak.sending import Call, Sender, Unexpected
from local.api_client import Reply
from neve.adapters.clock import SystemIds

STATEMENTS = (
    "I live in {} now.",
    "My favourite tea is {}.",
    "I work at {} on Mondays.",
    "I moved to {} last week.",
    "I am allergic to {}.",
    "I decided on {} for the kitchen.",
    "My sister {} is a nurse.",
    "I finished the {} project yesterday.",
)
"""The extractive observer keeps each of them, so that every observed user message is in some observation."""
MAX_EVENTS, BURST = 6, 40
MAX_SESSIONS = 6
"""Of one account and client: an old session goes on while others begin."""
LOST = 0.06
"""How often a client loses the answer of a write, and how often it repeats one that was answered."""
JSONL = {"Content-Type": "application/jsonl"}


class Client:
    """Runs in a thread of its own until ``stop``. ``failure``: what ended it early."""

    def __init__(
        self, name: str, sender: Sender, accounts: Sequence[Account], seed: int, think_s: float, stop: threading.Event
    ) -> None:
        """``think_s``: mean pause between two requests."""
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.journals = [Journal(account) for account in accounts]
        self.sender = sender
        self.failure: Exception | None = None
        self._name = name
        self._random = random.Random(f"{seed}-{name}")
        self._think_s = think_s
        self._stop = stop
        self._ids = SystemIds()
        self._made = 0
        steps: list[tuple[int, Callable[[Journal], None]]] = [
            (30, self._append),
            (6, self._open),
            (6, self._observe),
            (2, self._burst),
            (2, self._show_no_image),
            (5, self._compact),
            (16, self._read_pack),
            (14, self._recall),
            (9, self._remember),
            (6, self._edit),
            (4, self._delete),
            (3, self._import),
            (6, self._list),
        ]
        self._weights = [weight for weight, _ in steps]
        self._steps = [step for _, step in steps]

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                journal = self._random.choice(self.journals)
                try:
                    self._random.choices(self._steps, self._weights)[0](journal)
                except Unexpected as error:
                    journal.findings.append(str(error))
                time.sleep(self._random.expovariate(1 / self._think_s))
        except Exception as error:
            self.failure = error
        finally:
            self.sender.close()

    # --- sessions and events --------------------------------------------------------------------

    def _open(self, journal: Journal) -> None:
        """A new session, or one that is there. The account's first one is shared by all clients that have it."""
        wanted = "shared" if not journal.sessions else self._random.choice([*journal.sessions, self._token("s")])
        if wanted not in journal.sessions and len(journal.sessions) >= MAX_SESSIONS:
            wanted = self._random.choice(journal.sessions)
        reply = self._send(journal, Call("open", "POST", "/sessions", {"session_id": wanted}))
        if reply is not None:
            if wanted not in journal.sessions:
                journal.sessions.append(wanted)
            self._saw_pack(journal, reply.json()["pack"])

    def _burst(self, journal: Journal) -> None:
        self._append(journal, count=BURST)

    def _show_no_image(self, journal: Journal) -> None:
        """Bytes that are no image: all of the call is refused, and nothing is appended."""
        session = self._session(journal)
        if session is not None:
            block = {"type": "image", "media_type": "image/png", "data": base64.b64encode(b"no image").decode()}
            shown = {"event_type": "user_message", "content": [{"type": "text", "text": self._token("i")}, block]}
            body = {"events": [*self._events(), shown]}
            self._send(journal, Call("bad image", "POST", f"/sessions/{session}/events", body, good=(422,)))

    def _append(self, journal: Journal, count: int | None = None) -> None:
        session = self._session(journal)
        if session is None:
            return
        events, how = self._events(count), self._random.choice(("ids", "key", "both"))
        if how != "key":
            events = [event | {"client_id": self._token("c")} for event in events]
        sent = Append(session, events, None if how == "ids" else self._token("k"))
        journal.appends.append(sent)
        reply = self._write(journal, append_call(sent))
        if reply is None:
            return
        sent.seqs = reply.json()["seqs"]
        if self._random.random() < LOST:
            repeated = self._send(journal, append_call(sent))
            if repeated is not None and repeated.json()["seqs"] != sent.seqs:
                journal.findings.append(f"repeated, and got {repeated.json()['seqs']} instead of {sent}")

    def _observe(self, journal: Journal) -> None:
        self._accept(journal, "observe", {})

    def _compact(self, journal: Journal) -> None:
        self._accept(journal, "compact", {"reason": "manual"})

    def _accept(self, journal: Journal, what: str, body: dict[str, Any]) -> None:
        session = self._session(journal)
        if session is not None:
            call = Call(what, "POST", f"/sessions/{session}/{what}", body, key=self._token("k"), good=(200, 202))
            reply = self._write(journal, call)
            if reply is not None:
                journal.jobs.append(reply.json()["id"])

    # --- reading --------------------------------------------------------------------------------

    def _read_pack(self, journal: Journal) -> None:
        session = self._session(journal)
        if session is None:
            return
        if self._random.random() < 0.4:
            call = Call("pack", "GET", "/pack", query={"session_id": session})
            reply = self._send(journal, call)
            if reply is not None:
                self._saw_pack(journal, reply.json())
            return
        known = journal.etags.setdefault(session, [])
        headers = {"If-None-Match": known[-1]} if known else {}
        query = {"session_id": session, "format": "text"}
        reply = self._send(journal, Call("pack", "GET", "/pack", query=query, headers=headers, good=(200, 304)))
        if reply is not None:
            self._saw_text(journal, session, reply)

    def _saw_text(self, journal: Journal, session: str, reply: Reply) -> None:
        etag, known = reply.headers.get("etag"), journal.etags[session]
        if etag is None:
            if "x-neve-degraded" not in reply.headers:
                journal.findings.append(f"a pack without an ETag that is not degraded: {session}")
        elif reply.status == 304:
            if etag != known[-1]:
                journal.findings.append(f"304 with {etag} for {known[-1]}: {session}")
        elif etag != f'"{hashlib.sha256(reply.body).hexdigest()}"':
            journal.findings.append(f"a pack's bytes are not those of its ETag {etag}: {session}")
        else:
            known.append(etag)

    def _saw_pack(self, journal: Journal, pack: dict[str, Any]) -> None:
        if pack["state"] != "ready" or "pack_version" not in pack:
            return
        sha = hashlib.sha256(pack["text"].encode()).hexdigest()
        place = (pack["session_id"], pack["pack_version"])
        if sha != pack["sha256"] or journal.packs.setdefault(place, sha) != sha:
            journal.findings.append(f"version {place} had {journal.packs.get(place)}, now {sha}, says {pack['sha256']}")

    def _recall(self, journal: Journal) -> None:
        there = _there(journal)
        query = self._random.choice(sorted(self._random.choice(there).texts)) if there else "Where do I live now?"
        gone = {memory.id for memory in journal.memories if memory.deleted == "yes"}
        mode = self._random.choice(("prompt", "tool"))
        reply = self._send(journal, Call("recall", "POST", "/recall", {"query": query, "mode": mode, "limit": 5}))
        if reply is not None and (found := {hit["id"] for hit in reply.json()["hits"]} & gone):
            journal.findings.append(f"recalled although deleted: {found}")

    def _list(self, journal: Journal) -> None:
        session = self._session(journal)
        paths = ["/memories", "/stats", "/sessions", *([f"/sessions/{session}/events"] if session else [])]
        self._send(journal, Call("list", "GET", self._random.choice(paths)))

    # --- memories -------------------------------------------------------------------------------

    def _remember(self, journal: Journal) -> None:
        memory = self._new_memory(journal)
        journal.memories.append(memory)
        reply = self._write(journal, create_call(memory))
        if reply is not None:
            memory.id = reply.json()["id"]

    def _edit(self, journal: Journal) -> None:
        for memory in self._some_memory(journal):
            text = f"Edited {self._token('m')} and {self._token('w')}"
            memory.texts.add(text)
            # never abandoned: a change that is carried out late would undo the next one
            reply = self._send(journal, Call("edit", "PATCH", f"/memories/{memory.id}", {"text": text}))
            if reply is not None:
                memory.texts = {text}

    def _delete(self, journal: Journal) -> None:
        for memory in self._some_memory(journal):
            memory.deleted = "perhaps"
            call = Call("delete", "DELETE", f"/memories/{memory.id}", good_again=(404,))
            if self._write(journal, call) is not None:
                memory.deleted = "yes"

    def _import(self, journal: Journal) -> None:
        """Ids are the caller's, so that a repeated call imports nothing twice."""
        rows = [self._new_memory(journal) for _ in range(self._random.randint(1, 5))]
        for memory in rows:
            memory.id = f"mem_{self._ids.ulid(datetime.now(UTC))}"
            memory.deleted = "perhaps"
        journal.memories += rows
        raw = "\n".join(json.dumps(memory.body | {"id": memory.id}) for memory in rows).encode()
        reply = self._send(journal, Call("import", "POST", "/memories/import", raw=raw, headers=JSONL))
        if reply is not None:
            report = reply.json()
            if sorted(report["imported"] + report["unchanged"]) != sorted(str(memory.id) for memory in rows):
                journal.findings.append(f"imported {[memory.id for memory in rows]}, but {report}")
            for memory in rows:
                memory.deleted = "no"

    def _new_memory(self, journal: Journal) -> KnownMemory:
        text = f"Remember {self._token('m')} and {self._token('w')}"
        body: dict[str, Any] = {"text": text, "kind": self._random.choice(("manual", "note"))}
        session = self._session(journal)
        if session is not None and self._random.random() < 0.4:
            body["session_id"] = session
        return KnownMemory(body, self._token("k"), texts={text})

    def _some_memory(self, journal: Journal) -> list[KnownMemory]:
        """At most one that is there, as a list."""
        there = _there(journal)
        return [self._random.choice(there)] if there else []

    # --- sending --------------------------------------------------------------------------------

    def _write(self, journal: Journal, call: Call) -> Reply | None:
        """Sometimes the first answer is lost, and the repetition meets the first call at work."""
        lost = self._random.random() < LOST
        if lost:
            self.sender.abandon(journal.account, _of(journal.account, call))
        return self._send(journal, call, lost_before=lost)

    def _send(self, journal: Journal, call: Call, *, lost_before: bool = False) -> Reply | None:
        return self.sender.send(journal.account, _of(journal.account, call), lost_before=lost_before)

    # --- what requests are made of --------------------------------------------------------------

    def _session(self, journal: Journal) -> str | None:
        """One that is open; None when the first could not be opened."""
        if not journal.sessions:
            self._open(journal)
        return self._random.choice(journal.sessions) if journal.sessions else None

    def _events(self, count: int | None = None) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        for _ in range(count or self._random.randint(1, MAX_EVENTS)):
            if events and events[-1]["event_type"] == "user_message":
                events.append({"event_type": "assistant_response", "content": f"I see, {self._token('e')}."})
            else:
                statement = self._random.choice(STATEMENTS).format(self._token("e"))
                events.append({"event_type": "user_message", "content": statement})
        return events

    def _token(self, kind: str) -> str:
        """A word that this run uses once."""
        self._made += 1
        return f"Zq{kind}{self._name}n{self._made}"


def append_call(sent: Append) -> Call:
    """Below the user's path, as the next one."""
    path = f"/sessions/{sent.session}/events"
    return Call("append", "POST", path, {"events": sent.events}, key=sent.key, good=(201,))


def create_call(memory: KnownMemory) -> Call:
    return Call("create", "POST", "/memories", memory.body, key=memory.key, good=(201,))


def _of(account: Account, call: Call) -> Call:
    return replace(call, path=account.path + call.path)


def _there(journal: Journal) -> list[KnownMemory]:
    return [memory for memory in journal.memories if memory.id and memory.deleted == "no"]
