"""Read what a prompt is made of, beside the recall (docs/rules/compile.md#reads): the rows that say how far everything
is, then the pack, the log and what changed, all at once, then images.

The tasks of the second step wait for those of the first, which were started before them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from neve.domain.compact.extract import extract_summary
from neve.domain.compact.headings import FourHeadings
from neve.domain.compile.history import hidden_events
from neve.domain.compile.shown_images import all_marked, beyond_its_room
from neve.domain.compile.updates import Update
from neve.domain.errors import not_found
from neve.domain.records.epochs import HistoryCut, SessionEpoch, Summary
from neve.domain.records.markers import SessionMarker
from neve.domain.records.sessions import Event, SessionHead
from neve.domain.records.users import UserHead
from neve.domain.sessions.spans import holds
from neve.domain.sessions.transcript import images_of
from neve.domain.times import iso
from neve.ports.errors import DeadlineExceeded, StoreUnavailable
from neve.ports.runtime import Task
from neve.ports.table import Item, Key
from neve.scope import SessionScope
from neve.store import rows
from neve.store.partitions import all_rows
from neve.store.sessions.state import read_state
from neve.store.sessions.thinking import Thinking, read_thinking, shown_thinking, with_thinking
from neve.usecases.ask.compile.images import Images, Wanted, load_images
from neve.usecases.ask.compile.turn_start import BegunTurn, begun_turn
from neve.usecases.ask.compile.updates import updates_since
from neve.usecases.ask.pack.read_pack import PackView, pack_of, preview_of_session
from neve.usecases.ask.recall.time_budget import Collector
from neve.usecases.core.lag.memory_lag import MemoryLag, read_progress
from neve.usecases.core.lag.model_down import queued
from neve.usecases.core.lag.tails import sessions_that_may_have_one

T = TypeVar("T")

ROWS_MS = 2_000
"""How long rows and log are waited for (*chosen*): a prompt without its history is worth less than a second."""
PARTS = 3
"""Parts of the log behind what is hidden that are read beside each other."""
PAGE = 1_000

ROWS_ERROR, HISTORY_ERROR, UPDATES_ERROR, IMAGES_ERROR, THINKING_ERROR, TURN_ERROR = (
    f"{what}:error" for what in ("session", "history", "updates", "images", "thinking", "turn")
)

IMAGES_LEFT_OUT = "images:left_out"
"""Some of what waits for an answer."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """The rows that say who is asked and how far everything is."""

    head: UserHead
    session: SessionHead
    marker: SessionMarker
    epoch: SessionEpoch
    lag: MemoryLag

    @property
    def hidden(self) -> HistoryCut | None:
        return hidden_events(self.epoch)

    @property
    def is_cut(self) -> bool:
        """Say whether the history was cut in this epoch, beyond what is covered."""
        return self.epoch.cut is not None and self.epoch.cut.epoch == self.epoch.epoch


@dataclass(frozen=True, slots=True)
class Log:
    """The events and the summary that the prompt shows. ``events``: in the order of their seqs. ``summary``: of the
    hidden ones; ``stands_in``: it was made now, because none is stored. ``compacted``: the summary that the last
    compaction has written."""

    events: Sequence[Event]
    summary: FourHeadings | None = None
    stands_in: bool = False
    compacted: Summary | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """The results of the reads, None for what could not be read in time; ``degraded`` says what that is. ``begun``:
    None also where the log does not end in a round of tool calls; ``begun_unread``: the turn may have begun with
    something else."""

    session_state: SessionState | None
    pack: PackView | None
    log: Log | None
    updates: Sequence[Update] | None = ()
    images: Images = field(default_factory=Images)
    degraded: tuple[str, ...] = ()
    begun: BegunTurn | None = None
    begun_unread: bool = False


@dataclass(frozen=True, slots=True)
class ContextReads:
    """The reads under way; see ``collect``."""

    scope: SessionScope
    started_ms: float
    session_state: Task[SessionState]
    pack: Task[PackView]
    parts: Sequence[Task[list[Event]]]
    aside: Task[Log]
    updates: Task[list[Update]]
    images: Task[Images]
    thinking: Task[Thinking]
    begun: Task[BegunTurn | None] | None

    def collect(self) -> Material:
        """Wait for the reads and return what they found. Raises session_not_found and user_closed."""
        collected, rows_by = Collector(), self.started_ms + ROWS_MS
        start_by = self.started_ms + start_ms(self.scope, in_round=self.begun is not None)
        session_state = collected.of(self.session_state, rows_by, ROWS_ERROR)
        if session_state is None:
            return Material(None, None, None, degraded=tuple(collected.degraded))
        rows.not_closed(session_state.head)
        pack = collected.of(self.pack, start_by, "pack:error")
        aside = collected.of(self.aside, rows_by, HISTORY_ERROR)
        parts = [collected.of(part, rows_by, HISTORY_ERROR) for part in self.parts]
        log = None
        if aside is not None and None not in parts:
            events = [event for part in (aside.events, *parts) for event in part or ()]
            log = replace(aside, events=sorted(events, key=lambda event: event.seq))
        updates = collected.of(self.updates, start_by, UPDATES_ERROR)
        images = (collected.of(self.images, rows_by, IMAGES_ERROR) if log else None) or _no_images(session_state, log)
        thinking = collected.of(self.thinking, rows_by, THINKING_ERROR) or {}
        before = len(collected.degraded)
        begun = collected.of(self.begun, rows_by, TURN_ERROR) if self.begun else None
        begun_unread = len(collected.degraded) > before
        log = replace(log, events=with_thinking(images.events, thinking)) if log else None
        if images.missing:
            collected.degraded.append(IMAGES_ERROR)
        elif images.last_left_out:
            collected.degraded.append(IMAGES_LEFT_OUT)
        collected.degraded += pack.degraded if pack else ()
        collected.degraded += queued(session_state.marker, session_state.session.complete_seq)
        degraded = tuple(dict.fromkeys(collected.degraded))
        return Material(session_state, pack, log, updates, images, degraded, begun, begun_unread)


def start_ms(scope: SessionScope, *, in_round: bool) -> int:
    """Return how long the pack and the updates are waited for. In a round as long as the log: the prompts before showed
    them, and one without them would begin otherwise."""
    budget = scope.policy.session_start_budget_ms
    return max(budget, ROWS_MS) if in_round else budget


def start_context_reads(
    scope: SessionScope,
    *,
    read_only: bool = False,
    beside: int = 0,
    wanted: Wanted | None = None,
    in_round: bool = False,
) -> ContextReads:
    """Start all reads. ``read_only``: a session's first pack is not stored. ``beside``: bytes that the call itself
    brings into the answer. ``wanted``: its wishes about images. ``in_round``: the turn may go on from results of
    tools."""
    start = scope.ports.tasks.start
    began = scope.ports.clock.monotonic_ms()
    state = start(lambda: read_state(scope.ports.table, scope.keys))
    session_state = start(lambda: _session_state(scope, state))
    pack = start(lambda: _pack(scope, session_state.result(), read_only))
    parts = [start(partial(_read_part, scope, session_state, n)) for n in range(PARTS)]
    parts.append(start(lambda: _read_before_cut(scope, session_state.result())))
    aside = start(lambda: _read_summary(scope, session_state.result()))
    behind = start(lambda: sessions_that_may_have_one(scope, scope.session))
    updates = start(
        lambda: updates_since(scope, session_state.result().head, session_state.result().epoch, pack, behind)
    )
    taken = partial(_taken_beside, beside, pack, began + start_ms(scope, in_round=in_round))
    images = start(lambda: _images(scope, session_state.result(), aside, parts, wanted, taken))
    thinking = start(
        lambda: read_thinking(scope.ports.table, scope.keys, shown_thinking(session_state.result().session))
    )
    ends_ms = began + ROWS_MS
    begun = None
    if in_round:
        begun = start(lambda: begun_turn(scope, session_state.result().head, session_state.result().session, ends_ms))
    return ContextReads(scope, began, session_state, pack, parts, aside, updates, images, thinking, begun)


# --- parts ----------------------------------------------------------------------------------------


def _session_state(scope: SessionScope, state: Task[dict[Key, Item]]) -> SessionState:
    """Read the state's rows, in one batch beside the query of ``state``. Raises session_not_found and user_closed."""
    keys = scope.keys
    found = {**scope.ports.table.get_many([keys.head, keys.session_head]), **state.result()}
    progress, epoch = read_progress(keys, found), found.get(keys.epoch)
    head, now = rows.read_head(found.get(keys.head)), scope.ports.clock.now()
    rows.not_closed(head)  # nothing is left of a closed user's sessions
    if rows.hidden(head):
        empty = SessionHead(scope.session, "open", started_at=iso(now)), SessionMarker(scope.session)
        return SessionState(head, *empty, SessionEpoch(scope.session), MemoryLag())
    if progress is None or epoch is None or progress.head.deleted:
        raise not_found("session", scope.session)
    return SessionState(head, progress.head, progress.marker, rows.read_epoch(epoch), progress.lag(now))


