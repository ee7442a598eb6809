"""The index worker and the embed worker on utterances: what is a passage, its neighbours, and how far a log is
indexed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from neve.domain.ids import event_id, event_place
from neve.domain.indexing.passage import MAX_FOLLOWING, Passage
from neve.domain.indexing.utterances import utterance_of, utterance_passages
from neve.domain.memories.passages import PASSAGE_TOKENS
from neve.domain.records.sessions import EventType
from neve.domain.tokens import estimate
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Message, QueueName
from neve.ports.search import Owner
from neve.store import rows
from neve.usecases.core.lag.indexed_row import read_indexed
from neve.usecases.core.lag.memory_lag import user_lag
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.indexing.drain_embeddings import drain_embeddings
from neve.usecases.work.indexing.embed_rows import embed_rows
from neve.usecases.work.indexing.indexed_log import BATCH_SIZE
from tests.unit.domain_rows import event, image, text_block, tool_call
from tests.unit.indexing.test_embed_rows import embed_calls, fail, usage
from tests.unit.recall_world import RecallWorld, delivered


@pytest.fixture
def written(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> list[Passage]:
    """Every passage written to the index, in order."""
    seen: list[Passage] = []
    upsert = world.index.upsert

    def remembering(owner: Owner, passages: Sequence[Passage]) -> None:
        seen.extend(passages)
        upsert(owner, passages)

    monkeypatch.setattr(world.index, "upsert", remembering)
    return seen


def indexed_seq(world: RecallWorld, session: str = "s1") -> int:
    item = world.rows.get(world.tenant.keys.of_user("ann").of_session(session).indexed)
    return item["indexed_seq"] if item else 0


def lacking_from(world: RecallWorld) -> int | None:
    item = world.rows.get(world.tenant.keys.of_user("ann").of_session("s1").indexed)
    return item.get("without_vectors_from") if item else None


def embedded(world: RecallWorld) -> tuple[tuple[int, int], ...]:
    keys = world.tenant.keys.of_user("ann").of_session("s1")
    return read_indexed("s1", world.rows.get(keys.indexed)).embedded


def seqs(written: Sequence[Passage]) -> tuple[list[int | None], list[int | None]]:
    """Of what was written with its words alone, and with vectors."""
    return (
        [passage.seq_from for passage in written if passage.vector is None],
        [passage.seq_from for passage in written if passage.vector is not None],
    )


# --- passages -----------------------------------------------------------------------------------


def test_ids_of_events_are_read_back_whatever_the_session_is_called() -> None:
    for session in ("s1", "a:b", "evt:1:2"):
        assert event_place(event_id(session, 17)) == (session, 17)
    assert event_place("mem_01") is None
    assert event_place("evt:s1") is None and event_place("evt:s1:x") is None


def test_the_speaker_stands_in_front() -> None:
    named = utterance_of("s1", event(1, "tea", name="Henrike"))
    nameless = utterance_of("s1", event(2, "tea", event_type=EventType.ASSISTANT_RESPONSE))
    assert named is not None and nameless is not None
    assert (named.texts, nameless.texts) == (["Henrike: tea"], ["assistant: tea"])
    assert (named.role, named.speaker) == ("user", "Henrike")


def test_what_is_no_utterance() -> None:
    assert utterance_of("s1", tool_call(1, "search", {"q": "tea"}, "tea")) is None
    assert utterance_of("s1", event(1, [image()])) is None
    assert utterance_of("s1", event(1, "<neve-memory>tea</neve-memory>")) is None
    mixed = utterance_of("s1", event(1, [text_block("look"), image(), text_block("tea")]))
    assert mixed is not None and mixed.parts == ("look\ntea",)


def around(passage: Passage) -> dict[int, str]:
    return {neighbour.distance: neighbour.text for neighbour in passage.neighbours}


def test_neighbours_and_date_stand_beside_an_utterance() -> None:
    utterance = [
        utterance_of("s1", event(seq, f"line {seq}", created_at="2023-05-08T13:56:00.000Z")) for seq in range(1, 6)
    ]
    passages = utterance_passages([one for one in utterance if one])
    middle = passages[2]
    assert (middle.text, middle.rest, middle.date_text) == ("user: line 3", (), "8 May, 2023")
    assert around(middle) == {-1: "user: line 2", 1: "user: line 4", -2: "user: line 1", 2: "user: line 5"}
    assert (middle.seq_from, middle.seq_to, middle.item_id, middle.version) == (3, 3, "evt:s1:3", 1)
    assert around(passages[0]) == {1: "user: line 2", 2: "user: line 3"}
    assert (middle.kind, middle.tier, middle.scope, middle.status) == ("event", "episodic", "session", "active")
    assert utterance_passages([one for one in utterance if one], {2, 3}) == passages[1:3]


def test_no_neighbour_is_one_that_only_its_session_is_told() -> None:
    said = [event(1, "line 1"), replace(event(2, "line 2"), participant="ben", audience="session"), event(3, "line 3")]
    first, others, last = utterance_passages([one for e in said if (one := utterance_of("s1", e))])
    assert (around(first), around(last)) == ({2: "user: line 3"}, {-2: "user: line 1"})
    assert around(others) == {-1: "user: line 1", 1: "user: line 3"}
    assert [(one.about, one.only_in) for one in (first, others, last)] == [((), None), (("ben",), "s1"), ((), None)]


def test_a_long_message_is_several_passages_of_one_item() -> None:
    text = "\n\n".join(f"paragraph {n} " + "word " * 100 for n in range(12))
    utterance = utterance_of("s1", event(1, text))
    assert utterance is not None
    passages = utterance_passages([utterance])
    assert len(passages) > 1
    assert [passage.n for passage in passages] == list(range(len(passages)))
    assert {passage.item_id for passage in passages} == {"evt:s1:1"}
    assert max(estimate(part) for part in utterance.parts) <= PASSAGE_TOKENS
    assert len(utterance.parts) < 12, "paragraphs share a passage as long as they fit"
    assert passages[0].rest == tuple(passage.text for passage in passages[1:])
    assert around(passages[1])[-1] == passages[0].text
    short = utterance_of("s1", event(1, "one\n\ntwo"))
    assert short is not None and short.parts == ("one\n\ntwo",)


# --- the log ------------------------------------------------------------------------------------


def test_the_index_follows_the_log(world: RecallWorld, written: list[Passage]) -> None:
    world.say("line 1", "line 2", "line 3")
    world.pump()
    assert seqs(written) == ([1, 2, 3], [1, 2, 3])
    assert (indexed_seq(world), lacking_from(world), usage(world)) == (3, None, (3, 0))
    written.clear()
    world.say("line 4", "line 5")
    world.pump()
    assert seqs(written) == ([4, 5], [2, 3, 2, 3, 4, 5]), "the two before have new neighbours, and keep their vectors"
    again = {passage.seq_from: passage for passage in written}
    assert (around(again[3])[1], around(again[2])[2]) == ("user: line 4", "user: line 4")
    assert (around(again[4])[-1], around(again[4])[-2]) == ("user: line 3", "assistant: line 2")
    assert (indexed_seq(world), usage(world)) == (5, (5, 0))


@pytest.mark.parametrize(("calls", "together"), [(7, False), (15, False), (40, True), (19, True)])
def test_vectors_come_in_whatever_their_order_and_the_calls_of_tools_between(
    world: RecallWorld, written: list[Passage], calls: int, together: bool
) -> None:
    """Words that come in behind an utterance may be found sooner than its vector."""
    call = NewEvent(EventType.TOOL_CALL, "", event_data={"tool_use_id": "t", "name": "search", "args": {}})
    asked, answered = NewEvent(EventType.USER_MESSAGE, "find tea"), NewEvent(EventType.ASSISTANT_RESPONSE, "found")
    vectors: list[list[Message]] = []
    for events in [[asked], [*[call] * calls, answered]] if together else [[asked], [call] * calls, [answered]]:
        append_events(world.user("ann").of_session("s1"), events)
        assert world.words(world.dispatch()) == {}
        vectors.append(world.taken(QueueName.EMBED))
    for messages in reversed(vectors):
        assert embed_rows(world, delivered(messages)) == {}
    newest = {passage.seq_from: passage for passage in sorted(written, key=lambda one: one.document_version)}
    assert around(newest[1]) == {1: "assistant: found"} and around(newest[calls + 2]) == {-1: "user: find tea"}
    assert all(passage.vector is not None for passage in newest.values())


def test_a_lost_message_is_made_up_for_by_the_next_one(world: RecallWorld, written: list[Passage]) -> None:
    world.say("line 1", "line 2")
    world.dispatch()
    world.say("line 3")
    world.pump()
    assert seqs(written) == ([1, 2, 3], [1, 2, 3])
    assert indexed_seq(world) == 3


def test_messages_that_come_again_or_late_do_nothing(world: RecallWorld, written: list[Passage]) -> None:
    world.say("line 1", "line 2")
    first = world.dispatch()
    world.say("line 3")
    second = world.dispatch()
    assert world.embed(second) == {}
    written.clear()
    calls = len(embed_calls(world))
    assert world.embed([*first, *second]) == {}
    assert (written, indexed_seq(world), len(embed_calls(world))) == ([], 3, calls)


def test_a_retraction_that_is_told_again_writes_its_neighbours_at_the_same_rev(
    world: RecallWorld, written: list[Passage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two workers that have the message, one may die behind the rev. Once it is done, nothing is written."""
    world.say("line 1", "line 2", "line 3")
    world.pump()
    retract_events(world.user().of_session("s1"), Retract(2, 2, "edited"))
    messages = [message for message in world.dispatch() if "retraction" in message.body]
    upsert = world.index.upsert

    def delivered_again() -> set[tuple[int | None, int]]:
        written.clear()
        world.words(messages)
        return {(passage.seq_from, passage.version) for passage in written}

    def dying(owner: Owner, passages: Sequence[Passage]) -> None:
        upsert(owner, passages)
        raise StoreUnavailable("search", "the answer was lost")

    with monkeypatch.context() as first:
        first.setattr(world.index, "upsert", dying)
        versions = delivered_again()
    assert delivered_again() == versions and {seq for seq, _ in versions} == {1, 3}
    assert min(rev for _, rev in versions) > 1
    assert delivered_again() == set()


