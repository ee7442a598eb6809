"""What another than the user says in a conversation stays in it, whatever an observer makes of what it is shown; and
what somebody shares is in their own memory, once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.errors import NeveError
from neve.domain.observe.facts import ProposedFact
from neve.domain.records.memories import Kind, Memory
from neve.domain.records.sessions import EventType, Participant
from neve.observing import (
    Observed,
    ObservedLine,
    Observer,
    PassInput,
    Reflected,
    ReflectedRow,
    ReflectInput,
)
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import QueueName
from neve.scope import SessionScope
from neve.store import rows
from neve.usecases.ask.compile.command import CompileCommand
from neve.usecases.ask.compile.compile_context import compile_context
from neve.usecases.ask.recall.command import RecallFilters
from neve.usecases.core.memories.candidates import candidate_rows
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.tell.sessions.open_session import OpenSession, open_session
from neve.usecases.tell.tools.remember import ToRemember, remember
from neve.usecases.work.export.export_lines import export_lines
from neve.usecases.work.librarian.gather import gather
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.share_said import share_said, shared_session
from neve.usecases.work.reflect.reflect_session import reflect_session
from tests.unit.recall_world import RecallWorld
from tests.unit.world import ScriptedObserver

ANN, BEN = Participant("a", "Ann", "ann"), Participant("b", "Ben")
SHARING = Participant("b", "Ben", "ben", share=True)
SESSIONS = ("s1", "s2")


class Repeating(ScriptedObserver):
    """Writes down all that it is shown, as a line and as facts, and takes what it may for a correction."""

    longest_s = 0.0

    def observe(self, given: PassInput) -> Observed:
        first, last = given.events[0].seq, given.events[-1].seq
        shown = " ".join([*(_text(event.content) for event in given.events), *(one.text for one in given.prior)])
        shown = " ".join(shown.split())
        facts = [one.id for one in given.prior if one.kind is Kind.FACT]
        stated = ProposedFact(
            f"User said {shown}"[:900].replace(".", ","), "BIOGRAPHY", 4, "user_stated",
            "updates" if facts else "new", facts[-1] if facts else None, first, last,
        )  # fmt: skip
        title = f"About {shown}"[:200]
        return Observed(
            True,
            (ObservedLine(f"🔴 User said {shown}", first, last),),
            self.name,
            used_memory_ids=tuple(one.id for one in given.prior),
            facts=(stated,),
            current_task=title,
            thread_title=title,
        )

    def reflect(self, given: ReflectInput) -> Reflected:
        return Reflected((ReflectedRow("🔴 " + " ".join(one.text for one in given.groups)),), self.name)


REPEATING = Repeating()


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content)


class GroupWorld(RecallWorld):
    @classmethod
    def opened(cls, folder: Path) -> GroupWorld:
        world = cls.make(folder)
        assert isinstance(world, GroupWorld)
        return world

    @property
    def observer(self) -> Observer:
        return REPEATING

    def speak(self, session: str, *said: tuple[str | None, str]) -> None:
        """``None``: the user; ``-``: the assistant."""
        events = [
            NewEvent(EventType.ASSISTANT_RESPONSE, text)
            if who == "-"
            else NewEvent(EventType.USER_MESSAGE, text, participant=who)
            for who, text in said
        ]
        append_events(self.user().of_session(session), events)

    def join(self, session: str, *people: Participant, room: bool | None = None) -> None:
        open_session(self.user(), OpenSession(session, budget_ms=0, participants=people, room=room))

    def observe(self, session: str) -> None:
        observe_session(self.user().of_session(session), 1, closing=True)

    def written(self, user: str = "ann") -> list[Memory]:
        page = self.rows.query(self.tenant.keys.of_user(user).partition, prefix="MEM#", limit=1000)
        return [rows.read_memory(item) for item in page.items]


class Turn(NamedTuple):
    """``repeats``: the assistant's answer says all that another has said so far."""

    session: int
    who: str | None
    repeats: bool
    observed: bool


TURNS = st.lists(
    st.builds(Turn, st.integers(0, 1), st.sampled_from((None, "a", "b", "b")), st.booleans(), st.booleans()),
    min_size=2,
    max_size=9,
)


