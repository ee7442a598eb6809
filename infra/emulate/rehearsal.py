"""``make rehearse-restore``: the way of docs/runbooks/restore.md in the emulator.

Memories are written and recalled; the table is copied, the old one and its search index are emptied; after the
deployment onto the copy and a reindex the same recalls have to answer the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from infra.deploy.cloud import Cloud
from infra.deploy.probe import ports_of
from infra.deploy.t0 import LOOK_S, WITHIN_S, expect
from infra.operate.restore import restore_table
from local.reindex.search_domain import reindex_stage
from neve.adapters.opensearch.calls import Calls
from neve.adapters.opensearch.client import open_search_client
from neve.adapters.opensearch.index import ALIAS
from neve.adapters.opensearch.places import empty_index, left_over
from neve.usecases.tell.tenants.create_tenant import create_tenant

TENANT = "acme"
USER = "/v1/users/restored"
MEMORIES = (
    "User's sister is named Mary.",
    "User moved to Lisbon in March.",
    "User is allergic to peanuts.",
    "User prefers short answers.",
)
QUESTIONS = ("what is my sibling called?", "which city do I live in?", "what must I not eat?", "how should you reply?")


class NotRestored(Exception):
    """A recall answers something else than before; the message says which."""


def rehearse(
    cloud: Cloud, stage: str, search: str, address: Callable[[], str], deploy_again: Callable[[], None]
) -> None:
    """``deploy_again``: onto what Parameter Store says. Raises NotRestored, and what T0 raises."""
    key = create_tenant(ports_of(cloud.session, stage), TENANT).key
    for text in MEMORIES:
        expect(201, address(), "POST", f"{USER}/memories", key, {"text": text})
    _wait_for_vectors(address(), key)
    before = _recalls(address(), key)
    print(f"{len(before)} recalls before, {sum(map(len, before.values()))} hits.", flush=True)
    lost = str(cloud.parameters(stage)[f"/neve/{stage}/table-name"])
    for line in restore_table(cloud.session, stage, None, lambda _: time.sleep(LOOK_S)):
        print(line, flush=True)
    print(f"{_empty(cloud, lost)} rows of {lost} are lost.", flush=True)
    deploy_again()
    _empty_index(ports_of(cloud.session, stage), search)
    without = _recalls(address(), key)
    reindex_stage(ports_of(cloud.session, stage), search, drop_old=True, settle_s=0)
    after = _recalls(address(), key)
    if without == before:
        raise NotRestored("the recalls were not of the search index: nothing is shown")
    if different := [question for question in QUESTIONS if before[question] != after[question]]:
        raise NotRestored(f"{different[0]}: {before[different[0]]} before, {after[different[0]]} now")
    print(f"{len(after)} recalls after, the same hits in the same order.", flush=True)


def _recalls(base_url: str, key: str) -> dict[str, list[str]]:
    """Give the ids of the hits of every question, in order, as a tool would find them: by meaning and by words."""
    return {
        question: [
            hit["id"]
            for hit in expect(
                200, base_url, "POST", f"{USER}/recall", key, {"query": question, "mode": "tool", "budget_ms": 10_000}
            )["hits"]
        ]
        for question in QUESTIONS
    }


def _wait_for_vectors(base_url: str, key: str) -> None:
    end = time.monotonic() + WITHIN_S
    while time.monotonic() < end:
        memories = expect(200, base_url, "GET", f"{USER}/memories", key)["memories"]
        if len(memories) == len(MEMORIES) and all(one["embedding_state"] == "ready" for one in memories):
            return
        time.sleep(LOOK_S)
    raise NotRestored(f"not embedded within {WITHIN_S:.0f} s")


def _empty(cloud: Cloud, table: str) -> int:
    """Delete every row of a table."""
    dynamodb = cloud.client("dynamodb")
    pages = dynamodb.get_paginator("scan").paginate(TableName=table, ProjectionExpression="pk, sk")
    rows = [row for page in pages for row in page["Items"]]
    for row in rows:
        dynamodb.delete_item(TableName=table, Key=row)
    return len(rows)


def _empty_index(ports: Any, search: str) -> None:
    """Take away what is behind the alias, and put an empty one there: of a lost index nothing is left."""
    calls = Calls(open_search_client(search))
    for name in [*left_over(calls, ALIAS), *calls.mappings(ALIAS)]:
        calls.delete(name)
    print(f"{empty_index(calls, ALIAS, ports.embedder.model)} is filled from the copy.", flush=True)
