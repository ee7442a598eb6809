"""What one session has said, what of it is still to be appended, and the last prompt that was made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from ..errors import NeveBadRequest, NeveBufferFull, NeveConflict, NeveConnection, NeveError, NeveNotFound, NeveTooLarge
from .calls import chance
from .messages import (
    EVENT_BYTES,
    Message,
    Spoken,
    events_of,
    is_answer,
    is_question,
    mark_of,
    size_of,
    too_large,
)

CALL_EVENTS, CALL_MESSAGES, CALL_BYTES = 48, 200, 900_000
"""Of one call: docs/rules/sessions.md#log and docs/rules/http.md#limits, with room for what stands around the
messages."""
REMEMBERED_BYTES = 1_000_000
"""Of messages that are appended, for a prompt during an outage."""
WINDOW = 3
"""Messages in a row that nobody says again in the same words (docs/rules/messages.md)."""
FIRST_PAUSE_S, LAST_PAUSE_S = 0.5, 30.0


@dataclass(slots=True, eq=False)
class Retraction:
    """Something to take back behind what was said before it. ``which``: from it on, or with ``behind`` from what
    follows it."""

    which: Spoken
    behind: bool
    reason: str


@dataclass(slots=True)
class Taken:
    """What became of the messages of one call, in their order."""

    spoken: list[Spoken] = field(default_factory=list)
    known: int = 0
    refused: list[tuple[Spoken, NeveError]] = field(default_factory=list)


@dataclass(slots=True)
class Sent:
    """What became of what waited. ``done``: decided; ``errors``: of those that are refused; ``parts``: that have no
    place in memory; ``failed``: why the others still wait."""

    done: list[Spoken] = field(default_factory=list)
    errors: list[NeveError] = field(default_factory=list)
    parts: list[dict[str, Any]] = field(default_factory=list)
    failed: NeveError | None = None


@dataclass(frozen=True, slots=True)
class Compiled:
    """The last prompt that the service made. ``upto``: how many of ``said`` it holds; ``mark``: of the message of the
    call."""

    format: str
    request: dict[str, Any]
    upto: int
    mark: str | None
    size: int


class Conversation:
    """One session of a client, in memory; from whichever thread. It lives as long as its client, or until it is long
    idle."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._lock = RLock()
        self._key: tuple[list[Spoken], str] | None = None
        self._single = False
        self._said_size = 0
        self.said: list[Spoken] = []
        self.waiting: list[Spoken | Retraction] = []
        self.pause_s = FIRST_PAUSE_S
        self.retry_at = 0.0
        self.last_seq = 0
        self.pack: tuple[str, str] | None = None
        self.compiled: Compiled | None = None
        self.prompt_id: str | None = None

    # --- what is said -------------------------------------------------------------------------------------

    def take(self, messages: Sequence[Message]) -> Taken:
        """Keep what is new of a list that holds what is new, or the whole chat. New messages get ids of chance, by
        which they are appended once; those of the first list with an answer in it get none: another process may have
        appended it, which the service finds by what they say (docs/rules/messages.md)."""
        with self._lock:
            taken = Taken()
            marks = [_mark(message) for message in messages]
            known = self._overlap(marks)
            unsure = not self.said and any(is_answer(message) for message in messages)
            for at, (message, mark) in enumerate(zip(messages, marks, strict=True)):
                own = isinstance(message.get("id"), str)
                before = next((one for one in self.said if own and one.id == message["id"]), None)
                if before is not None or (at < known and not own):
                    taken.known += 1
                    continue
                found = str(message["id"]) if own else None if unsure else chance()
                spoken = Spoken(found, message, mark, events_of(message), size_of(message))
                if error := self._refusal(spoken, at):
                    spoken.state = "refused"
                    taken.refused.append((spoken, error))
                    continue
                taken.spoken.append(spoken)
                self.said.append(spoken)
                self._said_size += spoken.size
                self.waiting.append(spoken)
            self._forget_long_past()
            return taken

    @property
    def size(self) -> int:
        """Bytes that are remembered, about."""
        return self._said_size + (self.compiled.size if self.compiled else 0)

    def count(self) -> int:
        """Messages that wait."""
        return sum(isinstance(one, Spoken) for one in self.waiting)

    def may_wait(self) -> bool:
        """Whether all that waits ends with an answer, which the next message may take along."""
        last = self.waiting[-1] if self.waiting else None
        return (
            isinstance(last, Spoken)
            and is_answer(last.message)
            and not any(one.tried for one in self.waiting if isinstance(one, Spoken))
        )

    def last_question(self) -> Spoken | None:
        """The last message that began a turn."""
        with self._lock:
            return next((one for one in reversed(self.said) if is_question(one.message)), None)

    def find(self, which: Any) -> Spoken | None:
        """The newest message with this id, or these words."""
        with self._lock:
            wanted = which if isinstance(which, str) else _mark(which)
            return next((one for one in reversed(self.said) if wanted in (one.id, one.mark)), None)

    def take_back(self, which: Spoken, *, behind: bool, reason: str) -> None:
        """Forget what was said from a message on; what may have arrived is taken back there, in its turn."""
        with self._lock:
            if which not in self.said:  # found in the log
                if not behind or max(which.seqs) < self.last_seq:
                    self.waiting.append(Retraction(which, behind, reason))
                return
            at = self.said.index(which) + behind
            gone, self.said = self.said[at:], self.said[:at]
            if self.compiled is not None and self.compiled.upto > at:
                self.compiled = None
            unsent = [one for one in gone if one in self.waiting and not one.tried]
            self.waiting = [one for one in self.waiting if one not in unsent]
            sent = [one for one in gone if one not in unsent]
            if sent:
                self.waiting.append(Retraction(sent[0], behind=False, reason=reason))
            elif behind and which.seqs and which.seqs[-1] < self.last_seq:
                self.waiting.append(Retraction(which, behind=True, reason=reason))

    def clear(self) -> None:
        """Forget everything: the session is deleted."""
        with self._lock:
            for one in self.waiting:
                if isinstance(one, Spoken):
                    one.state = "dropped"
            self.said, self.waiting, self._said_size = [], [], 0
            self.pack = self.compiled = self.prompt_id = self._key = None
            self.last_seq = 0

    # --- what is sent -------------------------------------------------------------------------------------

    def batch(self) -> list[Spoken]:
        """What one call may carry, from the first that waits; none where something is to be taken back before."""
        with self._lock:
            found: list[Spoken] = []
            events = size = 0
            most = 1 if self._single else CALL_MESSAGES
            for one in self.waiting:
                if not isinstance(one, Spoken) or len(found) == most:
                    break
                if self._key is not None and found and len(found) == len(self._key[0]) and found[0].tried:
                    break  # it may have arrived: the same list again has the same key
                events, size = events + one.events, size + one.size
                if found and (events > CALL_EVENTS or size > CALL_BYTES):
                    break
                found.append(one)
            return found

    def key_of(self, batch: Sequence[Spoken]) -> str:
        """The Idempotency-Key of a list of messages: the same one as long as it is the same list."""
        with self._lock:
            if self._key is None or self._key[0] != list(batch):
                self._key = (list(batch), chance())
            return self._key[1]

    def settle(self, batch: Sequence[Spoken], answer: Mapping[str, Any]) -> None:
        """Note what the service answered about a batch, in its order."""
        with self._lock:
            told = answer.get("messages") or [{}] * len(batch)
            last = answer.get("last_seq")
            self.last_seq = last if isinstance(last, int) else self.last_seq
            for one, found in zip(batch, told, strict=False):
                one.state, one.seqs = str(found.get("state", "appended")), tuple(found.get("seqs") or ())
                self.waiting.remove(one)
            self.succeeded()

    def failed(self, batch: Sequence[Spoken], error: NeveError, now: float) -> list[Spoken] | None:
        """Note that a batch was not taken: those that never will be, maybe none yet; None where all of it waits until
        ``retry_at``."""
        with self._lock:
            if not (isinstance(error, NeveConnection) and not error.may_have_arrived):
                for one in batch:
                    one.tried = one.tried or error.retryable
            if not batch or not is_final(error):
                self.retry_at = now + max(self.pause_s, error.retry_after or 0.0)
                self.pause_s = min(self.pause_s * 2, LAST_PAUSE_S)
                return None
            blamed = batch[0] if len(batch) == 1 else _named(batch, error)
            self._key = None
            self._single = blamed is None  # nobody says which of them it is: then one by one
            if blamed is None:
                return []
            self.drop(blamed)
            return [blamed]

    def drop(self, spoken: Spoken) -> None:
        """Never send a message."""
        with self._lock:
            spoken.state = "refused"
            self.waiting = [one for one in self.waiting if one is not spoken]
            self.said = [one for one in self.said if one is not spoken]
            self._single = self._single and bool(self.waiting)

    def done(self, retraction: Retraction) -> None:
        """Note that something was taken back, or never can be."""
        with self._lock:
            self.waiting = [one for one in self.waiting if one is not retraction]

    def seq_of(self, retraction: Retraction) -> int | None:
        """From where on something is to be taken back; None where there is nothing."""
        seqs = retraction.which.seqs
        if not seqs:
            return None
        return seqs[-1] + 1 if retraction.behind else seqs[0]

    def succeeded(self) -> None:
        """The service has answered."""
        self.pause_s, self.retry_at, self._key = FIRST_PAUSE_S, 0.0, None
        if not self.waiting:
            self._single = False

    # --- details ------------------------------------------------------------------------------------------

    def _overlap(self, marks: list[str]) -> int:
        """How many messages at the beginning of a list were said before: all that was said, or a window of its end."""
        said = [one.mark for one in self.said]
        if said and marks[: len(said)] == said:
            return len(said)
        longest = min(len(said), len(marks) - 1)
        return next((k for k in range(longest, WINDOW - 1, -1) if said[-k:] == marks[:k]), 0)

    def _refusal(self, spoken: Spoken, at: int) -> NeveError | None:
        if spoken.size > EVENT_BYTES * CALL_EVENTS or (
            isinstance(spoken.message.get("content"), str) and spoken.size > EVENT_BYTES
        ):
            return too_large(at)
        events = sum(one.events for one in self.waiting if isinstance(one, Spoken))
        if events + spoken.events > self._bound:
            return NeveBufferFull(
                "buffer_full",
                f"messages.{at} is not kept: {events} events wait for the service, and the bound is {self._bound}.",
            )
        return None

    def _forget_long_past(self) -> None:
        size = 0
        if self._said_size <= REMEMBERED_BYTES:
            return
        for at in range(len(self.said) - 1, -1, -1):
            size += self.said[at].size
            if size > REMEMBERED_BYTES and self.said[at] not in self.waiting:
                for one in self.said[:at]:
                    if one not in self.waiting:
                        one.message = {"role": one.message.get("role")}
                        one.size = 0
                self._said_size = size
                return


def _mark(message: Message) -> str:
    return f"#{message['id']}" if isinstance(message.get("id"), str) else mark_of(message)


def is_final(error: NeveError) -> bool:
    """Whether the same request would be refused again."""
    if isinstance(error, NeveConflict):
        return not error.retryable
    gone = isinstance(error, NeveNotFound) and error.status == 410
    return gone or (isinstance(error, NeveBadRequest | NeveTooLarge) and error.status is not None)


def _named(batch: Sequence[Spoken], error: NeveError) -> Spoken | None:
    for fault in error.errors:
        _, _, behind = str(fault.get("field", "")).partition("messages")
        number = behind.strip("[.").partition("]")[0].partition(".")[0]
        if number.isdecimal() and int(number) < len(batch):
            return batch[int(number)]
    return None