def test_a_long_log_is_indexed_in_steps(world: RecallWorld, written: list[Passage]) -> None:
    for start in range(0, 120, 40):
        world.say(*(f"line {n}" for n in range(start + 1, start + 41)))
    assert world.embed(world.dispatch()) == {}
    words, vectors = seqs(written)
    assert words == [*range(1, 51), 49, 50, *range(51, 101), 99, 100, *range(101, 121)]
    assert set(vectors) == {*range(1, 121)}
    by_seq = {passage.seq_from: passage for passage in written}
    assert around(by_seq[50])[1] == "user: line 51" and around(by_seq[51])[-1] == "assistant: line 50"
    assert indexed_seq(world) == 120
    assert [len(call["texts"]) for call in embed_calls(world)] == [16, 16, 16, 2, 16, 16, 16, 2, 16, 4]


def test_sessions_of_one_batch_are_indexed_apart(world: RecallWorld) -> None:
    world.open("s2")
    world.say("tea one", session="s1")
    world.say("tea two", session="s2")
    world.say("tea three", session="s1")
    messages = world.dispatch()
    assert [(m.body["session"], m.body["seq_from"], m.body["seq_to"]) for m in messages] == [("s1", 1, 2), ("s2", 1, 1)]
    assert world.embed(messages) == {}
    assert (indexed_seq(world, "s1"), indexed_seq(world, "s2")) == (2, 1)


