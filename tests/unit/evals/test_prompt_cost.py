"""How the replay of prompts counts: the provider's cache, what of a request was in the one before, and the sums."""

from __future__ import annotations

from typing import Any

import pytest

from evals.prompt_cost.baselines import FullHistory, Request, last_messages, rebuilt_memory
from evals.prompt_cost.blocks import Block, blocks_of, common_prefix, stable, text_in
from evals.prompt_cost.metered_observer import MeteredObserver, telegram
from evals.prompt_cost.provider_cache import LOOKBACK, Billed, ProviderCache
from evals.prompt_cost.replay import CACHED, METHODS, NEVE, UNCACHED, Played, answer_tokens, holds
from evals.prompt_cost.report import render, summed, turn_costs
from evals.prompt_cost.sending import Stream
from evals.prompt_cost.settings import CHAT_MODELS
from evals.prompt_cost.transcripts import Asked, ToolUse, Turn, tools
from neve.domain.records.sessions import Event, EventType
from neve.domain.tenants.prices import LIST_PRICES, ModelPrice
from neve.domain.tokens import estimate
from neve.observing import PassInput

MARK = {"cache_control": {"type": "ephemeral"}}


def block(data: str, tokens: int = 10, *, marked: bool = False) -> Block:
    return Block(data.encode(), tokens, marked)


# --- blocks ---------------------------------------------------------------------------------------


def test_a_breakpoint_is_no_content_and_the_last_turn_is_known() -> None:
    body = {"role": "user", "content": [{"type": "text", "text": "Where?"}]}
    request = {"system": [{"type": "text", "text": "You.", **MARK}], "messages": [body, body]}
    system, first, last = blocks_of(request)
    assert (system.marked, first.marked, first.last_turn, last.last_turn) == (True, False, False, True)
    assert b"cache_control" not in system.data
    assert stable([system, first, last]) == system.data + first.data
    assert [one.tokens for one in (system, first)] == [estimate("You."), estimate("Where?")]


def test_the_text_of_a_request_is_what_the_model_reads() -> None:
    request = {
        "tools": [{"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {"at": 3}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Found."}]},
        ],
    }
    assert text_in(request).split("\n") == ["look", "Looks.", "look", "3", "Found."]


@pytest.mark.parametrize(("one", "other", "length"), [(b"", b"a", 0), (b"abc", b"abd", 2), (b"abc", b"abcd", 3)])
def test_the_common_prefix(one: bytes, other: bytes, length: int) -> None:
    assert common_prefix(one, other) == common_prefix(other, one) == length


# --- the provider's cache -------------------------------------------------------------------------


def test_what_was_written_is_read_and_what_grew_is_written() -> None:
    cache = ProviderCache(15)
    assert cache.send([block("a"), block("b", marked=True), block("c")]) == Billed(10, 0, 20)
    grown = [block("a"), block("b"), block("c"), block("d", marked=True), block("e")]
    assert cache.send(grown) == Billed(10, 20, 20)
    assert cache.send(grown) == Billed(10, 40, 0)
    changed = [block("x"), *grown[1:]]
    assert cache.send(changed) == Billed(10, 0, 40)


def test_below_the_minimum_nothing_is_cached() -> None:
    cache = ProviderCache(21)
    for _ in range(2):
        assert cache.send([block("a"), block("b", marked=True)]) == Billed(20, 0, 0)


def test_a_breakpoint_looks_back_over_twenty_blocks() -> None:
    for between, read in ((LOOKBACK - 1, 10), (LOOKBACK, 0)):
        cache = ProviderCache(1)
        cache.send([block("a", marked=True)])
        later = [block("a"), *(block(str(n)) for n in range(between - 1)), block("z", marked=True)]
        assert cache.send(later).cache_read == read


# --- the methods ----------------------------------------------------------------------------------

TURNS = [
    Turn("Hello, who are you?", "An assistant."),
    Turn("Find my order.", "It is packed.", (ToolUse("t1", "find", {"order": "A-1"}, "packed " * 40),)),
    Turn("Thanks.", "You are welcome."),
]


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("minimum", [1, 60, 10_000])
def test_a_full_history_is_counted_as_its_requests_are(cached: bool, minimum: int) -> None:
    history, stream = FullHistory("You are kind. " * 9, minimum, cached=cached), Stream(ProviderCache(minimum))
    for n, turn in enumerate(TURNS):
        assert history.send(turn.user) == stream.send(history.request(TURNS[:n], turn.user))
        history.keep(turn)


def test_the_window_begins_with_a_message_and_tears_no_call_from_its_result() -> None:
    request = last_messages("You.", TURNS * 8, "And now?")
    first = request["messages"][0]
    assert first["content"][0]["type"] == "text" and first["role"] == "user"
    assert len(request["messages"]) <= 20
    calls = [part["id"] for one in request["messages"] for part in one["content"] if part["type"] == "tool_use"]
    results = [
        part["tool_use_id"] for one in request["messages"] for part in one["content"] if part["type"] == "tool_result"
    ]
    assert calls == results


