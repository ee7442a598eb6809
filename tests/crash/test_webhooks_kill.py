"""``kill -9`` of the server while it sends thousands of events to a receiver that fails a third of the time: each
arrives once or more, in order per user, and none is lost; a receiver that hangs delays no other.

``NEVE_WEBHOOK_EVENTS=10000 python -m pytest tests/crash/test_webhooks_kill.py -s`` says how many, and prints what was
seen. Times are virtual: the pauses between attempts are waited for in no time."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.api_client import ApiClient
from tests.crash.test_kill_nine import servers
from tests.forked_servers import ForkedServer, ForkedServers
from tests.http.driving.controls import drain
from tests.http.driving.people import Json, new_memory_id
from tests.receiver import Receiver, receiver

EVENTS = int(os.environ.get("NEVE_WEBHOOK_EVENTS", "240"))
USERS, ROWS = 20, 200
DUE = EVENTS // USERS * USERS
SEED = 7
ROUNDS = 150
"""Of ten minutes: a day is not over by then."""

pytestmark = pytest.mark.controls
__all__ = ["servers"]


def clients(server: ForkedServer) -> Iterator[ApiClient]:
    client = ApiClient(server.base_url, server.key)
    yield client
    client.close()


def bring_in(client: ApiClient, user: str, count: int, first: int) -> None:
    """Memories of a user, each of which is an event."""
    for start in range(0, count, ROWS):
        lines = [
            f'{{"id": "{new_memory_id(first + n)}", "text": "Keeps {user} and {n}."}}'
            for n in range(start, min(start + ROWS, count))
        ]
        client.expect(200, "POST", f"/v1/users/{user}/memories/import", raw="\n".join(lines).encode())


def feed(client: ApiClient, user: str) -> list[str]:
    """The ids of the events about a user, in their order."""
    found: list[str] = []
    after: Json = {}
    while True:
        query = {"user_id": user, "types": "memory.written", "limit": 200, **after}
        page = client.expect(200, "GET", "/v1/events", query=query)
        found += [event["id"] for event in page["events"]]
        after = {"after": page["cursor"]}
        if not page["more"]:
            return list(dict.fromkeys(found))


def hook(client: ApiClient, name: str, to: Receiver) -> None:
    client.expect(201, "PUT", f"/v1/webhooks/{name}", {"url": to.url, "types": ["memory.written"]})


def test_each_event_arrives_in_order_over_a_kill_and_a_receiver_that_hangs_delays_no_other(
    tmp_path: Path, servers: ForkedServers
) -> None:
    chance = random.Random(SEED)
    users = [f"user-{n}" for n in range(USERS)]
    with (
        receiver(lambda _: chance.choice((204, 204, 500))) as failing,
        receiver(lambda _: None) as hanging,
        receiver() as healthy,
    ):
        server = servers.start(tmp_path / "data")
        for client in clients(server):
            hook(client, "failing", failing)
            hook(client, "hanging", hanging)
            hook(client, "healthy", healthy)
            for n, user in enumerate(users):
                bring_in(client, user, EVENTS // USERS, n * EVENTS)
        failing.wait_for(lambda: len(failing.taken) > min(EVENTS // 10, 200))
        server.kill()
        kills = [len(failing.taken)]
        server = servers.start(tmp_path / "data")
        for client in clients(server):
            healthy.wait_for(lambda: _count(healthy) >= DUE)
            asked_in_vain = len(hanging.asked)
            assert hanging.taken == [], "the other one had all by then"
            hanging.answers = lambda _: 204
            hanging.stopped.set()
            rounds = _rounds(client, failing, DUE // 2)
        server.kill()
        kills.append(len(failing.taken))
        server = servers.start(tmp_path / "data")
        try:
            for client in clients(server):
                client.expect(200, "POST", "/__test/clock", {"advance_s": 601 * rounds})
                rounds += _rounds(client, failing, DUE)
                expected = {user: feed(client, user) for user in users}
        finally:
            server.kill()
    assert sum(map(len, expected.values())) == DUE
    for user, ids in expected.items():
        assert failing.first_times(user) == ids, user
        assert healthy.first_times(user) == ids, user
    repeated = len(failing.taken) - len({event["id"] for event in failing.taken})
    print(
        f"\n{DUE} events of {USERS} users, killed after {kills}: {len(failing.asked)} attempts, a third of"
        f" them refused; all arrived in {rounds} rounds of ten minutes, {repeated} twice, in order per user, none lost;"
        f" all arrived elsewhere beside a receiver that hangs ({asked_in_vain} attempts)"
    )


def _count(to: Receiver) -> int:
    return len({event["id"] for event in list(to.taken)})


def _rounds(client: ApiClient, to: Receiver, count: int) -> int:
    """Of ten minutes, until so many have arrived."""
    for n in range(ROUNDS):
        drain(client)
        if _count(to) >= count:
            return n
        client.expect(200, "POST", "/__test/clock", {"advance_s": 601})
        client.expect(200, "POST", "/__test/run", {"worker": "sweep"})
    raise AssertionError(f"{_count(to)} were taken")
