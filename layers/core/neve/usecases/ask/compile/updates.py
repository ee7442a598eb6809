"""Collect what was stated since the pack was frozen (docs/rules/compile.md#updates): what other conversations say, new
notes, manual rows, facts and 🔴 lines, changes of those that the pack holds, and the documents of the pack that are not
what they were."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from neve.domain.compile.updates import SHORT_TOKENS, Update, gone, outdated
from neve.domain.documents.pins import Pin
from neve.domain.memories.marks import OF_A_TOOL, text_with_marks
from neve.domain.memories.text import HIGHEST, fingerprint, priority_of
from neve.domain.memories.visibility import active, may_be_told, visible
from neve.domain.pack.dated import with_its_day, without_day
from neve.domain.pack.render import JUST_SAID, escape, indented
from neve.domain.pack.repeated_statements import already_stated, said_in_whole
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.memories import Kind, Memory, Priority, Scope, Status
from neve.domain.records.packs import PackEntry, PackManifest
from neve.domain.records.users import UserHead
from neve.domain.sessions.spans import holds
from neve.domain.tails.fit import cost_of
from neve.domain.tails.told import Told
from neve.domain.times import iso
from neve.domain.tokens import estimate, trim_to
from neve.domain.validity import has_ended, holds_at
from neve.ports.runtime import Task
from neve.ports.table import Item, ItemPage, Key
from neve.scope import SessionScope
from neve.store import rows
from neve.store.documents import read_document
from neve.store.keys import SessionKeys, UserKeys
from neve.store.pins import MAX_PINS
from neve.usecases.ask.pack.read_pack import PackView
from neve.usecases.core.lag.tails import Tail, tails_of, told_in
from neve.usecases.core.pack.pinned_documents import start_pins
from neve.usecases.core.pack.served_pack import Uttered
from neve.usecases.core.pack.what_holds import what_holds_of


@dataclass(frozen=True, slots=True)
class NewStatements:
    """The statements to be told. ``important``: each has its room; ``others``: the ✅ and 🟡 lines, which have what is
    left of that of the utterances."""

    important: tuple[Update, ...] = ()
    others: tuple[Update, ...] = ()

    @classmethod
    def of(cls, memories: Sequence[Memory], shown: Uttered) -> NewStatements:
        """Choose the statements of ``memories``, in their order. ``shown``: utterances of the pack, which say what was
        made of them. What a fact and a line both say is told once."""
        news = [one for memory in memories for one in _news(memory, shown)]
        high = [one for one in news if one.kind is not Kind.OBSERVATION or HIGHEST in one.text]
        again = already_stated(high, [])
        told = [one for one in high if one.id not in again]
        facts = [one for one in told if one.kind is Kind.FACT]
        plain = [one for one in news if one not in high and not already_stated([one, *facts], [])]
        important, others = (tuple(Update(one.id, with_its_day(one)) for one in found) for found in (told, plain))
        return cls(important, others)


def _news(memory: Memory, shown: Uttered) -> Iterable[Memory]:
    """Return the memory, nothing for a fact that the pack shows; for an observation its lines of high and medium
    priority, each by itself."""
    origin = memory.provenance
    if memory.kind is not Kind.OBSERVATION:
        said = memory.kind is Kind.FACT and shown.shows(origin.session_id, origin.seq_from, origin.seq_to)
        return [] if said else [memory]
    return [
        replace(memory, text=one.text, passages=(one,))
        for one in memory.passages
        if priority_of(one.text) is not Priority.LOW and not shown.shows(origin.session_id, one.seq_from, one.seq_to)
    ]


MOST_TOKENS = 400
"""Tokens of what other conversations said (docs/rules/compile.md#updates)."""
SOMETHING_SAID = "what was said in another conversation"


class SaidSince:
    """The reads under way of other conversations' logs behind what was observed of them. How far that is has been read
    when this is there, so that what a pass commits later is found among the memories that are read from here on, if not
    among the utterances. Nothing is read where no other session is behind; else one batch, and a query of each log.
    Raises StoreUnavailable."""

    def __init__(self, scope: SessionScope, head: UserHead, sessions: Sequence[SessionKeys], since: datetime) -> None:
        table, tasks = scope.ports.table, scope.ports.tasks
        tails = [tail for tail in tails_of(table, sessions) if _first_since(tail, since) <= tail.head.last_seq]
        self._since = since
        self._logs = [(tail, tasks.start_read(partial(told_in, table, head, tail))) for tail in tails]

    def result(self) -> list[Told]:
        """Return the user's utterances that were appended, or said, since then: the newest conversation first, and its
        newest utterance. Raises StoreUnavailable."""
        told = [(tail, one) for tail, log in self._logs for one in reversed(log.result())]
        return [one for tail, one in told if one.of_user and _is_new(one, tail, self._since)]


def _first_since(tail: Tail, since: datetime) -> int:
    """Return the seq of the first event that was appended then or later."""
    before = [last for last, at in tail.head.behind if at < int(since.timestamp())]
    return max(before, default=0) + 1


def _is_new(told: Told, tail: Tail, since: datetime) -> bool:
    return told.event.seq >= _first_since(tail, since) or told.event.created_at >= iso(since)


def told_elsewhere(said: Sequence[Told], shown: Uttered, stated: NewStatements) -> list[Update]:
    """Return updates for what was said, without what the pack shows, and for what was made of it: a line does not leave
    the prompt because it was observed, as long as ``MOST_TOKENS`` have room for both."""
    utterances = [
        Update(one.id, f"{JUST_SAID} {one.line}")
        for one in said
        if not shown.shows(one.session, one.event.seq, one.event.seq)
    ]
    fitting = list[Update]()
    room = MOST_TOKENS
    for update in (*utterances, *stated.others):
        if (cost := cost_of(f"- {update.text}")) <= room:
            fitting.append(update)
            room -= cost
    told = {id(update) for update in fitting}
    first = [update for update in utterances if id(update) in told]
    return [*first, *stated.important, *(update for update in stated.others if id(update) in told)]


def heads_of(keys: UserKeys, shown: Uttered) -> list[Key]:
    """Return the keys of the rows that say which utterances of the pack were taken back."""
    return [keys.of_session(session).session_head for session in shown.seqs]


def taken_back(keys: UserKeys, shown: Uttered, found: Mapping[Key, Item], lines: Mapping[str, str]) -> Iterator[Update]:
    """Yield an update for each utterance of the pack that was taken back. ``found``: the rows of ``heads_of``.
    ``lines``: of the pack, by fingerprint."""
    for session, seqs in shown.seqs.items():
        row = found.get(keys.of_session(session).session_head)
        retracted = rows.read_session(row).retracted if row else ()
        for seq, entry in seqs.items():
            if row is None or holds(retracted, seq):
                text = gone(lines.get(entry.fingerprint, SOMETHING_SAID))
                yield Update(entry.id, text, text)


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
    def of(cls, view: PackView, pins: list[Pin], now: str) -> DocumentUpdates:
        """Compare the documents with those in the pack, in the pack's order. A document that had no room in the pack
        counts as none of it; one that does not hold now, as gone. One that was deleted and written anew is the same to
        a reader, who knows its path and not its id."""
        if view.manifest is None:
            return cls()
        shown = [entry for name in ("always", "profile") for entry in view.manifest.layers.get(name, ())]
        then = {entry.id: entry for entry in (*shown, *view.manifest.left_out)}
        whole = len(pins) < MAX_PINS
        pins = [pin for pin in pins if holds_at(pin, now)]
        here, paths = {pin.document_id for pin in pins}, {pin.path for pin in pins}
        before = {entry.path: entry for entry in then.values() if entry.id not in here}
        with_then = [(pin, then.get(pin.document_id) or before.get(pin.path)) for pin in pins]
        moved = [
            (pin, entry)
            for pin, entry in with_then
            if entry is None or (entry.id, entry.rev) != (pin.document_id, pin.rev)
        ]
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


def _text(keys: UserKeys, pin: Pin, found: Mapping[Key, Item]) -> str | None:
    """Return the text of the document, a line where it is too long; None where it was deleted meanwhile."""
    if pin.too_long:
        return f"too long to be shown, see {pin.path}"
    item = found.get(keys.document_rev(pin.document_id, pin.rev))
    return read_document(item).text.strip() if item else None


WRITTEN = (Kind.NOTE, Kind.MANUAL)


@dataclass(frozen=True, slots=True)
class StillSaid:
    """The rows of a pack that still say what a row that moved said. ``whole``: one of them says all of it. ``hushed``:
    those that hold, and that the pack does not show because of the moved row."""

    whole: bool
    hushed: tuple[Memory, ...]


def still_said(
    memory: Memory, entry: PackEntry, line: str | None, holding: Iterable[tuple[Memory, PackEntry]]
) -> StillSaid:
    """Say what other rows still hold of a row that moved. ``line``: what the pack says, where it was found.
    ``holding``: rows that say what they said. A correction of a fact is told whatever line says the same: that line
    says what was said then."""
    was = _as_packed(memory, entry, line)
    others = [(one, its) for one, its in holding if one.id != memory.id and _may_speak_for(one, memory)]
    if not entry.tokens:
        twins = [one for one, its in others if its.fingerprint == entry.fingerprint and _written(one, memory)]
        return StillSaid(bool(twins), ())
    hushed = tuple(one for one, its in others if not its.tokens and _speaks_for(was, entry, one))
    return StillSaid(any(_is_whole(was, entry, one) for one in hushed), hushed)


def _as_packed(memory: Memory, entry: PackEntry, line: str | None) -> Memory | None:
    """Return the memory as the pack has it, None where its words then are not known."""
    if memory.fingerprint == entry.fingerprint:
        return memory
    return replace(memory, text=line, fingerprint=entry.fingerprint, passages=()) if line else None


def _speaks_for(was: Memory | None, entry: PackEntry, one: Memory) -> bool:
    if one.fingerprint == entry.fingerprint:
        return True
    return was is not None and one.id in already_stated([was, one], [])


def _is_whole(was: Memory | None, entry: PackEntry, one: Memory) -> bool:
    return one.fingerprint == entry.fingerprint or (was is not None and said_in_whole(was.text, one.text))


def _written(*memories: Memory) -> bool:
    return all(memory.kind in WRITTEN for memory in memories)


def _may_speak_for(one: Memory, other: Memory) -> bool:
    """Say whether one may speak for the other: words of a tool do not speak for what others said."""
    return one.provenance.trusted != "tool" or other.provenance.trusted == "tool"


def distinct(memories: Iterable[Memory], but: Iterable[str]) -> Iterator[Memory]:
    """Yield each memory once, without those that are told anyway, and one of those that say the same."""
    told, prints = set(but), set[str]()
    for memory in memories:
        if memory.id not in told and memory.fingerprint not in prints:
            prints.add(memory.fingerprint)
            yield memory


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
    pins, built_at, now = start_pins(scope, head), epoch.pack.built_at, iso(scope.ports.clock.now())
    said = SaidSince(scope, head, behind.result(), datetime.fromisoformat(built_at) - JUST_BEFORE)
    page = _written_since(scope, built_at)
    view = pack.result()
    if view.manifest and view.manifest.built_at < built_at:  # an older version, as long as this one cannot be read
        built_at = view.manifest.built_at
        page = _written_since(scope, built_at)
    found = [rows.read_memory(item) for item in page.items]
    known = _known(view.manifest) if view.manifest else frozenset()
    shown = Uttered.of(view.manifest) if view.manifest else Uttered()
    holding = what_holds_of([one for one in found if may_be_told(one, scope.session)], head.gen, now)
    news = [one for one in found if one.id not in known and _new(scope, one, head, now)]
    stated_since = NewStatements.of(holding.of(news), shown)
    new = told_elsewhere(said.result(), shown, stated_since)
    if page.cursor is not None and found[-1].created_at > built_at:
        new.append(Update(f"memories before {found[-1].id}", None))
    if view.manifest is None:
        return new
    documents = DocumentUpdates.of(view, pins.result() if pins else [], now)
    stated, observed = _of_kinds(view.manifest, STATED, now), _of_kinds(view.manifest, OBSERVED, now)
    compared = [*stated[:FROM_THE_PACK], *observed[:FROM_THE_PACK]]
    others = [*stated[FROM_THE_PACK:], *observed[FROM_THE_PACK:]]
    wanted = [*(scope.keys.memory(entry.id) for entry in compared), *documents.rows(scope.keys)]
    wanted += heads_of(scope.keys, shown)
    read = scope.ports.table.get_many(wanted) if wanted else {}
    changed = [*documents.updates(scope.keys, read), *new, *_changed(scope, head, view, compared, read, now)]
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


def _written_since(scope: SessionScope, built_at: str) -> ItemPage:
    since = datetime.fromisoformat(built_at) - JUST_BEFORE
    between = scope.keys.memories_since(scope.ports.ids.ulid(since)[:10])
    return scope.ports.table.query(scope.keys.partition, between=between, reverse=True, limit=NEWEST)


def _new(scope: SessionScope, memory: Memory, head: UserHead, now: str) -> bool:
    """Say whether a memory is news for the session: an observation of the session itself is about what its history
    shows."""
    here = memory.session_id == scope.session
    if not may_be_told(memory, scope.session):
        return False
    if memory.kind is Kind.OBSERVATION and memory.provenance.by != "import":
        return not here and active(memory, head.gen, now)
    return memory.kind in STATED and (here or memory.scope is Scope.GLOBAL) and active(memory, head.gen, now)


def _known(manifest: PackManifest) -> frozenset[str]:
    """Return the ids of rows that the pack has, or has no room for."""
    return frozenset(entry.id for entries in (*manifest.layers.values(), manifest.left_out) for entry in entries)


def _of_kinds(manifest: PackManifest, kinds: Collection[Kind], now: str) -> list[PackEntry]:
    """Return the entries of these kinds, those that have ended first: none of them may be left out."""
    entries = [entry for layer in manifest.layers.values() for entry in layer if entry.kind in kinds]
    return sorted(entries, key=lambda entry: entry.valid_until is None or now < entry.valid_until)


def _changed(
    scope: SessionScope,
    head: UserHead,
    view: PackView,
    compared: Sequence[PackEntry],
    found: Mapping[Key, Item],
    now: str,
) -> list[Update]:
    entries = {scope.keys.memory(entry.id): entry for entry in compared}
    memories = [(rows.read_memory(found[key]), entry) for key, entry in entries.items() if key in found]
    moved = [(memory, entry) for memory, entry in memories if _has_moved(memory, entry, now)]
    moved.sort(key=lambda one: one[0].id, reverse=True)
    seen = [(memory, entry) for memory, entry in moved if visible(memory.born_gen, None, head.gen)]
    lost = [entry for key, entry in entries.items() if key not in found and entry.kind in OBSERVED and entry.tokens]
    long = [entry.fingerprint for memory, entry in seen if estimate(memory.text) > SHORT_TOKENS]
    holding = [(memory, entry) for memory, entry in memories if _holds(memory, entry, head, now)]
    edited = [entry.fingerprint for memory, entry in seen if memory.fingerprint != entry.fingerprint]
    hushes = any(not entry.tokens for _, entry in holding)
    wanted = {*long, *(edited if hushes else ()), *(entry.fingerprint for entry in lost)}
    lines = _lines(view.text or "", wanted) if wanted else {}
    updates: list[Update] = []
    hushed: list[Memory] = []
    for memory, entry in seen:
        line = lines.get(entry.fingerprint)
        update, said = _update(memory, entry, head, line, now), still_said(memory, entry, line, holding)
        stands = active(memory, head.gen, now)
        if stands or not said.whole:
            updates.append(replace(update, short="") if said.whole else update)
        if update.short and (stands or not said.whole):  # else the pack's line is theirs
            hushed += said.hushed
    others = distinct(hushed, (memory.id for memory, _ in seen))
    updates += [Update(memory.id, f"Still holds: {text_with_marks(memory)}") for memory in others]
    return updates + [_deleted(entry, lines.get(entry.fingerprint)) for entry in lost]


def _has_moved(memory: Memory, entry: PackEntry, now: str) -> bool:
    """Say whether a row is not what the pack shows any more: a person has changed it, or it has ended."""
    return (memory.rev != entry.rev and _by_a_person(memory)) or has_ended(memory, now)


def _holds(memory: Memory, entry: PackEntry, head: UserHead, now: str) -> bool:
    return memory.fingerprint == entry.fingerprint and active(memory, head.gen, now)


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


def _update(memory: Memory, entry: PackEntry, head: UserHead, line: str | None, now: str) -> Update:
    """Make the update of a row that moved. ``line``: what the pack says, where it was found; the row has the new words
    only."""
    if not active(memory, head.gen, now):
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
