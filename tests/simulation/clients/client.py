"""One client of a chat product: what it does next is drawn, and so is what it does when it gets no answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Protocol, TypeVar

from neve.domain.errors import NeveError
from neve.domain.times import iso
from neve.ports.errors import StoreUnavailable
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.ask.recall.command import BOTH_LEGS
from tests.simulation.clients.history import (
    ADA,
    BEN,
    DISLIKING,
    LIKING,
    AppendedEvent,
    AppendGiven,
    Did,
    History,
    LoadedPart,
    Picture,
    PromptGiven,
    RecallGiven,
    RetractGiven,
    TimedGiven,
)
from tests.simulation.clients.pictures import CLIENT_IDS, NO_IMAGE, PNG, RETENTION_S, TOO_LARGE, picture_of
from tests.simulation.clients.seen import (
    SeenEvent,
    SeenExport,
    SeenJob,
    SeenList,
    SeenMemory,
    SeenPack,
    SeenPart,
    SeenPrompt,
    SeenRecall,
    SeenRetraction,
    SeenUpload,
)
from tests.simulation.machine.cloud import Cloud
from tests.simulation.machine.ports import SimPorts
from tests.simulation.machine.process import START
from tests.simulation.machine.scheduler import Crashed
from tests.simulation.machine.workers import Environment

T = TypeVar("T")
TRIES = 6
RETRIED_S = (0.05, 1.0, 5.0)
LOOKS, LOOKED_S = 3, (5.0, 20.0, 60.0)
"""How often a client looks whether a pass has taken what it said for a correction, and how long it waits before."""
MEANWHILE, MEANWHILE_S = 12, (0.05, 1.0, 5.0)
"""How often it says something again while a job has not begun, and how long it waits before."""
ERASING_S = 600.0
"""How long a client waits at most whose user is being erased, before it goes on."""
UNSURE = frozenset({"conflict", "idempotency_in_progress", "store_unavailable", "internal"})
"""Refusals that do not say that nothing was written."""
LARGE, LARGE_CHARACTERS = 0.5, 5_400
"""How often a tool prints so much that a compaction puts it away."""
ROUNDS, COMPACTED, ANSWERED = (2, 6), 0.2, 0.7
"""Rounds of tools in a loop, and how often it asks for a compaction in one, and ends with an answer."""
LIKES = " likes the "
WORDS = ("kayak", "stove", "garden", "violin", "harbour")


class Api(Protocol):
    """See ``UseCaseApi``."""

    def open(self, ports: SimPorts, keys: SessionKeys) -> SeenPack: ...
    def append(self, ports: SimPorts, keys: SessionKeys, given: AppendGiven) -> list[int]: ...
    def upload(self, ports: SimPorts, keys: UserKeys, media_type: str, size: int | None) -> SeenUpload: ...
    def retract(self, ports: SimPorts, keys: SessionKeys, given: RetractGiven) -> SeenRetraction: ...
    def read_log(self, ports: SimPorts, keys: SessionKeys) -> list[SeenEvent]: ...
    def read_pack(self, ports: SimPorts, keys: SessionKeys) -> SeenPack: ...
    def recall(self, ports: SimPorts, keys: SessionKeys, given: RecallGiven) -> SeenRecall: ...
    def context(self, ports: SimPorts, keys: SessionKeys, given: PromptGiven) -> SeenPrompt: ...
    def list_memories(self, ports: SimPorts, keys: UserKeys) -> list[SeenMemory]: ...
    def get_memory(self, ports: SimPorts, keys: UserKeys, memory_id: str) -> SeenMemory: ...
    def create_memory(self, ports: SimPorts, keys: SessionKeys, text: str, local: bool) -> SeenMemory: ...
    def create_timed(self, ports: SimPorts, keys: SessionKeys, given: TimedGiven, local: bool) -> SeenMemory: ...
    def update_memory(self, ports: SimPorts, keys: UserKeys, memory_id: str, rev: int, text: str) -> SeenMemory: ...
    def delete_memory(self, ports: SimPorts, keys: UserKeys, memory_id: str, rev: int) -> None: ...
    def state_fact(self, ports: SimPorts, keys: SessionKeys, text: str, local: bool) -> SeenMemory: ...
    def evolve_memory(self, ports: SimPorts, keys: UserKeys, memory_id: str, text: str) -> SeenMemory: ...
    def mark_used(self, ports: SimPorts, keys: UserKeys, ids: Sequence[str]) -> list[str]: ...
    def observe(self, ports: SimPorts, keys: SessionKeys, wait: bool) -> SeenJob: ...
    def compact(self, ports: SimPorts, keys: SessionKeys, wait: bool) -> SeenJob: ...
    def end(self, ports: SimPorts, keys: SessionKeys) -> SeenJob: ...
    def read_job(self, ports: SimPorts, keys: UserKeys, job_id: str) -> SeenJob: ...
    def export(self, ports: SimPorts, keys: UserKeys) -> SeenJob: ...
    def list_to_forget(self, ports: SimPorts, keys: UserKeys) -> SeenList: ...
    def forget(self, ports: SimPorts, keys: UserKeys, confirm: str) -> SeenJob: ...
    def read_export(self, ports: SimPorts, keys: UserKeys, job_id: str) -> SeenExport: ...


class Caller:
    """Calls the API through one of its processes, and notes what it was told."""

    def __init__(self, cloud: Cloud, api: Api, history: History, environments: Sequence[Environment]) -> None:
        self.cloud = cloud
        self.api = api
        self.history = history
        self._environments = environments

    def call(self, did: Did, work: Callable[[SimPorts], object]) -> Did:
        """``did`` with its outcome."""
        cloud = self.cloud
        did.began_s = cloud.scheduler.now_s
        self.history.done.append(did)

        def attempt(ports: SimPorts) -> None:
            did.value = work(ports)
            did.outcome = "ok"

        try:
            cloud.random.choice(self._environments).run(attempt)
        except StoreUnavailable:
            did.code = "store_unavailable"
        except NeveError as refusal:
            did.code = refusal.code
            did.outcome = "unknown" if refusal.code in UNSURE else "refused"
        except Crashed:
            raise
        except Exception as error:
            cloud.unforeseen.append(f"{did.what}: {type(error).__name__} {error}")
        did.ended_s = cloud.scheduler.now_s
        cloud.trace.add(did.ended_s, did.who, did.what, f"{did.outcome} {did.code}")
        return did


class Client:
    """``steps``: how many calls; ``weights``: of each kind of call."""

    def __init__(self, caller: Caller, name: str, keys: SessionKeys, weights: Mapping[str, int]) -> None:
        self._caller = caller
        self._cloud = caller.cloud
        self._api = caller.api
        self._name = name
        self._keys = keys
        self._weights = weights
        self._events_made = 0
        self._last = 0
        self._known: dict[str, int] = {}
        self._uploads: dict[str, bytes] = {}
        self._code = ""
        self._heard_of_ben = ""
        self._likes: list[str] = []
        self._exports: list[str] = []

    def run(self, steps: int) -> None:
        random = self._cloud.random
        self._persist("open", None, lambda ports: self._api.open(ports, self._keys))
        for _ in range(steps):
            self._cloud.scheduler.pause(random.random() * self._cloud.settings.think_s)
            kind = random.choices(list(self._weights), list(self._weights.values()))[0]
            getattr(self, f"_{kind}")()
            if self._code == "erasing":
                self._cloud.scheduler.pause(random.uniform(100.0, ERASING_S))
            elif self._code == "session_not_found":
                self._open()

    # --- what it does ---------------------------------------------------------------------------

    def _open(self) -> None:
        self._ask("open", None, lambda ports: self._api.open(ports, self._keys))

    def _append(self) -> None:
        random = self._cloud.random
        keyed = random.random() < self._cloud.settings.keyed
        by_key = keyed and random.random() < 0.3
        kinds = random.choice(
            (
                ("user_message",),
                ("user_message", "assistant_response"),
                ("user_message", "tool_call", "tool_result", "assistant_response"),
                ("assistant_response",),
                ("assistant_response", "task_boundary"),
            )
        )
        self._append_these(kinds, keyed=keyed, by_key=by_key)

    def _among(self) -> None:
        """What one of several says, with an answer that may repeat what another said before."""
        random = self._cloud.random
        said = self._say("user_message", with_id=True)
        said.participant = random.choice((None, ADA, BEN))
        answer = self._say("assistant_response", with_id=True)
        if said.participant == BEN:
            self._heard_of_ben = said.text.split()[2]
        if self._heard_of_ben and random.random() < 0.5:
            answer.text += f" as {self._heard_of_ben} said"
        self._append_events([said, answer] if random.random() < 0.8 else [said], None, repeatable=True)

    def _tool(self) -> None:
        """A round of tool calls, one event at a time: others may come between."""
        kinds = self._cloud.random.choice((("user_message", "tool_call"), ("tool_call",), ("tool_result",)))
        self._append_these(kinds, keyed=True, by_key=False)

    def _loop(self) -> None:
        """As an agent does it: a message, and rounds of tools with a prompt of the log alone behind each; others come
        between."""
        random = self._cloud.random
        self._append_these(("user_message",), keyed=True, by_key=False)
        for _ in range(random.randint(*ROUNDS)):
            self._append_these(("tool_call", "tool_result"), keyed=True, by_key=False)
            if random.random() < COMPACTED:
                self._compact()
            self._ask_for_prompt(None)
        if random.random() < ANSWERED:
            self._append_these(("assistant_response",), keyed=True, by_key=False)

    def _tell(self) -> None:
        """One of few statements, which a pass takes for a fact, and for the end of another one."""
        event = self._say("user_message", with_id=True)
        about = f"{tag_of(self._keys)} {self._keys.session} {event.client_id}"
        event = replace(event, text=f"{about} likes the {self._cloud.random.choice(WORDS)}")
        self._append_events([event], None, repeatable=True)

    def _recant(self) -> None:
        """What it likes by now; that is taken back when it has taken the place of something, and what it liked before
        is said again while the job of that is about to bring it back."""
        random, liked = self._cloud.random, self._liked()
        if not liked:
            self._fact()
            return
        self._tell()
        last = self._last
        gone = self._gone_of(liked)
        if not gone or not last:
            return
        given = RetractGiven(last, last, random.choice(("edited", "deleted", "branched")))
        did = self._persist("retract", given, lambda ports: self._api.retract(ports, self._keys, given))
        if did.ok:
            self._say_meanwhile(gone, did.value.id)

    def _liked(self) -> list[str]:
        """As the last list that it was given says."""
        self._list()
        return self._likes

    def _gone_of(self, liked: Sequence[str]) -> list[str]:
        for _ in range(LOOKS):
            self._observe()
            self._cloud.scheduler.pause(self._cloud.random.random() * self._cloud.random.choice(LOOKED_S))
            gone = sorted(set(liked).difference(self._liked()))
            if gone:
                return gone
        return []

    def _say_meanwhile(self, texts: Sequence[str], job_id: str) -> None:
        """Again and again, and mostly put away again: what was said before the job weighs what comes back holds, and
        nothing comes back; the first time has to be between that and the flip."""
        random, keys = self._cloud.random, self._keys
        for _ in range(MEANWHILE):
            self._cloud.scheduler.pause(random.random() * random.choice(MEANWHILE_S))
            job = self._ask("job", job_id, lambda ports: self._api.read_job(ports, keys, job_id))
            if job.ok and job.value.status != "queued":
                return
            did = self._state(random.choice(texts), local=True)
            if did.ok and random.random() < 0.8:
                self._put_away(did.value)

    def _put_away(self, memory: SeenMemory) -> None:
        given = (memory.id, memory.rev)
        self._ask("delete", given, lambda ports: self._api.delete_memory(ports, self._keys, *given))

    def _show(self) -> None:
        """A message with images. Some are under a client id that others use for another message, so that an append may
        be refused whose images are stored."""
        random = self._cloud.random
        event = self._say("user_message", with_id=random.random() < self._cloud.settings.keyed)
        if random.random() < 0.5:
            event.client_id = random.choice(CLIENT_IDS)
        event.pictures = tuple(self._picture() for _ in range(random.randint(1, 2)))
        answer = self._say("assistant_response", with_id=event.client_id is not None)
        events = [event, answer] if random.random() < 0.7 else [event]
        self._append_events(events, None, repeatable=event.client_id is not None)

    def _picture(self) -> Picture:
        """Few, so that clients show the same ones; one in ten is none, or is too large."""
        random = self._cloud.random
        is_none = random.random() < 0.1
        body = NO_IMAGE if is_none else picture_of(tag_of(self._keys), random.choice(WORDS))
        if random.random() < 0.5:
            return Picture(PNG, body)
        if is_none and random.random() < 0.5:
            body = TOO_LARGE
        if self._uploads and random.random() < 0.5:
            upload_id, body = random.choice(list(self._uploads.items()))
            return Picture(PNG, body, upload_id)
        return self._uploaded(body) or Picture(PNG, body)

    def _uploaded(self, body: bytes) -> Picture | None:
        """As its client sends it to where it was told, unless it does not come to that."""
        random = self._cloud.random
        size = random.choice((None, len(body)))
        given = (PNG, size)
        did = self._ask("upload", given, lambda ports: self._api.upload(ports, self._keys, *given))
        if not did.ok:
            return None
        self._uploads[did.value.id] = body
        self._cloud.scheduler.pause(random.random() * random.choice((1.0, RETENTION_S)))
        if random.random() < 0.9:
            self._cloud.objects.accept_upload(did.value.url, PNG, body)
        return Picture(PNG, body, did.value.id)

    def _append_these(self, kinds: Sequence[str], *, keyed: bool, by_key: bool) -> None:
        events = [self._say(kind, with_id=keyed and not by_key) for kind in kinds]
        self._append_events(events, f"{self._name}-{self._events_made}" if by_key else None, repeatable=keyed)

    def _append_events(self, events: list[AppendedEvent], key: str | None, *, repeatable: bool) -> None:
        given = AppendGiven(events, key, repeatable=repeatable)
        work = self._persist(
            "append", given, lambda ports: self._api.append(ports, self._keys, given), repeat=repeatable
        )
        if work.ok:
            self._last = max(self._last, *work.value)

    def _retract(self) -> None:
        """Of what it knows to be there, near the end."""
        if not self._last:
            return
        random = self._cloud.random
        first = max(1, self._last - random.randrange(8))
        last = random.choice((None, first, random.randint(first, self._last)))
        given = RetractGiven(first, last, random.choice(("edited", "deleted", "branched")))
        self._persist("retract", given, lambda ports: self._api.retract(ports, self._keys, given))

    def _say(self, kind: str, *, with_id: bool) -> AppendedEvent:
        self._events_made += 1
        keys, word = self._keys, self._cloud.random.choice(WORDS)
        label = f"{self._name}-{self._events_made}"
        text = f"{tag_of(keys)} {keys.session} {label} about the {word}"
        if kind == "tool_result" and self._cloud.random.random() < LARGE:
            text = text.ljust(LARGE_CHARACTERS, ".")
        return AppendedEvent(kind, text, label if with_id else None)

    def _fresh(self) -> None:
        """One more session, which others may open at the same time."""
        keys = replace(self._keys, session=f"n{self._cloud.random.randrange(6)}")
        did = Did(self._name, "open", keys, None, 0.0)
        self._caller.call(did, lambda ports: self._api.open(ports, keys))

    def _read_log(self) -> None:
        self._ask("read_log", None, lambda ports: self._api.read_log(ports, self._keys))

    def _read_pack(self) -> None:
        self._ask("read_pack", None, lambda ports: self._api.read_pack(ports, self._keys))

    def _recall(self) -> None:
        query = f"{self._cloud.random.choice(WORDS)} {self._cloud.random.choice(WORDS)}"
        self._look_for(RecallGiven(query, BOTH_LEGS))

    def _look_for(self, given: RecallGiven) -> None:
        self._ask("recall", given, lambda ports: self._api.recall(ports, self._keys, given))

    def _context(self) -> None:
        self._ask_for_prompt(f"{tag_of(self._keys)} asks about the {self._cloud.random.choice(WORDS)}")

    def _ask_for_prompt(self, message: str | None) -> None:
        random = self._cloud.random
        given = PromptGiven(
            message,
            random.choice(("anthropic", "anthropic", "openai")),
            random.choice(("auto", "tools", "none")),
            random.choice((None, None, 2)),
        )
        self._ask("context", given, lambda ports: self._api.context(ports, self._keys, given))

    def _list(self) -> None:
        did = self._ask("list_memories", None, lambda ports: self._api.list_memories(ports, self._keys))
        if did.ok:
            self._known |= {memory.id: memory.rev for memory in did.value}
            self._likes = [memory.text for memory in did.value if LIKES in memory.text.lower()]

    def _note(self) -> None:
        """And ask for it at once, by its words."""
        self._look_for(RecallGiven(self._create().given, ("lexical",)))

    def _create(self) -> Did:
        text = f"{tag_of(self._keys)} {self._name} noted {self._cloud.random.choice(WORDS)} {self._next()}"
        local = self._cloud.random.random() < 0.5
        did = self._ask("create", text, lambda ports: self._api.create_memory(ports, self._keys, text, local))
        if did.ok:
            self._known[did.value.id] = did.value.rev
        return did

    def _timed(self) -> None:
        """What has ended, holds for a while, or is to begin; sometimes asked for at once."""
        random, now = self._cloud.random, START + timedelta(seconds=self._cloud.scheduler.now_s)
        begins = random.choice((None, now + timedelta(seconds=random.uniform(-60, 120))))
        ends = random.choice((None, (begins or now) + timedelta(seconds=random.uniform(1, 240))))
        text = f"{tag_of(self._keys)} {self._name} keeps {self._cloud.random.choice(WORDS)} {self._next()}"
        given = TimedGiven(text, iso(begins) if begins else None, iso(ends) if ends else None)
        local = random.random() < 0.5
        self._ask("timed", given, lambda ports: self._api.create_timed(ports, self._keys, given, local))
        if random.random() < 0.5:
            self._look_for(RecallGiven(text, BOTH_LEGS))

    def _fact(self) -> None:
        """One of few statements, in any spelling: clients say the same."""
        random = self._cloud.random
        text = random.choice((" ", "  ")).join((tag_of(self._keys), "likes", "the", random.choice(WORDS)))
        text = random.choice((text, text.upper()))
        self._state(text, local=random.random() < 0.5)

    def _reword(self) -> None:
        """The same few statements in other words, and their opposites."""
        random = self._cloud.random
        text = f"{tag_of(self._keys)} {random.choice((*LIKING, DISLIKING))} {random.choice(WORDS)}"
        self._state(text, local=random.random() < 0.5)

    def _state(self, text: str, *, local: bool) -> Did:
        did = self._ask("fact", text, lambda ports: self._api.state_fact(ports, self._keys, text, local))
        if did.ok:
            self._known[did.value.id] = did.value.rev
        return did

    def _evolve(self) -> None:
        one = self._one()
        if one is None:
            return
        text = f"{tag_of(self._keys)} likes the {self._cloud.random.choice(WORDS)} of {self._cloud.random.randrange(9)}"
        given = (one, text)
        did = self._ask("evolve", given, lambda ports: self._api.evolve_memory(ports, self._keys, *given))
        if did.ok:
            self._known[did.value.id] = did.value.rev

    def _get(self) -> None:
        one = self._one()
        if one is not None:
            did = self._ask("get", one, lambda ports: self._api.get_memory(ports, self._keys, one))
            if did.ok:
                self._known[one] = did.value.rev

    def _update(self) -> None:
        one = self._one()
        if one is None:
            return
        rev, text = self._known[one], f"{tag_of(self._keys)} {self._name} changed {one[-4:]} {self._next()}"
        given = (one, rev, text)
        did = self._ask("update", given, lambda ports: self._api.update_memory(ports, self._keys, one, rev, text))
        if did.ok:
            self._known[one] = did.value.rev

    def _delete(self) -> None:
        one = self._one()
        if one is None:
            return
        given = (one, self._known[one])
        self._ask("delete", given, lambda ports: self._api.delete_memory(ports, self._keys, *given))

    def _used(self) -> None:
        ids = [one for one in (self._one(), self._one()) if one is not None]
        if ids:
            self._ask("used", ids, lambda ports: self._api.mark_used(ports, self._keys, ids))

    def _observe(self) -> None:
        wait = self._cloud.random.random() < 0.5
        self._ask("observe", wait, lambda ports: self._api.observe(ports, self._keys, wait))

    def _compact(self) -> None:
        wait = self._cloud.random.random() < 0.5
        self._ask("compact", wait, lambda ports: self._api.compact(ports, self._keys, wait))

    def _end(self) -> None:
        self._ask("end", None, lambda ports: self._api.end(ports, self._keys))

    def _export(self) -> None:
        did = self._ask("export", None, lambda ports: self._api.export(ports, self._keys))
        if did.ok:
            self._exports.append(did.value.id)

    def _forget(self) -> None:
        """What there is, as a person does it: who reads a list lets others write meanwhile."""
        shown = self._ask("list_to_forget", None, lambda ports: self._api.list_to_forget(ports, self._keys))
        if shown.ok and shown.value.confirm:
            self._cloud.scheduler.pause(self._cloud.random.random() * self._cloud.settings.think_s)
            confirm = shown.value.confirm
            self._ask("forget", shown.value, lambda ports: self._api.forget(ports, self._keys, confirm))

    def _load(self) -> None:
        """What its last export came to, from the addresses that it is given; some time later."""
        if not self._exports:
            self._export()
            return
        job_id = self._exports[-1]
        did = self._ask("read_export", job_id, lambda ports: self._api.read_export(ports, self._keys, job_id))
        if did.ok:
            self._cloud.scheduler.pause(self._cloud.random.random() * self._cloud.settings.think_s)
            self._ask("load", job_id, lambda _: tuple(self._load_part(part) for part in did.value.parts))

    def _load_part(self, part: SeenPart) -> LoadedPart:
        return LoadedPart(part.bytes, self._cloud.objects.download(part.url))

    # --- parts ----------------------------------------------------------------------------------

    def _next(self) -> int:
        self._events_made += 1
        return self._events_made

    def _one(self) -> str | None:
        """Of the newest that it knows: clients meet there."""
        return self._cloud.random.choice(list(self._known)[-2:]) if self._known else None

    def _ask(self, what: str, given: object, work: Callable[[SimPorts], object]) -> Did:
        did = self._caller.call(Did(self._name, what, self._keys, given, 0.0), work)
        self._code = did.code
        return did

    def _persist(self, what: str, given: object, work: Callable[[SimPorts], object], *, repeat: bool = True) -> Did:
        """Again while the outcome is unknown, if it may be repeated."""
        for _ in range(TRIES):
            did = self._ask(what, given, work)
            if did.outcome != "unknown" or not repeat:
                break
            self._cloud.scheduler.pause(self._cloud.random.choice(RETRIED_S))
        return did


def tag_of(keys: UserKeys) -> str:
    """What everything that is said of a user begins with."""
    return f"{keys.tenant}.{keys.user}"
