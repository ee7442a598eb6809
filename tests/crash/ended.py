"""What must be true once everything that was to end has ended, whatever was killed on the way."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from local.backend import TABLE
from local.controls.raw_search import find_raw
from local.engine.sqlite_table import SqliteTable
from neve.store import rows
from neve.store.keys import Keys
from neve.store.partitions import all_rows
from tests.crash.endings import DELETED, EDITED, ERASED, STAYS, People
from tests.http.driving.people import Json, Person

DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
Picture = dict[str, Any]


def picture_of(them: People) -> Picture:
    """What people can see, without ids, times and the order in which sessions were faster: the same after every
    kill."""
    return {
        person.id: {
            "facts": sorted(
                (row["text"], row["status"], row.get("occurrences", 1)) for row in person.memories(kind="fact")
            ),
            "others": sorted(
                (row["kind"], row.get("session_id", ""), row["status"])
                for row in person.memories(status="active")
                if row["kind"] in ("session_summary", "manual")
            ),
            "documents": _documents(person),
            "inbox": sorted(_waiting(person)),
            "sessions": sorted(one["id"] for one in _listed(person, "/sessions", "sessions")),
        }
        for person in (them.ann, them.bob, them.cid, them.dan, them.eve)
    }


def _documents(person: Person) -> list[tuple[str, tuple[str, ...]]]:
    found = []
    for head in _listed(person, "/documents/list", "documents", prefix="/"):
        lines = sorted(filter(None, DATE.sub("DATE", person.document(head["path"])["text"]).splitlines()))
        path = DATE.sub("DATE", head["path"])
        found.append((path if not path.startswith("/conversations/") else "/conversations/", tuple(lines)))
    return sorted(found)


def _waiting(person: Person) -> list[tuple[str, str, str]]:
    return [
        (str(one.get("session_id")), "fact", one["memory"]["text"])
        if one.get("memory")
        else (str(one.get("session_id")), one["document"]["path"], DATE.sub("DATE", one["document"]["text"]))
        for one in _listed(person, "/inbox", "items")
    ]


def _listed(person: Person, path: str, name: str, **query: str) -> list[Json]:
    page = person.expect(200, "GET", path, query={"limit": 200, **query})
    assert not page.get("next_cursor"), f"{path}: more than a page"
    return list(page[name])


def check_picture(picture: Picture) -> None:
    """What it has to show, also where nothing was killed."""
    ann, bob, cid, eve = (picture[name] for name in ("ann", "bob", "cid", "eve"))
    times = {text: occurrences for text, _, occurrences in ann["facts"]}
    assert max(Counter(text for text, _, _ in ann["facts"]).values()) == 1, ann["facts"]
    assert sorted(times.values()) == [1, 1, 1, 2, 2, 2], f"counted too often or not at all: {ann['facts']}"
    summaries = [session for kind, session, _ in ann["others"] if kind == "session_summary"]
    assert summaries == ["s0", "s1", "s2", "s3"], summaries
    paths = Counter(path for path, _ in ann["documents"])
    assert paths.pop("/conversations/") == 4 and set(paths.values()) == {1}, paths
    for path, lines in ann["documents"]:
        assert max(Counter(lines).values()) == 1, f"{path} says something twice: {lines}"
    waiting = eve["inbox"]
    assert {session for session, _, _ in waiting} == {"e1", "e2"} and len(waiting) == len(set(waiting)), waiting
    assert {"fact"} < {what for _, what, _ in waiting}, "facts and changes of documents"
    assert sorted(times for _, status, times in bob["facts"] if status == "active") == [1, 2], (
        "what is read again counts"
    )
    owner = str(bob)
    assert [word for word in DELETED.values() if word in owner] == [], owner
    active = [text for text, status, _ in bob["facts"] if status == "active"]
    assert any("sencha" in text for text in active) and not any(EDITED in text for text in active), active
    assert EDITED not in str(bob["documents"]), bob["documents"]
    assert cid == {"facts": [], "others": [], "documents": [], "inbox": [], "sessions": []}, cid


def differences(one: Picture, other: Picture) -> list[str]:
    return [
        f"{person}'s {part}: {one[person][part]}, not {seen}"
        for person, parts in other.items()
        for part, seen in parts.items()
        if one[person][part] != seen
    ]


def check_jobs(them: People, answers: Json) -> None:
    """Whatever was accepted has come to its end, and says what became of it."""
    for name, answer in answers.items():
        if name == "erase":
            job = them.cid.api.expect(200, "GET", f"/v1/admin/jobs/{answer}")
            assert all(store["verified_empty_at"] for store in job["result"]["receipt"].values()), job
        elif name.startswith("end "):
            person = {"s": them.ann, "e": them.eve, "b": them.bob}[name[4]]
            job = person.expect(200, "GET", f"/jobs/{answer}")
        elif name.startswith("b"):
            job = them.bob.expect(200, "GET", f"/jobs/{answer['job_id']}")
            assert name == "b3" or job["result"]["erased"]["verified"], job
        else:
            continue
        assert job["status"] == "done", job


def check_words(them: People) -> None:
    """Nothing that was taken back is found or shown; everybody else is as they were."""
    for word in (EDITED, *DELETED.values()):
        found = them.bob.recall(word, mode="tool")
        assert word not in str(found), found
    shown = [event for session in DELETED for event in them.bob.events(session)[2:4]]
    assert [(event["content"], event["erased"]) for event in shown] == [("", True)] * len(shown)
    assert [event["retracted"] for event in them.bob.events("b3")] == [False, False, True, True, False, False]
    for session in ("b1", "b3", "packed"):
        text = them.bob.pack_text(session)
        assert [word for word in DELETED.values() if word in text] == [], f"{session}: {text}"
    assert EDITED not in them.bob.pack_text("b3")
    assert "sencha" in str(them.bob.recall("favourite tea", mode="tool")["hits"])
    assert STAYS in them.dan.pack_text("packed") and STAYS in str(them.dan.recall(STAYS)["hits"])
    assert them.cid.recall(ERASED)["hits"] == []


def check_bytes(*places: Path) -> None:
    """Of files that nobody has open."""
    for word in (ERASED, *DELETED.values()):
        found = [one for way in (word, word.capitalize(), word.upper()) for one in find_raw(places, way.encode())]
        assert found == [], f"{word} is still in {found}"
    assert find_raw(places, STAYS.encode()) != [], "the search must be able to find what is there"


def unfinished(data: Path, tenants: tuple[str, ...]) -> Counter[str]:
    """Jobs by kind that a dead server has left; read from its table."""
    table = SqliteTable(data / TABLE)
    try:
        jobs = [rows.read_job(item) for tenant in tenants for item in all_rows(table, Keys(tenant).jobs)]
        return Counter(job.kind for job in jobs if job.status in ("queued", "running"))
    finally:
        table.close()
