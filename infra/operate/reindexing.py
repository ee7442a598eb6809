"""The index of the chosen embedder's model on a stage's search domain: filled from the table, then put behind the
alias."""

from __future__ import annotations

import time

from neve.adapters.opensearch_calls import Calls
from neve.adapters.opensearch_client import open_search_client
from neve.adapters.opensearch_index import ALIAS, OpenSearchIndex
from neve.adapters.opensearch_places import SEEN_S, create_index, switch_alias
from neve.usecases.reindex import Reindexed, reindex
from neve.wiring import Ports

SETTLE_S = SEEN_S + 60
"""A process looks behind the alias again after ``SEEN_S``; a worker's batch lasts at most 60 s (template.yaml)."""


def reindex_stage(ports: Ports, endpoint: str) -> tuple[str, Reindexed]:
    """The index now behind the alias, and what went into it. What was there stays. Raises what ``reindex`` raises."""
    client = open_search_client(endpoint)
    model = ports.embedder.model
    name = create_index(Calls(client), ALIAS, model, live=False)
    print(f"Filling {name} …", flush=True)

    def switch() -> None:
        before = switch_alias(Calls(client), ALIAS, name)
        print(f"{ALIAS} is {name} now, it was {', '.join(before) or 'that before'}.", flush=True)

    def settle() -> None:
        print(f"Waiting {SETTLE_S:.0f} s until every process has seen it …", flush=True)
        time.sleep(SETTLE_S)

    target = OpenSearchIndex(client, name, model, wait=False)
    return name, reindex(ports, target, switch, settle, time.sleep)
