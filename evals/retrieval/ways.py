"""The same chats as another backend would send them: whatever ranks well must not live on how a data set happens to be
written down."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain

from evals.retrieval.chats import Chat, Message
from neve.domain.words import QUERY_STOP_WORDS

_MARKS = re.compile(r"[.,!?;:…]+(?=\s|$)|[\"“”‘’']")
"""Of sentences: those inside words, numbers and addresses stay."""
_SENTENCE_ENDS = re.compile(r"(?<=[.!?…])\s+(?=\S)")
_WORD = re.compile(r"[\w']+")


@dataclass(frozen=True, slots=True)
class Way:
    """``about``: in a table. ``change``: of a chat, among the chats of its half."""

    about: str
    change: Callable[[Chat, Sequence[Chat]], Chat]


def as_sent(way: str, chats: Sequence[Chat]) -> list[Chat]:
    """``chats``, each in a set of the name of both. Raises KeyError for an unknown way."""
    return [replace(WAYS[way].change(chat, _half_of(chat, chats)), set=f"{chat.set}-{way}") for chat in chats]


def _half_of(chat: Chat, chats: Sequence[Chat]) -> list[Chat]:
    return [one for one in chats if (one.set, one.tuned) == (chat.set, chat.tuned)]


def _alone(change: Callable[[Chat], Chat]) -> Callable[[Chat, Sequence[Chat]], Chat]:
    return lambda chat, _: change(chat)


def set_and_way(name: str) -> tuple[str, str]:
    """The data set that a set of chats was made of, and how it was sent: nothing for the data set itself. No data set
    has a hyphen in its name."""
    data_set, _, way = name.partition("-")
    return data_set, way


def _unnamed(chat: Chat) -> Chat:
    return replace(chat, messages=tuple(replace(one, name=None) for one in chat.messages))


def _at_one_time(chat: Chat) -> Chat:
    """A thousandth of a second apart, which keeps them in order."""
    began = chat.messages[0].at
    at = (began + timedelta(milliseconds=number) for number in range(len(chat.messages)))
    return replace(chat, messages=tuple(replace(one, at=time) for one, time in zip(chat.messages, at, strict=True)))


def _in_one_session(chat: Chat) -> Chat:
    return _in_sessions(chat, lambda _: "all")


def _a_session_a_turn(chat: Chat) -> Chat:
    return _in_sessions(chat, lambda number: f"turn-{number // 2 + 1}")


def _in_sessions(chat: Chat, session_of: Callable[[int], str]) -> Chat:
    """``session_of`` the number of a message, from 0."""
    said = (replace(one, session=session_of(number)) for number, one in enumerate(chat.messages))
    return replace(chat, messages=_counted(said))


def _counted(messages: Iterable[Message]) -> tuple[Message, ...]:
    """With their seqs, as the service will number them."""
    lengths = Counter[str]()
    counted: list[Message] = []
    for one in messages:
        lengths[one.session] += 1
        counted.append(replace(one, seq=lengths[one.session]))
    return tuple(counted)


def _in_small_letters(chat: Chat) -> Chat:
    """Whatever a person typed, questions too, as on a telephone: an assistant writes as it always does."""
    typed = (replace(one, text=_small(one.text)) if one.by_user or one.name else one for one in chat.messages)
    questions = tuple(replace(asked, text=_small(asked.text)) for asked in chat.questions)
    return replace(chat, messages=tuple(typed), questions=questions)


def _small(text: str) -> str:
    return _MARKS.sub("", text.lower()).strip() or text


def _in_bits(chat: Chat) -> Chat:
    """Sentences that people type are messages of their own, a thousandth of a second apart. Whichever of
    a message is found, its evidence is found."""
    bits = {one.id: _bits(one) if one.by_user or one.name else [one] for one in chat.messages}
    questions = (
        replace(asked, evidence=frozenset(bit.id for whole in asked.evidence for bit in bits[whole]))
        for asked in chat.questions
    )
    return replace(chat, messages=_counted(chain.from_iterable(bits.values())), questions=tuple(questions))


def _bits(message: Message) -> list[Message]:
    sentences = _SENTENCE_ENDS.split(message.text.strip())
    return [
        replace(message, id=f"{message.id}.{number}", text=text, at=message.at + timedelta(milliseconds=number))
        for number, text in enumerate(sentences, start=1)
    ]


def _asked_in_keywords(chat: Chat) -> Chat:
    return replace(chat, questions=tuple(replace(q, text=_keywords(q.text)) for q in chat.questions))


def _keywords(text: str) -> str:
    return " ".join(word for word in _WORD.findall(text) if word.lower() not in QUERY_STOP_WORDS) or text


def _of_one_user(chat: Chat, half: Sequence[Chat]) -> Chat:
    """Sessions in the order in which they began, as they were said."""
    said = [_numbered(one, message) for one in half for message in one.messages]
    began: dict[str, datetime] = {}
    for message in said:
        began.setdefault(message.session, message.at)
    messages = sorted(said, key=lambda one: (began[one.session], one.session, one.seq))
    questions = (replace(q, evidence=frozenset(_of(chat, i) for i in q.evidence)) for q in chat.questions)
    return replace(chat, messages=tuple(messages), questions=tuple(questions), of_one_user=True)


def _numbered(chat: Chat, message: Message) -> Message:
    return replace(message, id=_of(chat, message.id), session=_of(chat, message.session))


def _of(chat: Chat, name: str) -> str:
    """Ids of messages and sessions are those of a chat."""
    return f"{chat.number:02d}-{name}"


WAYS: Mapping[str, Way] = {
    "as-it-is": Way("as it is", _alone(lambda chat: chat)),
    "unnamed": Way("no `name` on any event", _alone(_unnamed)),
    "one-session": Way("everything in one session", _alone(_in_one_session)),
    "turn-sessions": Way("a new session for every two messages", _alone(_a_session_a_turn)),
    "one-time": Way("everything with the same `created_at`", _alone(_at_one_time)),
    "small-letters": Way(
        "what people type in small letters, without the marks of sentences", _alone(_in_small_letters)
    ),
    "bits": Way("each sentence that people type as a message of its own", _alone(_in_bits)),
    "one-user": Way("all chats of a half as one user's", _of_one_user),
    "keywords": Way("questions as keywords", _alone(_asked_in_keywords)),
}
"""By the name that each has on the command line."""


def named_ways(names: str) -> Sequence[str]:
    """``names``: separated by commas, or ``all``. Raises ValueError for an unknown one."""
    wanted = list(WAYS) if names == "all" else names.split(",")
    unknown = sorted(set(wanted) - set(WAYS))
    if unknown:
        raise ValueError(f"no way to send is called {unknown[0]!r}; there are {', '.join(WAYS)}")
    return wanted
