"""Collect what was stated since the pack was frozen (docs/rules/compile.md#updates): what other conversations say, new
notes, manual rows, facts and 🔴 lines, changes of those that the pack holds, and the documents of the pack that are not
what they were."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from neve.domain.compile.updates import SHORT_TOKENS, Update, gone, outdated
from neve.domain.memories.marks import OF_A_TOOL, text_with_marks
from neve.domain.memories.text import fingerprint
from neve.domain.memories.visibility import active, visible
from neve.domain.pack.dated import with_its_day, without_day
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.memories import Kind, Memory, Scope, Status
from neve.domain.records.packs import PackEntry, PackManifest
from neve.domain.records.users import UserHead
from neve.domain.tokens import estimate
from neve.ports.runtime import Task
from neve.ports.table import Item, Key, Page
from neve.scope import SessionScope
from neve.store import rows
from neve.store.keys import SessionKeys
from neve.usecases.ask.compile.document_updates import DocumentUpdates
from neve.usecases.ask.compile.new_statements import NewStatements
from neve.usecases.ask.compile.said_updates import SaidSince, heads_of, taken_back, told_elsewhere
from neve.usecases.ask.compile.still_said import distinct, still_said
from neve.usecases.ask.pack.read_pack import PackView
from neve.usecases.core.pack.pinned_documents import start_pins
from neve.usecases.core.pack.served_pack import Uttered
from neve.usecases.core.pack.what_holds import what_holds_of

STATED = (Kind.FACT, Kind.NOTE, Kind.MANUAL)
"""A person's own words. What reflections write comes with the next pack."""
OBSERVED = (Kind.OBSERVATION, Kind.REFLECTION)
"""Told only where a person has changed or deleted one: what a reflection or the night made of it is no news."""
NEWEST = 50
"""Memories behind the pack that are looked at (*chosen*): each is read and paid for in every prompt."""
JUST_BEFORE = timedelta(seconds=5)
"""A statement made so shortly before a pack was built may have been missing in the index that it was read from, which
follows the rows, or have been on its way: it is an update unless the pack has it (*chosen*)."""
MARKS = ("", "🔴 ", "🟡 ", "🟢 ", "✅ ")
"""The beginnings of an observation in its row, which a pack does not have."""
FROM_THE_PACK = 30
"""Statements in the pack that are compared with their rows, the first ones of each layer, and as many of its
observations and reflections (*chosen*, for the same reason)."""


def updates_since(
    scope: SessionScope,
    head: UserHead,
    epoch: SessionEpoch,
    pack: Task[PackView],
    behind: Task[list[SessionKeys]],
) -> list[Update]:
    """Return documents first, then what was just said elsewhere and the newest memories. Two reads one after the other:
    what is new, beside the pins of a user who has any; and the rows behind what the pack holds, in one batch; one more
    where the pack that is shown is older than the one that the session's row names. Beside them what ``SaidSince``
    reads. ``behind``: other sessions that may be. Raises StoreUnavailable."""
    if epoch.pack is None or head.state != "active":
        return []
    pins, built_at = start_pins(scope, head), epoch.pack.built_at
    said = SaidSince(scope, head, behind.result(), datetime.fromisoformat(built_at) - JUST_BEFORE)
    page = _written_since(scope, built_at)
    view = pack.result()
    if view.manifest and view.manifest.built_at < built_at:  # an older version, as long as this one cannot be read
        built_at = view.manifest.built_at
        page = _written_since(scope, built_at)
    found = [rows.read_memory(item) for item in page.items]
    known = _known(view.manifest) if view.manifest else frozenset()
    shown = Uttered.of(view.manifest) if view.manifest else Uttered()
    holding = what_holds_of(found, head.gen)
    news = [one for one in found if one.id not in known and _new(scope, one, head)]
    stated_since = NewStatements.of(holding.of(news), shown)
    new = told_elsewhere(said.result(), shown, stated_since)
    if page.cursor is not None and found[-1].created_at > built_at:
        new.append(Update(f"memories before {found[-1].id}", None))
    if view.manifest is None:
        return new
    documents = DocumentUpdates.of(view, pins.result() if pins else [])
    stated, observed = _of_kinds(view.manifest, STATED), _of_kinds(view.manifest, OBSERVED)
    compared = [*stated[:FROM_THE_PACK], *observed[:FROM_THE_PACK]]
    others = [*stated[FROM_THE_PACK:], *observed[FROM_THE_PACK:]]
    wanted = [*(scope.keys.memory(entry.id) for entry in compared), *documents.rows(scope.keys)]
    wanted += heads_of(scope.keys, shown)
    read = scope.ports.table.get_many(wanted) if wanted else {}
    changed = [*documents.updates(scope.keys, read), *new, *_changed(scope, head, view, compared, read)]
    prints = {entry.fingerprint for entries in shown.seqs.values() for entry in entries.values()}
    lines = _lines(view.text or "", prints) if prints else {}
    changed += taken_back(scope.keys, shown, read, lines)
    return [*changed, Update(f"{len(others)} statements of the pack", None)] if others else changed


