"""Finds which of a list's messages the session has already (docs/rules/messages.md#which-are-new).

A list is the whole chat, or its end, or only what is new, and does not say which. Nothing of what a person says may be
taken for a repeat, and a chat that is sent again may not stand in the log twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from neve.domain.records.sessions import Spans
from neve.domain.sessions.spans import holds

LAST = 1 << 62
"""A number behind every seq."""
ENOUGH = 3
"""Messages at the end of a session that no speaker says again in the same words and order (*chosen*)."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """The place where a message stands: the seq of its first event, and how many there are."""

    seq: int
    events: int
    own_id: str | None = None

    @property
    def last(self) -> int:
        return self.seq + self.events - 1


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of the list. ``digest``: of what it says; ``distinctive``: a speaker does not say it twice."""

    digest: str
    own_id: str | None = None
    silent: bool = False
    of_user: bool = False
    distinctive: bool = False


@dataclass(frozen=True)
class Session:
    """The messages that a session has. ``seen``: by digest, in order; ``first``, ``last``: seqs of the first and the
    last event that was said; ``deleted`` is the part of ``retracted`` whose messages are not known any more."""

    seen: Mapping[str, Sequence[Occurrence]] = field(default_factory=dict)
    first: int = 0
    last: int = 0
    retracted: Spans = ()
    deleted: Spans = ()

    def of(self, sent: Sent) -> list[Occurrence]:
        """Find the places where a message may stand: not where the caller has taken it back to say something else, nor
        under another id."""
        return [
            one
            for one in self.seen.get(sent.digest, ())
            if not self._is_taken_back(one.seq) and (one.own_id is None or sent.own_id in (None, one.own_id))
        ]

    def by_id(self, sent: Sent) -> Occurrence | None:
        """Find a message by its own id, also where it was taken back: it is the same message."""
        if sent.own_id is None:
            return None
        return next((one for one in self.seen.get(sent.digest, ()) if one.own_id == sent.own_id), None)

    @property
    def begins(self) -> int:
        return self._standing(self.first, 1)

    @property
    def ends(self) -> int:
        return self._standing(self.last, -1)

    def _standing(self, seq: int, step: int) -> int:
        while seq > 0 and self._is_taken_back(seq):
            span = next(span for span in self.retracted if span[0] <= seq <= span[1])
            seq = span[1] + 1 if step > 0 else span[0] - 1
        return seq

    def _is_taken_back(self, seq: int) -> bool:
        return holds(self.retracted, seq) and not holds(self.deleted, seq)


def known(sent: Sequence[Sent], session: Session) -> list[Occurrence | None]:
    """Find where each message of the list stands already; None for one that is new."""
    found: list[Occurrence | None] = [session.by_id(one) for one in sent]
    said = [n for n, one in enumerate(sent) if not one.silent]
    for n, one in enumerate(sent):
        if one.silent and found[n] is None:
            found[n] = next(iter(session.of(one)), None)
    for n, place in zip(said, _places([sent[n] for n in said], session), strict=True):
        found[n] = found[n] or place
    return found


def _places(sent: Sequence[Sent], session: Session) -> list[Occurrence | None]:
    """Place a list without what is silent: its beginning is the end of the session, or it is the whole chat with some
    messages that differ, or all of it is new."""
    nothing: list[Occurrence | None] = [None] * len(sent)
    if not session.ends:
        return nothing
    for length in range(len(sent), 0, -1):
        places = _place_at_end(sent[:length], session)
        if places is not None and _is_repetition(sent[:length], places, session):
            return [*places, *nothing[length:]]
    # what differs was appended behind the others, so the order does not say where: how often it was said by then does
    left = {one.digest: iter(session.of(one)) for one in sent}
    counted = [next(left[one.digest], None) for one in sent]
    there = sum(place is not None for place in counted)
    is_whole = _begins(counted[:1], session) and len(sent) >= ENOUGH and 2 * there > len(sent)
    return counted if is_whole else nothing


def _place_at_end(sent: Sequence[Sent], session: Session) -> list[Occurrence] | None:
    """Find where these messages stand one behind the other, up to the end of the session; None where they do not."""
    places: list[Occurrence] = []
    for one in reversed(sent):
        before = places[-1].seq if places else LAST
        found = next((place for place in reversed(session.of(one)) if place.seq < before), None)
        if found is None or (not places and found.last < session.ends):
            return None
        places.append(found)
    return places[::-1]


def _is_repetition(sent: Sequence[Sent], places: Sequence[Occurrence], session: Session) -> bool:
    """Say whether a list that begins with these messages repeats them. A person may say once more what was said last;
    but a person does not say all of a session again, nor so many messages, nor what holds the ids of calls or many
    words, and an assistant does not speak twice."""
    if _begins(places[:1], session) or len(sent) >= ENOUGH or not sent[0].of_user:
        return True
    return any(one.distinctive for one in sent)


def _begins(places: Sequence[Occurrence | None], session: Session) -> bool:
    return any(place is not None and place.seq <= session.begins for place in places)
