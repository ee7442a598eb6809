"""``python -m local --observer bedrock``: what is said reaches a Bedrock on this machine, and its answer the memory."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.api_client import ApiClient
from tests.forked_servers import forked_servers
from tests.loopback.bedrock.server import KEY, REGION, SECRET, Bedrock, Failing, running

PATIENCE_S = 60.0
LOOK_S = 0.02
ASKED = "/v1/users/ada/sessions/s1/observe"


@pytest.fixture
def bedrock() -> Iterator[Bedrock]:
    with running() as served:
        served.calls = {
            "has_memory": True,
            "observations": [{"text": "🟡 Ada keeps bees in Lisbon", "seq_from": 1, "seq_to": 1}],
        }
        yield served


@pytest.fixture
def api(tmp_path: Path, bedrock: Bedrock) -> Iterator[ApiClient]:
    """A service that observes with it, and a session in which something was said."""
    ready, printed = tmp_path / "ready.json", tmp_path / "printed"
    options = ["--observer", "bedrock", "--bedrock-model", "eu.anthropic.claude-haiku-5-5", "--test-controls"]
    pid = forked_servers().begin(
        [
            "--port",
            "0",
            "--embedder",
            "fixture",
            "--data",
            str(tmp_path / "data"),
            "--ready-file",
            str(ready),
            *options,
        ],
        printed,
        env={
            "ANTHROPIC_BEDROCK_BASE_URL": bedrock.url,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": REGION,
            "NO_PROXY": "127.0.0.1",
        },
    )
    end = time.monotonic() + PATIENCE_S
    while not ready.exists():
        assert forked_servers().exit_code(pid) is None and time.monotonic() < end, printed.read_text()
        time.sleep(LOOK_S)
    known = json.loads(ready.read_bytes())
    client = ApiClient(known["url"], known["api_key"])
    client.expect(200, "POST", "/v1/users/ada/sessions", {"session_id": "s1"})
    said = {"event_type": "user_message", "content": "I keep bees in Lisbon."}
    assert client.call("POST", "/v1/users/ada/sessions/s1/events", {"events": [said]}).status in (200, 201)
    try:
        yield client
    finally:
        client.close()
    os.kill(pid, signal.SIGTERM)
    while forked_servers().exit_code(pid) is None:
        assert time.monotonic() < end + PATIENCE_S, "it did not end"
        time.sleep(LOOK_S)


def observed(api: ApiClient) -> list[str]:
    api.call("POST", ASKED, {"wait": True})
    return [it["text"] for it in api.expect(200, "GET", "/v1/users/ada/memories")["memories"]]


def test_what_is_said_is_observed_by_bedrock_and_counted(api: ApiClient, bedrock: Bedrock) -> None:
    assert observed(api) == ["🟡 Ada keeps bees in Lisbon"]
    assert bedrock.refused == []
    assert set(bedrock.models) == {"eu.anthropic.claude-haiku-5-5"}
    usage = api.expect(200, "GET", "/v1/usage")["usage"]
    assert (usage["model_calls"], usage["model_input_tokens"]) == (1, 120 + 1800 + 7), "with those of the cache"


def test_a_role_that_may_not_is_told_and_is_no_fault_of_what_was_said(api: ApiClient, bedrock: Bedrock) -> None:
    bedrock.failing.extend([Failing(403, "AccessDeniedException")] * 50)
    assert observed(api) == []
    assert "AccessDeniedException" in json.dumps(api.expect(200, "GET", "/v1/health"))
    bedrock.failing.clear()
    assert observed(api) == ["🟡 Ada keeps bees in Lisbon"]


def test_anthropic_without_a_key_does_not_start(tmp_path: Path) -> None:
    done = forked_servers().begin(["--observer", "anthropic", "--data", str(tmp_path)], tmp_path / "printed")
    end = time.monotonic() + PATIENCE_S
    while (code := forked_servers().exit_code(done)) is None:
        assert time.monotonic() < end
        time.sleep(LOOK_S)
    assert code == 2
    assert "--observer anthropic needs ANTHROPIC_API_KEY" in (tmp_path / "printed").read_text()
