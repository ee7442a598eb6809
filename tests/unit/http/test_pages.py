"""A page of a list fits what Lambda hands on, whatever its rows are made of, and its cursor goes on where it ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.observe import app as observe
from functions.records import app as records
from local.limits.payloads import MAX_PAYLOAD, payload_bytes
from neve.domain.documents.chunks import document_chunks
from neve.http.pages import MAX_BYTES, rows_that_fit
from neve.http.router import Answer
from neve.http.schemas.pack.packs import PackDiffOut
from neve.usecases.core.pack.versions import PackDiff
from tests.unit.api_world import Api, Reply, installed
from tests.unit.world import World

EVENTS = "/v1/users/{user_id}/sessions/{session_id}/events"
MEMORIES = "/v1/users/{user_id}/memories"
DOCUMENTS = "/v1/users/{user_id}/documents"
LETTERS = {"quotes": '"', "emoji": "😀", "letters": "x"}
"""What takes most in an answer: a quotation mark is four characters there, an emoji four bytes."""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    for world in installed(World.make(tmp_path)):
        yield world
        world.table.close()


def pages(api: Api, resource: str, rows: str, goes_on: dict[str, str], **ids: Any) -> Iterator[list[Any]]:
    """Page after page of 200 rows each; ``goes_on``: the answer's member that says where, and the parameter for it."""
    [(member, parameter)] = goes_on.items()
    query = "limit=200"
    while True:
        reply = api.call("GET", resource, query=query, **ids)
        assert reply.status == 200
        answer = {"statusCode": 200, "headers": dict(reply.headers), "body": reply.text, "isBase64Encoded": False}
        assert payload_bytes(answer) <= MAX_PAYLOAD
        found = reply.json
        yield found[rows]
        if member not in found:
            return
        query = f"limit=200&{parameter}={found[member]}"


@pytest.mark.parametrize("letter", LETTERS)
def test_a_log_of_the_largest_events_is_read_to_its_end(world: World, letter: str) -> None:
    world.open()
    room = 250 * 1024 // max(len(LETTERS[letter].encode()), 2 if letter == "quotes" else 1)
    for _ in range(10):
        world.say(LETTERS[letter] * room, LETTERS[letter] * room)
    read = list(
        pages(Api(observe.router), EVENTS, "events", {"next_from_seq": "from_seq"}, user_id="ann", session_id="s1")
    )
    assert [event["seq"] for page in read for event in page] == list(range(1, 21))
    assert len(read) > 1
    assert all(len(page) > 1 for page in read)


def test_a_list_of_the_longest_memories_is_read_to_its_end(world: World) -> None:
    api = Api(records.router)
    texts = [f"{n} " + "😀" * 63_000 for n in range(25)]
    for text in texts:
        assert api.call("POST", MEMORIES, {"text": text}, user_id="ann").status == 201
    read = list(pages(api, MEMORIES, "memories", {"next_cursor": "cursor"}, user_id="ann"))
    assert [memory["text"] for page in read for memory in page] == texts
    assert len(read) > 1


def fits_lambda(reply: Reply) -> bool:
    answer = {"statusCode": reply.status, "headers": dict(reply.headers), "body": reply.text, "isBase64Encoded": False}
    return payload_bytes(answer) <= MAX_PAYLOAD


def test_the_history_of_a_long_memory_that_was_replaced_often_is_told_as_far_as_it_fits(world: World) -> None:
    api = Api(records.router)
    ids = [api.call("POST", MEMORIES, {"text": "😀" * 63_000}, user_id="ann").json["id"]]
    for n in range(29):
        body = {"text": f"{n} " + "😀" * 63_000, "reason": "It goes on."}
        evolved = api.call("POST", MEMORIES + "/{memory_id}/evolve", body, user_id="ann", memory_id=ids[-1])
        ids.append(evolved.json["id"])
    trace = api.call("GET", MEMORIES + "/{memory_id}/trace", user_id="ann", memory_id=ids[12])
    assert (trace.status, fits_lambda(trace)) == (200, True)
    told = [statement["id"] for statement in trace.json["history"]]
    first = ids.index(told[0])
    assert told == ids[first : first + len(told)] and ids[12] in told
    assert (len(told) > 20, len(told) + trace.json["history_left_out"]) == (True, 30)


@pytest.mark.parametrize(("paragraph", "whole"), [("- item\n\n", True), ('""""""""\n\n', False)])
def test_a_document_is_read_with_as_many_of_its_passages_as_fit(world: World, paragraph: str, whole: bool) -> None:
    api, text = Api(records.router), paragraph * (1_000_000 // len(paragraph))
    put = api.call("PUT", DOCUMENTS, raw=text, query="path=/a/b", headers={"Content-Type": "text/plain"}, user_id="ann")
    assert put.status == 201
    read = api.call("GET", DOCUMENTS, query="path=/a/b&chunks=true", user_id="ann")
    assert (read.status, fits_lambda(read), read.json["text"]) == (200, True, text)
    shown, chunks = read.json["chunks"], document_chunks(text)
    assert [chunk["text"] for chunk in shown] == chunks[: len(shown)]
    assert len(shown) + read.json.get("chunks_left_out", 0) == len(chunks)
    assert (len(shown) > 300, len(shown) == len(chunks)) == (True, whole)


def test_a_page_that_fits_is_read_once(world: World) -> None:
    world.open()
    world.say("a", "b", "c")
    world.table.calls.clear()
    Api(observe.router).call("GET", EVENTS, user_id="ann", session_id="s1")
    assert world.table.calls["query"] == 1


@given(st.lists(st.integers(1, 2 * MAX_BYTES), max_size=8))
def test_as_many_rows_as_fit_and_at_least_one(sizes: list[int]) -> None:
    fits = rows_that_fit(iter(sizes))
    assert (fits == 0) == (not sizes)
    assert fits <= 1 or sum(sizes[:fits]) <= MAX_BYTES
    assert fits == len(sizes) or sum(sizes[: fits + 1]) > MAX_BYTES


@pytest.mark.parametrize("letter", LETTERS)
def test_the_difference_of_two_large_packs_is_cut_behind_a_line_and_says_so(letter: str) -> None:
    """Two packs of 4 MB each with nothing in common: more than Lambda hands on."""
    lines = [f"{sign}{number} {LETTERS[letter] * 200}" for sign in "-+" for number in range(20_000)]
    whole = PackDiff([], [], [], "\n".join(lines))
    cut = PackDiffOut.of(whole)
    assert payload_bytes({"body": Answer(body=cut).content}) <= MAX_PAYLOAD
    assert cut.unified_complete is False
    assert whole.unified.startswith(cut.unified)
    assert cut.unified.endswith(f"{LETTERS[letter]}\n")
    assert len(cut.unified) > 1_000_000
    small = PackDiffOut.of(PackDiff([], [], [], "\n".join(lines[:3])))
    assert (small.unified, small.unified_complete) == ("\n".join(lines[:3]), True)
