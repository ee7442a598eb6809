"""A key whose commit was applied, and answered as if it had lost (ADR 4), is the caller's: nobody else has its text."""

from __future__ import annotations

import pytest

from neve.store.keys import tenant_row
from neve.store.tenants.tenant_rows import existing
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.tell.tenants.keys import create_key
from tests.unit.world import World


@pytest.fixture
def world(new_world: World) -> World:
    return new_world


def live(world: World) -> list[str]:
    return [key.key_id for key in existing(world.table.get(tenant_row("acme"))).live_keys]


def test_the_first_key_of_a_tenant_is_told_although_an_answer_is_lost(world: World) -> None:
    world.table.lose_response = True
    made = create_tenant(world, "acme")
    assert live(world) == [made.key_id]


def test_so_is_a_second_one(world: World) -> None:
    first = create_tenant(world, "acme")
    world.table.lose_response = True
    second = create_key(world.scope, ["chat"])
    assert live(world) == [first.key_id, second.key_id]
