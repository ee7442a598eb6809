"""Find the documents of a frozen pack that are not what they were, and tell what they are now
(docs/rules/compile.md#updates)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from neve.domain.compile.updates import Update, outdated
from neve.domain.documents.pins import Pin
from neve.domain.pack.render import escape, indented
from neve.domain.records.packs import PackEntry
from neve.domain.tokens import trim_to
from neve.ports.table import Item, Key
from neve.store.documents import read_document
from neve.store.keys import UserKeys
from neve.store.pins import MAX_PINS
from neve.usecases.ask.pack.read_pack import PackView

MAX_DOCUMENTS = 20
"""Documents whose texts are looked at (*chosen*): more do not fit."""
ALL_TOKENS, MIN_TOKENS = 500, 60
"""Tokens of the documents together, half of the room for updates, shared among them; and the least of one
(*chosen*)."""
CUT = "…"


@dataclass(frozen=True, slots=True)
class DocumentUpdates:
    """The differences between the pack's documents and those of now. ``moved``: pins at another rev than in the pack,
    with its entry of them; ``shown``: the ids of what it shows; ``gone``: what it shows and no pin names."""

    pack: str = ""
    moved: tuple[tuple[Pin, PackEntry | None], ...] = ()
    shown: frozenset[str] = frozenset()
    gone: tuple[PackEntry, ...] = ()

    @classmethod
    def of(cls, view: PackView, pins: list[Pin]) -> DocumentUpdates:
        """Compare the documents with those in the pack, in the pack's order. A document that had no room in the pack
        counts as none of it. One that was deleted and written anew is the same to a reader, who knows its path and not
        its id."""
        if view.manifest is None:
            return cls()
        shown = [entry for name in ("always", "profile") for entry in view.manifest.layers.get(name, ())]
        then = {entry.id: entry for entry in (*shown, *view.manifest.left_out)}
        here, paths = {pin.document_id for pin in pins}, {pin.path for pin in pins}
        before = {entry.path: entry for entry in then.values() if entry.id not in here}
        with_then = [(pin, then.get(pin.document_id) or before.get(pin.path)) for pin in pins]
        moved = [(pin, entry) for pin, entry in with_then if entry is None or not _is_rev(entry, pin)]
        whole = len(pins) < MAX_PINS
        gone = [entry for entry in shown if whole and entry.id not in here and entry.path not in paths]
        return cls(view.text or "", tuple(moved), frozenset(entry.id for entry in shown), tuple(gone))

    def rows(self, keys: UserKeys) -> list[Key]:
        """Return the keys of the rows with the texts; a person's line needs none, its text is in the pin."""
        shown = [pin for pin, _ in self.moved[:MAX_DOCUMENTS] if pin.excerpt is None and not pin.too_long]
        return [keys.document_rev(pin.document_id, pin.rev) for pin in shown]

    def updates(self, keys: UserKeys, found: Mapping[Key, Item]) -> Iterator[Update]:
        """Yield what is told of each document, as far as there is room for it. For those behind the first
        ``MAX_DOCUMENTS`` it is only told that they are not what the pack shows, where it shows them."""
        room = max(MIN_TOKENS, ALL_TOKENS // max(1, min(MAX_DOCUMENTS, len(self.moved))))
        for pin, then in self.moved[:MAX_DOCUMENTS]:
            text = pin.line if pin.excerpt is not None else _text(keys, pin, found)
            if text is not None and not self._shows(text, pin, then):
                titled = text if pin.excerpt is not None or not pin.title else f"{pin.title}: {text}"
                yield Update(pin.document_id, f"Now: {trim_to(titled, room, marker=CUT)}", self._short(pin, then))
        for pin, then in self.moved[MAX_DOCUMENTS:]:
            unmoved = then is not None and then.fingerprint == pin.fingerprint
            if not unmoved and not (pin.excerpt is not None and self._shows(pin.line, pin, then)):
                yield Update(pin.document_id, None, self._short(pin, then))
        for entry in self.gone:
            line = f"No longer holds: {entry.path}"
            yield Update(entry.id, line, line)

    def _short(self, pin: Pin, then: PackEntry | None) -> str:
        """Return the short form for a document that the pack shows, empty for another."""
        return outdated(then.path or pin.path) if then is not None and then.id in self.shown else ""

    def _shows(self, text: str, pin: Pin, then: PackEntry | None) -> bool:
        """Say whether the pack has these words although the rev is another: because it moved for something else,
        because a rebuild that changes no byte keeps the version, or because a person's text moved behind what is shown
        of it."""
        same = then is not None and (pin.cut or then.fingerprint == pin.fingerprint)
        return same and escape(indented(text) if pin.excerpt is not None else text) in self.pack


def _is_rev(entry: PackEntry, pin: Pin) -> bool:
    return (entry.id, entry.rev) == (pin.document_id, pin.rev)


def _text(keys: UserKeys, pin: Pin, found: Mapping[Key, Item]) -> str | None:
    """Return the text of the document, a line where it is too long; None where it was deleted meanwhile."""
    if pin.too_long:
        return f"too long to be shown, see {pin.path}"
    item = found.get(keys.document_rev(pin.document_id, pin.rev))
    return read_document(item).text.strip() if item else None