def _pack(scope: SessionScope, session_state: SessionState, read_only: bool) -> PackView:
    """Return the session's pack, an empty one for a user who is being erased."""
    if session_state.head.state != "active":
        return PackView("partial", text="")
    if read_only and session_state.epoch.pack is None:
        return preview_of_session(scope)
    return pack_of(scope, session_state.epoch)


def _no_images(session_state: SessionState, log: Log | None) -> Images:
    """Mark every image as unread, for a prompt whose images could not be read in time: each is a line of text, so that
    the prompt can be sent."""
    events = all_marked(log.events, "unread") if log else ()
    return Images(events, {}, session_state.epoch.images_left_out, session_state.epoch.images_unusable)


def _images(
    scope: SessionScope,
    session_state: SessionState,
    aside: Task[Log],
    parts: Sequence[Task[list[Event]]],
    wanted: Wanted | None,
    beside: Callable[[], int],
) -> Images:
    """Load the images. ``beside``: bytes as ``load_images`` takes them; not counted for a log without images."""
    found = [event for part in (aside.result().events, *(part.result() for part in parts)) for event in part]
    events = sorted(found, key=lambda event: event.seq)
    taken = beside() if any(map(images_of, events)) else 0
    return load_images(scope, events, session_state.hidden, session_state.epoch, wanted, taken)


