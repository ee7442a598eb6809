"""Evidence in the prompt: what a model reads of it, as compile makes the prompt of a new session of the user.

Each question is the first message of a session that has no events, so its prompt is the pack and what is retrieved
beside it. A message that holds evidence counts as *in the pack* where a statement of the pack names it in its range
(four events at most, as everywhere in this eval), and *word for word* where the statements that name it hold half of
its terms, too; as *in the hits* where it is a hit itself, stands with one as the message before it, or is in the range
of a statement that is one."""

from __future__ import annotations

import re
import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from evals.progress import tracked
from evals.retrieval.chats import Chat, Message, Question, by_user
from evals.retrieval.off_topic import OFF_TOPIC, SMALL_TALK
from evals.retrieval.scoring import WIDEST_RANGE
from local.api_client import ApiClient
from neve.domain.ids import event_place
from neve.domain.memories.text import statements_in
from neve.domain.terms import terms_in
from neve.domain.tokens import estimate
from neve.usecases.ask.recall.answer import REPLY_TO

PATIENT = {"prompt_budget_ms": 20_000, "session_start_budget_ms": 20_000}
"""What is measured is what is found."""
SMALL_PACK = {"global_budget": 3_000}
"""A fifth of the default (*chosen*): all users of the sets are above it."""
WORD_FOR_WORD = 0.5
"""Of a message's terms (*chosen*): an observer may keep one sentence of two."""
PAGE = 200
ALL, DEFAULT, SMALL = "all", "the policy's pack", "a small pack"
UNASKED = {"small talk": SMALL_TALK, "off topic": OFF_TOPIC}
_PACK = re.compile("<neve-memory .*</neve-memory>", re.DOTALL)
_RETRIEVED = re.compile("<neve-retrieved>.*?</neve-retrieved>", re.DOTALL)
_HIT = re.compile(r"^- \[(.+?)\] ", re.MULTILINE)
"""The lines of a hit are indented, whatever stands in them."""
_REPLY = re.compile(rf"^  {REPLY_TO} ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A passage of a memory. ``places``: the messages in its range, none where that is wider than ``WIDEST_RANGE``."""

    memory: str
    text: str
    places: frozenset[str]


@dataclass(frozen=True, slots=True)
class User:
    """Whose prompts they are, in one session. ``budget``: the pack's, by its name in the tables; ``within``: it has
    room for every active memory."""

    chat: Chat
    session: str
    budget: str
    statements: Sequence[Statement]
    within: bool
    messages: Mapping[str, Message]
    ids: Mapping[tuple[str, int], str]
    _packs: dict[str, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)

    def told_by(self, pack: str) -> tuple[frozenset[str], frozenset[str]]:
        """The messages that its statements name; and those that it has word for word."""
        if pack not in self._packs:
            shown, stating = _bare(pack), defaultdict[str, list[str]](list)
            for one in self.statements:
                if one.places and one.text in shown:
                    for place in one.places:
                        stating[place].append(one.text)
            whole = (place for place, texts in stating.items() if _says(texts, self.messages[place].text))
            self._packs[pack] = frozenset(stating), frozenset(whole)
        return self._packs[pack]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What one prompt shows, as the ids of messages: ``retrieved`` by each hit. Tokens are those of the elements."""

    pack: frozenset[str]
    word_for_word: frozenset[str]
    retrieved: Sequence[frozenset[str]]
    pack_tokens: int
    hit_tokens: int

    def holds(self, evidence: frozenset[str]) -> dict[str, bool]:
        """By the name of a column."""
        pack, hits = bool(self.pack & evidence), any(hit & evidence for hit in self.retrieved)
        words = bool(self.word_for_word & evidence)
        return {
            "pack": pack,
            "pack, word for word": words,
            "hits": hits,
            "either": pack or hits,
            "either, word for word": words or hits,
        }


Asked = tuple[User, Question, Prompt]


@dataclass
class Evidence:
    """``asked``: prompts of questions; ``unasked``: how many hits each message got that asks for nothing."""

    asked: list[Asked] = field(default_factory=list)
    unasked: list[tuple[User, str, int]] = field(default_factory=list)

    def table(self, chat_set: str, *, tuned: bool) -> dict[str, Any]:
        """Of one half: of all its users, of those within and above the pack's budget, and of all with a small pack; and
        in percent of the messages of each kind how many got no hit. Empty where nothing was asked."""
        asked = [one for one in self.asked if _is_of(one[0].chat, chat_set, tuned=tuned)]
        rows = [one for one in asked if one[0].budget == DEFAULT]
        if not rows:
            return {}
        parts = {
            ALL: rows,
            "within the pack's budget": [one for one in rows if one[0].within],
            "above the pack's budget": [one for one in rows if not one[0].within],
            SMALL: [one for one in asked if one[0].budget == SMALL],
        }
        silent: dict[str, list[int]] = {name: [] for name in UNASKED}
        for user, kind, hits in self.unasked:
            if _is_of(user.chat, chat_set, tuned=tuned):
                silent[kind].append(hits)
        silent["questions"] = [len(prompt.retrieved) for _, _, prompt in rows]
        silence = {name: _percent(n == 0 for n in hits) for name, hits in silent.items()}
        return {"prompts": {name: _row(part) for name, part in parts.items() if part}, "no hit": silence}


def _is_of(chat: Chat, chat_set: str, *, tuned: bool) -> bool:
    return (chat.set, chat.tuned) == (chat_set, tuned)


def _row(rows: Sequence[Asked]) -> dict[str, float]:
    """Percent of the questions; tokens and hits are means."""
    held = [prompt.holds(question.evidence) for _, question, prompt in rows]
    hits = [bool(hit & question.evidence) for _, question, prompt in rows for hit in prompt.retrieved]
    table: dict[str, float] = {"users": len({user.chat.user for user, _, _ in rows}), "questions": len(rows)}
    table |= {name: _percent(one[name] for one in held) for name in held[0]}
    return table | {
        "tokens of the pack": round(mean(prompt.pack_tokens for _, _, prompt in rows)),
        "of the hits": round(mean(prompt.hit_tokens for _, _, prompt in rows)),
        "hits a prompt": round(len(hits) / len(rows), 1),
        "hits that are evidence": _percent(hits),
    }


def _percent(are_so: Iterable[bool]) -> float:
    given = list(are_so)
    return round(100 * sum(given) / len(given), 1) if given else 0.0


def evidence_in_prompts(client: ApiClient, chats: Sequence[Chat]) -> Evidence:
    """Asks everything of every user, with the policy's pack and with a small one. Raises RuntimeError for a degraded
    prompt: it is not a measurement."""
    found = Evidence()
    for budget, numbers in ((DEFAULT, PATIENT), (SMALL, PATIENT | SMALL_PACK)):
        with _policy(client, numbers):
            users = {name: _user(client, chat, budget) for name, chat in by_user(chats).items()}
            asked = [(users[chat.user], question) for chat in chats for question in chat.questions]
            for user, question in tracked(f"compiling, {budget}", asked):
                found.asked.append((user, question, compiled(client, user, question.text)))
            if budget == DEFAULT:
                found.unasked = _unasked(client, list(users.values()))
    return found


def _unasked(client: ApiClient, users: Sequence[User]) -> list[tuple[User, str, int]]:
    return [
        (user, kind, len(compiled(client, user, message).retrieved))
        for user in tracked("compiling for nothing", users)
        for kind, messages in UNASKED.items()
        for message in messages
    ]


@contextmanager
def _policy(client: ApiClient, numbers: Mapping[str, int]) -> Iterator[None]:
    before = client.expect(200, "GET", "/v1/policy")["policy"]
    client.expect(200, "PUT", "/v1/policy", before | numbers)
    try:
        yield
    finally:
        client.expect(200, "PUT", "/v1/policy", before)


def _user(client: ApiClient, chat: Chat, budget: str) -> User:
    """With a session of their own: another run finds another pack."""
    session = f"evidence-{secrets.token_hex(6)}"
    path = f"/v1/users/{chat.user}"
    opened = client.expect(200, "POST", f"{path}/sessions", {"session_id": session, "budget_ms": 20_000})
    layers = client.expect(200, "GET", f"{path}/pack", query={"session_id": session})["layers"]
    if opened["pack"]["state"] != "ready":
        raise RuntimeError(f"{chat.user}: no pack was built: {opened['pack']['state']}")
    packed = {entry["id"] for entries in layers.values() for entry in entries}
    ids = {(message.session, message.seq): message.id for message in chat.messages}
    memories = list(_memories(client, path))
    statements = [one for memory in memories for one in _statements(memory, ids)]
    within = packed >= {memory["id"] for memory in memories}
    return User(chat, session, budget, statements, within, {one.id: one for one in chat.messages}, ids)


def _memories(client: ApiClient, path: str) -> Iterator[dict[str, Any]]:
    query: dict[str, Any] = {"status": "active", "limit": PAGE}
    while True:
        page = client.expect(200, "GET", f"{path}/memories", query=query)
        yield from page["memories"]
        if not (cursor := page.get("next_cursor")):
            return
        query["cursor"] = cursor


def _statements(memory: dict[str, Any], ids: Mapping[tuple[str, int], str]) -> Iterator[Statement]:
    whole = {"text": memory["text"], **{name: memory["provenance"].get(name) for name in ("seq_from", "seq_to")}}
    session = str(memory["provenance"].get("session_id"))
    for one in memory.get("passages") or [whole]:
        first, last = one.get("seq_from"), one.get("seq_to")
        narrow = first is not None and last is not None and last - first < WIDEST_RANGE
        places = (
            frozenset(ids[session, seq] for seq in range(first, last + 1) if (session, seq) in ids) if narrow else ()
        )
        yield Statement(memory["id"], _bare(" ".join(statements_in(one["text"]))), frozenset(places))


def _bare(text: str) -> str:
    """On one line, as no element is spelt."""
    return " ".join(text.replace("&lt;", "<").split())


def compiled(client: ApiClient, user: User, message: str) -> Prompt:
    body = {"session_id": user.session, "message": message}
    answer = client.expect(200, "POST", f"/v1/users/{user.chat.user}/context", body)
    if answer["degraded"]:
        raise RuntimeError(f"a degraded prompt is not a measurement: {answer['degraded']}")
    return shown_by(user, answer["request"])


def shown_by(user: User, request: Mapping[str, Any]) -> Prompt:
    """``request``: Anthropic's."""
    pack = next((found[0] for block in request.get("system", ()) if (found := _PACK.search(block["text"]))), "")
    last = request["messages"][-1]["content"]
    retrieved = _RETRIEVED.search(last if isinstance(last, str) else last[0]["text"])
    block = retrieved[0] if retrieved else ""
    stated, word_for_word = user.told_by(pack)
    return Prompt(
        pack=stated,
        word_for_word=word_for_word,
        retrieved=[_credit(user, name, text) for name, text in _hits(block)],
        pack_tokens=estimate(pack),
        hit_tokens=estimate(block),
    )


def _says(texts: Sequence[str], message: str) -> bool:
    wanted = terms_in(message)
    said = frozenset[str]().union(*map(terms_in, texts))
    return len(wanted & said) >= WORD_FOR_WORD * len(wanted)


def _hits(block: str) -> Iterable[tuple[str, str]]:
    """The name and the text of each item."""
    parts = _HIT.split(block)
    return zip(parts[1::2], parts[2::2], strict=True)


def _credit(user: User, name: str, text: str) -> frozenset[str]:
    if place := event_place(name):
        session, seq = place
        places = [(session, seq - 1), place] if _REPLY.search(text) else [place]
        return frozenset(user.ids[one] for one in places if one in user.ids)
    shown = _bare(text)
    return frozenset[str]().union(*(one.places for one in user.statements if one.memory == name and one.text in shown))
