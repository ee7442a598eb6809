"""Rows A34 and C26: another embedding model. Each test starts servers of its own, for it starts them again.

``fixture`` and ``bge-small`` make vectors of the same 384 dimensions: only their names keep them apart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from local.api_client import ApiClient
from local.running import StackName
from local.template import ROOT
from neve.domain.ids import event_id
from tests.http.conftest import StartedWith
from tests.http.driving.people import Json, new_user
from tests.servers import servers_for

pytestmark = pytest.mark.live
needs_the_encoder = pytest.mark.usefixtures("encoder_files")
OTHER_MODEL = "vector:dimension_mismatch"
OLD, NEW = "User's sister is named Mary.", "User's dentist is Doctor Bloom."
QUESTION, NEW_QUESTION = "what is my sibling called?", "who looks after my teeth?"
"""No word of the memory but stop words: only vectors find it."""
MESSAGE = "I bought a blue kayak in Bergen last week."
ABOUT_MESSAGE = "which boat did I purchase?"


def reindex(data: Path, stack: StackName, embedder: str) -> str:
    """What the command printed."""
    command = [sys.executable, "-m", "local.reindex", "--data", str(data), "--stack", stack, "--embedder", embedder]
    environment = {**os.environ, **servers_for(stack)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Someone:
    """A user, through whichever server is up."""

    def __init__(self) -> None:
        self.path = f"/v1/users/{new_user()}"

    def remembers(self, api: ApiClient, text: str) -> str:
        return str(api.expect(201, "POST", f"{self.path}/memories", {"text": text})["id"])

    def says(self, api: ApiClient, session: str, text: str) -> str:
        """The event's id."""
        api.expect(200, "POST", f"{self.path}/sessions", {"session_id": session})
        body = {"events": [{"event_type": "user_message", "content": text}]}
        api.expect(201, "POST", f"{self.path}/sessions/{session}/events", body)
        return event_id(session, 1)

    def asks(self, api: ApiClient, query: str, **more: Any) -> Json:
        return dict(api.expect(200, "POST", f"{self.path}/recall", {"query": query, **more}))


def ids(answer: Json) -> list[str]:
    return [hit["id"] for hit in answer["hits"]]


@needs_the_encoder
def test_c26_another_model_is_shown_and_reindexed(started_with: StartedWith, tmp_path: Path, stack: StackName) -> None:
    user = Someone()
    with started_with("fixture") as (api, controls):
        old = user.remembers(api, OLD)
        controls.drain()
        assert ids(user.asks(api, QUESTION)) == [old]
        made_with = api.expect(200, "GET", "/v1/health")["index"]["model"]

    with started_with("bge-small") as (api, controls):
        health = api.expect(200, "GET", "/v1/health")
        assert health["index"]["match"] is False
        assert health["index"]["model"] == made_with != health["embedder"]["model"]
        assert health["status"] == "degraded"
        new = user.remembers(api, NEW)
        controls.drain()
        for word, memory in (("sister", old), ("dentist", new)):
            answer = user.asks(api, word)
            assert (ids(answer), answer["degraded"]) == ([memory], [OTHER_MODEL])
            assert "rank_vec" not in answer["hits"][0]["components"]
        answer = user.asks(api, QUESTION)
        assert (answer["hits"], answer["degraded"]) == ([], [OTHER_MODEL])

    assert health["embedder"]["model"] in reindex(tmp_path / "data", stack, "bge-small")

    with started_with("bge-small") as (api, _):
        after = api.expect(200, "GET", "/v1/health")
        assert (after["index"]["match"], after["index"]["model"]) == (True, health["embedder"]["model"])
        for question, memory in ((QUESTION, old), (NEW_QUESTION, new)):
            answer = user.asks(api, question)
            assert (ids(answer)[0], answer["degraded"]) == (memory, [])
            assert answer["hits"][0]["components"]["rank_vec"] == 1
            assert "rank_lex" not in answer["hits"][0]["components"]


@needs_the_encoder
def test_a34_vectors_of_two_models_are_never_compared(
    started_with: StartedWith, tmp_path: Path, stack: StackName
) -> None:
    user = Someone()
    with started_with("bge-small") as (api, controls):
        old, utterance = user.remembers(api, OLD), user.says(api, "s1", MESSAGE)
        controls.drain()
        assert ids(user.asks(api, ABOUT_MESSAGE, legs=["vector"], sources=["event"])) == [utterance]

    with started_with("fixture") as (api, controls):
        new, later = user.remembers(api, NEW), user.says(api, "s2", "We sold the kayak again.")
        controls.drain()
        answer = user.asks(api, OLD, legs=["vector"], threshold=0)
        assert (answer["hits"], answer["degraded"]) == ([], [OTHER_MODEL]), "its own text finds nothing by vector"
        assert set(ids(user.asks(api, "kayak", sources=["event"]))) == {utterance, later}
        answer = user.asks(api, "Mary Bloom", sources=["memory"])
        assert set(ids(answer)) == {old, new}
        assert all("rank_vec" not in hit["components"] for hit in answer["hits"])

    reindex(tmp_path / "data", stack, "fixture")

    with started_with("fixture") as (api, _):
        for query, source, found in ((OLD, "memory", old), (NEW, "memory", new), (MESSAGE, "event", utterance)):
            answer = user.asks(api, query, legs=["vector"], sources=[source])
            assert (ids(answer)[0], answer["degraded"]) == (found, [])
        assert user.asks(api, QUESTION)["hits"][0]["components"]["rank_vec"] == 1