def test_a_rebuilt_memory_takes_the_place_of_the_pack() -> None:
    def texts(request: Request) -> list[str]:
        return [part["text"] for part in request["system"]]

    pack: dict[str, Any] = {"type": "text", "text": "<neve-memory>\nold\n</neve-memory>", **MARK}
    body = {"role": "user", "content": [{"type": "text", "text": "And?", **MARK}]}
    ours = {"system": [{"type": "text", "text": "You.", **MARK}, pack], "messages": [body]}
    rebuilt = rebuilt_memory(ours, "new")
    assert texts(rebuilt) == ["You.", "new"]
    assert [one.marked for one in blocks_of(rebuilt)] == [True, False, False], "only the prefix is worth writing"
    assert texts(rebuilt_memory(ours, "")) == ["You."]
    bare = {"system": ours["system"][:1], "messages": []}
    assert texts(rebuilt_memory(bare, "new")) == ["You.", "new"]
    assert texts(ours)[1] == pack["text"]


# --- transcripts ----------------------------------------------------------------------------------


def test_the_tool_talk_is_the_same_every_time_and_has_what_is_stale() -> None:
    talk = tools(20_000)
    assert talk == tools(20_000)
    [stop] = talk.stops
    assert 20_000 <= stop.tokens < 25_000 and stop.turns == len(talk.turns)
    results = [estimate(use.result) for turn in talk.turns for use in turn.tools]
    assert max(results) > 1_000 and min(results) < 1_000
    assert any(len(use.result) > 5_000 for turn in talk.turns for use in turn.tools)
    assert stop.asked and all(one.evidence[0] in {turn.user for turn in talk.turns} for one in stop.asked)


def test_evidence_has_to_be_there_word_for_word() -> None:
    asked = Asked("When?", ("On Monday.", "At nine."))
    assert holds("They said: At nine. On Monday.", asked)
    assert not holds("They said: At nine. On Tuesday.", asked)


# --- the observer ---------------------------------------------------------------------------------


def event(seq: int, text: str, kind: EventType = EventType.USER_MESSAGE) -> Event:
    return Event(seq, kind, text, estimate(text), "2026-03-10T09:30:00.000Z")


def test_a_pass_costs_what_its_request_holds() -> None:
    observer = MeteredObserver()
    short = PassInput("s1", [event(1, "I moved to Lisbon last year.")], [], "UTC", 8_000)
    usage = observer.observe(short).usage
    longer = PassInput("s1", [event(1, "I moved to Lisbon last year. " + "Well. " * 100)], [], "UTC", 8_000)
    assert observer.observe(longer).usage["input"] - usage["input"] == estimate("Well. " * 100)
    assert usage["input"] > 1_000 and usage["output"] > 0
    assert observer.spent.calls == 2


def test_a_telegram_repeats_no_sentence_and_small_talk_makes_none() -> None:
    message = "We walked along the river until the lanterns were lit in the old harbour."
    line = telegram([event(4, message), event(5, "How lovely that sounds!", EventType.ASSISTANT_RESPONSE)])
    assert line is not None and (line.seq_from, line.seq_to) == (4, 5)
    assert message not in line.text and "lanterns" in line.text and estimate(line.text) <= 30
    assert telegram([event(1, "Good morning to you!")]) is None


# --- sums -----------------------------------------------------------------------------------------


def played(turns: int = 10) -> Played:
    found = Played("none", "locomo-100k", 1_000, turns, asked=4, evidence=dict.fromkeys(METHODS, 2))
    for n in range(turns):
        found.output.append(10)
        found.observer.append((1_000, 20))
        found.epochs.append((int(n >= 5), 0))
        found.packs.append(1)
        for method in METHODS:
            stable_prefix = 10 if n == 5 else 95
            found.sent[method].append((200, 100, 100, stable_prefix, 10, 80, 10))
    return found


def test_a_turn_costs_its_prompt_its_answer_and_the_observer_of_who_has_one() -> None:
    price = ModelPrice(input=10, cache_read=1, cache_write=12.5, output=50)
    haiku = LIST_PRICES["claude-haiku-5-5"]
    alone = (10 * 10 + 80 * 1 + 10 * 12.5 + 10 * 50) / 1e6
    assert turn_costs(played(), CACHED, price)[0] == pytest.approx(alone)
    observer = (1_000 * haiku.input + 20 * haiku.output) / 1e6
    assert turn_costs(played(), NEVE, price)[0] == pytest.approx(alone + observer)


def test_a_new_epoch_is_left_out_of_the_share_and_nothing_else_is() -> None:
    result = summed(played())
    assert (result["epochs"], result["methods"][NEVE]["stable_prefix_share"]) == (1, 0.95)
    assert result["methods"][NEVE]["prefix_share"] == 0.5
    assert result["methods"][NEVE]["usd_observer"] > 0 == result["methods"][UNCACHED]["usd_observer"]
    assert result["methods"][NEVE]["line"][-1][0] == 10


def test_the_tables_say_what_is_reached() -> None:
    text = render({"locomo-100k": summed(played())}, "today")
    assert "| Neve | 1,000 | 0.0 | 50.0 % | 80.0 % |" in text
    assert "yes: 95.0 %, 95.0 %" in text and "yes: 1.00" in text
    assert text.count("**no**") == 2, "not below the full history, which has the same prompts and no observer"
    assert len(CHAT_MODELS) == 3 and answer_tokens(TURNS[1]) > estimate(TURNS[1].assistant)
