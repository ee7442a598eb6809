"""Rows of docs/features.md about the tools that search and read documents: C25, D01, D18, D19, D20, D21, D47."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from local.api_client import ApiClient
from local.running import StackName
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, tokens, user_message


def put(user: Person, path: str, text: str, **fields: object) -> None:
    user.expect(201, "PUT", "/documents", {"text": text, **fields}, query={"path": path})


def search(user: Person, query: str, **arguments: object) -> Json:
    body = {"arguments": {"query": query, **arguments}}
    return dict(user.expect(200, "POST", "/tools/search_knowledge", body))


def paths(user: Person, query: str, **arguments: object) -> list[str | None]:
    return [one.get("path") for one in search(user, query, **arguments)["results"]]


def read(user: Person, path: str, **more: int) -> Json:
    return dict(user.expect(200, "POST", "/tools/read_document", {"arguments": {"path": path, **more}}))


@pytest.mark.controls
def test_c25_the_tool_waits_for_a_slow_embedder(user: Person, controls: Controls) -> None:
    put(user, "/projects/car", "The automobile.", name="Automobile")
    user.settle()
    controls.fault("embed", "slow:400")
    answer = search(user, "car")
    assert (answer["degraded"], [one["path"] for one in answer["results"]]) == ([], ["/projects/car"])
    recorded = user.expect(200, "GET", f"/recalls/{answer['recall_id']}")
    assert {leg["status"] for leg in recorded["legs"].values()} == {"complete"}
    assert recorded["hits"][0]["components"]["rank_vec"] == 1


@pytest.mark.live
def test_d01_one_search_over_all_that_is_known(user: Person) -> None:
    """What a librarian wrote, what was stated as a fact, and what was uploaded."""
    user.open("s1")
    user.append("s1", user_message("My sister Sarah is a nurse in Bergen."), answered("Noted."))
    filed = user.ended(user.expect(202, "POST", "/sessions/s1/end", {})["id"])["result"]["documents"]
    fact = {"kind": "fact", "text": "User's favourite port is Bergen.", "category": "PREFERENCE"}
    stated = user.expect(201, "POST", "/memories", fact)["id"]
    upload = user.call(
        "PUT",
        "/documents",
        raw=b"# Ferries\n\nThe ferry to Bergen leaves at nine.\n",
        query={"path": "/reference/ferries"},
        headers={"Content-Type": "text/markdown"},
    )
    assert upload.status == 201, upload.text
    user.settle()
    found = search(user, "Bergen", top_k=20)["results"]
    assert {one["path"] for one in found if "path" in one} >= {filed[0]["path"], "/reference/ferries"}
    assert stated in [one["id"] for one in found if "path" not in one]


@pytest.mark.live
def test_d18_documents_and_facts_in_a_line_each(user: Person) -> None:
    put(user, "/projects/boat", f"# The boat\n\n{'It sails well. ' * 40}\n\nIts keel is of oak.")
    for n in range(6):
        put(user, f"/projects/boat-{n}", f"Boat number {n} has a keel.")
    user.settle()
    found = search(user, "keel of oak")["results"]
    assert len(found) == 5
    assert (found[0]["path"], found[0]["title"]) == ("/projects/boat", "The boat")
    assert found[0]["summary"].startswith("It sails well.")
    assert all(0 < len(one["summary"]) <= 200 and one["score"] > 0 and "text" not in one for one in found)
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)
    assert len(search(user, "keel", top_k=2)["results"]) == 2
    for wrong in ({"top_k": 51}, {"top_k": 0}, {"path_filter": "projects"}, {"user_id": "x"}):
        body = {"arguments": {"query": "keel", **wrong}}
        told = user.expect(200, "POST", "/tools/search_knowledge", body)
        assert told["is_error"] and next(iter(wrong)) in told["content"]


@pytest.mark.live
def test_d19_a_path_filter_takes_whole_segments(user: Person) -> None:
    put(user, "/projects/alpha/plan", "The harbour plan.")
    put(user, "/projects/alpha-old/plan", "The harbour plan of old.")
    user.remember("The harbour is in the north.")
    user.settle()
    for prefix in ("/projects/alpha/", "/projects/alpha"):
        assert paths(user, "harbour", path_filter=prefix) == ["/projects/alpha/plan"]
    assert set(paths(user, "harbour")) == {"/projects/alpha/plan", "/projects/alpha-old/plan", None}


@pytest.mark.live
def test_d20_of_two_tags_what_has_both(user: Person) -> None:
    put(user, "/a", "The harbour by day.", tags=["sea", "day"])
    put(user, "/b", "The harbour by night.", tags=["sea", "night"])
    user.remember("The harbour at noon.", tags=["sea", "day"])
    user.settle()
    assert set(paths(user, "harbour", tags=["sea", "day"])) == {"/a", None}
    assert set(paths(user, "harbour", tags=["sea"])) == {"/a", "/b", None}
    assert paths(user, "harbour", tags=["sea", "dusk"]) == []


@pytest.mark.live
def test_d21_a_document_is_read_as_it_is(
    user: Person, person: Callable[[ApiClient], Person], api: ApiClient, api_c: ApiClient
) -> None:
    text = "".join(f"Line {n:05d}: café & <b>bold</b> \\u0041 \t\n" for n in range(700))
    put(user, "/reference/long", text)
    put(user, "/reference/short", " Exactly\n this. ")
    assert read(user, "/reference/short")["text"] == " Exactly\n this. "
    pages = [read(user, "/reference/long")]
    while "next_offset" in pages[-1]:
        pages.append(read(user, "/reference/long", offset=pages[-1]["next_offset"]))
    assert "".join(page["text"] for page in pages) == text
    assert len(pages) > 1 and all(tokens(page["text"]) <= 4_000 for page in pages)
    none = read(user, "/reference/none")
    assert (none["found"], none["path"], none["is_error"], "text" in none) == (False, "/reference/none", True, False)
    for other in (person(api), person(api_c)):
        assert read(other, "/reference/short")["found"] is False
    problem = user.expect(422, "POST", "/tools/read_document", {"arguments": {"path": "/reference/../short"}})
    assert [error["field"] for error in problem["errors"]] == ["arguments.path"]


@pytest.mark.live
def test_d47_what_is_looked_at_does_not_grow_with_the_documents(user: Person, stack: StackName) -> None:
    """60 documents that all match (25 on servers that share two cores) of two paragraphs: what comes back, and what is
    looked at, is bounded by k. How long it takes among 5,000 is measured by ``evals.bench.many_documents``."""
    many = 25 if stack == "full" else 60
    for n in range(many):
        put(user, f"/reference/{n // 20}/{n}", f"About ferry number {n}.\n\nThe ferry has {n} cabins, and a quay.")
    user.settle()
    for k in (5, 20):
        answer = user.recall("ferry", limit=k, sources=["document"])
        assert (len(answer["hits"]), answer["degraded"]) == (k, [])
        assert len({hit["id"] for hit in answer["hits"]}) == k
        record = user.expect(200, "GET", f"/recalls/{answer['recall_id']}")
        assert len(record["hits"]) <= 4 * max(30, 2 * k)
    [best, *_] = search(user, f"ferry number {many - 9}")["results"]
    assert best["path"] == f"/reference/{(many - 9) // 20}/{many - 9}"
