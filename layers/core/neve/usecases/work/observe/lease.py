"""One pass per session at a time: a lease with a fencing token, kept on the marker row.

Whoever takes the lease raises the token by one. A commit names the token it was given, so a worker that slept through
the end of its lease finds another token, or a lease that is over, and writes nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from neve.domain.errors import not_found
from neve.domain.observe.time_limits import ANSWERS_LEASE_S, LEASE_S
from neve.domain.records.markers import SessionMarker
from neve.domain.times import iso, parse
from neve.observing import SecondsLeft
from neve.scope import SessionScope
from neve.store import rows
from neve.store.transact import transact


class LeaseHeld(Exception):
    """Another pass of this session is under way, or its worker died less than a lease ago. No failure: the message is
    postponed (``neve.worker``) until the lease has been given back or has run out. ``place``: how far the session has
    come."""

    def __init__(self, session: str, place: str) -> None:
        super().__init__(session)
        self.place = place


class LeaseLost(Exception):
    """The lease ended or was taken over while the model answered: nothing may be written any more."""


def pass_progress(marker: SessionMarker) -> str:
    """Name how far the passes of a session have come: the name differs after each pass that got somewhere."""
    steps = [marker.observed_seq, marker.pass_limit or 0, len(marker.refused), marker.empty_offers]
    steps += [marker.unusable[1]] if marker.unusable else []
    return ".".join(map(str, steps)) if any(steps[1:]) else str(steps[0])


def take_lease(scope: SessionScope) -> SessionMarker:
    """Take the lease, and return the marker with it. Raises LeaseHeld, and session_not_found."""
    ports, keys = scope.ports, scope.keys

    def attempt() -> SessionMarker:
        item = ports.table.get(keys.marker)
        if item is None:
            raise not_found("session", scope.session)
        marker, now = rows.read_marker(item), ports.clock.now()
        if marker.lease_until and marker.lease_until > iso(now):
            raise LeaseHeld(scope.session, pass_progress(marker))
        until = iso(now + timedelta(seconds=lease_s(ports.observer.longest_s)))
        leased = replace(marker, lease_token=marker.lease_token + 1, lease_until=until)
        ports.table.write([rows.put_marker(keys, leased)])
        return replace(leased, version=marker.version + 1)

    return transact(ports, attempt)


def lease_s(longest_s: float) -> float:
    """Return the seconds that a lease lasts. ``longest_s``: of one answer of the observer."""
    return LEASE_S if longest_s < LEASE_S / 2 else ANSWERS_LEASE_S


def within_lease(scope: SessionScope, leased: SessionMarker, seconds_left: SecondsLeft) -> SecondsLeft:
    """Return the time left for passes: no answer is begun that the lease, which began with ``leased``, would not
    outlast."""
    ends = parse(leased.lease_until or "")

    def left() -> float:
        return min(seconds_left(), (ends - scope.ports.clock.now()).total_seconds())

    return left


def check_lease(marker: SessionMarker, token: int, now: datetime) -> None:
    """Raise LeaseLost unless ``marker``, as it is stored now, still carries our lease."""
    if marker.lease_token != token or marker.lease_until is None or marker.lease_until <= iso(now):
        raise LeaseLost(marker.session_id)


def release_lease(scope: SessionScope, token: int) -> None:
    """Give the lease back, unless it is no longer ours."""

    def attempt() -> None:
        item = scope.ports.table.get(scope.keys.marker)
        marker = rows.read_marker(item) if item else None
        if marker and marker.lease_token == token and marker.lease_until is not None:
            scope.ports.table.write([rows.put_marker(scope.keys, replace(marker, lease_until=None))])

    transact(scope.ports, attempt)
