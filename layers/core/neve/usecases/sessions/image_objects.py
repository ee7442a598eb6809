"""The objects of images: named by their content, so that several events may show one of them.

No store deletes an object on condition that no row names it. So whoever deletes one looks again behind it, and keeps a
copy aside until then: should it die in between, the next one to look for the image finds it there
(docs/rules/sessions.md#images)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set

from neve.domain.records import Event
from neve.domain.sessions.transcript import images_of
from neve.ports import ObjectStore, key_of
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import EVENT, SESSION, image_name, images_aside, session_of
from neve.store.partitions import all_rows

Leaving = Callable[[str, int], bool]


def read_image(objects: ObjectStore, name: str) -> bytes | None:
    """None where it is gone, also from where somebody who died had laid it aside. Raises StoreUnavailable."""
    body = objects.get(name)
    if body is None:
        body = next((objects.get(copy) for copy in _laid_aside(objects, {name})), None)
    return body


def _nobody(_session: str, _seq: int) -> bool:
    return False


def shown_images(scope: UserScope, images: Set[str], leaving: Leaving = _nobody) -> set[str]:
    """Those of ``images`` that an event of any of the user's sessions shows, but none that is ``leaving``, by session
    and seq. Reads all of them, as far as it has to. Raises StoreUnavailable."""
    found = set[str]()
    for session, event in user_events(scope) if images else ():
        if not leaving(session, event.seq):
            found |= {block["object"] for block in images_of(event) if block.get("object") in images}
        if len(found) == len(images):
            break
    return found


def user_events(scope: UserScope) -> Iterator[tuple[str, Event]]:
    """The events of all sessions, each with its session. Raises StoreUnavailable."""
    table, keys = scope.ports.table, scope.keys
    sessions = [session_of(key_of(row)) for row in all_rows(table, keys.partition, prefix=SESSION)]
    for session in filter(None, sessions):
        for item in all_rows(table, keys.of_session(session).log, prefix=EVENT):
            yield session, rows.read_event(item)


def remove_images(scope: UserScope, images: Set[str], leaving: Leaving = _nobody, *, sent: bool) -> Set[str]:
    """Removes those of ``images``, objects of this user, that nobody shows but events that are ``leaving``; what was
    gone for good. ``sent``: also where they were uploaded to.

    Whoever is written between the look and the removal gets it back, unless that event is deleted by then; one that is
    written later finds it gone and stores it again. May be repeated at any point. Raises StoreUnavailable."""
    if not images:
        return frozenset()
    objects, keys = scope.ports.objects, scope.keys
    left_aside = _laid_aside(objects, images)
    for copy in left_aside:
        objects.copy(copy, keys.image_object(image_name(copy)))
    going = images - shown_images(scope, images, leaving)
    aside = {name: keys.image_aside(name, scope.ports.ids.token()) for name in sorted(going)}
    for name, copy in aside.items():
        objects.copy(name, copy)
    gone, back = going, frozenset[str]()
    while gone:
        for name in sorted(gone):
            objects.delete(name)
            if sent:
                objects.delete(keys.sent_as(name))
        again = shown_images(scope, gone, leaving)
        for name in sorted(again):
            objects.copy(aside[name], name)
        gone = again - shown_images(scope, again, leaving)
        back = (back | again) - gone
    for copy in (*left_aside, *aside.values()):
        objects.delete(copy)
    return going - back


def laid_aside(scope: UserScope) -> set[str]:
    """The images of the user that somebody began to remove and has not ended. Raises StoreUnavailable."""
    keys = scope.keys
    return {keys.image_object(image_name(copy)) for copy in scope.ports.objects.list(images_aside(keys.images_prefix))}


def _laid_aside(objects: ObjectStore, images: Set[str]) -> list[str]:
    """The copies of those of ``images`` that somebody began to remove."""
    prefixes, names = {images_aside(image) for image in images}, {image_name(image) for image in images}
    return [copy for prefix in sorted(prefixes) for copy in objects.list(prefix) if image_name(copy) in names]
