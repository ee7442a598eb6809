"""What must be true for the clients once everything has settled: asked over HTTP, compared with their journals."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evals.soak.client import append_call, create_call
from evals.soak.journal import Account, Append, Journal, KnownMemory
from evals.soak.sending import Call, Sender
from local.api_client import ApiClient

PAGE = 100
SAMPLE = 200
"""Memories that are recalled at the end."""


def repeat_unanswered(sender: Sender, journals: Sequence[Journal]) -> int:
    """What a careful client does: send again what it does not know the outcome of. How many those were."""
    repeated = 0
    for journal in journals:
        account = journal.account
        for sent in (one for one in journal.appends if one.seqs is None):
            reply = sender.send(account, _below(account, append_call(sent)), lost_before=True)
            sent.seqs = reply.json()["seqs"] if reply else None
            repeated += 1
        for memory in (one for one in journal.memories if one.id is None):
            reply = sender.send(account, _below(account, create_call(memory)), lost_before=True)
            memory.id = reply.json()["id"] if reply else None
            repeated += 1
    return repeated


@dataclass
class HttpChecks:
    """``findings``: what is not as it must be. ``counts``: what was looked at. ``sessions``: by account, those that
    somebody opened."""

    clients: dict[str, ApiClient]
    journals: Sequence[Journal]
    findings: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def accounts(self) -> list[Account]:
        return sorted({journal.account for journal in self.journals})

    def run(self, seed: int) -> None:
        for account in self.accounts:
            mine = [journal for journal in self.journals if journal.account == account]
            events = self._events(account, mine)
            memories = self._memories(account, mine)
            self._packs(account, mine)
            self._jobs(account, mine)
            self._stats(account, events, memories)
        self._recall(random.Random(f"{seed}-recall"))

    def ask_for_the_rest(self) -> None:
        """An observation of every session: its last turn may not be over, and is not observed by itself. And vectors of
        what the embedder refused five times, which wait for whoever asks."""
        for tenant, client in self.clients.items():
            drain = client.call("POST", "/v1/admin/embeddings/drain", {})
            self._must(drain.status in (200, 202), f"{tenant}: drain -> {drain.status} {drain.text}")
        for account in self.accounts:
            for session in sessions_of(self.journals, account):
                path = f"{account.path}/sessions/{session}/observe"
                reply = self.clients[account.tenant].call("POST", path, {})
                self._must(reply.status in (200, 202), f"{account} {session}: observe -> {reply.status} {reply.text}")

    # --- events ---------------------------------------------------------------------------------

    def _events(self, account: Account, journals: Sequence[Journal]) -> int:
        """Their number."""
        total = 0
        appends = [append for journal in journals for append in journal.appends]
        for session in sessions_of(journals, account):
            base, where = f"{account.path}/sessions/{session}", f"{account} {session}"
            log = list(self._log(account, base))
            self._must([event["seq"] for event in log] == list(range(1, len(log) + 1)), f"{where}: gaps or doubles")
            view = self._get(account, base)
            seqs = {name: view[name] for name in ("last_seq", "observed_seq", "indexed_seq")}
            self._must(view["last_seq"] == len(log), f"{where}: {len(log)} events, but {seqs}")
            self._must(view["observed_seq"] <= view["last_seq"], f"{where}: observed beyond the end, {seqs}")
            self._must(view["indexed_seq"] == view["last_seq"], f"{where}: not all is indexed, {seqs}")
            self._must(view["memory_lag"]["unembedded"] == 0, f"{where}: not all is embedded, {view['memory_lag']}")
            self._appends(where, log, [append for append in appends if append.session == session])
            self.counts["events"] += len(log)
            self.counts["sessions"] += 1
            total += len(log)
        return total

    def _appends(self, where: str, log: Sequence[dict[str, Any]], appends: Sequence[Append]) -> None:
        times = Counter(event["content"] for event in log)
        by_seq = {event["seq"]: event for event in log}
        sent_texts: set[str] = set()
        for append in appends:
            sent_texts.update(append.texts)
            if append.seqs is None:
                found = {times[text] for text in append.texts}
                self._must(found in ({0}, {1}), f"{where}: half an append, {append}")
                self.counts["appends of unknown outcome"] += 1
                continue
            found_there = [by_seq.get(seq, {}).get("content") for seq in append.seqs]
            self._must(found_there == append.texts, f"{where}: lost or moved, {append}: {found_there}")
            self._must(all(times[text] == 1 for text in append.texts), f"{where}: doubled, {append}")
            self.counts["acknowledged appends"] += 1
        strangers = times.keys() - sent_texts
        self._must(not strangers, f"{where}: nobody sent {sorted(strangers)[:3]}")

    def _log(self, account: Account, base: str) -> Iterator[dict[str, Any]]:
        from_seq: int | None = 1
        while from_seq is not None:
            page = self._get(account, f"{base}/events", from_seq=from_seq, limit=PAGE)
            yield from page["events"]
            from_seq = page.get("next_from_seq")

    # --- memories -------------------------------------------------------------------------------

    def _memories(self, account: Account, journals: Sequence[Journal]) -> int:
        """How many are listed."""
        listed = list(self._listed(account))
        stored = {memory["id"]: memory for memory in listed}
        self._must(len(stored) == len(listed), f"{account}: a memory is listed twice")
        times = Counter(memory["text"] for memory in listed)
        for one_memory in (one for journal in journals for one in journal.memories):
            self._memory(account, one_memory, stored, times)
        return len(stored)

    def _memory(
        self, account: Account, memory: KnownMemory, stored: dict[str, dict[str, Any]], times: Counter[str]
    ) -> None:
        if memory.id is None:
            self._must(times[memory.body["text"]] <= 1, f"{account}: doubled, {memory}")
            self.counts["memories of unknown outcome"] += 1
        elif memory.deleted == "yes":
            status = self.clients[account.tenant].call("GET", f"{account.path}/memories/{memory.id}").status
            self._must(memory.id not in stored and status == 404, f"{account}: deleted and still there, {memory}")
            self.counts["deleted memories"] += 1
        elif memory.deleted == "no" or memory.id in stored:
            text = stored.get(memory.id, {}).get("text")
            self._must(text in memory.texts, f"{account}: lost or changed, {memory}: {text}")
            self._must(sum(times[one] for one in memory.texts) == 1, f"{account}: doubled, {memory}")
            self.counts["acknowledged memories"] += 1

    def _listed(self, account: Account) -> Iterator[dict[str, Any]]:
        query: dict[str, Any] | None = {"limit": PAGE}
        while query is not None:
            page = self._get(account, f"{account.path}/memories", **query)
            yield from page["memories"]
            query = {"limit": PAGE, "cursor": page["next_cursor"]} if "next_cursor" in page else None

    # --- packs and jobs -------------------------------------------------------------------------

    def _packs(self, account: Account, journals: Sequence[Journal]) -> None:
        """Every version that somebody was served is there with the bytes that it was served with, and what is served
        now is the newest one."""
        seen: dict[tuple[str, int], set[str]] = {}
        for journal in journals:
            for place, sha in journal.packs.items():
                seen.setdefault(place, set()).add(sha)
        path = f"{account.path}/pack"
        for (session, version), shas in seen.items():
            pack = self._get(account, path, session_id=session, version=version)
            self._must(shas == {pack["sha256"]}, f"{account} {session}: version {version} was {shas}: {pack['sha256']}")
            self.counts["pack versions seen"] += 1
        for session in sessions_of(journals, account):
            served = self._get(account, path, session_id=session)
            newest = self._get(account, f"{path}/versions", session_id=session, limit=1)["versions"]
            expected = [(one["pack_version"], one["sha256"]) for one in newest]
            found = [(served.get("pack_version"), served.get("sha256"))]
            self._must(served["state"] == "ready" and found == expected, f"{account} {session}: {found} {expected}")

    def _jobs(self, account: Account, journals: Sequence[Journal]) -> None:
        for job in (job for journal in journals for job in journal.jobs):
            status = self._get(account, f"{account.path}/jobs/{job}")["status"]
            self._must(status == "done", f"{account}: {job} is {status}")
            self.counts["acknowledged jobs"] += 1

    # --- counts and recall ----------------------------------------------------------------------

    def _stats(self, account: Account, events: int, memories: int) -> None:
        stats = self._get(account, f"{account.path}/stats")
        listed = sum(stats["memories"]["status"].get(name, 0) for name in ("active", "resolved", "inbox"))
        self._must(stats["short_term"]["events"] == events, f"{account}: {events} events, but {stats['short_term']}")
        self._must(listed == memories, f"{account}: {memories} memories listed, but {stats['memories']}")
        waiting = {name: stats["embeddings"][name] for name in ("pending", "failed")}
        self._must(not any(waiting.values()), f"{account}: not embedded: {waiting}")

    def _recall(self, rng: random.Random) -> None:
        """A memory's own words find it, by both legs."""
        known = [
            (j.account, memory) for j in self.journals for memory in j.memories if memory.id and memory.deleted == "no"
        ]
        for account, memory in rng.sample(known, min(SAMPLE, len(known))):
            if len(memory.texts) != 1:
                continue
            asked = {"query": next(iter(memory.texts)), "mode": "tool", "limit": 5}
            reply = self.clients[account.tenant].call("POST", f"{account.path}/recall", asked)
            answer = reply.json()
            found = [hit["id"] for hit in answer.get("hits", [])]
            degraded = answer.get("degraded")
            self._must(memory.id in found and not degraded, f"{account}: not recalled, {memory}: {found} {degraded}")
            self.counts["recalled memories"] += 1

    def _get(self, account: Account, path: str, **query: Any) -> dict[str, Any]:
        return dict(self.clients[account.tenant].expect(200, "GET", path, query=query or None))

    def _must(self, holds: bool, finding: str) -> None:
        if not holds:
            self.findings.append(finding)


def sessions_of(journals: Sequence[Journal], account: Account) -> list[str]:
    return sorted({session for journal in journals if journal.account == account for session in journal.sessions})


def _below(account: Account, call: Call) -> Call:
    return replace(call, path=account.path + call.path)
