"""Halves what the observer is asked about, when it refuses to read it or gives no usable answer about it, until the
offending event stands alone (docs/rules/observe.md#refusals)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neve.domain.records.markers import RefusedEvent, SessionMarker
from neve.domain.records.sessions import Event
from neve.domain.sessions.transcript import event_text, images_of
from neve.ports.errors import ContentRefused, UnusableAnswer
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.transact import transact
from neve.usecases.work.observe.lease import check_lease

REFUSED_IN_A_ROW = 3
"""After so many single events were refused, and none accepted, the fault is not the events'."""
ANSWERS_ALONE = 3
"""After so many answers about a single event of which nothing could be used, another is not asked for."""
IMAGE_LEFT_OUT = "[image that could not be read]"


def halved(marker: SessionMarker, events: Sequence[Event]) -> SessionMarker:
    """Return the marker after these events were refused together: the next passes hold half as many, up to their
    last."""
    return replace(marker, pass_limit=max(1, len(events) // 2), limit_to=events[-1].seq, unusable=None)


def halved_once(marker: SessionMarker, events: Sequence[Event]) -> SessionMarker:
    """Return the marker after no answer about these events came in time: as after a refusal, but not where they stand
    for a half already. An outage looks the same, and its end would find every event alone."""
    return halved(marker, events) if marker.pass_limit is None and len(events) > 1 else marker


def once_more(marker: SessionMarker, refused: RefusedEvent) -> SessionMarker | None:
    """Return the marker after an answer about an event alone could not be used: it is asked about again. None where
    ``counted`` gives None."""
    unusable = counted(marker.unusable, refused)
    limit_to = max(marker.limit_to or 0, refused.seq)
    return replace(marker, pass_limit=1, limit_to=limit_to, unusable=unusable) if unusable else None


def counted(before: tuple[int, int] | None, refused: RefusedEvent) -> tuple[int, int] | None:
    """Return the event's seq, and how many answers about it alone could not be used by now. None when that was the last
    one to be asked for, or when the event itself was refused. ``before``: the count after the answer before, if that
    was one."""
    seq, times = before or (refused.seq, 0)
    times = times + 1 if seq == refused.seq else 1
    return (refused.seq, times) if refused.unusable and times < ANSWERS_ALONE else None


def singled_out(marker: SessionMarker, refused: RefusedEvent) -> SessionMarker:
    """Return the marker after an event was refused alone while nothing has been accepted yet: the next one is asked
    about alone, too."""
    return replace(marker, pass_limit=1, limit_to=refused.seq + 1, refused=(*marker.refused, refused), unusable=None)


def given_up(marker: SessionMarker) -> SessionMarker:
    """Return the marker without a trace of refusals."""
    return replace(marker, pass_limit=None, limit_to=None, refused=(), unusable=None)


def in_doubt(marker: SessionMarker) -> bool:
    """Say whether it may be the model, and no event, that nothing of its answers could be used."""
    return any(one.unusable for one in marker.refused)


def offered(marker: SessionMarker, last: int) -> SessionMarker:
    """Return the marker whose events in doubt wait for what is said behind ``last``."""
    return replace(marker, offered_seq=max(marker.offered_seq, last))


def write_marker(scope: SessionScope, token: int, moved: SessionMarker) -> None:
    """Keep what ``moved`` says about refusals, and how far it was offered. Raises LeaseLost, UserErased."""

    def attempt() -> None:
        item = scope.ports.table.get(scope.keys.marker)
        if item is None:
            raise UserErased
        marker = rows.read_marker(item)
        check_lease(marker, token, scope.ports.clock.now())
        wanted = replace(
            marker,
            offered_seq=moved.offered_seq,
            pass_limit=moved.pass_limit,
            limit_to=moved.limit_to,
            refused=moved.refused,
            unusable=moved.unusable,
        )
        if wanted != marker:
            scope.ports.table.write([rows.put_marker(scope.keys, wanted)])

    transact(scope.ports, attempt)


def without_images(events: Sequence[Event]) -> list[Event]:
    """Replace each image of the events by a word about it."""
    return [_without_images(event) for event in events]


def _without_images(event: Event) -> Event:
    left_out = [IMAGE_LEFT_OUT for _ in images_of(event)]
    return replace(event, content="\n".join([event_text(event), *left_out]).strip()) if left_out else event


def noted(event: Event, failure: ContentRefused | UnusableAnswer) -> RefusedEvent:
    return RefusedEvent(event.seq, str(failure), unusable=isinstance(failure, UnusableAnswer))
