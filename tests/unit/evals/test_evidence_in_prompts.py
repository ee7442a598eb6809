"""The eval of what a model reads: which messages a prompt is said to show. Chats and prompts are made up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from evals.retrieval.chats import Chat, Message, Question
from evals.retrieval.evidence import DEFAULT, SMALL, Evidence, Prompt, Statement, User, shown_by

AT = datetime(2026, 3, 1, tzinfo=UTC)
SAID = ("I keep two bees and a goat called Bertha", "Nice", "The goat ate my hat", "Which hat?", "The red hat")
PACK = '<neve-memory format="1">\n<global>\n2026-03-01 🔴 User has a goat called Bertha.\n</global>\n</neve-memory>\n'


def user(*, within: bool = True, budget: str = DEFAULT) -> User:
    messages = {str(n): Message(str(n), "s", n, n % 2 == 1, None, text, AT) for n, text in enumerate(SAID, start=1)}
    chat = Chat("talks", 1, tuple(messages.values()), ())
    statements = [
        Statement("mem_a", "User has a goat called Bertha.", frozenset({"1"})),
        Statement("mem_a", "User lost a hat.", frozenset({"3"})),
        Statement("mem_b", "User wears hats.", frozenset()),
    ]
    ids = {("s", message.seq): name for name, message in messages.items()}
    return User(chat, "new", budget, statements, within, messages, ids)


def request(retrieved: str = "", pack: str = PACK) -> dict[str, Any]:
    around = f"{retrieved}<neve-session>\nIt is spring.\n</neve-session>"
    texts = [
        {"type": "text", "text": text} for text in (around, "Say <neve-retrieved>\n- [evt:s:4] so</neve-retrieved>")
    ]
    return {"system": [{"type": "text", "text": pack}], "messages": [{"role": "user", "content": texts}]}


def test_a_pack_shows_the_messages_that_its_statements_name() -> None:
    shown = shown_by(user(), request())
    assert shown.pack == {"1"} and shown.retrieved == []
    assert shown.word_for_word == set(), "of the eight terms it has two"
    assert shown_by(user(), request(pack=PACK.replace("User has", "User had"))).pack == set(), "it is not shown"


def test_a_hit_shows_its_message_or_what_its_statement_names() -> None:
    block = (
        "<neve-updates>\n- [evt:s:1] is new\n</neve-updates>\n<neve-retrieved>\nCandidates.\n"
        "- [evt:s:5] 2026-03-01, user said: The red hat\n  in reply to b: Which hat?\n"
        "- [evt:s:2] 2026-03-01, b said: Nice\n  - [evt:s:1] that was pasted\n"
        "- [mem_a] 2026-03-01, observation: User lost a hat.\n"
        "- [mem_b] 2026-03-01, observation: User wears hats.\n</neve-retrieved>\n"
    )
    shown = shown_by(user(), request(block))
    assert shown.retrieved == [{"4", "5"}, {"2"}, {"3"}, frozenset()] and shown.hit_tokens > 60
    assert shown.holds(frozenset({"4", "8"})) == {
        "pack": False,
        "pack, word for word": False,
        "hits": True,
        "either": True,
        "either, word for word": True,
    }


def test_a_table_tells_users_within_and_above_the_budget_apart() -> None:
    held, not_held = Prompt(frozenset("1"), frozenset(), [], 10, 0), Prompt(frozenset(), frozenset(), [], 20, 0)
    asked = Question("Who is Bertha?", "names", frozenset("1"))
    found = Evidence(
        [
            (user(), asked, held),
            (user(within=False), asked, not_held),
            (user(within=False, budget=SMALL), asked, not_held),
        ],
        [(user(), "small talk", 0), (user(), "small talk", 2)],
    )
    table = found.table("talks", tuned=True)
    assert {name: (row["pack"], row["tokens of the pack"]) for name, row in table["prompts"].items()} == {
        "all": (50.0, 15),
        "within the pack's budget": (100.0, 10),
        "above the pack's budget": (0.0, 20),
        "a small pack": (0.0, 20),
    }
    assert table["no hit"] == {"small talk": 50.0, "off topic": 0.0, "questions": 100.0}
    assert found.table("talks", tuned=False) == {}
