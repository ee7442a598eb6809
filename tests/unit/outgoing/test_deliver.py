"""What a webhook is sent, in which order, and what becomes of what does not arrive."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.errors import NeveError
from neve.domain.outgoing.event import TYPES
from neve.domain.outgoing.webhook import Attempt
from neve.observing import for_ever
from neve.ports.queue import Message, QueueName
from neve.ports.table import Index
from neve.scope import UserData
from neve.store.keys import UserKeys, due_partitions
from neve.usecases.ask.outgoing.read_feed import read_feed
from neve.usecases.ask.outgoing.read_webhooks import list_deliveries, list_webhooks
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.outgoing.try_webhook import try_webhook
from neve.usecases.tell.outgoing.write_webhook import Written, delete_webhook, write_webhook
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.erase.erase_user import begin_erasure, erase_user
from neve.usecases.work.outgoing.deliver import Delivered, deliver_line, deliver_message
from tests.unit.recall_world import RecallWorld
from tests.unit.receiving import GONE, OK, REFUSED, SILENT, Post

URL = "https://example.com/neve"


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    new_recall_world.with_policy()
    return new_recall_world


def hook(world: RecallWorld, name: str = "w1", *, url: str = URL, text: bool = False) -> Written:
    return write_webhook(world.scope, name, url, TYPES, None, include_text=text)


def work(world: RecallWorld, message: Message) -> None:
    """As a worker takes a message of the queue."""
    deliver_message(world, json.loads(json.dumps(message.body)), for_ever, Delivered())


def deliver(world: RecallWorld) -> None:
    """Until the stream and the queue are empty."""
    world.dispatch()
    while messages := world.taken(QueueName.DELIVER):
        for message in messages:
            work(world, message)


def sweep(world: RecallWorld, **later: float) -> None:
    world.clock.move(**later)
    sweep_due(world)
    deliver(world)


def sent(world: RecallWorld, user: str = "ann", url: str = URL) -> list[str]:
    """The subjects of the posts about a user that were taken."""
    return [
        post.event["subject"]
        for post in world.receivers.posts
        if post.url == url and post.event.get("user_id") == user and post.taken
    ]


def only(*refused: str, answer: Attempt = REFUSED) -> Callable[[Post], Attempt]:
    """A receiver that takes everything but what is about these."""
    return lambda post: answer if post.event["subject"] in refused or post.event.get("user_id") in refused else OK


def outcomes(world: RecallWorld, name: str = "w1") -> list[tuple[str, int]]:
    """Oldest first."""
    return [(one.outcome, one.attempt) for one in reversed(list_deliveries(world.scope, name))]


def in_due(world: RecallWorld) -> int:
    return sum(len(world.rows.query(part, index=Index.DUE, limit=50).items) for part in due_partitions("deliver"))


# --- what arrives ---------------------------------------------------------------------------------


def test_a_webhook_is_sent_what_it_wants_in_order_and_no_words(world: RecallWorld) -> None:
    write_webhook(world.scope, "w1", URL, ["memory.written"], None, include_text=False)
    first, second = world.remember("I keep bees"), world.remember("I keep a cat")
    delete_memory(world.user("ann"), first, None)
    deliver(world)
    assert sent(world) == [first, second]
    assert b"bees" not in world.receivers.posts[0].body
    assert world.receivers.posts[0].event["tenant"] == "acme"
    assert [one.event["id"] for one in world.receivers.posts] == [
        one.id for one in read_feed(world.scope, 10, None, ["memory.written"]).events
    ]


def test_text_is_read_when_it_is_sent_and_is_in_no_row_before(world: RecallWorld) -> None:
    hook(world, text=True)
    tea, coffee = world.remember("I keep zanzibar bees"), world.remember("I drink coffee")
    world.dispatch()
    waiting = world.rows.query(world.user("ann").keys.partition, prefix="WHKE#", limit=10).items
    assert len(waiting) == 2 and "zanzibar" not in str(waiting)
    delete_memory(world.user("ann"), tea, None)
    deliver(world)
    texts = [post.event["data"].get("text") for post in world.receivers.posts]
    assert texts == [None, "I drink coffee", None]
    assert [post.event["subject"] for post in world.receivers.posts] == [tea, coffee, tea]


def test_each_webhook_is_sent_each_event(world: RecallWorld) -> None:
    hook(world, "w1")
    hook(world, "w2", url=f"{URL}/2")
    tea = world.remember("tea")
    deliver(world)
    assert sent(world) == sent(world, url=f"{URL}/2") == [tea]


def test_a_test_is_one_attempt_that_the_log_shows(world: RecallWorld) -> None:
    hook(world)
    world.receivers.answers = lambda _: REFUSED
    assert try_webhook(world.scope, "w1") == REFUSED
    [line] = list_deliveries(world.scope, "w1")
    assert (line.event_type, line.outcome, line.status, line.failure) == ("webhook.test", "failed", 500, "status")


def test_the_log_shows_the_last_two_hundred_attempts_newest_first(world: RecallWorld) -> None:
    hook(world)
    for _ in range(203):
        world.clock.move(seconds=1)
        try_webhook(world.scope, "w1")
    lines = list_deliveries(world.scope, "w1")
    assert len(lines) == 200 and lines[0].at > lines[-1].at


# --- what does not arrive -------------------------------------------------------------------------


def test_what_is_refused_is_tried_twice_more_at_once(world: RecallWorld) -> None:
    hook(world)
    tea = world.remember("tea")
    world.receivers.answers = lambda _: REFUSED if len(world.receivers.posts) < 2 else OK
    deliver(world)
    assert [post.event["subject"] for post in world.receivers.posts] == [tea] * 3
    assert outcomes(world) == [("failed", 1), ("failed", 2), ("delivered", 3)]
    assert len({post.headers["webhook-id"] for post in world.receivers.posts}) == 1


def test_an_event_that_is_refused_keeps_those_behind_it_waiting_and_no_other_user(world: RecallWorld) -> None:
    hook(world)
    first = world.remember("tea")
    second = world.remember("coffee")
    other = world.remember("cocoa", user="bob")
    world.receivers.answers = only(first)
    deliver(world)
    assert (sent(world), sent(world, "bob")) == ([], [other])
    third = world.remember("milk")
    deliver(world)
    assert sent(world) == [] and in_due(world) == 3
    world.receivers.answers = lambda _: OK
    sweep(world, minutes=5)
    assert sent(world) == [], "its time has not come"
    sweep(world, minutes=10)
    assert sent(world) == [first, second, third] and in_due(world) == 0


def test_a_receiver_that_was_down_for_an_hour_is_sent_all_later(world: RecallWorld) -> None:
    hook(world)
    made: list[str] = []
    world.receivers.answers = lambda _: SILENT
    for n in range(6):
        made.append(world.remember(f"tea {n}"))
        deliver(world)
        sweep(world, minutes=10)
    assert len(world.receivers.posts) < 6, "a receiver that gives no answer is left alone for longer and longer"
    world.receivers.posts.clear()
    world.receivers.answers = lambda _: OK
    for _ in range(8):
        sweep(world, minutes=10)
    assert sent(world) == made


def test_a_receiver_that_gives_no_answer_is_asked_by_one_worker_at_a_time(world: RecallWorld) -> None:
    hook(world)
    for n in range(5):
        world.remember("tea", user=f"user-{n}")
    world.receivers.answers = lambda _: SILENT
    deliver(world)
    assert len(world.receivers.posts) == 1
    sweep(world, minutes=11)
    assert len(world.receivers.posts) == 2


def test_one_receiver_that_gives_no_answer_delays_no_other(world: RecallWorld) -> None:
    hook(world, "w1")
    hook(world, "w2", url=f"{URL}/2")
    tea = world.remember("tea")
    world.receivers.answers = lambda post: SILENT if post.url == URL else OK
    deliver(world)
    assert (sent(world), sent(world, url=f"{URL}/2")) == ([], [tea])


def test_what_is_not_taken_for_a_day_is_a_dead_letter_and_the_next_is_sent(world: RecallWorld) -> None:
    hook(world)
    first = world.remember("tea")
    world.receivers.answers = only(first)
    deliver(world)
    for _ in range(24 * 6 + 2):
        sweep(world, minutes=10)
        if any(name is QueueName.DELIVER_DEAD for name, _ in world.queue.sent):
            break
    second = world.remember("coffee")
    deliver(world)
    assert sent(world) == [second]
    [dead] = world.taken(QueueName.DELIVER_DEAD)
    assert dead.body["event"]["subject"] == first
    assert ("given_up") in [outcome for outcome, _ in outcomes(world)]
    world.receivers.answers = lambda _: OK
    work(world, dead)  # an operator moves it back
    assert sent(world) == [second, first]


def test_of_a_receiver_that_is_gone_everything_older_than_a_day_is_given_up(world: RecallWorld) -> None:
    hook(world)
    made = [world.remember(f"tea {n}") for n in range(3)]
    world.receivers.answers = lambda _: SILENT
    deliver(world)
    for _ in range(26 * 6):
        sweep(world, minutes=10)
    dead = world.taken(QueueName.DELIVER_DEAD)
    assert [message.body["event"]["subject"] for message in dead] == made
    assert in_due(world) == 0
    assert world.rows.query(world.user("ann").keys.partition, prefix="WHKE#", limit=10).items == []


def test_who_answers_410_is_sent_nothing_more_until_it_is_put_again(world: RecallWorld) -> None:
    hook(world)
    world.remember("tea")
    world.remember("coffee")
    world.receivers.answers = lambda _: GONE
    deliver(world)
    world.receivers.answers = lambda _: OK
    world.remember("milk")
    deliver(world)
    assert len(world.receivers.posts) == 1 and outcomes(world) == [("disabled", 1)]
    [disabled] = list_webhooks(world.scope)
    assert disabled.disabled_at is not None
    assert world.rows.query(world.user("ann").keys.partition, prefix="WHKE#", limit=10).items == []
    hook(world)
    later = world.remember("water")
    deliver(world)
    assert sent(world) == [later]


def test_a_webhook_that_is_deleted_is_sent_nothing_that_waits(world: RecallWorld) -> None:
    hook(world)
    world.remember("tea")
    world.dispatch()
    delete_webhook(world.scope, "w1")
    deliver(world)
    assert world.receivers.posts == []
    assert world.rows.query(world.user("ann").keys.partition, prefix="WHKE#", limit=10).items == []


def test_what_waits_for_an_erased_user_is_not_sent(world: RecallWorld) -> None:
    hook(world)
    world.remember("tea")
    world.receivers.answers = lambda _: REFUSED
    deliver(world)
    begin_erasure(world.table, world.user("ann").keys)
    erase_user(world.user("ann").data)
    world.receivers.posts.clear()
    world.receivers.answers = lambda _: OK
    sweep(world, minutes=20)
    assert world.receivers.posts == []


def test_a_worker_that_dies_behind_the_answer_sends_the_event_once_more(world: RecallWorld) -> None:
    hook(world)
    first, second = world.remember("tea"), world.remember("coffee")
    world.dispatch()

    class Died(BaseException):
        pass

    def die() -> None:
        raise Died

    world.rows.before_write = die
    [message, *_] = world.taken(QueueName.DELIVER)
    with pytest.raises(Died):
        work(world, message)
    work(world, message)
    assert sent(world) == [first, first, second]


def test_what_nobody_was_told_of_is_sent_by_the_sweep(world: RecallWorld) -> None:
    """The outbox died between its rows and its message, and was given up."""
    hook(world)
    tea = world.remember("tea")
    world.dispatch()
    world.taken(QueueName.DELIVER)
    sweep(world, minutes=5)
    assert sent(world) == []
    sweep(world, minutes=16)
    assert sent(world) == [tea]


def test_a_worker_without_time_wakes_the_next_one(world: RecallWorld) -> None:
    hook(world)
    tea = world.remember("tea")
    world.dispatch()
    [message] = world.taken(QueueName.DELIVER)
    data = UserData(world, UserKeys("acme", "ann"))
    deliver_line(data, "w1", lambda: 10.0, Delivered())
    assert world.receivers.posts == []
    assert [one.body for one in world.taken(QueueName.DELIVER)] == [message.body]
    work(world, message)
    assert sent(world) == [tea]


# --- what is written ------------------------------------------------------------------------------


def test_for_a_day_behind_a_change_both_secrets_sign(world: RecallWorld) -> None:
    first = hook(world)
    assert first.created and first.secret is not None
    again = hook(world)
    assert (again.secret, again.webhook) == (None, first.webhook)
    other = "whsec_" + "QUJD" * 10
    changed = write_webhook(world.scope, "w1", URL, TYPES, other, include_text=False)
    assert changed.webhook.secrets == (other, first.secret)
    try_webhook(world.scope, "w1")
    world.clock.move(hours=24)
    try_webhook(world.scope, "w1")
    assert [post.headers["webhook-signature"].count("v1,") for post in world.receivers.posts] == [2, 1]


@pytest.mark.parametrize("secret", ["", "abc", "whsec_", "whsec_YWJj", "whsec_" + "QUJD" * 30, "whsec_-" + "QUJD" * 10])
def test_a_secret_that_is_none_is_refused_with_the_cure(world: RecallWorld, secret: str) -> None:
    with pytest.raises(NeveError) as refused:
        write_webhook(world.scope, "w1", URL, TYPES, secret, include_text=False)
    assert refused.value.errors[0].field == "secret" and "24 to 64 random bytes" in refused.value.detail


def test_an_eleventh_webhook_is_refused(world: RecallWorld) -> None:
    for n in range(10):
        hook(world, f"w{n}")
    with pytest.raises(NeveError) as refused:
        hook(world, "w10")
    assert refused.value.code == "too_many_webhooks"
    hook(world, "w9")


# --- whatever happens -----------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), failing=st.sampled_from([0, 1, 3]))
def test_each_event_arrives_in_order_per_user_whatever_fails(
    tmp_path_factory: pytest.TempPathFactory, seed: int, failing: int
) -> None:
    world = RecallWorld.make(tmp_path_factory.mktemp("deliver"))
    world.with_policy()
    random, made = Random(seed), {"ann": list[str](), "bob": list[str]()}
    hook(world)
    answers = (OK, REFUSED, SILENT)
    arrived: dict[str, list[str]] = {"ann": [], "bob": []}

    def answer(post: Post) -> Attempt:
        given = random.choice(answers) if random.randrange(3) < failing else OK
        if given.delivered:
            arrived[post.event["user_id"]].append(post.event["subject"])
        return given

    world.receivers.answers = answer
    for n in range(12):
        user = random.choice(("ann", "bob"))
        made[user].append(world.remember(f"tea {n}", user=user))
        if random.random() < 0.5:
            world.dispatch()
            messages = world.taken(QueueName.DELIVER)
            random.shuffle(messages)
            for message in messages:
                work(world, message)
        if random.random() < 0.3:
            sweep(world, minutes=random.choice((1, 10, 60)))
    failing = 0
    for _ in range(12):
        sweep(world, minutes=30)
    assert {user: list(dict.fromkeys(subjects)) for user, subjects in arrived.items()} == made
    world.close()
