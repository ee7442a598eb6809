"""Conversations to replay: LoCoMo chained to a length, and one of our own that is full of tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from evals.prompt_cost.tool_talk import tool_turns
from evals.retrieval.chats import Chat, Message
from evals.retrieval.locomo import load
from neve.domain.tokens import estimate

MAX_QUESTIONS = 300


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call with its result."""

    id: str
    name: str
    args: dict[str, object]
    result: str


@dataclass(frozen=True, slots=True)
class Turn:
    """``user`` is never empty; ``assistant`` answers after the tools."""

    user: str
    assistant: str
    tools: tuple[ToolUse, ...] = ()

    @property
    def tokens(self) -> int:
        used = sum(estimate(tool.result) + estimate(str(tool.args)) for tool in self.tools)
        return estimate(self.user) + estimate(self.assistant) + used


@dataclass(frozen=True, slots=True)
class Asked:
    """A question after the last turn. ``evidence``: words that were said, each of them needed."""

    question: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a replay is summed up: after so many turns, with these questions."""

    name: str
    turns: int
    tokens: int
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Transcript:
    """``stops`` in order; the last one is its end."""

    turns: tuple[Turn, ...]
    stops: tuple[Stop, ...]


def locomo(folder: Path, lengths: Sequence[int]) -> Transcript:
    """The conversations one behind the other, from the first again after the last, the first speaker being the user,
    with a stop at each of the lengths, in tokens, ascending. The questions of a stop are those whose evidence was said
    by then. Raises NoSuchData."""
    chats = load(folder)
    turns: list[Turn] = []
    stops: list[Stop] = []
    spoken: dict[int, str] = {}
    tokens = 0
    for chat in cycle(chats):
        before = spoken.get(chat.number, "")
        for turn in _turns(chat.messages):
            turns.append(turn)
            tokens += turn.tokens
            spoken[chat.number] = before or f"{spoken.get(chat.number, '')}\n{turn.user}\n{turn.assistant}"
            if tokens >= lengths[len(stops)]:
                asked = [one for each in chats for one in _asked(each, spoken.get(each.number, ""))]
                name = f"locomo-{lengths[len(stops)] // 1000}k"
                stops.append(Stop(name, len(turns), tokens, tuple(_some(asked))))
                if len(stops) == len(lengths):
                    return Transcript(tuple(turns), tuple(stops))
    raise AssertionError("the chats never end")


def tools(tokens: int) -> Transcript:
    """A session with an assistant that looks things up, written by ``tool_talk``: the same every time."""
    turns: list[Turn] = []
    asked: list[Asked] = []
    length = 0
    for made in tool_turns():
        uses = tuple(ToolUse(*use) for use in made.tools)
        turns.append(Turn(made.user, made.assistant, uses))
        asked += [Asked(question, (evidence,)) for question, evidence in made.asked]
        length += turns[-1].tokens
        if length >= tokens:
            break
    stop = Stop(f"tools-{tokens // 1000}k", len(turns), length, tuple(asked))
    return Transcript(tuple(turns), (stop,))


def _turns(messages: Sequence[Message]) -> Iterator[Turn]:
    """What the first speaker says up to an answer is one message, and so is the answer; the names stand in front."""
    spoken: list[str] = []
    answered: list[str] = []
    for message in messages:
        if message.by_user and answered:
            yield Turn("\n".join(spoken), "\n".join(answered))
            spoken, answered = [], []
        if message.by_user or spoken:
            (spoken if message.by_user else answered).append(f"{message.name}: {message.text}")
        else:  # the second speaker begins: a turn needs somebody who is answered
            spoken.append(f"{message.name}: {message.text}")
    if spoken and answered:
        yield Turn("\n".join(spoken), "\n".join(answered))


def _asked(chat: Chat, sentence: str) -> list[Asked]:
    texts = {message.id: message.text for message in chat.messages}
    questions = [Asked(q.text, tuple(texts[i] for i in sorted(q.evidence))) for q in chat.questions]
    return [one for one in questions if all(words in sentence for words in one.evidence)]


def _some(asked: Sequence[Asked]) -> Sequence[Asked]:
    """At most ``MAX_QUESTIONS``, evenly spread."""
    return asked[:: max(1, -(-len(asked) // MAX_QUESTIONS))]
