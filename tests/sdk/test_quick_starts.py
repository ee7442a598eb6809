"""The pages' programs run as they stand, against a strict model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from uuid import uuid4

import pytest

from local.api_client import ApiClient
from local.running import RunningServer, start_server
from tests.loopback.script import Step
from tests.loopback.server import Loopback
from tests.sdk.pages import blocks, lines_of_code, run

PREFIX = {"identity": "You are the assistant of a bakery. " * 200, "version": "1.0.0"}
"""Above the 1,024 tokens from which the model caches."""
LINES = 12
CALL = {"name": "weather", "arguments": {"city": "Porto"}}


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A service whose tenant has a static prefix: users of the pages have names of their own."""
    running = start_server(tmp_path_factory.mktemp("pages") / "data")
    client = ApiClient(running.base_url, running.key)
    client.expect(200, "PUT", "/v1/policy", {"static_prefix": PREFIX, "chat_model": "claude-sonnet-5"})
    client.close()
    yield running
    running.stop()


class Reader:
    """Somebody who runs a page's programs, one after another."""

    def __init__(self, service: RunningServer, model: Loopback, folder: Path) -> None:
        self.api = ApiClient(service.base_url, service.key)
        self.user = f"ada-{uuid4().hex[:8]}"
        self._folder = folder
        self._environment = {
            "NEVE_URL": service.base_url,
            "NEVE_KEY": service.key,
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "k",
            "OPENAI_BASE_URL": f"{model.url}/v1",
            "OPENAI_API_KEY": "k",
        }

    def runs(self, block: str, typed: str = "") -> CompletedProcess[str]:
        found = run(block.replace('"ada"', f'"{self.user}"'), self._folder, typed, self._environment)
        assert found.returncode == 0 or "EOFError" in found.stderr, found.stderr + found.stdout
        return found

    def log(self, session: str) -> list[tuple[str, str]]:
        page = self.api.expect(200, "GET", f"/v1/users/{self.user}/sessions/{session}/events")
        return [(one["event_type"], text_of(one["content"])) for one in page["events"] if not one["retracted"]]


def text_of(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


@pytest.fixture
def reader(bakery: RunningServer, model: Loopback, tmp_path: Path) -> Iterator[Reader]:
    found = Reader(bakery, model, tmp_path)
    yield found
    found.api.close()


@pytest.mark.parametrize(("number", "session"), [(0, "s1"), (1, "s2")], ids=["anthropic", "openai"])
def test_a_loop_of_twelve_lines_remembers_and_is_cached(
    number: int, session: str, reader: Reader, model: Loopback
) -> None:
    block = blocks("quickstart-python.md")[number]
    assert lines_of_code(block) <= LINES
    printed = reader.runs(block, "I moved to Porto.\nWhere do I live?\n\n").stdout
    assert model.refused == []
    first, second = (int(line.split("(")[1].split()[0]) for line in printed.splitlines() if "(" in line)
    assert (first, second > 1024) == (0, True)
    assert reader.log(session) == [
        ("user_message", "I moved to Porto."),
        ("assistant_response", "You said: I moved to Porto."),
        ("user_message", "Where do I live?"),
        ("assistant_response", "You said: Where do I live?"),
    ]
    cache = reader.api.expect(200, "GET", f"/v1/users/{reader.user}/stats")["prompt_cache"]
    assert cache["reports"] == 2


def test_a_prompt_of_ones_own_has_pack_and_hits(reader: Reader) -> None:
    reader.api.expect(201, "POST", f"/v1/users/{reader.user}/memories", {"text": "Ada lives in Porto."})
    printed = reader.runs(blocks("quickstart-python.md")[2]).stdout
    assert "Ada lives in Porto." in printed
    assert reader.log("s3") == [("user_message", "Where do I live?")]


def test_the_rest_remembers_and_forgets(reader: Reader) -> None:
    printed = reader.runs(blocks("quickstart-python.md")[3]).stdout
    assert printed.splitlines() == ["['Ada is allergic to walnuts.']", "[] none"]


def test_a_token_is_its_users_and_nobody_elses(reader: Reader) -> None:
    (block,) = blocks("access-tokens.md")
    assert reader.runs(block).stdout.splitlines() == ["1", "404 user_not_found"]
    assert reader.log("from-a-token") == [("user_message", "I moved to Porto.")]


def test_a_whole_backend(reader: Reader, model: Loopback) -> None:
    (block,) = blocks("first-backend.md")
    model.will(
        Step("I look.", "The weather of Porto, then.", (CALL,)),
        Step("And tomorrow's.", "Once more.", (CALL,)),
        Step("18 degrees, and so tomorrow."),
        Step(fail="500"),
        Step(fail="500"),
        Step("Now I am here."),
        Step("A better answer."),
        Step("You live in Porto."),
        Step("In Lisbon, then."),
    )
    typed = [
        "I live in Porto. How is the weather?",
        "Are you there?",
        "/retry",
        "/again",
        "/new s2",
        "Where do I live?",
    ]
    printed = reader.runs(block, "\n".join([*typed, "/edit Where do I live? -> I live in Lisbon now."]) + "\n").stdout
    assert model.refused == []
    assert "[the model failed: InternalServerError; /retry]" in printed
    assert [text for kind, text in reader.log("s1") if kind != "tool_result" and text] == [
        "I live in Porto. How is the weather?",
        "I look.",
        "And tomorrow's.",
        "18 degrees, and so tomorrow.",
        "Are you there?",
        "A better answer.",
    ]
    assert reader.log("s2") == [
        ("user_message", "I live in Lisbon now."),
        ("assistant_response", "In Lisbon, then."),
    ]
    in_the_loop = model.requests[2]["messages"]
    thoughts = [block for message in in_the_loop if message["role"] == "assistant" for block in message["content"]]
    assert [one["thinking"] for one in thoughts if one["type"] == "thinking"] == [
        "The weather of Porto, then.",
        "Once more.",
    ]
    assert "Porto" in str(model.requests[-2]["system"]) + str(model.requests[-2]["messages"][-1])
