"""Paths, folders, blank documents and earlier revs: parts of rows C30, D03 and D19 of docs/features.md."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.driving.people import Json, Person

MARKDOWN = {"Content-Type": "text/markdown; charset=utf-8"}
PATHS = [
    "/memories/a b",
    "/memories/a+b&c=d?e#f%20",
    '/memories/"quoted" \\ *wild* [x] {y}',
    "/memories/日本語 🎉",
    "/memories/</neve-memory>",
    "/memories/~tilde~`!;:,",
    "/m" * 20,
    "/" + "w" * 899,
]


def put(user: Person, path: str, text: str, status: int = 201, **more: Any) -> Json:
    return dict(user.expect(status, "PUT", "/documents", {"text": text}, query={"path": path}, **more))


def get(user: Person, path: str, **query: Any) -> Json:
    return dict(user.expect(200, "GET", "/documents", query={"path": path, **query}))


def listed(user: Person, prefix: str = "/") -> list[str]:
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = user.expect(200, "GET", "/documents/list", query={"prefix": prefix, "limit": "3", **cursor})
        found += [one["path"] for one in page["documents"]]
        if "next_cursor" not in page:
            return found
        cursor = {"cursor": page["next_cursor"]}


@pytest.mark.live
def test_d03_a_path_of_any_signs_is_kept_listed_found_and_deleted(user: Person) -> None:
    for n, path in enumerate(PATHS):
        assert put(user, path, f"Lighthouse number {n}.")["path"] == path
        assert get(user, path)["text"] == f"Lighthouse number {n}."
    assert listed(user) == sorted(PATHS, key=str.encode)
    user.settle()
    found = user.recall("lighthouse", mode="tool", sources=["document"], limit=50)["hits"]
    assert {hit["path"] for hit in found} == set(PATHS)
    below = user.recall("lighthouse", mode="tool", filters={"path_prefix": "/memories"}, limit=50)["hits"]
    assert {hit["path"] for hit in below} == {path for path in PATHS if path.startswith("/memories/")}
    for path in PATHS:
        tool = user.expect(200, "POST", "/tools/read_document", {"arguments": {"path": path}})
        assert tool["found"] is True and "Lighthouse" in tool["content"]
        user.expect(200, "DELETE", "/documents", query={"path": path})
    assert listed(user) == []


@pytest.mark.live
@pytest.mark.parametrize("path", ["/a/../b", "/a//b", "/ /b", "/a\u200b", "/a\u2028b", "/" + "w" * 900, "/m" * 21, "a"])
def test_d03_what_is_no_path_is_refused(user: Person, path: str) -> None:
    problem = user.expect(422, "PUT", "/documents", {"text": "x"}, query={"path": path})
    assert [error["field"] for error in problem["errors"]] == ["query.path"]


@pytest.mark.live
def test_d03_a_blank_document_is_a_document(user: Person) -> None:
    for path, text in (("/blank/empty", ""), ("/blank/space", " \n")):
        assert put(user, path, text)["text"] == text
        assert get(user, path, chunks="true")["chunks"] == []
    filled = put(user, "/blank/filled", "A lighthouse.")
    user.expect(201, "PUT", "/documents", "", query={"path": "/blank/markdown"}, headers=MARKDOWN)
    user.settle()
    cleared = put(user, "/blank/filled", "", status=200)
    assert (cleared["text"], cleared["rev"], cleared["tokens"]) == ("", filled["rev"] + 1, 0)
    assert user.recall("lighthouse", mode="tool", sources=["document"])["hits"] == []
    user.settle()
    assert user.recall("lighthouse", mode="tool", sources=["document"])["hits"] == []
    assert len(listed(user, "/blank")) == 4
    evolved = {"path": "/blank/filled", "to": "/blank/next", "text": "", "reason": "Starts over."}
    assert user.expect(201, "POST", "/documents/evolve", evolved)["text"] == ""


@pytest.mark.live
def test_d03_a_file_and_a_folder_are_not_at_one_path(user: Person) -> None:
    put(user, "/notes/day", "Monday.")
    put(user, "/other", "x")
    for path in ("/notes", "/notes/day/more"):
        problem = user.expect(409, "PUT", "/documents", {"text": "x"}, query={"path": path})
        assert problem["code"] == "conflict" and "'/notes/day'" in problem["detail"]
        for call, more in (("move", {}), ("evolve", {"text": "y", "reason": "z"})):
            problem = user.expect(409, "POST", f"/documents/{call}", {"path": "/other", "to": path, **more})
            assert "'/notes/day'" in problem["detail"]
    assert listed(user) == ["/notes/day", "/other"]


@pytest.mark.live
def test_d03_all_below_a_path_move_in_one_call(user: Person) -> None:
    for n in range(30):
        put(user, f"/drafts/{n % 3}/n{n:02d}", f"Lighthouse {n}.")
    put(user, "/drafts-old", "Not below.")
    put(user, "/done/1/n01", "In the way.")
    body = {"path": "/drafts", "to": "/done", "prefix": True}
    before = listed(user)
    problem = user.expect(409, "POST", "/documents/move", body)
    assert "'/done/1/n01'" in problem["detail"] and listed(user) == before
    user.expect(200, "DELETE", "/documents", query={"path": "/done/1/n01"})
    headers = {"Idempotency-Key": "move-1"}
    done = user.expect(200, "POST", "/documents/move", body, headers=headers)
    assert (len(done["moved"]), done["more"]) == (30, False)
    assert user.expect(200, "POST", "/documents/move", body, headers=headers) == done
    assert listed(user) == ["/done/" + path.removeprefix("/drafts/") for path in before if "/drafts/" in path] + [
        "/drafts-old"
    ]
    assert get(user, "/done/0/n00")["rev"] == 2 and get(user, "/done/0/n00", rev="1")["path"] == "/drafts/0/n00"
    user.expect(404, "POST", "/documents/move", body)
    for to in ("/done", "/done/0"):
        user.expect(422, "POST", "/documents/move", {"path": "/done", "to": to, "prefix": True})
    user.expect(422, "POST", "/documents/move", {**body, "path": "/done", "to": "/x"}, headers={"If-Match": '"1"'})


@pytest.mark.live
def test_c30_an_earlier_rev_is_restored_as_the_next_one(user: Person) -> None:
    put(user, "/plan", "# First\n\nBy train.")
    put(user, "/plan", "# Second\n\nBy ship.", status=200)
    query, stale = {"path": "/plan"}, {"If-Match": '"1"'}
    assert user.expect(412, "POST", "/documents/restore", {"rev": 1}, query=query, headers=stale)
    restored = user.expect(200, "POST", "/documents/restore", {"rev": 1}, query=query, headers={"If-Match": '"2"'})
    assert (restored["rev"], restored["text"], restored["name"]) == (3, "# First\n\nBy train.", "First")
    user.settle()
    assert [hit["path"] for hit in user.recall("train", mode="tool", sources=["document"])["hits"]] == ["/plan"]
    user.expect(404, "POST", "/documents/restore", {"rev": 9}, query=query)
    user.expect(200, "DELETE", "/documents", query=query)
    user.expect(404, "POST", "/documents/restore", {"rev": 1}, query=query)
