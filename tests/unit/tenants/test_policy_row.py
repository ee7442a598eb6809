"""The policy as its row keeps it: what is valid fits."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from functions.admin.app import router
from neve.adapters.table_rules import MAX_ITEM_BYTES, item_size
from neve.http.schemas.tenants.admin import READ_POLICY, WRITE_POLICY
from neve.store.keys import tenant_row
from neve.store.tenants.tenant_rows import TenantRow, put_tenant, read_tenant
from tests.unit.api_world import Api, Reply, installed
from tests.unit.world import World

CHANCE = random.Random(7)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.make(tmp_path)


@pytest.fixture
def api(world: World) -> Iterator[Api]:
    for _ in installed(world):
        yield Api(router)


def put(api: Api, body: dict[str, Any]) -> Reply:
    """With a key: its record holds the answer."""
    headers = {"Idempotency-Key": hashlib.sha256(json.dumps(body).encode()).hexdigest()}
    return api.call("PUT", WRITE_POLICY.path, raw=json.dumps(body, ensure_ascii=False), headers=headers)


def signs(count: int, first: int = 0x20000, last: int = 0x2A6DF) -> str:
    return "".join(chr(CHANCE.randint(first, last)) for _ in range(count))


def test_the_largest_policy_fits_its_row(api: Api, world: World) -> None:
    """Its names are of signs with four bytes, its prefix of those with the most bytes for a token."""
    price = {"input": 99_999.99, "cache_read": 99_999.99, "cache_write": 99_999.99, "output": 99_999.99}
    price |= {"cache_ttl_s": 86_400, "long_from": 10_000_000, "long_input": 99.99, "long_output": 99.99}
    sent: dict[str, Any] = {
        "prices": {signs(200): price | {"as_of": signs(40)} for _ in range(100)},
        "cacheable_tokens": {signs(200): 100_000 for _ in range(50)},
        "static_prefix": {"version": "1.0.0", "identity": signs(25_570, 0xAC00, 0xD7A3)},
        "chat_model": signs(100),
    }
    written = put(api, sent)
    assert written.status == 200, written.text
    assert api.call("GET", READ_POLICY.path).json["policy"] == sent
    row = world.table.get(tenant_row("acme"))
    assert row is not None and 0.5 * MAX_ITEM_BYTES < item_size(row) < MAX_ITEM_BYTES


def test_a_policy_that_was_kept_with_escapes_is_read(world: World) -> None:
    put_now = put_tenant(TenantRow("acme", "2026-01-01T00:00:00Z"))
    name = "mödel-\U0001f33f"
    before = json.dumps({"cacheable_tokens": {name: 1}}, ensure_ascii=True, sort_keys=True)
    row = read_tenant(put_now.item | {"policy": before, "version": 1})
    assert row.policy.cacheable_tokens == {name: 1}


@pytest.mark.parametrize("blank", [" ", "\n", "\u3000"])
def test_a_prefix_of_blanks_has_tokens_too(api: Api, blank: str) -> None:
    """It is left out of a prompt, and kept in the row."""
    refused = put(api, {"static_prefix": {"version": "1.0.0", "identity": blank * 90_000, "boundaries": "Be kind."}})
    assert (refused.status, refused.json["code"]) == (422, "invalid_policy")
    assert refused.fields == ["static_prefix"]
    assert put(api, {"static_prefix": {"version": "1.0.0", "identity": blank * 9, "boundaries": "."}}).status == 200