def forms_of_memory(memory: Memory) -> list[str]:
    """Return every line that a memory is told by, but those that name the pack's words."""
    each = [memory]
    if memory.kind is Kind.OBSERVATION:
        each = [replace(memory, text=one.text, passages=(one,)) for one in memory.passages]
    text = text_with_marks(memory)
    return [*map(with_its_day, each), f"Now: {text}", f"Still holds: {text}", f"No longer holds: {memory.text}"]


def _written_since(scope: SessionScope, built_at: str) -> Page:
    since = datetime.fromisoformat(built_at) - JUST_BEFORE
    between = scope.keys.memories_since(scope.ports.ids.ulid(since)[:10])
    return scope.ports.table.query(scope.keys.partition, between=between, reverse=True, limit=NEWEST)


def _new(scope: SessionScope, memory: Memory, head: UserHead) -> bool:
    """Say whether a memory is news for the session: an observation of the session itself is about what its history
    shows."""
    here = memory.session_id == scope.session
    if memory.kind is Kind.OBSERVATION and memory.provenance.by != "import":
        return not here and active(memory, head.gen)
    return memory.kind in STATED and (here or memory.scope is Scope.GLOBAL) and active(memory, head.gen)


def _known(manifest: PackManifest) -> frozenset[str]:
    """Return the ids of rows that the pack has, or has no room for."""
    return frozenset(entry.id for entries in (*manifest.layers.values(), manifest.left_out) for entry in entries)


def _of_kinds(manifest: PackManifest, kinds: Collection[Kind]) -> list[PackEntry]:
    return [entry for layer in manifest.layers.values() for entry in layer if entry.kind in kinds]


def _changed(
    scope: SessionScope, head: UserHead, view: PackView, compared: Sequence[PackEntry], found: Mapping[Key, Item]
) -> list[Update]:
    entries = {scope.keys.memory(entry.id): entry for entry in compared}
    memories = [(rows.read_memory(found[key]), entry) for key, entry in entries.items() if key in found]
    moved = [(memory, entry) for memory, entry in memories if memory.rev != entry.rev and _by_a_person(memory)]
    moved.sort(key=lambda one: one[0].id, reverse=True)
    seen = [(memory, entry) for memory, entry in moved if visible(memory.born_gen, None, head.gen)]
    lost = [entry for key, entry in entries.items() if key not in found and entry.kind in OBSERVED and entry.tokens]
    long = [entry.fingerprint for memory, entry in seen if estimate(memory.text) > SHORT_TOKENS]
    holding = [(memory, entry) for memory, entry in memories if _holds(memory, entry, head)]
    edited = [entry.fingerprint for memory, entry in seen if memory.fingerprint != entry.fingerprint]
    hushes = any(not entry.tokens for _, entry in holding)
    wanted = {*long, *(edited if hushes else ()), *(entry.fingerprint for entry in lost)}
    lines = _lines(view.text or "", wanted) if wanted else {}
    updates: list[Update] = []
    hushed: list[Memory] = []
    for memory, entry in seen:
        line = lines.get(entry.fingerprint)
        update, said = _update(memory, entry, head, line), still_said(memory, entry, line, holding)
        stands = active(memory, head.gen)
        if stands or not said.whole:
            updates.append(replace(update, short="") if said.whole else update)
        if update.short and (stands or not said.whole):  # else the pack's line is theirs
            hushed += said.hushed
    others = distinct(hushed, (memory.id for memory, _ in seen))
    updates += [Update(memory.id, f"Still holds: {text_with_marks(memory)}") for memory in others]
    return updates + [_deleted(entry, lines.get(entry.fingerprint)) for entry in lost]


def _holds(memory: Memory, entry: PackEntry, head: UserHead) -> bool:
    return memory.fingerprint == entry.fingerprint and active(memory, head.gen)


def _deleted(entry: PackEntry, line: str | None) -> Update:
    """Make the update of a row that was deleted; of an observation whose line was not found it only says that it was
    not looked at."""
    return Update(entry.id, gone(line), gone(line)) if line else Update(entry.id, None)


def _by_a_person(memory: Memory) -> bool:
    """Say whether a person changed the row, which is asked of observed rows only. A row that was put away was put away
    by a person."""
    if memory.kind not in OBSERVED or memory.status is Status.ARCHIVED:
        return True
    return memory.provenance.by == "human_edit" and memory.status is not Status.SUPERSEDED


def _update(memory: Memory, entry: PackEntry, head: UserHead, line: str | None) -> Update:
    """Make the update of a row that moved. ``line``: what the pack says, where it was found; the row has the new words
    only."""
    if not active(memory, head.gen):
        return Update(memory.id, f"No longer holds: {memory.text}", gone(line or memory.text))
    text = text_with_marks(memory)
    says_the_same = memory.fingerprint == entry.fingerprint
    return Update(memory.id, f"Now: {text}", "" if says_the_same else outdated(line or text))


def _lines(pack: str, wanted: set[str]) -> dict[str, str]:
    """Return the wanted statements of the pack's text, by their fingerprints."""
    lines = re.split(r"\n(?!  )", pack)
    bare = [one.removeprefix(OF_A_TOOL) for line in lines for one in dict.fromkeys((line, without_day(line)))]
    named = ((fingerprint(mark + line), line) for line in bare for mark in MARKS)
    return {name: line for name, line in named if name in wanted}
