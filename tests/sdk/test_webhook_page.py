"""The receivers of docs/webhooks.md run as they stand: they take what Neve has signed, and nothing else."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from local.api_client import ApiClient
from local.running import RunningServer, start_server
from local.template import ROOT
from tests.patience import PATIENCE_S

OLD, NEW = "whsec_" + "QUJD" * 10, "whsec_" + "REVG" * 10
LOOK_S = 0.05
PROGRAMS = {"python": ("receiver.py", sys.executable), "node": ("receiver.mjs", str(shutil.which("node")))}
PAGE = (ROOT / "docs" / "webhooks.md").read_text(encoding="utf-8")


def program(name: str) -> str:
    return PAGE.split(f"<!-- {name}:begin -->")[1].split("```")[1].partition("\n")[2]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = start_server(tmp_path_factory.mktemp("webhooks") / "data", embedder="fixture", test_controls=True)
    yield running
    running.stop()


@contextmanager
def receiver(language: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """Its URL, and what it prints."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    name, runs = {"python": ("receiver.py", sys.executable), "node": ("receiver.mjs", str(shutil.which("node")))}[
        language
    ]
    (folder / name).write_text(program(language), encoding="utf-8")
    printed = folder / "printed"
    environment = {**os.environ, "PORT": str(port), "WEBHOOK_SECRETS": f"{OLD} {NEW}"}
    with printed.open("wb") as output:
        process = subprocess.Popen([runs, str(folder / name)], env=environment, stdout=output, stderr=output)
    try:
        end = time.monotonic() + PATIENCE_S
        while True:
            assert process.poll() is None and time.monotonic() < end, printed.read_text()
            with socket.socket() as looking:
                if looking.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(LOOK_S)
        yield f"http://127.0.0.1:{port}/neve", printed
    finally:
        process.kill()
        process.wait()


def status_of(url: str, headers: dict[str, str], body: bytes) -> int:
    request = urllib.request.Request(url, body, headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


@pytest.mark.parametrize("language", ["python", "node"])
def test_a_receiver_of_the_page_takes_what_is_signed_and_nothing_else(
    language: str, service: RunningServer, tmp_path: Path
) -> None:
    api = ApiClient(service.base_url, service.key)
    with receiver(language, tmp_path) as (url, printed):
        webhook, user = f"/v1/webhooks/{language}", f"ada-{language}"
        wanted = {"url": url, "types": ["memory.written"], "secret": OLD}
        api.expect(201, "PUT", webhook, wanted)
        assert api.expect(200, "POST", f"{webhook}/test")["delivered"] is True
        memory = api.expect(201, "POST", f"/v1/users/{user}/memories", {"text": "User keeps bees."})["id"]
        end = time.monotonic() + PATIENCE_S
        while f"memory.written {user} {memory}" not in printed.read_text():
            assert time.monotonic() < end, printed.read_text()
            time.sleep(LOOK_S)
        api.expect(200, "PUT", webhook, {**wanted, "secret": NEW})
        assert api.expect(200, "POST", f"{webhook}/test")["delivered"] is True
        forged = {"webhook-id": "out_1", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,QUJD"}
        assert status_of(url, forged, b"{}") == 400
        assert status_of(url, {}, b"{}") == 400
        api.expect(204, "DELETE", webhook)
    api.close()