# --- failures -----------------------------------------------------------------------------------


def test_a_busy_embedder_sends_the_message_back(world: RecallWorld) -> None:
    world.say("tea one", "tea two")
    fail(world, {"fault": "error"})
    messages = world.dispatch()
    assert list(world.embed(messages)) == [0]
    assert (indexed_seq(world), embedded(world)) == (2, ()), "its words are there all the same"
    assert set(world.found("tea one", legs=("lexical",))) == {"evt:s1:1", "evt:s1:2"}
    fail(world)
    assert world.embed(messages) == {}
    assert embedded(world) == ((1, 2),)


def says_more(world: RecallWorld) -> None:
    world.say("tea three")


def takes_back(world: RecallWorld) -> None:
    retract_events(world.user().of_session("s1"), Retract(2, 2, "edited"))


@pytest.mark.parametrize(("meanwhile", "found"), [(says_more, {1, 2}), (takes_back, {1})])
def test_vectors_are_noted_when_they_stand_beside_the_newest_words(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[RecallWorld], None], found: set[int]
) -> None:
    """Words that come in, or leave, while a text is embedded find no vector to take along: a worker that fails before
    it has written its vectors again leaves them to another one."""
    world.say("tea one", "tea two")
    assert world.words(world.dispatch()) == {}
    first = world.taken(QueueName.EMBED)
    embed_passages = world.inner_embedder.embed_passages

    def beside_other_words(texts: Sequence[str]) -> list[bytes]:
        monkeypatch.undo()
        meanwhile(world)
        assert world.words(world.dispatch()) == {}
        world.faults.replace([{"target": "table", "fault": "error", "match": "#S#s1"}])  # the log cannot be read again
        return embed_passages(texts)

    monkeypatch.setattr(world.inner_embedder, "embed_passages", beside_other_words)
    assert list(embed_rows(world, delivered(first))) == [0]
    assert embedded(world) == ()
    world.broken()
    assert embed_rows(world, delivered(first)) == {}
    assert embedded(world) == ((1, 2),)
    assert set(world.found("tea", legs=("vector",))) == {event_id("s1", seq) for seq in found}