def played(world: GroupWorld, turns: Sequence[Turn]) -> dict[str, list[str]]:
    """What Ben said in each session, as words that nobody else says."""
    heard: dict[str, list[str]] = {session: [] for session in SESSIONS}
    for session in SESSIONS:
        world.join(session, ANN, BEN)
    for n, turn in enumerate(turns):
        session = SESSIONS[turn.session]
        word = f"benword{n}x" if turn.who == "b" else f"annword{n}x"
        heard[session] += [word] if turn.who == "b" else []
        answer = " ".join(["Noted", *heard[session]]) if turn.repeats else "Noted"
        world.speak(session, (turn.who, f"I like {word}"), ("-", answer))
        if turn.observed:
            world.observe(session)
            world.pump()
            reflect_session(world.user().of_session(session), 1)
    return heard


def told_in(world: GroupWorld, session: SessionScope, words: Sequence[str]) -> str:
    """All that a prompt of the session, its pack and its recalls say."""
    pack = build_pack(session, "reflection").text
    prompt = compile_context(session, CompileCommand("What did everybody say?", dry_run=False)).request
    hits = [world.ask(" ".join(words) or "word", k=50, mode="tool", session_id=session.session)]
    hits += [world.ask(" ".join(words) or "word", k=50, mode="tool", scope="all", session_id=session.session)]
    filtered = RecallFilters(about=("b",))
    hits += [world.ask("like", k=50, mode="tool", session_id=session.session, filters=filtered)]
    return " ".join([pack, json.dumps(prompt), *(hit.text for answer in hits for hit in answer.hits)])


@settings(max_examples=25, deadline=None)
@given(TURNS, st.booleans())
def test_nothing_that_another_said_is_told_in_any_other_session(turns: list[Turn], indexed: bool) -> None:
    """Whether the index has it already, or recall takes it from the rows."""
    with TemporaryDirectory() as folder:
        world = GroupWorld.opened(Path(folder))
        try:
            world.with_policy(session_reflection_trigger=40, session_reflection_target=30)
            heard = played(world, turns)
            if indexed:
                world.pump()
            every = [word for words in heard.values() for word in words]
            world.join("s3")
            for session in (*SESSIONS, "s3"):
                others = [word for other, words in heard.items() if other != session for word in words]
                told = told_in(world, world.user().of_session(session), others)
                assert [word for word in others if word in told] == [], session
            anywhere = " ".join(hit.text for hit in world.ask(" ".join(every) or "word", k=50, mode="tool").hits)
            nightly = " ".join(memory.text for memory in candidate_rows(world.user(), 1))
            filed = " ".join(
                [
                    f"{one.cut} {one.documents} {one.title} {one.remembered}"
                    for session in SESSIONS
                    for one in [gather(world.user().of_session(session), 1)]
                ]
            )
            for name, text in (("recall", anywhere), ("night", nightly), ("profile", filed)):
                assert [word for word in every if word in text] == [], name
            for line, _ in export_lines(world.user()):
                if line["type"] in ("memory", "event") and any(word in json.dumps(line) for word in every):
                    assert line["audience"] == "session", line
        finally:
            world.close()


@settings(max_examples=15, deadline=None)
@given(TURNS)
def test_what_the_user_says_goes_on_as_always(turns: list[Turn]) -> None:
    with TemporaryDirectory() as folder:
        world = GroupWorld.opened(Path(folder))
        try:
            played(world, turns)
            own = [f"annword{n}x" for n, turn in enumerate(turns) if turn.who != "b"]
            for session in SESSIONS:
                world.observe(session)
            world.pump()
            lines = [one.text for one in world.written() if one.kind is Kind.OBSERVATION and one.audience is None]
            assert [word for word in own if word not in " ".join(lines)] == []
            world.join("s3")
            pack = build_pack(world.user().of_session("s3"), "initial").text
            assert [word for word in own if word not in pack] == []
        finally:
            world.close()


@pytest.fixture
def world(tmp_path: Path) -> Any:
    made = GroupWorld.opened(tmp_path)
    yield made
    made.close()


