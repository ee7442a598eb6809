"""``python -m evals.soak``: eight clients for some minutes on a service whose stores fail and restart; then everything
that was acknowledged must be there once, and all stores must agree. Writes ``evals/results/soak.json``.

The fixture embedder and no real one: what is tried out here is what happens between the stores, on which the two cores
of a small machine are better spent; its vectors are searched by OpenSearch like any other's."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from evals.bench import machine
from evals.soak import backlog
from evals.soak.backlog import bring_in
from evals.soak.client import Client
from evals.soak.director import Director, Patient
from evals.soak.in_stores import StoreChecks
from evals.soak.journal import Account, Journal
from evals.soak.over_http import HttpChecks, repeat_unanswered
from evals.soak.report import lines, summary
from evals.soak.schedule import schedule
from evals.soak.sending import Sender
from local.api_client import ApiClient
from local.backend import Choices, EmbeddedPorts
from local.bootstrap import TENANT
from local.engines import Engines
from local.running import EmbedderName, RunningServer, StackName, start_server
from local.stack.jars import CannotFetch, fetched_jars
from local.template import read_template
from neve.domain.times import iso

RESULT = Path("evals/results/soak.json")
EMBEDDER: EmbedderName = "fixture"
CLIENTS = 8
OWN_USERS = 2
"""Of a client in each tenant; besides, all clients share one user of each tenant."""
OTHER_TENANT = "other"
POLICY = {"window": 600, "observer_transcript_cap": 150, "observer_output_cap": 120}
"""Tokens: so few that sessions are reflected and compacted within minutes, and that a tail takes several passes."""
THINK_S = 0.4
"""Mean pause of a client between two requests: what the workers of a small machine keep up with."""
JOIN_S = 240.0
"""A client that repeats a request until its patience is over takes so long to stop."""
PENDING_FOR_S = 660.0
"""Beyond the ten minutes after which the sweep takes up an embedding that nobody works on."""


def main() -> int:
    """Exit code 1 for any inconsistency, and where the servers cannot run."""
    given = _arguments()
    if given.stack == "full":
        try:
            fetched_jars()
        except CannotFetch as reason:
            print(f"The servers cannot run here: {reason}", file=sys.stderr)
            return 1
    with tempfile.TemporaryDirectory(prefix="neve-soak-") as temporary:
        folder = given.data or Path(temporary)
        result = _soak(folder / "data", given.stack, given.minutes, given.seed)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print("\n".join(lines(result)))
    return 0 if result["verdict"] == "consistent" else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=15.0, help="of load (15); faults and restarts follow it")
    parser.add_argument("--stack", choices=("full", "embedded"), default="full", help="embedded: without restarts")
    parser.add_argument("--seed", type=int, default=4, help="of the clients' scripts and the order of the faults (4)")
    parser.add_argument("--data", type=Path, help="a new folder to keep the data in; removed at the end without it")
    parser.add_argument("--out", type=Path, default=RESULT, help=f"default: {RESULT}")
    return parser.parse_args()


def _soak(data: Path, stack: StackName, minutes: float, seed: int) -> dict[str, Any]:
    print(f"Starting the service on {stack} …", flush=True)
    server = start_server(data, embedder=EMBEDDER, test_controls=True, stack=stack)
    try:
        with closing(Patient(server.base_url)) as controls:
            result, journals = _on(server, Director(controls, server.pid), stack, minutes, seed)
    except BaseException:
        server.kill()
        raise
    server.stop()
    stores = _check_stores(data, stack, journals)
    findings = result.pop("findings") + stores.findings
    return {
        "at": iso(datetime.now(UTC)),
        "verdict": "inconsistent" if findings else "consistent",
        "machine": machine.describe(),
        "settings": {
            "stack": stack,
            "minutes": minutes,
            "seed": seed,
            "clients": CLIENTS,
            "embedder": EMBEDDER,
            "policy": POLICY,
        },
        **result,
        "in_stores": dict(stores.counts),
        "findings": findings,
    }


def _on(
    server: RunningServer, director: Director, stack: StackName, minutes: float, seed: int
) -> tuple[dict[str, Any], list[Journal]]:
    """The load and what must be true over HTTP afterwards."""
    keys = _tenants(server, director)
    clients, stop = _start_clients(server, keys, director, seed)
    with closing(_sender(server, keys, director, f"{seed}-backlog")) as sender:
        brought_in = bring_in(sender)
    director.run(schedule(minutes, seed, restarts=stack == "full"), minutes * 60)
    stop.set()
    for client in clients:
        client.thread.join(JOIN_S)
    journals = [*(journal for client in clients for journal in client.journals), *brought_in]
    findings = [f"{client.thread.name} ended early: {client.failure!r}" for client in clients if client.failure]
    findings += [f"{client.thread.name} does not stop" for client in clients if client.thread.is_alive()]
    findings += [finding for journal in journals for finding in journal.findings]
    with closing(_sender(server, keys, director, seed)) as sender:
        repeated = repeat_unanswered(sender, journals)
    checks, drained_s = _settle_and_check(server, keys, director, journals, seed)
    result = {
        "schedule": director.done,
        "load": summary(list(chain.from_iterable(client.sender.attempts for client in clients))),
        "service": [size._asdict() for size in director.sizes],
        "drained_s": drained_s,
        "repeated_afterwards": repeated,
        "over_http": dict(checks.counts),
        "findings": findings + checks.findings,
    }
    return result, journals


def _tenants(server: RunningServer, director: Director) -> dict[str, str]:
    """The API keys of the tenants; those of the clients have our policy then."""
    other = director.client.expect(200, "POST", "/__test/tenants", {"tenant_id": OTHER_TENANT})["api_key"]
    keys = {TENANT: server.key, OTHER_TENANT: str(other)}
    for key in keys.values():
        with closing(ApiClient(server.base_url, key)) as client:
            client.expect(200, "PUT", "/v1/policy", POLICY)
    late = director.client.expect(200, "POST", "/__test/tenants", {"tenant_id": backlog.TENANT})["api_key"]
    return keys | {backlog.TENANT: str(late)}


def _start_clients(
    server: RunningServer, keys: Mapping[str, str], director: Director, seed: int
) -> tuple[list[Client], threading.Event]:
    stop = threading.Event()
    tenants = [TENANT, OTHER_TENANT]
    shared = [Account(tenant, "everybody") for tenant in tenants]
    clients = []
    for number in range(CLIENTS):
        own = [Account(tenant, f"u{number}-{n}") for tenant in tenants for n in range(OWN_USERS)]
        sender = _sender(server, keys, director, f"{seed}-{number}")
        clients.append(Client(f"c{number}", sender, [*own, *shared], seed, THINK_S, stop))
    for client in clients:
        client.thread.start()
    return clients, stop


def _sender(server: RunningServer, keys: Mapping[str, str], director: Director, seed: int | str) -> Sender:
    return Sender(server.base_url, keys, lambda: director.window, random.Random(f"{seed}-pauses"))


def _settle_and_check(
    server: RunningServer, keys: Mapping[str, str], director: Director, journals: Sequence[Journal], seed: int
) -> tuple[HttpChecks, float]:
    """Also how many seconds the drains took."""
    checks = HttpChecks({tenant: ApiClient(server.base_url, key) for tenant, key in keys.items()}, journals)
    began = time.monotonic()
    _drain(director, checks)
    checks.ask_for_the_rest()
    _drain(director, checks)
    director.advance(PENDING_FOR_S)
    director.sweep()
    _drain(director, checks)
    drained_s = round(time.monotonic() - began, 1)
    checks.run(seed)
    director.measure(director.sizes[-1].at_s + time.monotonic() - began)
    for client in checks.clients.values():
        client.close()
    return checks, drained_s


def _drain(director: Director, checks: HttpChecks) -> None:
    left = director.drain()
    empty = left["done"] and left["changes"] == 0 and all(sum(queue.values()) == 0 for queue in left["queues"].values())
    if not empty:
        checks.findings.append(f"not everything was worked off: {left}")


def _check_stores(data: Path, stack: StackName, journals: Sequence[Journal]) -> StoreChecks:
    jobs: dict[str, set[str]] = {}
    for journal in journals:
        jobs.setdefault(journal.account.tenant, set()).update(journal.jobs)
    engines = _open(data, stack)
    try:
        checks = StoreChecks(engines, jobs)
        checks.run(sorted({journal.account for journal in journals if journal.sessions or journal.memories}))
        return checks
    finally:
        engines.close()


def _open(data: Path, stack: StackName) -> Engines:
    """The stores of a service that has ended; nobody works on them."""
    if stack == "embedded":
        return EmbeddedPorts(data, read_template(), "http://127.0.0.1", Choices(EMBEDDER))
    from local.aws.full_stack import FullStack

    return FullStack(data, read_template(), Choices(EMBEDDER), delays=False)


if __name__ == "__main__":
    sys.exit(main())
