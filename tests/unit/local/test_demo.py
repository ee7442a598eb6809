"""``make demo`` against a service of its own, and what it says without one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from local.bootstrap import KEY_FILE
from local.demo.__main__ import _keys as keys_of
from local.demo.conversation import celadon_tile, load
from local.demo.terminal import WIDTH, columns, fitted
from local.running import DidNotStart, RunningServer, start_server
from local.template import ROOT

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    server = start_server(tmp_path_factory.mktemp("demo") / "data", embedder="fixture")
    yield server
    assert server.stop() == 0


def demo(base_url: str, data: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "local.demo", "--base-url", base_url, "--data", str(data)]
    paths = f"{ROOT / 'layers' / 'core'}:{ROOT}"
    return subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": paths}, capture_output=True, text=True)


def test_it_shows_what_was_remembered_the_pack_and_five_recalls(service: RunningServer) -> None:
    sample = load(NOW)
    done = demo(service.base_url, service.output.with_name("data"))
    assert (done.returncode, done.stderr) == (0, "")
    assert all(talk.title in done.stdout for talk in sample.talks)
    assert "🔴 Mira: \"I'm vegetarian, and I'm allergic to hazelnuts" in done.stdout
    assert '🔴 Mira: "Please keep your answers short, I read them between two kiln loads"' in done.stdout
    assert 'Mira: "Correction: the glaze workshop starts at two in the afternoon, not at ten"' in done.stdout
    assert '<neve-memory format="1">' in done.stdout
    assert "The same call with If-None-Match: 304, 0 bytes" in done.stdout
    assert len(sample.questions) == 5
    assert all(f"\n{question.query}  " in done.stdout for question in sample.questions)
    assert '"celadon" firing temperature  a word in quotation marks is required; found in' in done.stdout
    prompt = done.stdout.split("The prompt of the next turn")[1]
    assert [line.split()[0] for line in prompt.splitlines() if line.startswith(("cached ", "new "))][:3] == [
        "cached"
    ] * 3
    assert prompt.count("\nnew ") == 4, "the turn before, the lines around the message, and the message"
    assert "cached    system    <neve-memory" in prompt
    assert "new       user      And when does my glaze workshop start?" in prompt
    assert "breakpoint behind history:" in prompt
    *lines, console = done.stdout.splitlines()
    assert console.startswith(f"{service.base_url}/console/#/memories?user=demo-") and "&token=" in console
    wide = [line for line in lines if columns(line) > WIDTH and not line.startswith("curl")]
    assert not wide


def test_it_can_be_repeated_although_its_ids_are_the_same(service: RunningServer) -> None:
    assert demo(service.base_url, service.output.with_name("data")).returncode == 0


def test_a_key_of_the_environment_is_used(service: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a service whose data folder is not one of the default ones."""
    monkeypatch.setenv("NEVE_KEY", " nv_a_b\n")
    assert keys_of(None) == ["nv_a_b"]
    own = service.output.with_name("data")
    assert keys_of(own) == [(own / KEY_FILE).read_text().strip()]


def test_without_a_service_it_says_how_to_start_one(service: RunningServer, tmp_path: Path) -> None:
    never_started = demo(service.base_url, tmp_path)
    assert never_started.returncode == 1
    assert "Start the service first, in another terminal: make run." in never_started.stderr
    assert "make demo DATA_DIR=folder, or set NEVE_KEY" in never_started.stderr
    stopped = demo("http://127.0.0.1:9", service.output.with_name("data"))
    assert (stopped.returncode, stopped.stderr.splitlines()) == (
        1,
        ["Nobody answers at http://127.0.0.1:9. Start the service first, in another terminal: make run"],
    )


def test_a_server_that_cannot_start_says_why(service: RunningServer) -> None:
    with pytest.raises(DidNotStart, match="is in use by process"):
        start_server(service.output.with_name("data"), embedder="fixture")


def test_the_sample_has_a_preference_a_correction_a_plan_a_tool_call_and_an_image() -> None:
    events = [event for talk in load(NOW).talks for event in talk.events]
    assert {event["event_type"] for event in events} == {
        "user_message",
        "assistant_response",
        "tool_call",
        "tool_result",
    }
    assert {(event["event_type"], event["name"]) for event in events if "tool" not in event["event_type"]} == {
        ("user_message", "Mira"),
        ("assistant_response", "Neve"),
    }
    assert len({event["client_id"] for event in events}) == len(events)
    images = [block for event in events if isinstance(event["content"], list) for block in event["content"]]
    assert [block["type"] for block in images] == ["text", "image"]
    assert celadon_tile().startswith(b"\x89PNG\r\n\x1a\n")
    assert [talk.events[0]["created_at"][:10] for talk in load(NOW).talks] == [
        "2026-02-04",
        "2026-02-15",
        "2026-02-26",
        "2026-03-06",
    ]


def test_a_line_is_as_wide_as_it_is_shown() -> None:
    assert columns("🔴 a") == 4
    assert [fitted("🔴🔴🔴", 5), fitted("a  b", 5)] == ["🔴🔴…", "a b  "]
