"""The real servers as a launcher sees them: free ports, loopback, data that survives, no process that stays behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from http.client import HTTPConnection
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config

from local.stack import servers as launcher
from local.stack.servers import DidNotStart, RunningServers, Server, start_servers
from tests.forked_servers import is_alive
from tests.patience import PATIENCE_S
from tests.servers import need_servers

LISTENING = "0A"
LOOPBACK = ("0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000")
"""127.0.0.1, ::ffff:127.0.0.1 and ::1 as /proc/net writes them on a little-endian machine."""
KILLED = (False, True, False, True)
"""Whether each server, in their order, is killed or stopped in the one test about what they keep. In the other it ends
the other way."""
FOR_EVERY_SERVER = pytest.mark.parametrize("server", list(Server))
Urls = Mapping[Server, str]
ORPHANS_TO_BE = """
import json, sys
from pathlib import Path
from local.stack.servers import Server, start_servers
servers = [Server.SQS, Server.S3]
print(json.dumps(list(start_servers(servers, Path(sys.argv[1])).pids.values())), flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _servers_can_run() -> None:
    need_servers()


# --- a life -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("running")


@pytest.fixture(scope="module")
def stranger() -> Iterator[int]:
    """The port of somebody else."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


@pytest.fixture(scope="module")
def running(folder: Path, stranger: int) -> Iterator[RunningServers]:
    """Each was to have the stranger's port, and is on its second one."""
    need_servers()
    ports = chain([stranger] * len(Server), iter(launcher.free_port, None))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(launcher, "free_port", lambda: next(ports))
        started = start_servers(list(Server), folder)
    with started as running:
        yield running


def test_they_answer(running: RunningServers) -> None:
    urls = running.urls
    assert set(urls) == set(Server)
    assert all(_is_open(_port(url)) for url in urls.values())
    assert _call("GET", urls[Server.OPENSEARCH] + "/")[1]["version"]["number"].startswith("2.19.")
    assert _dynamodb(urls).list_tables()["TableNames"] == []
    assert _sqs(urls).list_queues().get("QueueUrls", []) == []
    assert _s3(urls).list_buckets()["Buckets"] == []


@FOR_EVERY_SERVER
def test_they_give_up_a_port_that_was_taken_meanwhile(running: RunningServers, stranger: int, server: Server) -> None:
    port = _port(running.urls[server])
    assert port != stranger
    assert _is_open(port)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's table of sockets")
def test_they_listen_on_loopback_only(running: RunningServers) -> None:
    for server, pid in running.pids.items():
        addresses = _listening_addresses(pid)
        assert addresses, server
        assert addresses <= set(LOOPBACK), server


def test_they_start_again_where_they_were_and_the_others_stay(running: RunningServers) -> None:
    """Stopped or killed, and with what they kept."""
    urls, pids = dict(running.urls), dict(running.pids)
    _write(urls, "restarted")
    for server, kill in zip(Server, KILLED, strict=True):
        running.restart(server, kill=kill)
        assert dict(running.urls) == urls
        assert not is_alive(pids[server])
        pids[server] = running.pids[server]
        assert dict(running.pids) == pids, "another server than the one named was touched"
    _check_written(urls, "restarted")


def test_they_find_everything_at_the_next_start_after_a_stop_and_after_a_kill(
    running: RunningServers, folder: Path
) -> None:
    """The last one of those that share them: it stops them."""
    urls, pids = dict(running.urls), dict(running.pids)
    assert all((folder / f"{server}.log").stat().st_size > 0 for server in Server)
    _write(urls, "first")
    for server, kill in zip(Server, KILLED, strict=True):
        if not kill:
            os.kill(pids[server], signal.SIGKILL)
    running.stop()
    assert [pid for pid in pids.values() if is_alive(pid)] == []
    assert [url for url in urls.values() if _is_open(_port(url))] == []
    running.stop()
    with start_servers(list(Server), folder) as again:
        pids = dict(again.pids)
        _check_written(again.urls, "first")
    assert [pid for pid in pids.values() if is_alive(pid)] == [], "an orderly stop of each"


def test_a_server_that_finds_its_port_taken_stays_down_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "ATTEMPTS", 2)
    with start_servers([Server.S3], tmp_path) as running:
        port = _port(running.urls[Server.S3])
        os.kill(running.pids[Server.S3], signal.SIGKILL)
        _wait_until(lambda: not _is_open(port))
        with socket.socket() as stranger:
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            stranger.bind(("127.0.0.1", port))
            stranger.listen()
            with pytest.raises(DidNotStart, match=r"s3 ended with exit code 1; its log .*s3\.log ends with\n"):
                running.restart(Server.S3)
        assert not is_alive(running.pids[Server.S3])
        running.restart(Server.S3)
        assert _port(running.urls[Server.S3]) == port
        assert _is_open(port)


def test_only_a_server_that_was_started_can_be_restarted(tmp_path: Path) -> None:
    with start_servers([Server.S3], tmp_path) as running, pytest.raises(KeyError, match="sqs"):
        running.restart(Server.SQS)


def test_no_server_outlives_a_killed_launcher(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ORPHANS_TO_BE, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as launching:
        assert launching.stdout is not None
        pids = json.loads(launching.stdout.readline())
        assert len(pids) == 2
        assert all(is_alive(pid) for pid in pids)
        launching.kill()
    _wait_until(lambda: not any(is_alive(pid) for pid in pids))


def test_a_server_that_does_not_stop_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "STOP_S", 0.1)
    with start_servers([Server.S3], tmp_path) as running:
        pid = running.pids[Server.S3]
        os.kill(pid, signal.SIGSTOP)
    assert not is_alive(pid)


