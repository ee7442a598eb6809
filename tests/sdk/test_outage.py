"""An outage under a running chat, and a process that is killed in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any, cast
from uuid import uuid4

import anthropic
import pytest

from local.api_client import ApiClient
from local.running import RunningServer
from local.template import ROOT
from sdk.python.neve import Neve, Session
from tests.loopback.server import Loopback
from tests.sdk.proxy import Proxy

TURNS = 5
PATIENT = dict.fromkeys(("turn", "append", "usage", "flush"), 20.0)
IMPATIENT_S = 0.3
SPEAKER = """
import json, sys
from neve import Neve
url, key, user, turns = sys.argv[1:]
s = Neve(key, url, linger=0, timeouts={"append": 60}).user(user).session("s1")
for n in range(int(turns)):
    sys.stdin.readline()
    told = s.append([{"role": "user", "content": f"question {n}"}, {"role": "assistant", "content": f"answer {n}"}])
    print(json.dumps({"appended": told.appended, "kept": told.kept}), flush=True)
sys.stdin.readline()
"""


def log_of(api: ApiClient, user: str) -> list[str]:
    reply = api.call("GET", f"/v1/users/{user}/sessions/s1/events", query={"limit": 200})
    return [] if reply.status == 404 else [str(event["content"]) for event in reply.json()["events"]]


@pytest.fixture
def user() -> str:
    return f"outage-{uuid4().hex[:12]}"


@pytest.mark.parametrize("do", ["refuse", "lose", "delay"])
def test_a_chat_goes_on_and_all_of_it_is_appended_afterwards_once(
    do: str, faulty: Proxy, model: Loopback, service: RunningServer, api: ApiClient, user: str
) -> None:
    claude = anthropic.Anthropic(api_key="k", base_url=model.url, max_retries=0)
    neve = Neve(service.key, faulty.url, timeouts=PATIENT)
    budgets = cast("dict[str, float]", neve.settings.timeouts_s)
    neve.user(user).remember("Ada bakes for a living.", priority="high")
    s = neve.user(user).session("s1")
    said = [text for n in range(TURNS) for text in turn(s, claude, f"question {n}")]
    before = model.requests[-1]
    assert "Ada bakes for a living." in str(before["system"])
    faulty.inject(match=".", do=do, ms=60_000)
    budgets.update(dict.fromkeys(PATIENT, IMPATIENT_S if do == "delay" else 20.0))
    for n in range(TURNS, 2 * TURNS):
        prompted = len(model.requests)
        said += turn(s, claude, f"question {n}")
        assert model.requests[prompted]["system"] == before["system"]
        assert model.requests[prompted]["messages"][: len(before["messages"]) - 1] == before["messages"][:-1]
    assert s.append([]).kept == 1 + 2 * TURNS, "with the answer that waited for the next message"
    faulty.heal()
    budgets.update(PATIENT)
    assert s.flush().kept == 0
    said += [text for n in range(2 * TURNS, 3 * TURNS) for text in turn(s, claude, f"question {n}")]
    s.end()
    neve.close()
    claude.close()
    assert model.refused == []
    assert log_of(api, user) == said


def turn(s: Session, claude: anthropic.Anthropic, said: str) -> list[str]:
    answer = claude.messages.create(model="claude-sonnet-5", max_tokens=99, **s.turn(said))
    s.append(answer)
    s.usage(answer)
    block: Any = answer.content[0]
    return [said, block.text]


def test_a_process_that_is_killed_loses_what_it_was_told_is_kept_and_nothing_else(
    faulty: Proxy, service: RunningServer, api: ApiClient, user: str
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "sdk" / "python")}
    process = subprocess.Popen(
        [sys.executable, "-c", SPEAKER, faulty.url, service.key, user, str(TURNS)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    with process, process.stdin, process.stdout:
        told = []
        for n in range(TURNS):
            if n == 2:
                faulty.inject(match=".", do="refuse")
            process.stdin.write("\n")
            process.stdin.flush()
            told.append(json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert [one["kept"] for one in told] == [0, 0, 2, 4, 6]
    said = [text for n in range(TURNS) for text in (f"question {n}", f"answer {n}")]
    acknowledged = sum(one["appended"] for one in told)
    assert log_of(api, user) == said[:acknowledged]
    faulty.heal()
    whole = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)]
    with Neve(service.key, faulty.url, linger=0) as later:
        later.user(user).session("s1").append(whole)
    assert log_of(api, user) == said
