"""One set of servers for a whole test run, and several services beside each other on it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from local.aws.full_stack import FullStack
from local.backend import Choices
from local.controls.raw_search import find_raw
from local.stack.jars import Server
from local.stack.shared import VARIABLE, SharedServers
from local.template import ROOT, read_template
from neve.ports.queue import Message, QueueName
from neve.ports.table import Expect, Key, Put
from tests.servers import need_servers, servers_for

TWO_FILES = """
import os
from pathlib import Path
from tests.servers import s3_url

def test_its_url():
    Path(os.environ["FOUND"], f"{{os.environ['PYTEST_XDIST_WORKER']}}-{name}").write_text(s3_url())
"""
ROW = Key("P", "ROW")


@pytest.fixture(autouse=True)
def _servers_can_run() -> None:
    need_servers()


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> SharedServers:
    monkeypatch.setenv(VARIABLE, servers_for("full")[VARIABLE])
    for service in ("DYNAMODB", "DYNAMODB_STREAMS", "SQS", "S3"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", "")  # a service sets them: to be as before in the end
    found = SharedServers.named()
    assert found is not None
    return found


def service(folder: Path) -> FullStack:
    return FullStack(folder, read_template(), Choices("none"), delays=False)


def test_services_on_shared_servers_keep_apart_and_find_their_own_again(tmp_path: Path, shared: SharedServers) -> None:
    one, two = (service(tmp_path / name) for name in ("one", "two"))
    with closing(two):
        with closing(one):
            assert one.servers is None
            assert one.alias != two.alias
            one.table.write([Put({"pk": "P", "sk": "ROW", "type": "noted", "text": "only in one"}, Expect.ABSENT)])
            one.objects.put("k", b"bytes", content_type="text/plain")
            one.queue.send(QueueName.EMBED, [Message({"n": 1}, "g")])
            assert two.table.get(ROW) is None
            assert two.objects.get("k") is None
            assert sum(two.broker.counts(QueueName.EMBED)) == 0
            assert find_raw(one.elsewhere, b"only in one") != []
        with closing(service(tmp_path / "one")) as again:
            assert again.alias == one.alias
            assert (again.table.get(ROW) or {})["text"] == "only in one"
            assert again.objects.get("k") == b"bytes"
            assert sum(again.broker.counts(QueueName.EMBED)) == 1


def test_the_file_says_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert SharedServers.named() is None
    known = SharedServers({Server.S3: "http://127.0.0.1:1"}, tmp_path)
    known.write(tmp_path / "servers.json")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "servers.json"))
    assert SharedServers.named() == known


def test_all_processes_of_a_run_have_the_same_server_and_it_ends_with_the_run(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"test_{name}.py").write_text(TWO_FILES.format(name=name))
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest", "-n", "2"]
    done = subprocess.run(
        [*command, "--rootdir", str(tmp_path), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "FOUND": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    urls = {path.name: path.read_text() for path in tmp_path.glob("gw*")}
    assert {name.split("-")[0] for name in urls} == {"gw0", "gw1"}
    [url] = set(urls.values())
    with socket.socket() as trying:
        assert trying.connect_ex(("127.0.0.1", int(url.rsplit(":", 1)[1]))) != 0, "it outlives the run"
