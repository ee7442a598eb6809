"""For how long a process goes by a policy that it has read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from neve.domain.tenants.policy import Policy
from neve.ports.table import Item, Key
from neve.store.keys import tenant_row
from neve.store.tenants.tenant_rows import TenantRow, put_tenant, read_tenant
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from tests.unit.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.make(tmp_path)


def write(world: World, window: int) -> None:
    """Another process does."""
    item = world.table.get(tenant_row("acme"))
    before = read_tenant(item) if item else TenantRow("acme", "2026-01-01T00:00:00Z")
    world.table.write([put_tenant(replace(before, policy=Policy(window=window)))])


def window(world: World) -> int:
    return tenant_scope(world, "acme").policy.window


def test_a_policy_is_read_again_after_a_minute(world: World) -> None:
    write(world, 16_000)
    assert window(world) == 16_000
    write(world, 32_000)
    world.clock.move(seconds=59)
    assert window(world) == 16_000
    world.clock.move(seconds=1)
    assert window(world) == 32_000


def test_the_minute_begins_with_the_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may be frozen between the read and what follows."""
    read = world.table.get

    def frozen(row: Key) -> Item | None:
        item: Item | None = read(row)
        world.clock.move(seconds=61)
        return item

    write(world, 16_000)
    monkeypatch.setattr(world.table, "get", frozen)
    window(world)
    monkeypatch.setattr(world.table, "get", read)
    write(world, 32_000)
    assert window(world) == 32_000
