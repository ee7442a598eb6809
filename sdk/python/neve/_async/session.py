"""One conversation of a chat. A failure of memory never raises in here, unless the client is ``strict``."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from .._shared.calls import Call, Reply, error_of, named_fields, path_of, too_late
from .._shared.conversation import Compiled, Conversation, Retraction, Sent, Taken, is_final
from .._shared.log import in_the_log, is_event_of
from .._shared.messages import (
    Message,
    Said,
    Spoken,
    content_for_compile,
    mark_of,
    messages_of,
    stopped,
)
from .._shared.prompts import Format, format_of, without_the_service
from .._shared.results import Appended, Pack, Prompt, Recalled, Usage
from .._shared.usage import tokens_of, usage_of
from ..errors import NeveBadRequest, NeveError, NeveNotFound
from .concurrency import Later, Lock, acquired

if TYPE_CHECKING:
    from ..types import CompileOptions, RecallOptions
    from .client import AsyncNeve

PAGE = 200
LEAST_PAUSE_S = 0.05


class AsyncSession:
    """``id``: as the caller knows the conversation. The service has it from the first message on."""

    def __init__(self, neve: AsyncNeve, user_id: str, session_id: str) -> None:
        self._neve = neve
        self.user_id = user_id
        self.id = session_id
        self.opened_with: dict[str, Any] = {}
        self.conversation = Conversation(neve.settings.bound)
        self._lock = Lock()
        self._later = Later(self._in_the_background)

    # --- the chat -----------------------------------------------------------------------------------------

    async def append(self, said: Said) -> Appended:
        """Keep what was said: a text of the user, messages of a provider as they are, the answer of its client; what is
        new, or the whole chat. An answer waits for the next message. Raises NeveBadRequest for what has no known shape;
        in ``strict`` what fails."""
        taken = self.conversation.take(messages_of(said))
        if self.conversation.may_wait() and self._neve.settings.linger_s > 0:
            self._send_later()
            return self._appended(taken, Sent())
        now = time.monotonic() >= self.conversation.retry_at
        return self._appended(taken, await self._send_all(self._seconds("append")) if now else Sent())

    async def turn(
        self, said: Said = None, *, format: Format = "anthropic", **options: Unpack[CompileOptions]
    ) -> Prompt:
        """Append what was said, with what waits, and compile the next prompt: one call. The options are those of
        compile."""
        ends = time.monotonic() + self._seconds("turn")
        taken = self.conversation.take([] if said is None else messages_of(said))
        return await self._prompt(taken, None, format_of(format), options, ends)

    async def context(
        self, message: Said, *, format: Format = "anthropic", **options: Unpack[CompileOptions]
    ) -> Prompt:
        """Compile the prompt of a message that is appended later. What waits is appended in the same call."""
        ends = time.monotonic() + self._seconds("context")
        found = messages_of(message)
        if len(found) != 1:
            raise NeveBadRequest("unknown_message", "context takes one message of the user; turn takes several.")
        return await self._prompt(Taken(), found[0], format_of(format), options, ends)

    async def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recalled:
        """Search memory: the hits, and a text of them that is ready to inject."""
        path, body = path_of("users", self.user_id, "recall"), {"query": query, **options}
        ends = time.monotonic() + self._seconds("recall")
        call = Call("POST", path, {**body, "session_id": self.id}, span="search_memory", told=self._told())
        try:
            try:
                reply = await self._neve.transport.send(call, ends - time.monotonic())
            except NeveNotFound:  # the session is not there yet
                reply = await self._neve.transport.send(Call("POST", path, body), ends - time.monotonic())
        except NeveError as error:
            return Recalled([], "", {}, [self._degraded(error)])
        answer = reply.body
        return Recalled(answer["hits"], answer.get("injection_text", ""), answer, list(answer.get("degraded") or ()))

    async def pack(self) -> Pack:
        """What is always worth knowing of the user: the same bytes until they change. While it is not to be had, the
        last ones."""
        last = self.conversation.pack
        text, etag = last or ("", None)
        try:
            try:
                reply = await self._read_pack(last)
            except NeveNotFound:
                await self._open(self._seconds("pack"))
                reply = await self._read_pack(last)
        except NeveError as error:
            return Pack(text, etag, stale=True, degraded=[self._degraded(error)])
        degraded = [one.strip() for one in reply.headers.get("x-neve-degraded", "").split(",") if one.strip()]
        if reply.status == 304:
            return Pack(text, etag, degraded=degraded)
        if not isinstance(reply.body, str):
            return Pack(text, etag, stale=True, degraded=list(reply.body.get("degraded") or degraded))
        etag = reply.headers.get("etag")
        self.conversation.pack = (reply.body, etag) if etag else last
        return Pack(reply.body, etag, degraded=degraded)

    async def usage(self, response: Any, *, prompt_id: str | None = None) -> Usage:
        """Tokens of the provider's answer, told to the service as those of the last prompt. ``response``: as its client
        returned it."""
        usage, model = usage_of(response)
        tokens = tokens_of(usage)
        known = prompt_id or self.conversation.prompt_id
        if known is None or not usage:
            return Usage(*tokens, degraded=["no_prompt" if usage else "no_usage"])
        body = {"prompt_id": known, "usage": usage} | ({"model": model} if model else {})
        try:
            call = Call("POST", path_of("users", self.user_id, "usage"), body)
            reply = await self._neve.transport.send(call, self._seconds("usage"))
        except NeveError as error:
            return Usage(*tokens, degraded=[self._degraded(error)])
        return Usage(*tokens, raw=reply.body)

    # --- what chats do ------------------------------------------------------------------------------------

    async def edit(self, which: Any, said: Said) -> Appended:
        """Say something else in the place of a message, which is taken back with all that followed. ``which``: the
        message, its id, or a seq of the log."""
        messages = messages_of(said)
        failed = await self._take_back(which, behind=False, reason="edited")
        if failed is not None:
            self._degraded(failed)
        return self._also(await self.append(messages), failed)

    async def regenerate(self) -> Appended:
        """Take the last answer back, with all calls of tools that led to it: append the new one then."""
        failed = await self._take_back(self.conversation.last_question(), behind=True, reason="edited")
        return self._also(await self.flush(), failed)

    async def branch(self, which: Any) -> Appended:
        """Go on from an earlier message: what followed it is left, and stays readable in the log."""
        failed = await self._take_back(which, behind=True, reason="branched")
        return self._also(await self.flush(), failed)

    async def stop(self, said: Said) -> Appended:
        """Keep an answer as far as it was shown when the user stopped it: without calls, which will have no results."""
        left = stopped(messages_of(said))
        return await (self.append(left) if left else self.flush())

    async def delete(self) -> None:
        """Delete the chat and all that was made of it. Raises NeveError: a deletion is not done in the background."""
        self._later.cancel()
        self.conversation.clear()
        call = Call("DELETE", self._path(), span="delete_memory", told=self._told())
        await self._neve.transport.send(call, self._seconds("other"))

    async def end(self) -> Appended:
        """Append what waits, and say that the conversation is over."""
        appended = await self.flush()
        if appended.kept:
            return appended
        call = Call("POST", self._path("end"), {})
        try:
            await self._neve.transport.send(call, self._seconds("flush"))
        except NeveError as error:
            appended.degraded.append(self._degraded(error))
        return appended

    async def flush(self, *, timeout: float | None = None) -> Appended:
        """Append whatever waits, now. ``timeout``: seconds."""
        return self._appended(Taken(), await self._send_all(self._seconds("flush") if timeout is None else timeout))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.flush()

    def rest(self) -> None:
        """Do nothing later any more."""
        self._later.cancel()

    # --- appending ----------------------------------------------------------------------------------------

    async def _send_all(self, seconds: float) -> Sent:
        """Send what waits, in order, until a failure."""
        ends, sent = time.monotonic() + seconds, Sent()
        if not self.conversation.waiting or not await acquired(self._lock, seconds):
            return sent  # nothing to do, or somebody is at it
        try:
            await self._open_with_metadata(sent, ends)
            while self.conversation.waiting and sent.failed is None:
                await self._send_first(sent, ends)
        finally:
            self._lock.release()
            self._send_later()
        return sent

    async def _send_first(self, sent: Sent, ends: float) -> None:
        """Send the first that waits, or as much behind it as one call takes."""
        conversation = self.conversation
        first = conversation.waiting[0]
        if isinstance(first, Retraction):
            await self._retract(first, sent, ends)
            return
        batch = conversation.batch()
        call = self._write("messages", {"messages": [one.sent for one in batch]}, conversation.key_of(batch))
        try:
            reply = await self._neve.transport.send(call, ends - time.monotonic())
        except NeveError as error:
            self._not_taken(batch, error, sent)
        else:
            self._settle(batch, reply.body, sent)

    def _settle(self, batch: Sequence[Spoken], answer: Mapping[str, Any], sent: Sent) -> None:
        self.conversation.settle(batch, answer)
        sent.done += batch
        sent.parts += answer.get("dropped") or ()
        self._neve.recovered()

    def _not_taken(self, batch: Sequence[Spoken], error: NeveError, sent: Sent) -> None:
        self._neve.note(error)
        if unknown := named_fields(error) & self.opened_with.keys():
            for name in unknown:  # what a session is opened with must not cost what is said in it
                del self.opened_with[name]
            return
        refused = self.conversation.failed(batch, error, time.monotonic())
        if refused is None:
            sent.failed = error
        elif refused:
            sent.done += refused
            sent.errors.append(error)

    async def _retract(self, retraction: Retraction, sent: Sent, ends: float) -> None:
        seq = self.conversation.seq_of(retraction)
        if seq is not None:
            body = {"from_seq": seq, "reason": retraction.reason}
            call = Call("POST", self._path("events", "retract"), body, span="delete_memory", told=self._told())
            try:
                await self._neve.transport.send(call, ends - time.monotonic())
            except NeveError as error:
                self._neve.note(error)
                if not is_final(error):
                    self.conversation.failed([], error, time.monotonic())
                    sent.failed = error
                    return
                sent.errors.append(error)
        self.conversation.done(retraction)

    def _send_later(self) -> None:
        conversation = self.conversation
        if not conversation.waiting or self._neve.closed:
            self._later.cancel()
            return
        self._later.after(max(conversation.retry_at - time.monotonic(), self._neve.settings.linger_s, LEAST_PAUSE_S))

    async def _in_the_background(self) -> None:
        await self._send_all(self._seconds("flush"))

    def _appended(self, taken: Taken, sent: Sent) -> Appended:
        """The counts. Raises what failed, in ``strict``."""
        errors = [error for _, error in taken.refused] + sent.errors + ([sent.failed] if sent.failed else [])
        for error in errors:
            self._degraded(error)
        states = [one.state for one in sent.done] + ["refused"] * len(taken.refused)
        return Appended(
            appended=states.count("appended"),
            known=states.count("known") + taken.known,
            dropped=states.count("dropped"),
            refused=states.count("refused"),
            kept=self.conversation.count(),
            parts=sent.parts,
            degraded=list(dict.fromkeys(error.code for error in errors)),
        )

    # --- prompts ------------------------------------------------------------------------------------------

    async def _prompt(
        self, taken: Taken, message: Message | None, form: str, options: Mapping[str, Any], ends: float
    ) -> Prompt:
        """Append what waits and compile, in one call where one takes it all; the last prompt's bytes where that
        fails."""
        sent, answer = Sent(), None
        body = {"format": form, **options} | ({} if message is None else {"message": content_for_compile(message)})
        left = ends - time.monotonic()
        if await acquired(self._lock, left):
            try:
                answer = await self._compiled(body, sent, ends)
            finally:
                self._lock.release()
                self._send_later()
        else:
            sent.failed = too_late(self._neve.settings.base_url, left)
        appended = self._appended(taken, sent)
        prompt = None if answer is None else answer.body.get("prompt", answer.body)
        if answer is None or prompt is None or "request" not in prompt:
            request = without_the_service(self.conversation, form, message, options)
            more = () if answer is None else answer.body.get("degraded") or ()
            return Prompt(request, stale=True, degraded=[*appended.degraded, *more], appended=appended)
        self.conversation.compiled = Compiled(
            form,
            prompt["request"],
            len(self.conversation.said),
            None if message is None else mark_of(message),
            answer.size,
        )
        self.conversation.prompt_id = prompt.get("prompt_id")
        degraded = [*appended.degraded, *(prompt.get("degraded") or ())]
        return Prompt(prompt["request"], raw=prompt, degraded=degraded, appended=appended)

    async def _compiled(self, body: Mapping[str, Any], sent: Sent, ends: float) -> Reply | None:
        conversation = self.conversation
        await self._open_with_metadata(sent, ends)
        while sent.failed is None:
            batch = conversation.batch()
            if len(batch) < len(conversation.waiting):
                await self._send_first(sent, ends)
                continue
            try:
                return await (self._turn(batch, body, sent, ends) if batch else self._compile(body, ends))
            except NeveError as error:
                if not batch and is_final(error):
                    sent.failed = error
                elif not batch or not is_final(error):
                    self._not_taken(batch, error, sent)
                else:  # which of both it is about, the append by itself will tell
                    await self._send_first(sent, ends)
        return None

    async def _turn(self, batch: Sequence[Spoken], body: Mapping[str, Any], sent: Sent, ends: float) -> Reply:
        messages = {"messages": [one.sent for one in batch], "compile": body}
        call = self._write("turn", messages, self.conversation.key_of(batch))
        reply = await self._neve.transport.send(call, ends - time.monotonic())
        self._settle(batch, reply.body.get("appended") or {}, sent)
        if problem := reply.body.get("problem"):
            sent.failed = error_of(problem)
            self._neve.note(sent.failed)
        return reply

    async def _compile(self, body: Mapping[str, Any], ends: float) -> Reply:
        path = path_of("users", self.user_id, "context")
        call = Call("POST", path, {**body, "session_id": self.id}, span="search_memory", told=self._told())
        try:
            return await self._neve.transport.send(call, ends - time.monotonic())
        except NeveNotFound:
            await self._open(ends - time.monotonic())
            return await self._neve.transport.send(call, ends - time.monotonic())

    # --- details ------------------------------------------------------------------------------------------

    async def _open_with_metadata(self, sent: Sent, ends: float) -> None:
        """An append opens a session, too, but takes no metadata for it."""
        if "metadata" in self.opened_with:
            try:
                await self._open(ends - time.monotonic())
            except NeveError as error:
                self._not_taken([], error, sent)
            else:
                del self.opened_with["metadata"]

    async def _open(self, seconds: float) -> None:
        body = {**self.opened_with, "session_id": self.id}
        await self._neve.transport.send(Call("POST", path_of("users", self.user_id, "sessions"), body), seconds)

    async def _read_pack(self, last: tuple[str, str] | None) -> Reply:
        headers = {} if last is None else {"If-None-Match": last[1]}
        query = {"session_id": self.id, "format": "text"}
        call = Call("GET", path_of("users", self.user_id, "pack"), query=query, headers=headers)
        return await self._neve.transport.send(call, self._seconds("pack"))

    async def _take_back(self, which: Any, *, behind: bool, reason: str) -> NeveError | None:
        """Take back from a message on; why it cannot be found, where it cannot."""
        try:
            found = which if isinstance(which, Spoken) else await self._found(which)
        except NeveError as error:
            return error
        self.conversation.take_back(found, behind=behind, reason=reason)
        return None

    async def _found(self, which: Any) -> Spoken:
        """A message of this process, else one of the log: by its seq, its id or its words; the newest. None: the last
        question. Raises NeveNotFound."""
        wanted = which if which is None or isinstance(which, int | str) else messages_of(which)[0]
        if isinstance(wanted, int):
            return in_the_log(wanted)
        known = None if wanted is None else self.conversation.find(wanted)
        if known is not None:
            return known
        query: dict[str, Any] = {"order": "desc", "retracted": False, "limit": PAGE}
        while True:
            call = Call("GET", self._path("events"), query=query)
            page = (await self._neve.transport.send(call, self._seconds("flush"))).body
            newest = max((event["seq"] for event in page["events"]), default=0)
            self.conversation.last_seq = max(self.conversation.last_seq, newest)
            if seqs := [event["seq"] for event in page["events"] if is_event_of(event, wanted)]:
                return in_the_log(*(seqs if isinstance(wanted, str) else seqs[:1]))
            if page.get("next_from_seq") is None:
                raise NeveNotFound("unknown_id", f"There is no such message in the session {self.id}: {wanted!r}.")
            query["from_seq"] = page["next_from_seq"]

    def _also(self, appended: Appended, failed: NeveError | None) -> Appended:
        if failed is not None:
            appended.degraded.append(self._degraded(failed))
        return appended

    def _degraded(self, error: NeveError) -> str:
        """Tell what failed, once of each kind: its code. Raises it, in ``strict``."""
        code = self._neve.note(error)
        if self._neve.settings.strict:
            raise error
        return code

    def _write(self, name: str, body: Mapping[str, Any], key: str) -> Call:
        headers = {"Idempotency-Key": key}
        return Call(
            "POST",
            self._path(name),
            {**body, **self.opened_with},
            headers=headers,
            span="upsert_memory",
            told=self._told(),
        )

    def _path(self, *parts: str) -> str:
        return path_of("users", self.user_id, "sessions", self.id, *parts)

    def _seconds(self, call: str) -> float:
        return self._neve.settings.timeout_s(call)

    def _told(self) -> dict[str, Any]:
        return {"gen_ai.conversation.id": self.id, "gen_ai.memory.store.name": "neve"}