# --- trouble ------------------------------------------------------------------------------------


def test_a_server_that_never_gets_a_port_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stranger: int
) -> None:
    monkeypatch.setattr(launcher, "free_port", lambda: stranger)
    monkeypatch.setattr(launcher, "ATTEMPTS", 2)
    with pytest.raises(DidNotStart, match=r"s3 ended with exit code 1; its log .*s3\.log ends with\n(.*\n)*.*bind to"):
        start_servers([Server.S3], tmp_path)


@pytest.mark.parametrize(
    ("server", "database", "said"),
    [
        (Server.DYNAMODB, "shared-local-instance.db", "dynamodb answered with HTTP status 500"),
        (Server.SQS, "messages.mv.db", "sqs ended with exit code 1"),
    ],
)
def test_a_server_on_a_damaged_database_does_not_count_as_started(
    tmp_path: Path, server: Server, database: str, said: str
) -> None:
    (tmp_path / server).mkdir()
    (tmp_path / server / database).write_bytes(b"no database" * 1000)
    with pytest.raises(DidNotStart, match=f"{said}; its log .*{server}.log ends with\n"):
        start_servers([server], tmp_path)


def test_a_server_that_does_not_start_takes_the_others_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / Server.SQS).mkdir()
    (tmp_path / Server.SQS / "messages.mv.db").mkdir()
    free, ports = launcher.free_port, list[int]()

    def noted() -> int:
        ports.append(free())
        return ports[-1]

    monkeypatch.setattr(launcher, "free_port", noted)
    with pytest.raises(DidNotStart, match=r"messages\.mv\.db: Is a directory"):
        start_servers([Server.S3, Server.SQS], tmp_path)
    assert len(ports) == 2
    assert [port for port in ports if _is_open(port)] == []


def test_a_server_that_hangs_at_its_start_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "START_S", 0.0)
    with pytest.raises(DidNotStart, match="s3 did not answer within 0 s"):
        start_servers([Server.S3], tmp_path)


# --- what they keep -----------------------------------------------------------------------------


def _write(urls: Urls, name: str) -> None:
    dynamodb, sqs, s3 = _dynamodb(urls), _sqs(urls), _s3(urls)
    dynamodb.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    queue = sqs.create_queue(QueueName=name)["QueueUrl"]
    s3.create_bucket(Bucket=name)
    dynamodb.put_item(TableName=name, Item={"pk": {"S": "row"}, "n": {"N": "1"}})
    document = f"{urls[Server.OPENSEARCH]}/{name}/_doc/1"
    assert _call("PUT", document, {"text": "a document"})[0] == 201
    s3.put_object(Bucket=name, Key="an/object", Body=b"bytes", ContentType="text/x-kept", IfNoneMatch="*")
    sqs.send_message(QueueUrl=queue, MessageBody="a message")


def _check_written(urls: Urls, name: str) -> None:
    dynamodb, sqs, s3 = _dynamodb(urls), _sqs(urls), _s3(urls)
    assert dynamodb.get_item(TableName=name, Key={"pk": {"S": "row"}})["Item"] == {
        "pk": {"S": "row"},
        "n": {"N": "1"},
    }
    queue = sqs.get_queue_url(QueueName=name)["QueueUrl"]
    assert [message["Body"] for message in sqs.receive_message(QueueUrl=queue)["Messages"]] == ["a message"]
    found = s3.get_object(Bucket=name, Key="an/object")
    assert (found["Body"].read(), found["ContentType"]) == (b"bytes", "text/x-kept")
    _wait_until(lambda: _found(f"{urls[Server.OPENSEARCH]}/{name}/_doc/1") == {"text": "a document"})


def _found(document: str) -> Any:
    """None until the shard of its index has recovered."""
    status, answer = _call("GET", document)
    assert status in (200, 503), answer
    return answer["_source"] if status == 200 else None


def _dynamodb(urls: Urls) -> Any:
    return _client("dynamodb", urls[Server.DYNAMODB])


def _sqs(urls: Urls) -> Any:
    return _client("sqs", urls[Server.SQS])


def _s3(urls: Urls) -> Any:
    return _client("s3", urls[Server.S3])


def _client(service: Any, url: str) -> Any:
    return boto3.client(
        service,
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
    )


def _call(method: str, url: str, body: Any = None) -> tuple[int, Any]:
    parts = urlsplit(url)
    assert parts.hostname is not None
    with closing(HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE_S)) as connection:
        content = None if body is None else json.dumps(body)
        connection.request(method, parts.path, content, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.load(answer)


# --- processes and ports ------------------------------------------------------------------------


def _port(url: str) -> int:
    return int(url.rsplit(":", 1)[1])


def _is_open(port: int) -> bool:
    with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)):
        return True
    return False


def _listening_addresses(pid: int) -> set[str]:
    """In hexadecimal, of the TCP sockets that the process listens on."""
    links = [str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir()]
    own = {link.removeprefix("socket:[").removesuffix("]") for link in links if link.startswith("socket:[")}
    tables = (Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()).splitlines()
    rows = [line.split() for line in tables]
    return {row[1].split(":")[0] for row in rows if row[3] == LISTENING and row[9] in own}


def _wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)
