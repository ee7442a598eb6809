"""One pass per session at a time: a lease with a fencing token, kept on the marker row.

Whoever takes the lease raises the token by one. A commit names the token it was given, so a worker that slept through
the end of its lease finds another token, or a lease that is over, and writes nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from neve.domain.errors import NeveError
from neve.domain.records import SessionMarker
from neve.domain.times import iso
from neve.ports import Conflict
from neve.store import rows
from neve.wiring import Ports, Tenant

LEASE_S = 70
"""The worker's timeout (60 s, template.yaml) + 10 s (engine.md §3)."""


class LeaseHeld(Exception):
    """Another pass of this session is under way, or died less than LEASE_S ago. No failure: the message is postponed
    (``neve.worker``) until the lease has been given back or has run out."""


class LeaseLost(Exception):
    """The lease ended or was taken over while the model answered: nothing may be written any more."""


def take_lease(ports: Ports, tenant: Tenant, user: str, session: str) -> SessionMarker:
    """The marker with the lease on it. Raises LeaseHeld, and session_not_found."""
    key = tenant.keys.marker(user, session)
    while True:
        item = ports.table.get(key)
        if item is None:
            raise NeveError("session_not_found", f"There is no session '{session}' here.")
        marker, now = rows.read_marker(item), ports.clock.now()
        if marker.lease_until and marker.lease_until > iso(now):
            raise LeaseHeld(session)
        until = iso(now + timedelta(seconds=LEASE_S))
        leased = replace(marker, lease_token=marker.lease_token + 1, lease_until=until)
        try:
            ports.table.write([rows.put_marker(tenant.keys, user, leased)])
        except Conflict:
            continue
        return replace(leased, version=marker.version + 1)


def check_lease(marker: SessionMarker, token: int, now: datetime) -> None:
    """Raises LeaseLost unless ``marker``, as it is stored now, still carries our lease."""
    if marker.lease_token != token or marker.lease_until is None or marker.lease_until <= iso(now):
        raise LeaseLost(marker.session_id)


def release_lease(ports: Ports, tenant: Tenant, user: str, session: str, token: int) -> None:
    """Give the lease back, unless it is no longer ours."""
    key = tenant.keys.marker(user, session)
    while item := ports.table.get(key):
        marker = rows.read_marker(item)
        if marker.lease_token != token or marker.lease_until is None:
            return
        try:
            ports.table.write([rows.put_marker(tenant.keys, user, replace(marker, lease_until=None))])
        except Conflict:
            continue
        return
