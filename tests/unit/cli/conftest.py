"""``neve`` against the functions in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from neve import wiring
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from tests.unit.cli.in_process import InProcess
from tests.unit.cli.shell import Shell
from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecallWorld]:
    monkeypatch.setenv("POWERTOOLS_METRICS_DISABLED", "true")  # else they are on stdout, as in Lambda
    before, world = list(wiring._installed), RecallWorld.make(tmp_path)
    world.rows.write([put_tenant(TenantRow(world.tenant.id, "2026-03-10T09:30:00.000Z"))])
    wiring.install(world)
    yield world
    wiring._installed[:] = before
    world.close()


@pytest.fixture
def shell(world: RecallWorld, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys, InProcess.of_all())
