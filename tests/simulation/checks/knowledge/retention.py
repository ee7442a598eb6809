"""Archived events whose time was over."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from neve.domain.times import parse
from neve.ports.search import Owner
from neve.store import rows
from neve.store.keys import DOCUMENT, SessionKeys, tenant_row
from neve.store.tenants.tenant_rows import read_tenant
from tests.simulation.checks.replay import Found, of_kind, removed_of, rows_of, text_of_row, transactions
from tests.simulation.machine.process import START

if TYPE_CHECKING:
    from tests.simulation.run import Run

DAY_S = 60.0
"""Of a policy that says when the time of an archived event is over: a run lasts hours."""
SKEW_S = 300.0
"""How far a worker's clock may be apart, and that of whoever appended."""


def only_what_is_old_and_archived_is_removed(run: Run) -> Found:
    """With the transaction that says so in the session's epoch, behind which its summary stands."""
    for together in transactions(run):
        gone = [one.old for one in together if one.new is None and one.old is not None and one.old["type"] == "event"]
        epochs = [rows.read_epoch(one.new) for one in together if one.new is not None and one.new["type"] == "epoch"]
        if not gone or not epochs:
            continue  # an erasure takes rows away without a word
        covers = (epochs[0].covers_from or 0, epochs[0].removed_to)
        days = read_tenant(run.cloud.table.rows[tenant_row(gone[0]["tenant_id"])]).policy.retention_days or 0
        over = START + timedelta(seconds=together[0].at_s + 2 * SKEW_S - days * DAY_S)
        for item in gone:
            if not covers[0] <= item["seq"] <= covers[1] or parse(item["created_at"]) > over:
                yield f"{item['pk']}: {item['seq']} of {item['created_at']}, at {together[0].at_s:.0f}, {covers}"


def nothing_removed_is_left(run: Run) -> Found:
    """When calm: no passage holds the words of a removed event, not even beside those of another one, and no artifact
    what a tool had said."""
    for keys in run.history.sessions():
        removed = removed_of(run, keys)
        labels = {text.split()[2] for text in _texts(run, keys, removed) if len(text.split()) > 2}
        for where, text in _searched(run, keys) if labels else ():
            said = {word for word in text.split() if word in labels}
            if said:
                yield f"{where} still says {sorted(said)}"


def _texts(run: Run, keys: SessionKeys, seqs: set[int]) -> Iterator[str]:
    for _, new in of_kind(run, "event"):
        if new["pk"] == keys.log and new["seq"] in seqs and not new.get("erased"):
            yield text_of_row(new)


def _searched(run: Run, keys: SessionKeys) -> Iterator[tuple[str, str]]:
    for place, passage in run.cloud.search.stored.get(Owner(keys.tenant, keys.user), {}).items():
        if passage.session_id == keys.session and passage.item_id.startswith("evt:"):
            yield f"passage {place}", " ".join([passage.text, *passage.rest, *(one.text for one in passage.neighbours)])
    for item in rows_of(run, keys.partition, DOCUMENT):
        if item.get("session_id") == keys.session and item["path"].startswith("/artifacts/"):
            yield item["sk"], str(item)


INVARIANTS = (only_what_is_old_and_archived_is_removed, nothing_removed_is_left)
