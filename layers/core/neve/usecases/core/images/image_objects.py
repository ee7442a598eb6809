"""The objects of images: named by their content, so that several events may show one of them.

No store deletes an object on condition that no row names it. So a worker that deletes one looks again behind it, and
keeps a copy aside until then: should it die in between, the next one to look for the image finds it there. It keeps the
bytes, too: another one that ends the same removal takes every copy away, also that of a worker that only stood still.
An event says nothing any more before its images are looked for: of several that show one, the last to be blanked finds
no other (docs/rules/sessions.md#images)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set
from functools import partial

from neve.domain.images.image_types import START_BYTES, image_type
from neve.ports.objects import ObjectStore
from neve.ports.table import Item
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.keys import image_name, images_aside
from neve.store.transact import batches, item_bytes, transact
from neve.usecases.core.images.shown_images import ShownImages

HELD_BYTES = 32 * 1024 * 1024
"""Bytes of images that are being removed, until the second look (*chosen*): the workers have 512 MB."""
IMAGE_BATCH_SIZE = 50
"""Images of one ``remove_images`` of a worker that looks at its time (*chosen*): each takes six calls of the object
store one after the other, some ten seconds together; an event may show hundreds."""
UNKNOWN_TYPE = "application/octet-stream"
"""The type of what another version took for an image."""


def read_image(objects: ObjectStore, name: str) -> bytes | None:
    """Read an image; None where it is gone, also from where a worker that died had laid it aside. Raises
    StoreUnavailable."""
    body = objects.get(name)
    if body is None:
        body = next((objects.get(copy) for copy in _laid_aside(objects, {name})), None)
    return objects.get(name) if body is None else body  # it may have been put back in between


def remove_images(scope: UserScope, images: Set[str], *, sent: bool, shown: ShownImages | None = None) -> Set[str]:
    """Remove those of ``images``, objects of this user, that no event shows; give what was gone for good. ``sent``:
    also where they were uploaded to. ``shown``: of a worker that removes more than these, which reads the events once.

    An event that is written between the look and the removal gets its image back, unless that event is deleted by then;
    one that is written later finds it gone and stores it again. May be repeated at any point, and by several workers at
    once, of which any may die: it ends when nothing is there that another one has put back, or could. Raises
    StoreUnavailable."""
    objects, gone, left = scope.ports.objects, frozenset[str](), images
    shown = shown or ShownImages(scope)
    while left:
        removed, put_back = _remove_once(scope, left, shown)
        copied = {scope.keys.image_object(image_name(copy)) for copy in _laid_aside(objects, removed)}
        again = {name for name in sorted(removed) if name in copied or objects.peek(name, 1) is not None}
        gone, left = (gone | removed) - again, put_back | again
    for name in sorted(gone) if sent else ():
        objects.delete(scope.keys.sent_as(name))
    return gone


def _remove_once(scope: UserScope, images: Set[str], shown: ShownImages) -> tuple[Set[str], Set[str]]:
    """Give what was removed; and what was put back for an event that was gone by then, with what was not looked at
    yet."""
    objects, keys = scope.ports.objects, scope.keys
    others = _laid_aside(objects, images)
    for copy in others:
        name = keys.image_object(image_name(copy))
        if objects.peek(name, 1) is None:
            objects.copy(copy, name)
    going = images - shown.of(images)
    aside, bodies = dict[str, str](), dict[str, bytes]()
    held, later = 0, set[str]()
    for name in sorted(going):
        if held >= HELD_BYTES:
            later.add(name)
            continue
        body, copy = objects.get(name), keys.image_aside(name, scope.ports.ids.token())
        # without a copy of its own no worker deletes: what is gone already may come back for an event
        if body is not None and objects.copy(name, copy):
            aside[name], bodies[name] = copy, body
            held += len(body)
            objects.delete(name)
    going -= later
    again = shown.of(going)
    for name in sorted(again & aside.keys()):
        if not objects.copy(aside[name], name):
            kind = image_type(bodies[name][:START_BYTES]) or UNKNOWN_TYPE
            objects.put_new(name, bodies[name], content_type=kind)
    put_back = again - shown.of(again)
    removed = {image_name(name) for name in going - again}
    for copy in (*(copy for copy in others if image_name(copy) in removed), *aside.values()):
        objects.delete(copy)
    return going - again, put_back | later


def note_removed(scope: SessionScope, items: Iterable[Item], gone: Collection[str]) -> None:
    """Take the names of images that are gone off the rows of events that no longer show them. Raises
    StoreUnavailable."""
    named = (item for item in items if not set(rows.images_of_row(item)).isdisjoint(gone))
    for batch in batches(named, item_bytes):
        transact(scope.ports, partial(_take_off, scope, [item["seq"] for item in batch], gone))


def _take_off(scope: SessionScope, seqs: Sequence[int], gone: Collection[str]) -> None:
    """Try once. Raises Conflict."""
    found = scope.ports.table.get_many([scope.keys.event(seq) for seq in seqs])
    named = [item for item in found.values() if not set(rows.images_of_row(item)).isdisjoint(gone)]
    if named:
        scope.ports.table.write([rows.put_without_images(item, gone) for item in named])


def _laid_aside(objects: ObjectStore, images: Set[str]) -> list[str]:
    """Find the copies of those of ``images`` that a worker began to remove."""
    prefixes, names = {images_aside(image) for image in images}, {image_name(image) for image in images}
    return [copy for prefix in sorted(prefixes) for copy in objects.list(prefix) if image_name(copy) in names]