def _taken_beside(beside: int, pack: Task[PackView], until_ms: float) -> int:
    """Return the bytes with those of the pack, unless the prompt is without it."""
    try:
        return beside + beyond_its_room(pack.result(until_ms).text or "")
    except (StoreUnavailable, DeadlineExceeded):
        return beside


def _read_part(scope: SessionScope, read: Task[SessionState], n: int) -> list[Event]:
    """Read the n-th part of the log behind what is hidden, of about as many events as the others."""
    session_state = read.result()
    first, last = session_state.hidden.seq_to + 1 if session_state.hidden else 1, session_state.session.last_seq
    count = max(0, last - first + 1)
    bounds = [first + count * part // PARTS for part in range(PARTS + 1)]
    return _events(scope, session_state, bounds[n], bounds[n + 1] - 1)


def _read_before_cut(scope: SessionScope, session_state: SessionState) -> list[Event]:
    """Read the events before what is hidden."""
    return _events(scope, session_state, 1, session_state.hidden.seq_from - 1) if session_state.hidden else []


def _read_summary(scope: SessionScope, session_state: SessionState) -> Log:
    """Read the summary of what is hidden, and the event in it that is kept."""
    cut, keys = session_state.hidden, scope.keys
    if cut is None:
        return Log([])
    summary, stand_in = keys.summary(session_state.epoch.epoch), keys.stand_in(session_state.epoch.epoch)
    opening = [keys.event(cut.keeps)] if cut.keeps is not None else []
    found = scope.ports.table.get_many([summary, stand_in, *opening])
    events = [event for key in opening if key in found for event in _read_current([found[key]], session_state)]
    compacted = rows.read_summary(found[summary]) if summary in found else None
    if session_state.is_cut:
        shown = rows.read_summary(found[stand_in]) if stand_in in found else None  # none where it had no room
        return Log(events, shown, compacted=compacted)
    if compacted is not None:
        return Log(events, compacted, compacted=compacted)
    covered = _events(scope, session_state, cut.seq_from, cut.seq_to)
    made = extract_summary(covered, "standard", timezone=session_state.session.timezone)
    return Log(events, made, stands_in=True)


def _events(scope: SessionScope, session_state: SessionState, first: int, last: int) -> list[Event]:
    if last < first:
        return []
    found = all_rows(scope.ports.table, scope.keys.log, between=scope.keys.events(first, last), page=PAGE)
    return _read_current(found, session_state)


def _read_current(items: Iterable[Item], session_state: SessionState) -> list[Event]:
    """Read the events, without those of an earlier incarnation and those that were taken back; none of a user who is
    being erased."""
    if session_state.head.state != "active":
        return []
    events = (rows.read_event(item) for item in items if item["incarnation"] == session_state.head.incarnation)
    return [event for event in events if not holds(session_state.epoch.retracted, event.seq)]
