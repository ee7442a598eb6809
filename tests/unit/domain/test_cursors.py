"""A cursor is good for one list, whatever somebody puts into it."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.cursors import InvalidCursor, _digest, make_cursor, number_in, read_cursor
from neve.domain.errors import NeveError
from neve.http.problems import as_refusal
from neve.usecases.ask.documents.list_documents import page_of_documents
from neve.usecases.ask.memories.list_memories import MemoryFilter, _listed, list_memories
from tests.unit.world import World

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.text(), part),
)


def forged(listed: bytes, position: Any) -> str:
    """With the right sum."""
    text = position if isinstance(position, bytes) else json.dumps(position).encode()
    return urlsafe_b64encode(_digest(listed, text) + text).decode()


@given(st.lists(st.text(max_size=20), max_size=3))
def test_a_position_is_read_as_it_was_made(position: list[str]) -> None:
    assert read_cursor(b"list", make_cursor(b"list", position), len(position)) == tuple(position)


@given(JSON | st.binary(), st.integers(1, 3))
def test_any_other_content_is_refused(content: Any, parts: int) -> None:
    try:
        position = read_cursor(b"list", forged(b"list", content), parts)
    except InvalidCursor as error:
        refused = as_refusal(error)
        assert isinstance(refused, NeveError) and refused.errors[0].field == "query.cursor"
        return
    assert len(position) == parts and all(isinstance(part, str) for part in position)


@pytest.mark.parametrize("part", ["-1", "", "1.5", "٣", "9" * 5000, " 1", "1_0"])
def test_a_number_is_one_of_few_digits(part: str) -> None:
    with pytest.raises(InvalidCursor):
        number_in(part)


@pytest.mark.parametrize(
    "position", [["-1", "MEM#0"], [["1"], "MEM#0"], ["1", "PACK#0"], ["1"], [1, 2], {}, "MEM#0", ["\ud800", "MEM#0"]]
)
def test_a_list_refuses_a_position_that_it_has_not(tmp_path: Path, position: Any) -> None:
    world = World.make(tmp_path)
    where = MemoryFilter()
    with pytest.raises(InvalidCursor):
        list_memories(world.user("ann"), where, 1, forged(_listed(world.user("ann"), where), position))


def test_a_page_of_documents_begins_in_its_own_folder(tmp_path: Path) -> None:
    user = World.make(tmp_path).user("ann")
    listed = json.dumps([user.keys.partition, "/notes", None]).encode()
    with pytest.raises(InvalidCursor):
        page_of_documents(user, "/notes", None, 1, forged(listed, ["/a"]))
