"""The same chats as another backend would send them: whatever ranks well must not live on how a data set happens to be
written down."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from evals.retrieval.chats import Chat, Message
from neve.domain.words import QUERY_STOP_WORDS

_MARKS = re.compile(r"[.,!?;:…]+(?=\s|$)|[\"“”‘’']")
"""Of sentences: those inside words, numbers and addresses stay."""
_WORD = re.compile(r"[\w']+")


@dataclass(frozen=True, slots=True)
class Way:
    """``about``: in a table."""

    about: str
    change: Callable[[Chat], Chat]


def as_sent(way: str, chat: Chat) -> Chat:
    """``chat``, in a set of the name of both. Raises KeyError for an unknown way."""
    return replace(WAYS[way].change(chat), set=f"{chat.set}-{way}")


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
    lengths: dict[str, int] = {}
    messages: list[Message] = []
    for number, one in enumerate(chat.messages):
        session = session_of(number)
        lengths[session] = seq = lengths.get(session, 0) + 1
        messages.append(replace(one, session=session, seq=seq))
    return replace(chat, messages=tuple(messages))


def _in_small_letters(chat: Chat) -> Chat:
    """Whatever a person typed, questions too, as on a telephone: an assistant writes as it always does."""
    typed = (replace(one, text=_small(one.text)) if one.by_user or one.name else one for one in chat.messages)
    questions = tuple(replace(asked, text=_small(asked.text)) for asked in chat.questions)
    return replace(chat, messages=tuple(typed), questions=questions)


def _small(text: str) -> str:
    return _MARKS.sub("", text.lower()).strip() or text


def _asked_in_keywords(chat: Chat) -> Chat:
    return replace(chat, questions=tuple(replace(q, text=_keywords(q.text)) for q in chat.questions))


def _keywords(text: str) -> str:
    return " ".join(word for word in _WORD.findall(text) if word.lower() not in QUERY_STOP_WORDS) or text


WAYS: Mapping[str, Way] = {
    "as-it-is": Way("as it is", lambda chat: chat),
    "unnamed": Way("no `name` on any event", _unnamed),
    "one-session": Way("everything in one session", _in_one_session),
    "turn-sessions": Way("a new session for every two messages", _a_session_a_turn),
    "one-time": Way("everything with the same `created_at`", _at_one_time),
    "small-letters": Way("what people type in small letters, without the marks of sentences", _in_small_letters),
    "keywords": Way("questions as keywords", _asked_in_keywords),
}
"""By the name that each has on the command line."""


def named_ways(names: str) -> Sequence[str]:
    """``names``: separated by commas, or ``all``. Raises ValueError for an unknown one."""
    wanted = list(WAYS) if names == "all" else names.split(",")
    unknown = sorted(set(wanted) - set(WAYS))
    if unknown:
        raise ValueError(f"no way to send is called {unknown[0]!r}; there are {', '.join(WAYS)}")
    return wanted
