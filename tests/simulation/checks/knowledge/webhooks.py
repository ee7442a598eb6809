"""Outgoing events: the feed, and what receivers of webhooks have taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from neve.domain.outgoing.event import OutgoingEvent
from neve.ports.table import key_of
from neve.store.keys import Keys, feed_number
from neve.store.outgoing import read_feed_row
from neve.store.stream_records import Change
from neve.usecases.work.outgoing.derive_events import derive_event
from tests.simulation.checks.replay import Found, rows_of
from tests.simulation.machine.cloud import is_streamed
from tests.simulation.machine.receiving import HANGS, REFUSES

if TYPE_CHECKING:
    from tests.simulation.run import Run

LONG_AGO = "2026-03-10T09:30:00.000Z"


def every_change_is_in_the_feed(run: Run) -> Found:
    """When calm: what a change of a row tells is in the feed of its tenant, once or more, unless the outbox gave up a
    batch; and nothing else is."""
    for tenant in _tenants(run):
        told = {event.id for event in _feed(run, tenant)}
        changes = (Change(str(row.seq), row.old, row.new) for row in run.cloud.table.log if is_streamed(row))
        derived = (one for change in changes if (one := derive_event(change, LONG_AGO)) is not None)
        due = {event.id for keys, event in derived if keys.tenant == tenant}
        if (missing := sorted(due - told)) and not run.cloud.sometimes["stream gave up"]:
            yield f"{tenant}: {len(missing)} events are not in the feed: {missing[:3]}"
        if others := sorted(told - due):
            yield f"{tenant}: the feed has {others[:3]}, of which no row tells"


def a_feed_has_no_gap(run: Run) -> Found:
    """The numbers of its rows follow one another, so that no reader is ahead of a writer; and each was written when the
    one before it was there."""
    for tenant in _tenants(run):
        rows = rows_of(run, Keys(tenant).feed, "")
        numbers = [feed_number(key_of(item)) for item in rows]
        if numbers and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            yield f"{tenant}: {numbers}"
        written = [row.key.sk for row in run.cloud.table.log if row.key.pk == Keys(tenant).feed and row.old is None]
        if written != sorted(written):
            yield f"{tenant}: written in the order {written}"


def each_event_arrives_in_the_order_of_its_user(run: Run) -> Found:
    """When calm: each receiver that has not left has taken each event, once or more; and those of one user came first
    in the order of the feed."""
    for tenant in _tenants(run):
        feed = list(_feed(run, tenant))
        for url in (REFUSES, HANGS):
            taken = [event for event in run.cloud.receivers.taken.get(url, []) if event["tenant"] == tenant]
            for user in {event.user_id for event in feed}:
                due = list(dict.fromkeys(event.id for event in feed if event.user_id == user))
                came = list(dict.fromkeys(event["id"] for event in taken if event.get("user_id") == user))
                if came != due:
                    yield f"{tenant}/{user} at {url}: {came} came, {due} were due"


def nothing_waits_for_a_webhook(run: Run) -> Found:
    """When calm."""
    waiting = [key for key, item in run.cloud.table.rows.items() if item["type"] == "waiting_event"]
    yield from (f"{key.pk} {key.sk}" for key in waiting)


def _tenants(run: Run) -> tuple[str, ...]:
    return run.workload.tenants if run.workload.webhooks else ()


def _feed(run: Run, tenant: str) -> Iterator[OutgoingEvent]:
    for item in rows_of(run, Keys(tenant).feed, ""):
        yield from read_feed_row(item)


INVARIANTS = (
    every_change_is_in_the_feed,
    a_feed_has_no_gap,
    each_event_arrives_in_the_order_of_its_user,
    nothing_waits_for_a_webhook,
)
