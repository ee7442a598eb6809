"""The documents that stand in every pack of a user (docs/rules/pack.md#pins): first their pins, which say what fits,
then the texts of those that do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from neve.domain.documents.pins import Pin
from neve.domain.pack.pinned import Chosen, choose_pins
from neve.domain.pack.render import PackLayers, render
from neve.domain.pack.room import Shown, Size, answer_bytes, row_bytes, with_room
from neve.domain.records.packs import PackEntry
from neve.domain.records.users import UserHead
from neve.domain.validity import holds_at
from neve.ports.runtime import Task
from neve.ports.table import Item, Key
from neve.scope import UserScope
from neve.store.documents import read_document
from neve.store.keys import UserKeys
from neve.store.pins import pins_of
from neve.usecases.core.pack.served_pack import EXCERPT

DOCUMENT = "document"
"""The kind of an entry whose document is shown whole."""


@dataclass(frozen=True, slots=True)
class PinnedTexts:
    """The documents that a pack shows, in its order."""

    always: tuple[tuple[Pin, str], ...] = ()
    profile: tuple[tuple[Pin, str], ...] = ()
    people: tuple[Pin, ...] = ()
    left_out: tuple[PackEntry, ...] = ()

    @property
    def rendered(self) -> PackLayers:
        """Give the two layers, without the other ones."""
        return PackLayers(
            always=[text for _, text in self.always],
            profile=[(pin.title, text) for pin, text in self.profile],
            people=[pin.line for pin in self.people],
        )

    @property
    def whole(self) -> tuple[tuple[Pin, str], ...]:
        return self.always + self.profile

    @property
    def shown(self) -> list[str]:
        """Give all that is shown of their texts."""
        return [*(text for _, text in self.whole), *(pin.excerpt or "" for pin in self.people)]

    def with_room(self) -> PinnedTexts:
        """Leave out the documents that an answer or the row of a version has no room for."""
        items = [Shown(f"{pin.title}\n{text}", entry_of(pin)) for pin, text in self.whole]
        items += [Shown(pin.line, entry_of(pin)) for pin in self.people]
        kept = {items[at].entry.id for at in with_room(items)}
        if len(kept) == len(items):
            return self
        return PinnedTexts(
            always=tuple(one for one in self.always if one[0].document_id in kept),
            profile=tuple(one for one in self.profile if one[0].document_id in kept),
            people=tuple(pin for pin in self.people if pin.document_id in kept),
            left_out=(*self.left_out, *(one.entry for one in items if one.entry.id not in kept)),
        )

    @property
    def size(self) -> Size:
        entries = [entry for layer in self.layers().values() for entry in layer]
        return Size(answer_bytes(render(self.rendered)), row_bytes(entries))

    def layers(self) -> dict[str, tuple[PackEntry, ...]]:
        return {
            "always": tuple(entry_of(pin) for pin, _ in self.always),
            "profile": tuple(entry_of(pin) for pin in (*(pin for pin, _ in self.profile), *self.people)),
        }


def entry_of(pin: Pin) -> PackEntry:
    kind = EXCERPT if pin.cut else DOCUMENT
    return PackEntry(pin.document_id, pin.rev, pin.fingerprint, pin.tokens, kind, pin.path)


def start_pins(scope: UserScope, head: UserHead) -> Task[list[Pin]] | None:
    """Start reading the user's pins; None for a user without any: no query."""
    if not head.pinned or head.state != "active":
        return None
    return scope.ports.tasks.start(lambda: pins_of(scope.ports.table, scope.keys))


def chosen_of(scope: UserScope, pins: Task[list[Pin]] | None, at: str) -> Chosen:
    """Choose what fits of the pins, of those that hold at a time. Raises StoreUnavailable."""
    if pins is None:
        return Chosen()
    return choose_pins(
        [pin for pin in pins.result() if holds_at(pin, at)], scope.policy.always_layer, scope.policy.profile_layer
    )


def rows_of(keys: UserKeys, chosen: Chosen) -> list[Key]:
    """List the rows with the texts that are shown whole: of the very revisions that the pins name."""
    return [keys.document_rev(pin.document_id, pin.rev) for pin in chosen.whole]


def texts_of(scope: UserScope, chosen: Chosen, found: Mapping[Key, Item]) -> PinnedTexts:
    """Give the texts of what was chosen. ``found``: the ``rows_of``. A document that was deleted since its pin was read
    is no part of it."""

    def texts(pins: Sequence[Pin]) -> tuple[tuple[Pin, str], ...]:
        places = [(pin, scope.keys.document_rev(pin.document_id, pin.rev)) for pin in pins]
        return tuple((pin, read_document(found[key]).text) for pin, key in places if key in found)

    left_out = tuple(entry_of(pin) for pin in chosen.left_out)
    return PinnedTexts(texts(chosen.always), texts(chosen.profile), chosen.people, left_out).with_room()
