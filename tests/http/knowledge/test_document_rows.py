"""Rows of docs/features.md about documents: B13, C16, C29, C30, D03, D04, D26."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from local.api_client import ApiClient, Reply
from tests.http.driving.at_once import at_once
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, filler, tokens

MARKDOWN = {"Content-Type": "text/markdown; charset=utf-8"}


def put(user: Person, path: str, text: str, status: int = 201, **fields: Any) -> Json:
    return dict(user.expect(status, "PUT", "/documents", {"text": text, **fields}, query={"path": path}))


def get(user: Person, path: str, **query: Any) -> Json:
    return dict(user.expect(200, "GET", "/documents", query={"path": path, **query}))


def found(user: Person, query: str, **more: Any) -> list[str]:
    """The paths of the documents among the hits, best first."""
    hits = user.recall(query, mode="tool", sources=["document"], **more)["hits"]
    return [hit["path"] for hit in hits]


@pytest.mark.live
def test_b13_a_document_is_searched_by_paragraphs(user: Person) -> None:
    paragraphs = [filler(100, word="harbour"), filler(900, word="ferry"), f"{filler(90)} A lighthouse."]
    put(user, "/stories/sea", "\n\n".join(paragraphs))
    chunks = get(user, "/stories/sea", chunks="true")["chunks"]
    assert len(chunks) >= 4 and [chunk["n"] for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk["tokens"] == tokens(chunk["text"]) <= 500 for chunk in chunks)
    assert all(sum(chunk["text"] in paragraph for paragraph in paragraphs) == 1 for chunk in chunks)
    assert "".join("".join(chunk["text"].split()) for chunk in chunks) == "".join("".join(paragraphs).split())
    user.settle()
    [hit] = user.recall("lighthouse", mode="tool", sources=["document"])["hits"]
    assert (hit["path"], hit["passage"]["n"]) == ("/stories/sea", len(chunks) - 1)
    assert hit["text"].startswith(chunks[-1]["text"]) and tokens(hit["text"]) < 200


@pytest.mark.controls
def test_c16_title_tags_first_line_and_body_are_searched(user: Person, controls: Controls) -> None:
    put(user, "/a", "Nothing to see.", name="Zanzibar")
    put(user, "/b", "Nothing to see here.", tags=["quince"])
    put(user, "/c", "Pomegranate first.\n\nThen other things.")
    put(user, "/d", "Some things.\n\nAnd then a walrus.")
    user.settle()
    asked = {"zanzibar": "/a", "quince": "/b", "pomegranate": "/c", "walrus": "/d"}
    for word, path in asked.items():
        legs = user.recall(word, mode="tool")["legs"]
        starts = [(leg["started_ms"], leg["started_ms"] + leg["ms"]) for leg in legs.values()]
        assert max(start for start, _ in starts) <= min(end for _, end in starts), legs
        assert found(user, word)[0] == path
    controls.fault("vector", "error")
    assert {word: found(user, word)[0] for word in asked} == asked


@pytest.mark.live
def test_c29_an_evolved_document_is_recalled_no_more(user: Person) -> None:
    put(user, "/projects/boat", "The boat is moored in Bergen.", tags=["boat"])
    change = {
        "path": "/projects/boat",
        "to": "/projects/boat-2",
        "text": "The boat is moored in Oslo.",
        "reason": "Sold.",
    }
    for blank in ("", " "):
        problem = user.expect(422, "POST", "/documents/evolve", change | {"reason": blank})
        assert [error["field"] for error in problem["errors"]] == ["reason"]
    new = user.expect(201, "POST", "/documents/evolve", change)
    old = get(user, "/projects/boat")
    assert (new["supersedes"], new["status"], new["tags"]) == (["/projects/boat"], "active", ["boat"])
    assert (old["status"], old["superseded_by"], old["superseded_reason"]) == (
        "superseded",
        "/projects/boat-2",
        "Sold.",
    )
    assert old["superseded_at"] and old["text"] == "The boat is moored in Bergen."
    assert user.expect(409, "POST", "/documents/evolve", change | {"to": "/other"})["code"] == "conflict"
    user.settle()
    assert found(user, "boat moored") == ["/projects/boat-2"]
    assert set(found(user, "boat moored", include_superseded=True)) == {"/projects/boat", "/projects/boat-2"}

    put(user, "/race", "One.")

    def race(n: int) -> Reply:
        body = {"path": "/race", "to": f"/race-{n}", "text": f"{n}", "reason": "Race."}
        return user.call("POST", "/documents/evolve", body)

    assert sorted(reply.status for reply in at_once(user.api, race, 2)) == [201, 409]


@pytest.mark.live
def test_c30_a_create_never_overwrites_and_an_edit_knows_its_rev(user: Person) -> None:
    def write(text: str, **headers: str) -> Reply:
        return user.call("PUT", "/documents", {"text": text}, query={"path": "/notes/automobile"}, headers=headers)

    only_new = {"If-None-Match": "*"}
    first = write("Automobile.", **only_new)
    assert (first.status, first.headers["etag"]) == (201, '"1"')
    again = write("Overwritten.", **only_new)
    assert (again.status, again.json()["code"]) == (412, "precondition_failed")
    user.settle()
    assert found(user, "car") == ["/notes/automobile"]  # by meaning: no content word is shared
    assert write("Two automobiles.", **{"If-Match": '"1"'}).json()["rev"] == 2
    assert write("Stale.", **{"If-Match": '"1"'}).status == 412
    nowhere = user.call("PUT", "/documents", {"text": "New."}, query={"path": "/nowhere"}, headers={"If-Match": "*"})
    assert nowhere.status == 412, "any rev is one of something that is there"
    replies = at_once(user.api, lambda n: write(f"Version {n}.", **{"If-Match": '"2"'}), 4)
    statuses = sorted(reply.status for reply in replies)
    assert statuses[0] == 200 and set(statuses[1:]) <= {409, 412}, statuses
    assert get(user, "/notes/automobile", rev=1)["text"] == "Automobile."
    versions = user.expect(200, "GET", "/documents/versions", query={"path": "/notes/automobile"})["versions"]
    assert [one["rev"] for one in versions] == [3, 2, 1] and "text" not in versions[0]
    key = {"Idempotency-Key": "k1"}
    assert write("By key.", **key).json() == write("By key.", **key).json()
    elsewhere = user.call("PUT", "/documents", {"text": "By key."}, query={"path": "/notes/other"}, headers=key)
    assert (elsewhere.status, elsewhere.json()["path"]) == (201, "/notes/other")
    assert (
        user.call("DELETE", "/documents", query={"path": "/notes/automobile"}, headers={"If-Match": '"1"'}).status
        == 412
    )


@pytest.mark.live
def test_d03_a_file_is_uploaded_read_chunked_searched_and_deleted(user: Person) -> None:
    """One above 300 KB, which no row holds."""
    text = (
        "# The lantern book\n\n" + "\n\n".join(f"{filler(400)} Page {n}." for n in range(260)) + "\n\nAn albatross.\n"
    )
    path = "/reference/Büche r/o'neil-1"
    made = user.call("PUT", "/documents", raw=text.encode(), query={"path": path}, headers=MARKDOWN)
    assert (made.status, made.json()["name"]) == (201, "The lantern book")
    assert len(text.encode()) > 300 * 1024
    read = get(user, path, chunks="true")
    assert read["text"] == text and len(read["chunks"]) == 261  # the heading stands with the first page
    user.settle()
    assert get(user, path)["embedding_state"] == "ready"
    assert found(user, "albatross") == [path]
    listed = user.expect(200, "GET", "/documents/list", query={"prefix": "/reference/"})["documents"]
    assert [one["path"] for one in listed] == [path] and len(listed[0]["summary"]) <= 200
    assert user.expect(200, "DELETE", "/documents", query={"prefix": "/reference"}) == {
        "deleted": [path],
        "more": False,
    }
    user.settle()
    assert found(user, "albatross") == []
    assert user.call("GET", f"/documents?path={quote(path)}").status == 404
    refused = user.call("PUT", "/documents", raw=b"x", query={"path": "/a/../b"}, headers=MARKDOWN)
    assert [error["field"] for error in refused.json()["errors"]] == ["query.path"]


@pytest.mark.live
def test_d04_what_is_synced_twice_is_the_next_version(user: Person) -> None:
    page: dict[str, Any] = {"source_type": "wiki", "source_id": "page/7"}
    first = put(user, "/wiki/seven", "The ferry leaves at nine.", **page)
    again = put(user, "/wiki/seven", "The ferry leaves at ten.", 200, **page)
    renamed = put(user, "/wiki/ferries", "The ferry leaves at eleven.", 200, **page)
    assert [(one["id"], one["rev"]) for one in (first, again, renamed)] == [(first["id"], rev) for rev in (1, 2, 3)]
    assert renamed["provenance"]["trust"] == "import"
    listed = user.expect(200, "GET", "/documents/list")["documents"]
    assert [one["path"] for one in listed] == ["/wiki/ferries"]
    user.settle()
    assert found(user, "ferry") == ["/wiki/ferries"]
    moved = user.expect(200, "POST", "/documents/move", {"path": "/wiki/ferries", "to": "/wiki/boats"})
    assert (moved["id"], moved["source_id"], moved["rev"]) == (first["id"], "page/7", 4)
    half = user.expect(422, "PUT", "/documents", {"text": "x", "source_id": "7"}, query={"path": "/x"})
    assert [error["field"] for error in half["errors"]] == ["source_type"]


@pytest.mark.live
def test_d26_knowledge_on_demand_is_in_no_prompt_until_it_is_retrieved(user: Person) -> None:
    markers = {"/projects/mill": "windmill", "/reference/tide": "tideline", "/insights/reef": "coralreef"}
    for path, marker in markers.items():
        put(user, path, f"About the {marker}: it is closed on Mondays.")
    user.settle()
    user.open("s1")
    quiet = str(user.context("s1", "Good morning to you.", retrieval="none"))
    assert not [marker for marker in markers.values() if marker in quiet]
    assert not [marker for marker in markers.values() if marker in user.pack_text("s1")]
    for path, marker in markers.items():
        body = {"arguments": {"query": marker}}
        results = user.expect(200, "POST", "/tools/search_knowledge", body)["results"]
        assert results[0]["path"] == path
        assert path in str(user.context("s1", f"What about the {marker}?"))


@pytest.mark.live
def test_d26_documents_of_another_user_are_not_there(
    user: Person, person: Callable[[ApiClient], Person], api: ApiClient, api_c: ApiClient
) -> None:
    put(user, "/projects/mill", "The windmill.")
    user.settle()
    for other in (person(api), person(api_c)):
        assert found(other, "windmill") == []
        assert other.expect(200, "GET", "/documents/list") == {"documents": []}
        assert other.call("GET", "/documents", query={"path": "/projects/mill"}).status == 404
        body = {"path": "/projects/mill", "to": "/mine"}
        assert other.expect(404, "POST", "/documents/move", body)["code"] == "document_not_found"
        assert other.call("DELETE", "/documents", query={"path": "/projects/mill"}).status == 404