def test_a_fact_of_another_never_takes_the_place_of_the_users(world: GroupWorld) -> None:
    world.join("s1", ANN, BEN)
    world.speak("s1", ("a", "I live in Porto"), ("b", "I live in Turku"), ("a", "I like tea"))
    world.observe("s1")
    facts = [one for one in world.written() if one.kind is Kind.FACT]
    assert [(one.about, one.audience, len(one.supersedes)) for one in facts] == [
        (("a",), None, 0),
        (("b",), "session", 0),
        (("a",), None, 1),
    ]
    assert facts[1].text.startswith("Ben said") and facts[0].text.startswith("User said")


@pytest.mark.parametrize(
    ("who", "another"),
    [
        (ANN, False),
        (Participant("ann", "Ann"), False),
        (Participant("a", "Ann"), True),
        (Participant("ann", "Ann", "somebody"), True),
        (SHARING, True),
    ],
)
def test_the_user_is_known_by_the_user_id_or_without_one_by_the_id(
    world: GroupWorld, who: Participant, another: bool
) -> None:
    world.join("s1", who)
    world.speak("s1", (who.id, "I live in Porto"), ("-", "Noted"))
    log = world.rows.query(world.user().of_session("s1").keys.log, limit=9).items
    said = [item.get("audience") for item in log if item["type"] == "event"]
    assert said == (["session"] * 2 if another else [None] * 2)


def test_a_participant_joins_and_is_never_another_user(world: GroupWorld) -> None:
    world.join("s1", ANN)
    world.join("s1", BEN)
    world.join("s1", Participant("b", "Benjamin", "ben"))
    with pytest.raises(NeveError, match="user_id"):
        world.join("s1", Participant("b", "Ben", "somebody"))
    with pytest.raises(NeveError, match="room"):
        world.join("s1", room=True)
    head = rows.read_session(world.rows.get(world.user().of_session("s1").keys.session_head) or {})
    assert [(one.id, one.name) for one in head.participants] == [("a", "Ann"), ("b", "Benjamin")]


@pytest.mark.parametrize("fault", ["nothing", "a lost answer", "a store that is down for a moment"])
def test_what_is_shared_is_written_once_whatever_fails(world: GroupWorld, fault: str) -> None:
    world.join("s1", ANN, SHARING)
    world.speak("s1", ("b", "I live in Turku"), ("a", "I live in Porto"), ("b", "I like tea"))
    scope = world.user().of_session("s1")
    head = rows.read_session(world.rows.get(scope.keys.session_head) or {})
    events = [rows.read_event(item) for item in world.rows.query(scope.keys.log, limit=50).items]
    if fault == "a store that is down for a moment":
        world.broken("table=error")
        with pytest.raises(StoreUnavailable):
            share_said(scope, head, events)
        world.broken()
    for _ in range(2):
        world.rows.lose_response = fault == "a lost answer"
        share_said(scope, head, events)
    world.rows.lose_response = False  # the second time nothing is written
    world.observe("s1")
    theirs = shared_session(scope, "ben")
    log = world.rows.query(theirs.keys.log, limit=50).items
    assert [item["content"] for item in log if item["type"] == "event"] == ["I live in Turku", "I like tea"]
    asked = {queue for queue, message in world.queue.sent if message.body.get("session") == theirs.session}
    assert asked == {QueueName.COMPACT}


def test_what_a_model_remembers_among_several_is_told_there_unless_the_user_said_it(world: GroupWorld) -> None:
    world.with_policy(write_tools="on")
    world.join("s1", ANN, BEN)
    world.speak("s1", ("a", "I drink tea"), ("b", "I drink coffee"))
    said = {
        seq: remember(world.user(), ToRemember(f"User drinks {what}", seq=seq), "s1").memory
        for seq, what in ((1, "tea"), (2, "coffee"), (None, "water"))
    }
    assert {seq: (one.text, one.about, one.audience, one.provenance.by) for seq, one in said.items() if one} == {
        1: ("User drinks tea", ("a",), None, "user_stated"),
        2: ("Ben drinks coffee", ("b",), "session", "user_stated"),
        None: ("User drinks water", (), "session", "assistant"),
    }
