"""The index of the chosen embedder's model on a search domain: filled from the table, then put behind the alias."""

from __future__ import annotations

from local.recovery.progress import Progress, in_words
from neve.adapters.opensearch.calls import Calls
from neve.adapters.opensearch.client import open_search_client
from neve.adapters.opensearch.index import ALIAS, OpenSearchIndex
from neve.adapters.opensearch.places import ALIAS_TTL_S, empty_index, left_over, switch_alias
from neve.ports.engines import Ports
from neve.usecases.work.indexing.reindex import reindex

SETTLE_S = ALIAS_TTL_S + 60
"""A process looks behind the alias again after ``ALIAS_TTL_S``; a worker's batch lasts at most 60 s (template.yaml)."""


def reindex_stage(
    ports: Ports, endpoint: str, *, drop_old: bool, settle_s: float = SETTLE_S, alias: str = ALIAS
) -> None:
    """Says what it does. ``alias``: whose index. ``drop_old``: remove every other index of the alias in the end.
    ``settle_s``: 0 where nothing else works on the domain. Raises what ``reindex`` raises."""
    client = open_search_client(endpoint)
    calls, model = Calls(client), ports.embedder.model
    name = empty_index(calls, alias, model)
    print(f"Filling {name} …", flush=True)

    def switch() -> None:
        before = switch_alias(calls, alias, name)
        print(f"{alias} is {name} now, it was {', '.join(before) or 'that before'}.", flush=True)

    def settle() -> None:
        if settle_s:
            print(f"Waiting {settle_s:.0f} s until every process has seen it …", flush=True)
            ports.clock.sleep(settle_s)

    target = OpenSearchIndex(client, name, model, wait=False)
    done = reindex(ports, target, switch, settle, Progress(), ports.multi)
    print(f"{name}: {in_words(done)}.")
    _show_old(calls, alias, drop_old)


def _show_old(calls: Calls, alias: str, drop_old: bool) -> None:
    for old in left_over(calls, alias):
        if drop_old:
            calls.delete(old)
            print(f"{old} is removed.")
        else:
            print(f"{old} is still there, with everything that is erased from now on: --drop-old removes it.")
