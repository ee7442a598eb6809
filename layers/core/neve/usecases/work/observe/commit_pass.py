"""One pass's commit: at most one observation, its facts, the citations, the marker, the live list, and which events
were refused, in one transaction conditional on the lease (docs/rules/observe.md#commit)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from neve.domain.memories.live_rows import in_place, joined_since, live_places, live_row
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.memories.text import fingerprint, observed_date, priority_of, referenced_date, time_of_day
from neve.domain.observe.defaults import BASE_TAG, DEFAULT_IMPORTANCE
from neve.domain.observe.facts import StatedFact
from neve.domain.observe.trust import SaidHere, lowest, trust_of_lines
from neve.domain.records.markers import LiveRow, RefusedEvent, SessionMarker
from neve.domain.records.memories import Kind, Memory, MemoryPassage, Provenance, Scope, Status, Tier
from neve.domain.records.sessions import Event, EventType, Span
from neve.domain.sessions.spans import common, meets
from neve.domain.sessions.voices import THE_USER, Voice
from neve.domain.times import iso, parse
from neve.observing import Observed
from neve.ports.table import MAX_WRITE_OPS, Item, Key, Put, Version, WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.memories import memories_of
from neve.store.transact import batches, item_bytes, transact
from neve.usecases.core.privacy.admit import screened_candidate
from neve.usecases.core.tenants.usage import model_usage, usage_put
from neve.usecases.tell.memories.fact_writes import FactWrites, rows_of_facts, with_holders, with_successors
from neve.usecases.tell.memories.stored_fact import StoredFact
from neve.usecases.work.observe.lease import check_lease

EMPTY_OFFERS = 3
"""After this many passes that found nothing, the marker advances anyway (docs/rules/observe.md#marker)."""


class InputRetracted(Exception):
    """Something that the observer was shown was taken back while it answered: its answer is not written, and it is
    asked again without it."""


@dataclass(frozen=True, slots=True)
class PassRead:
    """The events that the observer was shown: the seqs ``first`` to ``shown_to`` (``events`` are those of them that it
    can read). It did justice to them up to ``covered_to``. ``advance``: the marker moves there even when it found
    nothing. ``refused``: events among them that it would not read; ``unseen``: those that it read without their images
    only. ``facts``: the facts that it proposed of them, for which there is room. ``held``: parts of the log that its
    answer may hold words of, with those that the memories shown with the events were made from. ``said``: what the
    lines are held against; None = the events alone. ``voice``: whose words the events are."""

    first: int
    covered_to: int
    shown_to: int
    events: Sequence[Event]
    advance: bool
    refused: tuple[RefusedEvent, ...] = ()
    unseen: tuple[int, ...] = ()
    facts: tuple[StatedFact, ...] = ()
    held: tuple[Span, ...] = ()
    said: SaidHere | None = None
    voice: Voice = THE_USER


@dataclass(frozen=True, slots=True)
class Committed:
    """The outcome of a commit. ``written``: the id of the new memory, if there is one; ``reinforced``: ids of those
    that were cited; ``facts``: what became of each; ``facts_left_out``: how many of them the session's live list had no
    room for."""

    written: str | None
    reinforced: list[str]
    marker: SessionMarker
    facts: list[StoredFact]
    facts_left_out: int = 0


@dataclass(frozen=True)
class PassCommit:
    """``observed`` None: the observer was not asked, or refused. ``token``: of the lease. ``stated``: the facts of the
    last attempt, and ``decided``: what it would have made of them."""

    scope: SessionScope
    incarnation: int
    token: int
    observed: Observed | None
    read: PassRead
    fact_ids: list[str] = field(default_factory=list)
    stated: list[StatedFact] = field(default_factory=list)
    decided: list[StoredFact] = field(default_factory=list)

    def write(self) -> Committed:
        """Write the pass, and say what was written. All but the observer's answer is read again with every attempt.
        Raises LeaseLost, UserErased, InputRetracted."""
        memory_id = self._new_id()
        return transact(self.scope.ports, lambda: self._attempt(memory_id))

    @property
    def _counts(self) -> bool:
        """Say whether a known fact that the observer proposes again counts as said once more."""
        return True

    def _new_id(self) -> str:
        return f"mem_{self.scope.ports.ids.ulid(self.scope.ports.clock.now())}"

    def _attempt(self, memory_id: str) -> Committed:
        keys, now, observed = self.scope.keys, self.scope.ports.clock.now(), self.observed
        cited = [keys.memory(i) for i in dict.fromkeys(observed.used_memory_ids)] if observed else []
        found = self._found(cited)
        head = rows.read_head(found.get(keys.head))
        still_there(head, self.incarnation)
        if keys.marker not in found:
            raise UserErased
        marker = rows.read_marker(found[keys.marker])
        bumps = self._bumps(found, cited, iso(now))
        if marker.last_pass == memory_id:  # our own commit, whose response was lost
            written = memory_id if any(row.id == memory_id for row in marker.live) else None
            return Committed(written, _ids(bumps), marker, list(self.decided), self._without_room)
        check_lease(marker, self.token, now)
        if any(meets(marker.retracted, span) for span in self.read.held):
            raise InputRetracted
        timezone = rows.read_session(found[keys.session_head]).timezone
        memory = self._memory(memory_id, observed, timezone) if observed else None
        memory = self._without_retracted(memory, marker) if memory else None
        facts = FactWrites(self.scope, head.gen, found, "observer", memory_id, counts=self._counts)
        self._decide(facts, timezone, room=rows.has_live_room(found[keys.marker], (), rows.LIVE_BYTES_OF_PASSES))
        moved = replace(self._moved(marker, memory, facts), last_pass=memory_id, model_failed_at=None)
        ops: list[WriteOp] = [rows.guard_user(keys, head, now, facts.changed.values())]
        ops += [rows.put_marker(keys, moved), *facts.ops()]
        ops += [*facts.left_elsewhere({self.scope.session}), *self._notes(found), *self._beside(memory)]
        if memory:
            ops.append(rows.put_memory(keys, replace(memory, born_gen=head.gen)))
        if observed and observed.usage:
            ops.append(usage_put(keys, found.get(keys.usage), model_usage(observed.calls, observed.usage)))
        ops += self._notes_of_images(found, MAX_WRITE_OPS - len(ops))
        bumps = [bump for bump in bumps if bump.item["id"] not in facts.changed][: MAX_WRITE_OPS - len(ops)]
        self.scope.ports.table.write([*ops, *bumps])
        return Committed(memory.id if memory else None, _ids(bumps), moved, list(self.decided), self._without_room)

    @property
    def _without_room(self) -> int:
        """Count the facts that the last attempt did not decide on."""
        return len(self.stated) - len(self.decided)

    def _decide(self, facts: FactWrites, timezone: str, *, room: bool) -> None:
        """Decide on the facts by the rows of this attempt, under the ids of the first one. Where the live list has no
        ``room``, none is decided on: the observation says what they say, and is folded in time, which facts never
        are."""
        self.stated[:] = self._facts_left(facts.found)
        self.fact_ids.extend(self._new_id() for _ in self.stated[len(self.fact_ids) :])
        kept = self.stated if room else []
        self.decided[:] = [
            facts.take(self._candidate(fact, timezone), fact_id)
            for fact, fact_id in zip(kept, self.fact_ids[: len(kept)], strict=True)
        ]

    def _facts_left(self, found: Mapping[Key, Item]) -> Sequence[StatedFact]:  # noqa: ARG002
        """Return those of the facts that were read which are still to be stored, as of this attempt's rows."""
        return self.read.facts

    def _found(self, cited: Sequence[Key]) -> dict[Key, Item]:
        """Read the rows of an attempt: two batch reads where facts are known already, more where something has taken
        their place, else one."""
        keys = self.scope.keys
        noted = [keys.event(seq) for seq in (*(one.seq for one in self.read.refused), *self.read.unseen)]
        about = rows_of_facts(keys, [self._candidate(fact, "UTC") for fact in self.read.facts])
        wanted = [keys.head, keys.session_head, keys.marker, keys.usage, *cited, *noted, *about]
        found = with_holders(self.scope, self.scope.ports.table.get_many(list(dict.fromkeys(wanted))))
        return with_successors(self.scope, found) if about else found

    def _candidate(self, fact: StatedFact, timezone: str) -> FactCandidate:
        model = self.observed.model if self.observed else None
        candidate = FactCandidate(
            text=fact.text,
            category=fact.category,
            origin=Provenance(fact.by, self.scope.session, fact.seq_from, fact.seq_to, model, fact.trust),
            importance=fact.importance,
            relation=fact.relation,
            target_id=fact.target_id,
            also=fact.also,
            keeps_words=fact.keeps_words,
            remembered=fact.remembered,
            valid_until=fact.valid_until,
            observed_at=iso(parse(fact.observed_at)),
            timezone=timezone,
            about=self.read.voice.about,
            audience=self.read.voice.audience,
        )
        return screened_candidate(self.scope, candidate)

    def _beside(self, memory: Memory | None) -> list[WriteOp]:  # noqa: ARG002
        """Return the writes that are committed with the pass."""
        return []

    def _without_retracted(self, memory: Memory, marker: SessionMarker) -> Memory:
        """Note on the memory which events of its range were taken back: the range may reach over events that it was not
        made from."""
        span = (self.read.first, self.read.covered_to)
        return replace(memory, provenance=replace(memory.provenance, left_out=common([span], marker.retracted)))

    def _memory(self, memory_id: str, observed: Observed, timezone: str) -> Memory | None:
        """Make the memory of the pass; None when nothing was worth keeping."""
        if not observed.has_memory or not observed.lines:
            return None
        now, events = iso(self.scope.ports.clock.now()), self.read.events
        text = "\n".join(line.text for line in observed.lines)
        trusts = trust_of_lines(observed.lines, self.read.said or SaidHere(events))
        at = iso(parse(events[-1].created_at))
        by_user = any(event.event_type is EventType.USER_MESSAGE for event in events)
        return Memory(
            id=memory_id,
            kind=Kind.OBSERVATION,
            tier=Tier.EPISODIC,
            scope=Scope.SESSION,
            session_id=self.scope.session,
            text=text,
            passages=tuple(
                MemoryPassage(line.text, line.seq_from, line.seq_to, trust)
                for line, trust in zip(observed.lines, trusts, strict=True)
            ),
            priority=priority_of(text),
            importance=DEFAULT_IMPORTANCE,
            fingerprint=fingerprint(text),
            status=Status.ACTIVE,
            tags=(BASE_TAG,),
            about=self.read.voice.about,
            audience=self.read.voice.audience,
            provenance=Provenance(
                by="user_stated" if by_user else "assistant",
                session_id=self.scope.session,
                seq_from=self.read.first,
                seq_to=self.read.covered_to,
                model=observed.model,
                trust=lowest(trusts),
            ),
            observed_date=observed_date(at, timezone),
            time_of_day=time_of_day(at, timezone),
            referenced_date=referenced_date(text),
            created_at=now,
            observed_at=at,
            last_used_at=min(now, at),
            tokens=self.scope.count(text),
            rev=1,
            rev_at=now,
            born_gen=0,
        )

    def _bumps(self, found: dict[Key, Item], cited: list[Key], now: str) -> list[Put]:
        """Return the writes of the cited memories. Citation moves ``last_used_at`` and with it the rank; nothing else
        does."""
        puts = []
        for key in cited:
            if key in found:
                memory = rows.read_memory(found[key])
                puts.append(rows.put_memory(self.scope.keys, replace(memory, last_used_at=now)))
        return puts

    def _notes(self, found: dict[Key, Item]) -> list[WriteOp]:
        """Return the rows of the refused events, each with the reason."""
        notes: list[WriteOp] = []
        for one in self.read.refused:
            row = found.get(self.scope.keys.event(one.seq))
            if row:
                notes.append(Put(row | {"unobservable": {"reason": one.reason}}, Version(row["version"])))
        return notes

    def _notes_of_images(self, found: dict[Key, Item], most: int) -> list[Put]:
        """Return the rows of the events whose images alone were refused: as many as the transaction has room for. Of
        the others a prompt shows the images until a caller says that a provider refuses them."""
        read = [found[key] for seq in self.read.unseen if (key := self.scope.keys.event(seq)) in found]
        puts = (Put(row | {"images_refused": True}, Version(row["version"])) for row in read)
        return next(batches(puts, lambda put: item_bytes(put.item), most=most), [])

    def _moved(self, marker: SessionMarker, memory: Memory | None, facts: FactWrites) -> SessionMarker:
        marker = self._read_to(marker, found=memory is not None or bool(facts.changed or self._without_room))
        marker = replace(marker, unusable=None)
        if self.read.refused or marker.limit_to is None or marker.observed_seq >= marker.limit_to:
            marker = replace(marker, pass_limit=None, limit_to=None, refused=())
        if memory:
            marker = replace(marker, live=self._add_row(marker.live, memory))
        live, retold = facts.live(self.scope.session, marker.live), facts.repeated_with(marker.retold)
        marker = replace(marker, live=live, retold=retold)
        if self.observed is None:
            return marker
        if self.read.voice.audience:  # the session's task and title, which a librarian reads, and scene are its user's
            return marker
        scene = self.observed.scene if marker.observed_seq >= self.read.covered_to else marker.scene
        return replace(
            marker,
            scene=scene,
            current_task=self.observed.current_task or marker.current_task,
            suggested_continuation=self.observed.suggested_continuation or marker.suggested_continuation,
            thread_title=self.observed.thread_title or marker.thread_title,
        )

    def _add_row(self, live: tuple[LiveRow, ...], memory: Memory) -> tuple[LiveRow, ...]:
        """Add the memory at the end of the live list, but before what a person has evolved since its events were said:
        in a pack the newer one holds. A read for each such row, and for the last one that is of the log; most chats
        have none that is looked at."""
        known = [memory]
        for row_id in joined_since(live, memory.observed_at):
            known += memories_of(self.scope.ports.table, self.scope.keys, [row_id])
            if known[-1].id == row_id and known[-1].provenance.seq_from is not None:
                break
        return in_place(live, live_row(memory), live_places(known))

    def _read_to(self, marker: SessionMarker, *, found: bool) -> SessionMarker:
        """Move the marker to how far the session is observed and offered. Events that the observer left to the next
        pass are neither, unless an earlier pass has read them and found nothing: then the session may have left the
        index of those that are behind, and no worker would come back to it."""
        covered_to = self.read.covered_to
        offered_seq = max(marker.offered_seq, covered_to)
        if found or self.read.advance:
            return replace(marker, observed_seq=covered_to, offered_seq=offered_seq, empty_offers=0)
        empty_offers = marker.empty_offers + 1
        if empty_offers < EMPTY_OFFERS:
            return replace(marker, offered_seq=offered_seq, empty_offers=empty_offers)
        last = self.read.shown_to
        return replace(marker, observed_seq=last, offered_seq=last, empty_offers=0)


def _ids(puts: Sequence[Put]) -> list[str]:
    return [str(put.item["id"]) for put in puts]
