"""T0: what was written can be recalled by meaning, in another process. Without it nothing else matters."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.running import StackName
from tests.http.driving.controls import Controls
from tests.http.driving.other_server import controlled_server
from tests.http.driving.people import Person, new_user
from tests.http.driving.stage import Stage
from tests.http.real_encoder.egress import blocked_egress
from tests.http.real_encoder.new_process import recall_in_a_new_process
from tests.http.real_encoder.offline import MEMORY, QUESTION, assert_remembered, remember_and_recall


@pytest.mark.live
@pytest.mark.usefixtures("workers_awake")
def test_t0_a_new_process_recalls_it_by_meaning(user: Person, stage: Stage) -> None:
    written = user.expect(201, "POST", "/memories", {"text": MEMORY}, query={"wait": "embedded"})
    assert written["embedding_state"] == "ready"
    [hit] = recall_in_a_new_process(stage, f"{user.path}/recall", QUESTION)["hits"]
    assert hit["id"] == written["id"]
    assert hit["components"]["rank_vec"] == 1
    assert "rank_lex" not in hit["components"], "by meaning, not by a word"


@pytest.mark.controls
def test_t0_a_restarted_server_recalls_it_by_meaning(tmp_path: Path, stack: StackName) -> None:
    user, data = new_user(), tmp_path / "data"
    with controlled_server(data, stack, own_servers=True) as (client, controls):
        written = client.expect(201, "POST", f"/v1/users/{user}/memories", {"text": MEMORY})
        client.expect(200, "POST", f"/v1/users/{user}/sessions", {"session_id": "s1"})
        controls.drain()
        assert client.expect(200, "GET", f"/v1/users/{user}/memories/{written['id']}")["embedding_state"] == "ready"
        pack = client.call("GET", f"/v1/users/{user}/pack", query={"session_id": "s1", "format": "text"})
    with controlled_server(data, stack, own_servers=True) as (client, _):
        [hit] = client.expect(200, "POST", f"/v1/users/{user}/recall", {"query": QUESTION})["hits"]
        assert hit["id"] == written["id"]
        assert hit["components"]["rank_vec"] == 1
        again = client.call("GET", f"/v1/users/{user}/pack", query={"session_id": "s1", "format": "text"})
        assert (again.body, again.headers["etag"]) == (pack.body, pack.headers["etag"])


@pytest.mark.live
def test_c37_nothing_is_recalled_that_was_not_saved(user: Person) -> None:
    assert user.recalled(QUESTION) == []
    memory_id = user.remember(MEMORY)["id"]
    user.settle()
    assert user.recalled(QUESTION) == [memory_id]


@pytest.mark.controls
def test_c28_no_call_leaves_the_machine(tmp_path: Path, controls: Controls, stack: StackName) -> None:
    egress = blocked_egress(tmp_path / "egress")
    with controlled_server(tmp_path / "data", stack, env=egress.env) as (client, here):
        assert_remembered(remember_and_recall(client, here))
    assert egress.attempts() == ""
