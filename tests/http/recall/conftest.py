"""Users that the tests of recall share."""

from __future__ import annotations

import re

import pytest

from tests.http.driving.people import Person


@pytest.fixture
def twofold(user: Person, request: pytest.FixtureRequest) -> tuple[Person, str, str]:
    """Somebody with a memory, its id, and a query that finds it by a word and by meaning. The query is the test's own:
    a vector that is remembered from another test would hide an embedder that fails."""
    memory_id = user.remember("User's sister lives in Reykjavik.")["id"]
    user.settle()
    own_word = re.sub(r"\W|_", "", request.node.name)
    return user, memory_id, f"sibling Reykjavik {own_word}"
