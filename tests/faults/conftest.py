"""The functions of a tenant on a world whose stores are swapped for real adapters that talk to a failing server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from functions.compact.app import router as compact_router
from functions.observe.app import router as observe_router
from functions.pack.app import router as pack_router
from functions.recall.app import router as recall_router
from functions.records.app import router as records_router
from neve import wiring
from neve.adapters.aws.clients import aws_client
from neve.adapters.dynamodb.table import DynamoDbTable
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from tests.contract.engines.dynamodb_engines import anybody, create_local_table, local_client
from tests.faults.calls import Caller
from tests.unit.api_world import Api
from tests.unit.dynamodb_proxy import DynamoDbProxy, dynamodb_proxy
from tests.unit.recall_world import RecallWorld


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long adapters and the SDK would have slept between attempts; the attempts are those of production."""
    slept: list[float] = []
    unhurried = SimpleNamespace(sleep=slept.append)
    monkeypatch.setattr("neve.adapters.dynamodb.errors.time", unhurried)
    monkeypatch.setattr("botocore.endpoint.time", unhurried)
    return slept


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecallWorld]:
    """On embedded engines until a test puts an adapter in the place of one."""
    before = list(wiring._installed)
    with closing(RecallWorld.make(tmp_path)) as made:
        made.rows.write([put_tenant(TenantRow(made.tenant.id, "2026-03-10T09:30:00.000Z"))])
        wiring.install(made)
        yield made
    wiring._installed[:] = before


@pytest.fixture
def caller(world: RecallWorld) -> Caller:
    """Calls the functions as API Gateway does, about the user ann."""
    routers = (compact_router, observe_router, pack_router, recall_router, records_router)
    return Caller([Api(router, tenant=world.tenant.id) for router in routers])


@pytest.fixture
def dynamodb(world: RecallWorld, tmp_path: Path) -> Iterator[DynamoDbProxy]:
    """The world's table is DynamoDB Local behind a proxy that answers as a test says."""
    url, name = create_local_table(tmp_path).split()
    direct = DynamoDbTable(local_client(url), name)
    direct.write([put_tenant(TenantRow(world.tenant.id, "2026-03-10T09:30:00.000Z"))])
    with dynamodb_proxy(url) as proxy:
        client = aws_client("dynamodb", endpoint_url=proxy.url, session=anybody())
        with closing(client):
            world.table = DynamoDbTable(client, name)  # type: ignore[assignment]
            yield proxy
