"""``kill -9`` of the whole server at seeded moments of a load: what was acknowledged is there once, and the work that
it left behind comes to its end.

The clients keep to few sessions and ask for a compaction behind many an append, so that the passes of the extract and
the compact queue meet all the time: who finds a session busy is put off, and must end its job nevertheless.

A seed decides every writer's script and the moment of the kill: so many milliseconds after so many acknowledged
requests. Which request is in flight then is up to the machine, so a failure names its seed and what was found."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from local.api_client import ApiClient
from neve.usecases.core.memories.replace_rows import LEASE_S
from tests.crash.afterwards import check_answers, check_frozen_packs, check_jobs, repeat_unanswered
from tests.crash.hurry import Hurry
from tests.crash.journal import Acknowledged, Journal
from tests.crash.stored_rows import check_rows
from tests.crash.writer import Writer
from tests.forked_servers import ForkedServer, ForkedServers, forked_servers
from tests.http.driving.controls import drain
from tests.patience import PATIENCE_S

SEEDS = range(1, 51)
MAX_REQUESTS = 80
POLICY = {"window": 400, "observer_transcript_cap": 120, "observer_output_cap": 110}
"""Tokens: so few that sessions are reflected and compacted within a second, and that a tail takes several passes."""
MAX_MS = 12.0
TWICE = 5
"""Every fifth seed kills the server a second time, in the middle of what it does when it starts."""

pytestmark = pytest.mark.controls


@pytest.fixture(scope="session")
def servers() -> ForkedServers:
    return forked_servers()


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_acknowledged_is_lost_or_doubled(seed: int, tmp_path: Path, servers: ForkedServers) -> None:
    moment = random.Random(seed)
    data = tmp_path / "data"
    journals = _load_until_killed(
        servers.start(data), seed, moment.randint(1, MAX_REQUESTS), moment.uniform(0.0, MAX_MS)
    )
    if seed % TWICE == 0:
        _kill_after(servers.start(data), moment.uniform(0.0, 300.0))
    server = servers.start(data)
    client = ApiClient(server.base_url, server.key)
    try:
        check_answers(client, journals)
        repeat_unanswered(client, journals)
        _outlive(client)
        _drain(client)
        check_answers(client, journals)
        check_frozen_packs(client, journals)
        check_jobs(client, journals)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error
    finally:
        client.close()
        server.kill()
    assert not list(tmp_path.glob("data.damaged-*")), f"seed {seed}: the folder counted as damaged"
    for user in sorted({journal.user for journal in journals}):
        try:
            check_rows(data, user)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def _load_until_killed(server: ForkedServer, seed: int, requests: int, then_ms: float) -> list[Journal]:
    _shrink_policy(server)
    acknowledged = Acknowledged()

    def writer_of(number: int, user: str, sessions: list[str]) -> Writer:
        client = ApiClient(server.base_url, server.key)
        return Writer(f"{seed}-{number}", Journal(user), sessions, client, acknowledged)

    writers = [
        writer_of(1, "ann", ["shared"]),
        writer_of(2, "ann", ["shared", "a"]),
        writer_of(3, "bob", ["shared"]),
    ]
    hurry = Hurry(ApiClient(server.base_url))
    threads = [*(writer.thread for writer in writers), hurry.thread]
    for thread in threads:
        thread.start()
    came = acknowledged.wait_for(requests, PATIENCE_S)
    time.sleep(then_ms / 1000)
    server.kill()
    for thread in threads:
        thread.join(PATIENCE_S)
    failures = [str(writer.failure) for writer in writers if writer.failure]
    assert came and not failures, f"seed {seed}: {failures or 'the load stood still'}"
    return [writer.journal for writer in writers]


def _shrink_policy(server: ForkedServer) -> None:
    client = ApiClient(server.base_url, server.key)
    client.expect(200, "PUT", "/v1/policy", POLICY)
    client.close()


def _kill_after(server: ForkedServer, after_ms: float) -> None:
    time.sleep(after_ms / 1000)
    server.kill()


def _outlive(client: ApiClient) -> None:
    """The leases of whoever was killed: a drain does not wait, and what finds one taken would end as a dead letter."""
    client.expect(200, "POST", "/__test/clock", {"advance_s": LEASE_S})


def _drain(client: ApiClient) -> None:
    """Everything that waits, what a schedule would find included."""
    for _ in range(2):
        left = drain(client)
        assert left["done"] and left["changes"] == 0, left
        assert all(sum(counts.values()) == 0 for counts in left["queues"].values()), left
        client.expect(200, "POST", "/__test/run", {"worker": "sweep"})
