"""The log of one session as a list of items: what is there, what waits to be appended, and what is to be taken back."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from neve import AsyncNeve, NeveBadRequest, NeveBufferFull, NeveConflict, NeveError, NeveNotFound, NeveTooLarge, Prompt

from .items import Item, Kept, ToolNames, Waiting, in_parts, is_whole, kept_of, newest, waiting_of

LOG = logging.getLogger("neve")
CALL_EVENTS, CALL_BYTES = 48, 900_000
"""The limits of one append: docs/rules/sessions.md#log and docs/rules/http.md#limits."""
PAGE = 200
MORE = 20
"""Events that are read beside a limit: results without their calls, events that are no items (chosen)."""
PAUSE_S = 5.0
"""Until an append that failed is tried again by itself, and until what a turn without an end has said goes."""


@dataclass(slots=True)
class TakenBack:
    """The items that were popped since the last call: one stretch at the end of the log. ``left``: items in front of it
    that were read; ``before``: where more are, None at the beginning of the log."""

    left: list[Kept]
    before: int | None
    seqs: list[int] = field(default_factory=list)


class Log:
    """``of`` gives the one object of a session: several sessions of the framework may be the same conversation."""

    _all: ClassVar[WeakValueDictionary[tuple[int, str, str], Log]] = WeakValueDictionary()

    def __init__(self, neve: AsyncNeve, user_id: str, session_id: str) -> None:
        self.neve = neve
        self._place = (user_id, session_id)
        self._names = ToolNames()
        self._waiting: list[Waiting] = []
        self._taken: TakenBack | None = None
        self._known: list[Item] = []
        self._missing = False
        self._lock = asyncio.Lock()
        self._timer: asyncio.Task[None] | None = None

    @classmethod
    def of(cls, neve: AsyncNeve, user_id: str, session_id: str) -> Log:
        key = (id(neve), user_id, session_id)
        found = cls._all.get(key)
        if found is None:
            found = cls._all[key] = cls(neve, user_id, session_id)
        return found

    # --- what a session of the framework does ---------------------------------------------------------------

    async def read(self, limit: int | None) -> list[Item]:
        """The items, oldest first. While the service is down those that this process knows; in ``strict`` raises."""
        async with self._lock:
            ends = self._ends("context")
            waiting = [one.item for one in self._waiting]
            try:
                await self._take_back(ends)
                kept, _ = await self._end_of_log(lambda items: is_whole([*items, *waiting], limit), ends, limit)
                self._known = [one.item for one in kept]
            except NeveError as error:
                self._degraded(error)
            self._names.learn(self._known)
            return newest([*self._known, *waiting], limit)

    async def add(self, items: Sequence[Any]) -> None:
        """Keep items for the next call: what ends a turn waits for the next one to begin, as long as the client's
        ``linger``."""
        added = [waiting_of(item, self._names) for item in items]
        full = sum(len(one.left) for one in [*self._waiting, *added]) > self.neve.settings.bound
        if full:
            bound = self.neve.settings.bound
            self._degraded(NeveBufferFull("buffer_full", f"{len(added)} items are not kept: {bound} events wait."))
            return
        self._waiting += added
        ended = bool(added) and added[-1].events[0]["event_type"] == "assistant_response"
        if ended and self.neve.settings.linger_s <= 0:
            await self.flush()
        elif added:
            self._send_later(self._pause())

    async def pop(self) -> Item | None:
        """The last item, which is taken back. Raises NeveError: nothing is known of a log that cannot be read."""
        async with self._lock:
            ends = self._ends("context")
            if self._waiting and self._waiting[-1].tried:
                await self._send(ends)
            if self._waiting:
                return self._waiting.pop().item
            if self._taken is None:
                left, before = await self._end_of_log(lambda items: bool(items), ends, PAGE)
                self._taken = TakenBack(left, before)
            elif not self._taken.left and self._taken.before is not None:
                left, before = await self._end_of_log(lambda items: bool(items), ends, PAGE, self._taken.before)
                self._taken.left, self._taken.before = left, before
            if not self._taken.left:
                return None
            last = self._taken.left.pop()
            if self._known[-1:] == [last.item]:
                self._known.pop()
            self._taken.seqs += last.seqs
            self._send_later(self._pause())
            return last.item

    async def clear(self) -> None:
        """Delete all items for good. Raises NeveError: a deletion is not done later."""
        async with self._lock:
            ends = self._ends("other")
            with suppress(NeveNotFound):
                page = await self.neve.raw.list_events(*self._place, order="desc", limit=1, timeout=self._left(ends))
                if page["events"]:
                    await self._retract(1, page["events"][0]["seq"], "deleted", ends)
            self._waiting, self._taken, self._known = [], None, []

    async def prompt(self, message: Any) -> Prompt | None:
        """Append what waits, and compile the prompt of a turn: one call. ``message``: what the user says; None in the
        middle of a turn. None where there is none. Raises NeveError."""
        async with self._lock:
            ends = self._ends("turn")
            await self._take_back(ends)
            compile_body = {"format": "openai_responses"} | ({} if message is None else {"message": message})
            answer = await self._send(ends, compile_body)
            if problem := answer.get("problem"):
                self.neve.note(NeveError(problem["code"], problem["detail"]))
            request = answer.get("prompt", {}).get("request")
            return None if request is None else Prompt(request, raw=answer["prompt"])

    async def flush(self, *, timeout: float | None = None) -> None:
        """Take back and append what waits, within seconds. In ``strict`` raises what fails."""
        ends = time.monotonic() + (self.neve.settings.timeout_s("flush") if timeout is None else timeout)
        async with self._lock:
            try:
                await self._take_back(ends)
                await self._send(ends)
            except NeveError as error:
                self._send_later(max(PAUSE_S, error.retry_after or 0.0))
                self._degraded(error)

    def count(self) -> int:
        """Items that wait."""
        return len(self._waiting)

    def rest(self) -> None:
        """Do nothing later any more."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    # --- reading --------------------------------------------------------------------------------------------

    async def _end_of_log(
        self, enough: Callable[[list[Item]], bool], ends: float, limit: int | None, from_seq: int | None = None
    ) -> tuple[list[Kept], int | None]:
        """The last items, as many pages as are enough, and where more are."""
        events: list[Any] = []
        size = PAGE if limit is None or limit < 0 else min(PAGE, limit + MORE)
        while True:
            try:
                page = await self.neve.raw.list_events(
                    *self._place, order="desc", retracted=False, limit=size, from_seq=from_seq, timeout=self._left(ends)
                )
            except NeveNotFound:
                self._missing = True
                return [], None
            events = [*reversed(page["events"]), *events]
            from_seq = page.get("next_from_seq")
            kept = kept_of(events)
            if from_seq is None or enough([one.item for one in kept]):
                return kept, from_seq

    # --- writing --------------------------------------------------------------------------------------------

    async def _take_back(self, ends: float) -> None:
        """Send all pops since the last call as one retraction."""
        taken = self._taken
        if taken is not None and taken.seqs:
            await self._retract(min(taken.seqs), max(taken.seqs), "edited", ends)
        self._taken = None

    async def _retract(self, first: int, last: int, reason: str, ends: float) -> None:
        body: Any = {"from_seq": first, "to_seq": last, "reason": reason}
        with suppress(NeveNotFound):
            await self.neve.raw.retract_events(*self._place, body, timeout=self._left(ends))

    async def _send(self, ends: float, compile_body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Append all that waits, in order; the last call compiles, too. Raises NeveError for what may pass later."""
        while True:
            events = self._batch()
            body: Any = {"events": events} if events else {}
            rest = len(events) < sum(len(one.left) for one in self._waiting)
            if compile_body is not None and not rest:
                body["compile"] = compile_body
            if not body:
                self._nothing_waits()
                return {}
            try:
                answer: Any = await self._call(body, ends)
            except NeveError as error:
                if not events or not _is_final(error) or _is_of_the_prompt(error):
                    raise
                self._refused(len(events), error)
                continue
            self._sent(len(events))
            if not rest:
                self._nothing_waits()
                return dict(answer)

    async def _call(self, body: Any, ends: float) -> Any:
        user_id, session_id = self._place
        while True:
            if self._missing:
                await self.neve.raw.open_session(user_id, {"session_id": session_id}, timeout=self._left(ends))
                self._missing = False
            try:
                return await self.neve.raw.turn(user_id, session_id, body, timeout=self._left(ends))
            except NeveNotFound as error:
                if error.code != "session_not_found":
                    raise
                self._missing = True

    def _batch(self) -> list[dict[str, Any]]:
        """The events of one call."""
        found: list[dict[str, Any]] = []
        size = 0
        for one in self._waiting:
            for event in one.left:
                size += len(repr(event).encode(errors="replace"))
                if found and (len(found) == CALL_EVENTS or size > CALL_BYTES):
                    return found
                one.tried = True
                found.append(event)
        return found

    def _sent(self, number: int) -> None:
        self.neve.recovered()
        while number:
            first = self._waiting[0]
            taken = min(number, len(first.left))
            first.sent, number = first.sent + taken, number - taken
            if not first.left:
                self._known.append(first.item)
                del self._waiting[0]

    def _refused(self, number: int, error: NeveError) -> None:
        """Keep what the service will not read as it is in parts; drop what it will not even keep so."""
        self.neve.note(error)
        blamed = self._blamed(number, error)
        kept: list[Waiting] = []
        for one in self._waiting:
            if one not in blamed:
                kept.append(one)
            elif not one.in_parts:
                kept.append(in_parts(one.item))
            else:
                LOG.error("an item is not kept (%s): %s", error.code, error)
        self._waiting = kept

    def _blamed(self, number: int, error: NeveError) -> list[Waiting]:
        """The items of the events that an error names; where it names none, all of the call."""
        owners = [one for one in self._waiting for _ in one.left][:number]
        names = [one["field"].removeprefix("events").strip("[.") for one in error.errors]
        numbers = [int(name.partition("]")[0].partition(".")[0] or -1) for name in names if name[:1].isdecimal()]
        named = [owners[at] for at in numbers if at < len(owners)]
        return named or owners

    # --- later ----------------------------------------------------------------------------------------------

    def _send_later(self, seconds: float) -> None:
        self.neve.outboxes.add(self)
        self.rest()
        if not self.neve.closed:
            self._timer = asyncio.get_running_loop().create_task(self._wait(seconds))

    def _nothing_waits(self) -> None:
        self.neve.outboxes.discard(self)
        self.rest()

    async def _wait(self, seconds: float) -> None:
        """Flush after a while, or at once when the loop ends before."""
        mine = asyncio.current_task()
        try:
            await asyncio.sleep(seconds)
        finally:
            if self._timer is mine:
                self._timer = None
                with suppress(NeveError):
                    await self.flush()

    # --- details --------------------------------------------------------------------------------------------

    def _pause(self) -> float:
        return self.neve.settings.linger_s if self.neve.settings.linger_s > 0 else PAUSE_S

    def _ends(self, call: str) -> float:
        return time.monotonic() + self.neve.settings.timeout_s(call)

    @staticmethod
    def _left(ends: float) -> float:
        return ends - time.monotonic()

    def _degraded(self, error: NeveError) -> None:
        self.neve.note(error)
        if self.neve.settings.strict:
            raise error


def _is_final(error: NeveError) -> bool:
    """Say whether the same events would be refused again."""
    refused = isinstance(error, NeveBadRequest | NeveTooLarge) and error.status is not None
    return refused or (isinstance(error, NeveConflict) and not error.retryable)


def _is_of_the_prompt(error: NeveError) -> bool:
    return any(one["field"].startswith("compile") for one in error.errors)
