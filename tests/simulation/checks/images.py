"""Images of events: their objects, and what passes are shown of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neve.domain.sessions.transcript import images_of
from neve.ports.table import Item, Key
from neve.store import rows
from neve.store.keys import UserKeys, image_name
from tests.simulation.checks.replay import Found, before_erasure, log_of, of_kind, text_of_row
from tests.simulation.clients.history import Did, Picture

if TYPE_CHECKING:
    from tests.simulation.run import Run


def no_image_is_left_without_its_event(run: Run) -> Found:
    """When calm: an object is there for an event that shows it. An append that was refused has taken away what it
    brought, a deleted event and an erased user took theirs with them. Left may be what an append brought that nobody
    was answered about, and that is not in the log."""
    for keys in run.history.users():
        stored = _stored(run, keys.images_prefix)
        shown = {image_name(block["object"]) for block in _blocks(run, keys)}
        for name in sorted(stored - shown - _left_open(run, keys)):
            yield f"{keys.images_prefix}{name} is stored, and no event shows it"


def every_image_of_an_event_is_stored(run: Run) -> Found:
    """When calm: of an append that was answered, what its event shows is there. Not an upload that was deleted with
    another event meanwhile: both copies may be gone before the second is looked for."""
    answered = {event.text: did for did in run.history.of("append") if did.ok for event in did.given.events}
    for keys in run.history.users():
        stored = _stored(run, keys.images_prefix)
        for item in _events(run, keys):
            did = answered.get(text_of_row(item))
            if did is not None:
                lost = {image_name(block["object"]) for block in _images(item)} - stored
                lost -= _deleted_meanwhile(run, did) if lost else set()
                yield from (f"{item['pk']} {item['seq']}: {one} is not stored" for one in sorted(lost))


def what_a_deleted_event_showed_is_nowhere(run: Run) -> Found:
    """Nor where it was uploaded to, unless another event shows the same."""
    for keys in run.history.users():
        shown = {image_name(block["object"]) for block in _blocks(run, keys)}
        sent = _stored(run, keys.uploads_prefix)
        for old, new in of_kind(run, "event"):
            if new["pk"].startswith(keys.partition + "#") and new.get("erased") and old is not None:
                gone = {image_name(block["object"]) for block in _images(old)} - shown
                yield from (f"{keys.uploads_prefix}{name} is still there" for name in sorted(gone & sent))


def a_refused_append_is_not_in_the_log(run: Run) -> Found:
    """Where every try of it was. One that began before an erasure was done may be refused for that although it was
    written: its answer was lost, and what it wrote is gone. So may a repeat whose events were deleted meanwhile."""
    refused: dict[str, bool] = {}
    for did in run.history.of("append"):
        for appended in did.given.events:
            nowhere = did.outcome == "refused" and did.code != "retracted"
            nowhere = nowhere and not before_erasure(run, did.keys, did.began_s)
            refused[appended.text] = nowhere and refused.get(appended.text, True)
    for old, new in of_kind(run, "event"):
        text = text_of_row(new)
        if old is None and refused.get(text):
            yield f"{new['pk']} {new['seq']}: '{text[:80]}' was refused"


def a_pass_is_shown_the_images_of_its_events(run: Run) -> Found:
    """Their bytes, or that there are none any more: nothing of another event's."""
    sent: dict[str, set[bytes]] = {}
    for did in run.history.of("append"):
        for event in did.given.events:
            sent.setdefault(event.text, set()).update(picture.data for picture in event.pictures)
    for text, body in run.cloud.shown:
        if body not in sent[text]:
            yield f"'{text}': a pass was shown another image with it"


# --- parts ----------------------------------------------------------------------------------------


def _stored(run: Run, prefix: str) -> set[str]:
    return {image_name(name) for name in run.cloud.objects.objects if name.startswith(prefix)}


def _events(run: Run, keys: UserKeys) -> Iterator[Item]:
    for session in run.history.sessions():
        if (session.tenant, session.user) == (keys.tenant, keys.user):
            yield from log_of(run, session)


def _images(item: Item) -> list[Item]:
    return [block for block in images_of(rows.read_event(item)) if "object" in block] if item.get("blocks") else []


def _blocks(run: Run, keys: UserKeys) -> Iterator[Item]:
    for item in _events(run, keys):
        yield from _images(item)


def _deleted_meanwhile(run: Run, did: Did) -> set[str]:
    """Names of uploads that went with a deleted event while the append ran."""
    names, since = set[str](), dict[Key, float]()
    for written in run.cloud.table.log:
        going = rows.images_of_row(written.old) if written.old and rows.IMAGES_LEFT in written.old else ()
        if going and written.at_s >= did.began_s and since[written.key] <= did.ended_s:
            names.update(map(image_name, going))
        since[written.key] = written.at_s
    return {name for name in names if name.startswith("upl_")}


def _left_open(run: Run, keys: UserKeys) -> set[str]:
    """Names of the images of appends that nobody was answered about, and whose events are in no write of the log."""
    written = {text_of_row(new) for _, new in of_kind(run, "event")}
    return {
        _named(picture)
        for did in run.history.of("append")
        if _is_open(did) and not before_erasure(run, did.keys, did.began_s)
        if (did.keys.tenant, did.keys.user) == (keys.tenant, keys.user)
        for appended in did.given.events
        if appended.text not in written
        for picture in appended.pictures
    }


def _is_open(did: Did) -> bool:
    """A caller who is told 409 because others wrote all the while was answered: nothing is left of that."""
    return did.outcome == "unknown" and did.code != "conflict"


def _named(picture: Picture) -> str:
    return picture.upload_id or hashlib.sha256(picture.data).hexdigest()


INVARIANTS = (
    no_image_is_left_without_its_event,
    every_image_of_an_event_is_stored,
    what_a_deleted_event_showed_is_nowhere,
    a_refused_append_is_not_in_the_log,
    a_pass_is_shown_the_images_of_its_events,
)
