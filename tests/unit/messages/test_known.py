"""Which messages of a list are new (docs/rules/messages.md#which-are-new)."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.messages.known import Occurrence, Sent, Session, known
from neve.domain.records.sessions import Spans


@dataclass
class Log:
    """A session that is appended to: ``u:yes`` is a message of the user, ``s:…`` of nobody."""

    said: list[str] = field(default_factory=list)
    seen: dict[str, list[Occurrence]] = field(default_factory=dict)
    retracted: Spans = ()
    deleted: Spans = ()

    def append(self, *messages: str, ids: dict[str, str] | None = None) -> list[bool]:
        """Whether each was new."""
        sent = [_sent(message, (ids or {}).get(message)) for message in messages]
        spoken = [n for n, text in enumerate(self.said, 1) if not text.startswith("s:")]
        session = Session(self.seen, min(spoken, default=0), max(spoken, default=0), self.retracted, self.deleted)
        places = known(sent, session)
        for message, one, place in zip(messages, sent, places, strict=True):
            if place is None:
                self.said.append(message)
                self.seen.setdefault(one.digest, []).append(Occurrence(len(self.said), 1, one.own_id))
        return [place is None for place in places]


def _sent(message: str, own_id: str | None = None) -> Sent:
    return Sent(message, own_id, silent=message[0] == "s", of_user=message[0] == "u", distinctive=len(message) >= 40)


@st.composite
def talks(draw: st.DrawFn) -> list[str]:
    """The user says the same few words; what the assistant answers is its own each time."""
    words = st.sampled_from(["yes", "no", "go on"])
    count = draw(st.integers(1, 8))
    return [text for n in range(count) for text in (f"u:{draw(words)}", f"a:answer {n}")]


@given(talks(), st.data())
def test_however_a_chat_is_sent_each_message_is_there_once_and_in_order(talk: list[str], data: st.DataObject) -> None:
    """Whole, its end, or what is new; now and then once more."""
    log, done = Log(), 0
    while done < len(talk):
        done = data.draw(st.integers(done + 1, len(talk)))
        new = talk[len(log.said) : done]
        windows = [talk[at:done] for at in range(len(log.said) + 1) if len(log.said) - at >= 3]
        sent = data.draw(st.sampled_from([talk[:done], new, *windows]))
        log.append(*sent)
        if data.draw(st.booleans()):
            assert log.append(*talk[:done]) == [False] * done
        assert log.said == talk[:done]


def test_a_person_who_says_yes_again_is_heard_again() -> None:
    log = Log()
    log.append("u:Shall we?", "a:Sure?")
    assert log.append("u:yes") == [True]
    assert log.append("u:yes") == [True]
    assert log.append("a:Really?", "u:yes") == [True, True]


def test_a_retry_of_what_nobody_says_twice_adds_nothing() -> None:
    log = Log()
    log.append("u:Hi", "a:Hello")
    long = "a:" + "many words, which nobody says again by chance " * 2
    log.append("u:yes", long)
    assert log.append("u:yes", long) == [False, False]
    assert log.append(long, "u:thanks") == [False, True]


def test_a_whole_chat_with_another_answer_in_it_is_known_all_the_same() -> None:
    log = Log()
    log.append("u:Hi", "a:Hel", "u:Tell me", "a:It is so", "u:More")
    whole = ("u:Hi", "a:Hello!", "u:Tell me", "a:It is so", "u:More", "a:Well")
    assert log.append(*whole) == [False, True, False, False, False, True]
    assert log.append(*whole) == [False] * 6


def test_an_id_decides_by_itself() -> None:
    log = Log()
    log.append("u:yes", ids={"u:yes": "m1"})
    assert log.append("u:yes", ids={"u:yes": "m2"}) == [True]
    assert log.append("u:yes", ids={"u:yes": "m1"}) == [False]
    assert log.append("u:yes", "u:yes") == [False, False], "the whole chat, without its ids"


def test_what_was_taken_back_is_new_again_and_what_was_deleted_is_not() -> None:
    log = Log()
    log.append("u:Tell me a joke", "a:Knock", "u:Again")
    log.retracted = ((2, 3),)
    assert log.append("u:Tell me a joke", "a:Knock") == [False, True]
    log = Log()
    log.append("u:Hi", "a:Hello", "u:My PIN is 1234", "a:I see")
    log.retracted = log.deleted = ((3, 3),)
    assert log.append("u:Hi", "a:Hello", "u:My PIN is 1234", "a:I see", "u:Bye") == [False] * 4 + [True]


@pytest.mark.parametrize("system", ["s:Be kind", "s:Be kind, it is Monday"])
def test_instructions_in_front_do_not_hide_that_it_is_the_whole_chat(system: str) -> None:
    log = Log()
    log.append("s:Be kind", "u:Hi", "a:Hello")
    new = system != "s:Be kind"
    assert log.append(system, "u:Hi", "a:Hello", "u:Hi") == [new, False, False, True]
