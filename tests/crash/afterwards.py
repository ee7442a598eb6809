"""What must be true over HTTP after a restart, against the journals of the clients."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from local.api_client import ApiClient
from tests.crash.journal import Journal
from tests.crash.writer import output_of


def repeat_unanswered(client: ApiClient, journals: Sequence[Journal]) -> None:
    """What a careful client does: send again what can be sent again. Afterwards it counts as answered."""
    for journal in journals:
        base = f"/v1/users/{journal.user}"
        for sent in journal.appends:
            if sent.seqs is None and sent.repeatable:
                headers = {"Idempotency-Key": sent.key} if sent.key else None
                path = f"{base}/sessions/{sent.session}/events"
                sent.seqs = client.expect(201, "POST", path, {"events": sent.events}, headers=headers)["seqs"]
        for memory in journal.memories:
            if memory.id is None and memory.key is not None:
                headers = {"Idempotency-Key": memory.key}
                memory.id = client.expect(201, "POST", f"{base}/memories", memory.body, headers=headers)["id"]


def check_answers(client: ApiClient, journals: Sequence[Journal]) -> None:
    """All that was acknowledged is there, once, and nothing is half there."""
    for user, mine in _by_user(journals):
        _check_events(client, user, mine)
        _check_memories(client, user, mine)
        _check_packs(client, user, mine)


def check_jobs(client: ApiClient, journals: Sequence[Journal]) -> None:
    """Every accepted job has come to its end."""
    for journal in journals:
        for job in journal.jobs:
            ended = client.expect(200, "GET", f"/v1/users/{journal.user}/jobs/{job}")
            assert ended["status"] == "done", ended


# --- events -------------------------------------------------------------------------------------


def _check_events(client: ApiClient, user: str, journals: Sequence[Journal]) -> None:
    sent = [append for journal in journals for append in journal.appends]
    for session in _sessions(journals):
        base = f"/v1/users/{user}/sessions/{session}"
        log = list(_events(client, base))
        assert [event["seq"] for event in log] == list(range(1, len(log) + 1)), f"{user}/{session}: gaps"
        view = client.expect(200, "GET", base)
        assert view["last_seq"] == len(log), view
        assert view["observed_seq"] <= view["last_seq"] and view["indexed_seq"] <= view["last_seq"], view
        times = Counter(map(_text_of, log))
        by_seq = {event["seq"]: _text_of(event) for event in log}
        for append in (one for one in sent if one.session == session):
            if append.seqs is None:
                found = [times[text] for text in append.texts]
                assert found in ([0] * len(found), [1] * len(found)), f"half an append: {append}, found {found}"
            else:
                assert [by_seq.get(seq) for seq in append.seqs] == append.texts, f"lost or moved: {append}"
                assert all(times[text] == 1 for text in append.texts), f"doubled: {append}"


def _text_of(event: dict[str, Any]) -> str:
    """What a compaction has put away stands in a document, which ``check_rows`` compares."""
    return output_of(event["event_data"]["tool_use_id"]) if event["pruned"] else str(event["content"])


def _events(client: ApiClient, base: str) -> Iterator[dict[str, Any]]:
    from_seq: int | None = 1
    while from_seq is not None:
        page = client.expect(200, "GET", f"{base}/events", query={"from_seq": from_seq, "limit": 100})
        yield from page["events"]
        from_seq = page.get("next_from_seq")


# --- memories -----------------------------------------------------------------------------------


def _check_memories(client: ApiClient, user: str, journals: Sequence[Journal]) -> None:
    stored = {memory["id"]: memory for memory in _memories(client, user)}
    times = Counter(memory["text"] for memory in stored.values())
    for one_memory in (one for journal in journals for one in journal.memories):
        if one_memory.id is None:
            assert times[one_memory.body["text"]] <= 1, f"doubled: {one_memory}"
        elif one_memory.deleted == "yes":
            assert one_memory.id not in stored, f"back from the dead: {one_memory}"
            assert client.call("GET", f"/v1/users/{user}/memories/{one_memory.id}").status == 404, one_memory
        elif one_memory.deleted == "no" or one_memory.id in stored:
            assert one_memory.id in stored, f"lost: {one_memory}"
            assert stored[one_memory.id]["text"] in one_memory.texts, (
                f"{one_memory}, but stored is {stored[one_memory.id]['text']}"
            )
            assert sum(times[text] for text in one_memory.texts) == 1, f"doubled: {one_memory}"


def _memories(client: ApiClient, user: str) -> Iterator[dict[str, Any]]:
    query: dict[str, Any] | None = {"limit": 100}
    while query is not None:
        page = client.expect(200, "GET", f"/v1/users/{user}/memories", query=query)
        yield from page["memories"]
        query = {"limit": 100, "cursor": page["next_cursor"]} if "next_cursor" in page else None


# --- packs --------------------------------------------------------------------------------------


def _check_packs(client: ApiClient, user: str, journals: Sequence[Journal]) -> None:
    path = f"/v1/users/{user}/pack"
    for session in _sessions(journals):
        reply = client.call("GET", path, query={"session_id": session, "format": "text"})
        sha = hashlib.sha256(reply.body).hexdigest()
        assert (reply.status, reply.headers.get("etag")) == (200, f'"{sha}"'), f"a torn pack: {user}/{session}"
        versions = client.expect(200, "GET", f"{path}/versions", query={"session_id": session, "limit": 100})
        for version in versions["versions"]:
            query = {"session_id": session, "version": version["pack_version"]}
            read = client.expect(200, "GET", path, query=query)
            found = hashlib.sha256(read["text"].encode()).hexdigest()
            assert found == version["sha256"] == read["sha256"], f"{user}/{session}: version {version['pack_version']}"
    for journal in journals:
        for (session, number), text in journal.packs.items():
            pack = client.expect(200, "GET", path, query={"session_id": session, "version": number})
            assert pack["text"] == text, f"{user}/{session}: version {number} has other bytes than were served"


def check_frozen_packs(client: ApiClient, journals: Sequence[Journal]) -> None:
    """With nothing left to do, what a session is served is its newest version, and stays."""
    for user, mine in _by_user(journals):
        path = f"/v1/users/{user}/pack"
        for session in _sessions(mine):
            served = client.expect(200, "GET", path, query={"session_id": session})
            query = {"session_id": session, "limit": 1}
            [newest] = client.expect(200, "GET", f"{path}/versions", query=query)["versions"]
            names = ("pack_version", "sha256")
            assert [served[name] for name in names] == [newest[name] for name in names], f"{user}/{session}"
            known = {"If-None-Match": f'"{served["sha256"]}"'}
            again = client.call("GET", path, query={"session_id": session, "format": "text"}, headers=known)
            assert again.status == 304, f"{user}/{session}: {again.status}"


def _by_user(journals: Sequence[Journal]) -> list[tuple[str, list[Journal]]]:
    users = sorted({journal.user for journal in journals})
    return [(user, [journal for journal in journals if journal.user == user]) for user in users]


def _sessions(journals: Sequence[Journal]) -> list[str]:
    return sorted(set().union(*(journal.sessions for journal in journals)))
