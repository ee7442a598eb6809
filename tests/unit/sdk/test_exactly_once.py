"""Whatever fails under a chat: what was said is in the log once, in its order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from sdk.python.neve import Session
from sdk.python.neve._sync.client import IDLE_BYTES
from tests.unit.sdk.fake_service import REFUSED, FakeService, chat

FAULTS = st.lists(st.sampled_from(["", "down", "lost", "503"]), max_size=30)
WORDS = st.sampled_from(["ok", "yes", "no", "and?"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.lists(WORDS, min_size=1, max_size=3)),
        st.tuples(st.just("turn"), st.lists(WORDS, min_size=1, max_size=2)),
        st.tuples(st.just("answer"), st.just(["fine"])),
        st.tuples(st.just("context"), st.just(["what?"])),
    ),
    min_size=1,
    max_size=12,
)


def healed(session: Session, service: FakeService) -> None:
    """The service answers again, and the next attempt is due."""
    service.faults = iter(())
    assert session.flush().kept == 0


@given(STEPS, FAULTS)
def test_new_messages_are_in_the_log_once_and_in_order(steps: list[tuple[str, list[str]]], faults: list[str]) -> None:
    service, said = FakeService(faults=iter(faults)), ["hello"]
    session = chat(service)
    session.append("hello")
    for verb, texts in steps:
        if verb == "context":
            assert session.context(texts[0])["messages"][-1]["content"]
            continue
        role = "assistant" if verb == "answer" else "user"
        messages = [{"role": role, "content": text} for text in texts]
        (session.turn if verb == "turn" else session.append)(messages)
        said += texts
    healed(session, service)
    assert service.texts() == said


@given(st.lists(st.integers(1, 3), min_size=1, max_size=6), FAULTS, st.lists(WORDS, min_size=18, max_size=18))
def test_the_whole_chat_each_time_is_in_the_log_once(grown: list[int], faults: list[str], words: list[str]) -> None:
    service, length = FakeService(faults=iter(faults)), 0
    session = chat(service)
    whole = [{"role": ("user", "assistant")[at % 2], "content": word} for at, word in enumerate(words)]
    for more in grown:
        length += more
        session.append(whole[:length])
    healed(session, service)
    assert service.texts() == words[:length]
    later = chat(service)
    assert later.append(whole[: length + 1] if length < len(whole) else whole).kept == 0
    assert service.texts() == words[: length + 1]


@given(st.lists(st.sampled_from(["ok", REFUSED, "yes"]), min_size=1, max_size=8), FAULTS)
def test_a_message_that_is_refused_takes_no_other_along(texts: list[str], faults: list[str]) -> None:
    service = FakeService(faults=iter(faults))
    session = chat(service)
    session.append([{"role": "user", "content": text} for text in texts])
    healed(session, service)
    assert service.texts() == [text for text in texts if text != REFUSED]


@given(st.integers(0, 5), FAULTS)
def test_what_was_edited_is_not_in_the_log_any_more(place: int, faults: list[str]) -> None:
    service = FakeService(faults=iter(faults))
    session = chat(service)
    texts = [f"message {n}" for n in range(6)]
    for text in texts:
        session.append(text)
    session.edit({"role": "user", "content": texts[place]}, "another")
    healed(session, service)
    assert service.texts() == [*texts[:place], "another"]


def test_a_repeat_of_a_lost_append_has_the_same_key_and_the_same_messages() -> None:
    service = FakeService(faults=iter(["lost"]))
    session = chat(service)
    session.append("one")
    session.append("two")
    healed(session, service)
    first, second = (call for call in service.calls[:2])
    assert first.headers == second.headers
    assert first.body == second.body
    assert service.texts() == ["one", "two"]


def test_many_threads_append_to_one_session() -> None:
    service = FakeService()
    session = chat(service)
    names = [f"message {n}" for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(session.append, names))
    healed(session, service)
    assert sorted(service.texts()) == sorted(names)


def test_what_waits_outlives_the_session_object_and_idle_sessions_are_forgotten() -> None:
    service = FakeService(faults=iter(["down"] * 9))
    session = chat(service)
    session.append("one")
    neve = session._neve
    for n in range(3):
        neve.user("ada").session(f"other-{n}").conversation._said_size = IDLE_BYTES
    neve.user("ada").session("another")
    assert sorted(name for _, name in neve._sessions) == ["another", "s1"]
    assert neve.user("ada").session("s1") is session
    service.faults = iter(())
    assert (neve.flush(), service.texts()) == (0, ["one"])


def test_beyond_the_bound_the_newest_is_refused_and_said() -> None:
    service = FakeService(faults=iter(["down"] * 9))
    session = chat(service, bound=2)
    session.append(["one", "two"])
    refused = session.append("three")
    assert (refused.kept, refused.refused, refused.degraded[0]) == (2, 1, "buffer_full")
    healed(session, service)
    assert service.texts() == ["one", "two"]