def test_words_that_never_stop_coming_in_do_not_keep_vectors_out(
    world: RecallWorld, written: list[Passage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A burst of appends: behind each write of vectors there are further words. Sent back, the message would wait for
    minutes."""
    world.say("tea one")
    assert world.words(world.dispatch()) == {}
    first, later = world.taken(QueueName.EMBED), list[Message]()
    upsert, behind = world.index.upsert, list[int]()

    def beside_further_words(owner: Owner, passages: Sequence[Passage]) -> None:
        upsert(owner, passages)
        monkeypatch.setattr(world.index, "upsert", upsert)
        behind.append(len(passages))
        world.say(f"tea again {len(behind)}")
        assert world.words(world.dispatch()) == {}
        later.extend(world.taken(QueueName.EMBED))
        monkeypatch.setattr(world.index, "upsert", beside_further_words)

    monkeypatch.setattr(world.index, "upsert", beside_further_words)
    assert embed_rows(world, delivered(first)) == {}
    assert len(behind) <= MAX_FOLLOWING + 1
    assert embedded(world) == ((1, 1),)
    monkeypatch.undo()
    assert embed_rows(world, delivered(later)) == {}
    said = indexed_seq(world)
    assert embedded(world) == ((1, said),)
    assert set(world.found("tea", legs=("vector",), k=20)) == {event_id("s1", seq) for seq in range(1, said + 1)}
    newest = max((one for one in written if one.seq_from == 1), key=lambda one: one.document_version)
    assert (newest.vector is not None, newest.following_known) == (True, MAX_FOLLOWING)


def test_a_poison_utterance_does_not_keep_the_others_out(world: RecallWorld) -> None:
    world.say("POISON one", "tea two")
    fail(world, {"fault": "error", "match": "POISON"})
    messages = world.dispatch()
    assert list(world.embed(messages)) == [0]
    assert (indexed_seq(world), embedded(world), lacking_from(world)) == (2, ((2, 2),), None)
    assert world.found("poison")[0] == "evt:s1:1", "by its words"
    assert world.found("tea two", legs=("vector",)) == ["evt:s1:2"]
    world.say(*(f"line {n}" for n in range(3, 2 * BATCH_SIZE)))
    messages += world.dispatch()
    assert world.embed(messages)
    assert embedded(world) == ((2, 2 * BATCH_SIZE - 1),), "neither steps nor messages behind it"
    before = len(embed_calls(world))
    world.embed(messages)
    assert [call["texts"] for call in embed_calls(world)[before:]] == [["user: POISON one"]] * 3


def test_texts_that_an_embedder_had_no_time_for_are_embedded_when_it_has(world: RecallWorld) -> None:
    """Their message comes again; once it is a dead letter the sweep sends another."""
    world.say("tea one", *(f"busy {n}" for n in range(2, 7)))
    fail(world, {"fault": "status:429", "match": "busy"})
    messages = world.dispatch()
    assert list(world.embed(messages)) == [0]
    assert (embedded(world), user_lag(world.user()).unembedded) == (((1, 1),), 5)
    world.clock.move(minutes=30)
    for _ in range(2):
        sweep_due(world)
        sent = world.taken(QueueName.EMBED)
        assert [(m.body["seq_from"], m.body["seq_to"]) for m in sent] == [(2, 6)]
        assert list(embed_rows(world, delivered(sent))) == [0]
    fail(world)
    assert embed_rows(world, delivered(sent)) == {}
    assert (embedded(world), user_lag(world.user()).unembedded, usage(world)[0]) == (((1, 6),), 0, 6)
    assert set(world.found("busy", legs=("vector",), mode="tool")) >= {event_id("s1", seq) for seq in range(2, 7)}
    assert embed_rows(world, delivered(messages)) == {}, "the first message has nothing left to do"


def test_a_refusing_embedder_leaves_words_and_a_drain_heals_it(world: RecallWorld) -> None:
    fail(world, {"fault": "status:403"})
    world.say("my sister Mary", "noted")
    world.pump()
    world.say("and her car")
    world.pump()
    assert (indexed_seq(world), lacking_from(world)) == (3, 1)
    assert world.found("automobile") == []
    fail(world)
    world.say("that is all")
    world.pump()
    assert lacking_from(world) == 1, "only a drain goes back"
    assert drain_embeddings(world.scope, "ann", wait_s=0).result["queued"] == 1
    assert world.embed(sent(world)) == {}
    assert (indexed_seq(world), lacking_from(world)) == (4, None)
    assert world.found("automobile") == ["evt:s1:3"]
    assert drain_embeddings(world.scope, "ann", wait_s=0).result["queued"] == 0


def sent(world: RecallWorld) -> list[Message]:
    messages = [message for _, message in world.queue.sent if message.body.get("kind")]
    world.queue.sent.clear()
    return messages


def test_a_drain_over_several_steps_can_break_off(world: RecallWorld) -> None:
    fail(world, {"fault": "status:403"})
    for start in (0, 40):
        world.say(*(f"line {n}" for n in range(start, start + 40)))
        world.pump()
    assert (indexed_seq(world), lacking_from(world)) == (80, 1)
    fail(world, {"fault": "error", "match": "line 79"})
    drain_embeddings(world.scope, "ann", wait_s=0)
    message = sent(world)
    world.embed(message)
    assert lacking_from(world) == 80
    fail(world)
    drain_embeddings(world.scope, "ann", wait_s=0)
    assert world.embed(sent(world)) == {}
    assert lacking_from(world) is None


def test_a_drain_goes_on_behind_a_text_that_fails_for_now(world: RecallWorld) -> None:
    """One that it was asked for, and one that came in meanwhile."""
    fail(world, {"fault": "status:403"})
    world.say("tea one", "BUSY two", "tea three")
    world.pump()
    assert (embedded(world), lacking_from(world)) == (((1, 3),), 1)
    fail(world, {"fault": "error", "match": "BUSY"})
    world.say("BUSY four")
    assert list(world.embed(world.dispatch())) == [0]
    drain_embeddings(world.scope, "ann", wait_s=0)
    messages = sent(world)
    assert list(world.embed(messages)) == [0]
    assert (embedded(world), lacking_from(world)) == (((1, 3),), 2)
    assert set(world.found("tea", legs=("vector",))) == {"evt:s1:1", "evt:s1:3"}
    fail(world)
    assert world.embed(messages) == {}
    assert (embedded(world), lacking_from(world)) == (((1, 4),), None)


def test_nothing_is_indexed_for_a_user_who_was_erased(world: RecallWorld, written: list[Passage]) -> None:
    world.say("tea one")
    messages = world.dispatch()
    erase(world)
    assert world.embed(messages) == {}
    assert (written, indexed_seq(world)) == ([], 0)


def test_what_was_indexed_while_the_user_was_erased_is_taken_back(
    world: RecallWorld, written: list[Passage], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.say("tea one")
    messages = world.dispatch()
    upsert = world.index.upsert

    def then_erase(owner: Owner, passages: Sequence[Passage]) -> None:
        upsert(owner, passages)
        erase(world)

    monkeypatch.setattr(world.index, "upsert", then_erase)
    assert world.embed(messages) == {}
    assert len(written) == 1
    assert (world.index.count(Owner(world.tenant.id, "ann")), indexed_seq(world)) == (0, 0)


def erase(world: RecallWorld) -> None:
    keys = world.tenant.keys
    head = rows.read_head(world.rows.get(keys.of_user("ann").head))
    world.rows.write([rows.put_head(keys.of_user("ann"), replace(head, state="erasing", incarnation=2))])
