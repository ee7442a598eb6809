"""What a model is asked for a summary, and how its answer is brought to its size (docs/rules/compact.md#summary)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.compact import prompt
from neve.domain.compact.fit import fitted
from neve.domain.compact.headings import HEADINGS, ITEM_CHARACTERS, SummaryText, items_of
from neve.domain.compact.render import HEADINGS_TOKENS, render_summary
from neve.domain.compact.shorten import MIN_TOKENS, within_request
from neve.domain.records.sessions import EventType
from neve.domain.sessions.transcript import render_line
from neve.domain.tokens import estimate
from neve.observers.prompted import PromptedObserver
from neve.observing import SummaryInput
from neve.ports.errors import ModelUnavailable
from neve.ports.models import ModelAnswer, ModelRequest
from tests.unit.domain_rows import event, tool_result

LONG = "word " * 70
EVENTS = [
    event(5, "Let's go by train.", created_at="2026-03-10T23:50:00.000Z"),
    event(6, "Fine.", event_type=EventType.ASSISTANT_RESPONSE, created_at="2026-03-11T00:10:00.000Z"),
]


class Model:
    def __init__(self, *answers: Mapping[str, Any]) -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        return ModelAnswer(self.answers.pop(0), "m-1", {"input": 10, "output": 2})

    def asked(self, n: int) -> str:
        return str(self.requests[n].content[0]["text"])


def given_input(**more: Any) -> SummaryInput:
    return SummaryInput(**{"session_id": "s1", "events": EVENTS, "verbosity": "brief", "target_tokens": 250, **more})


# --- the request ------------------------------------------------------------------------------------


def test_the_prompt_changes_with_its_version() -> None:
    """Raise ``PROMPT_VERSION`` with the words, then pin their hash here."""
    basis = prompt.SYSTEM + prompt.TOOL_NAME + json.dumps(prompt.summary_schema(), sort_keys=True)

    pinned = (prompt.PROMPT_VERSION, hashlib.sha256(basis.encode()).hexdigest()[:12])
    assert pinned == ("2", "8e139156534d")


def test_the_events_stand_under_their_day() -> None:
    text = prompt.summary_content(EVENTS, SummaryText(decisions=("Go in May.",)), 170, "UTC")[0]["text"]

    assert text == (
        "At most 170 tokens are allowed for all items together.\n\n"
        "# Summary so far\ndecisions:\n- Go in May.\naction_items:\n- (none)\ninsights:\n- (none)\npreferences:\n"
        "- (none)\n\n"
        "# Events\n\n"
        "--- 2026-03-10 ---\n\nuser #5: Let's go by train.\n\n"
        "--- 2026-03-11 ---\n\nassistant #6: Fine.\n\n"
        "# End of the events\nCall record_summary now."
    )


def test_a_summary_over_its_target_is_asked_for_once_more_and_then_cut() -> None:
    too_long = {"insights": [LONG] * 9}
    model = Model(too_long, too_long)

    done = PromptedObserver(model, "m").summarise(given_input())

    assert done.calls == 2
    assert done.usage == {"input": 20, "output": 4}
    actual = estimate(render_summary(prompt.read_summary_answer(too_long))) - HEADINGS_TOKENS
    assert f"was {actual} tokens long; at most {250 - HEADINGS_TOKENS} tokens" in model.asked(1)
    assert done.summary.insights == (LONG.strip(),)
    assert done.left_out == 8
    assert estimate(render_summary(done.summary)) <= 250


def test_a_shorter_second_answer_is_taken() -> None:
    model = Model({"insights": [LONG] * 9}, {"decisions": ["Go by train."]})

    done = PromptedObserver(model, "m").summarise(given_input())
    assert (done.summary, done.left_out) == (SummaryText(decisions=("Go by train.",)), 0)


def test_without_time_for_another_call_it_is_cut_at_once() -> None:
    model = Model({"insights": [LONG] * 9})

    done = PromptedObserver(model, "m", longest_s=50.0).summarise(given_input(seconds_left=lambda: 49.0))

    assert done.calls == 1
    assert estimate(render_summary(done.summary)) <= 250


def test_an_answer_out_of_form_is_an_outage() -> None:
    with pytest.raises(ModelUnavailable):
        PromptedObserver(Model({"decisions": "Go."}), "m").summarise(given_input())


def test_an_item_is_one_line() -> None:
    read = prompt.read_summary_answer({"decisions": ["  Go\n\nby train. ", " ", "x" * 500], "extra": 1})

    assert read.decisions == ("Go by train.", "x" * (ITEM_CHARACTERS - 1) + "…")


# --- the answer's size ------------------------------------------------------------------------------


def test_the_headings_take_turns() -> None:
    summary = SummaryText(decisions=("d1 " + LONG, "d2 " + LONG), insights=("i1 " + LONG,), preferences=("p1 " + LONG,))

    fitting = fitted(summary, HEADINGS_TOKENS + 3 * 113)

    assert [len(items) for items in items_of(fitting).values()] == [1, 0, 1, 1]


def test_every_heading_that_says_something_keeps_a_share() -> None:
    summary = SummaryText((LONG,), (LONG, "later"), (LONG,), (LONG,))

    fitting = fitted(summary, HEADINGS_TOKENS + 120)

    sizes = [estimate(items[0]) for items in items_of(fitting).values()]
    assert 20 < min(sizes) <= max(sizes) <= 34
    assert all(items[0].endswith("…") for items in items_of(fitting).values())


def test_a_first_item_that_is_too_large_is_cut() -> None:
    fitting = fitted(SummaryText(decisions=(LONG,)), HEADINGS_TOKENS + 20)

    assert fitting.decisions[0].endswith("…")
    assert estimate(render_summary(fitting)) <= HEADINGS_TOKENS + 20


ITEMS = st.lists(st.text("ab <🙂\n", max_size=80), max_size=8).map(tuple)


@given(st.builds(SummaryText, ITEMS, ITEMS, ITEMS, ITEMS), st.integers(0, 600))
def test_what_is_fitted_is_within_the_target(summary: SummaryText, target: int) -> None:
    fitting = fitted(summary, target)

    assert estimate(render_summary(fitting)) <= max(target, HEADINGS_TOKENS)
    if estimate(render_summary(summary)) <= target:
        assert fitting == summary
    assert set(items_of(fitting)) == set(HEADINGS)


# --- the request's size -----------------------------------------------------------------------------


def test_the_longest_events_are_cut_to_one_length() -> None:
    events = [event(1, "short"), event(2, "a" * 9_000), event(3, "b" * 30_000)]

    first, second, third = within_request(events, 2_000)

    assert first == events[0]
    sizes = [estimate(render_line(one)) for one in (second, third)]
    assert 900 < min(sizes) <= max(sizes) <= 1_000
    assert str(third.content).startswith("bbb")
    assert "[… cut …]" in str(third.content)


def test_what_fits_stays_as_it_is() -> None:
    events = [event(1, "short"), tool_result(2, "fetch", "x" * 3_000)]

    assert within_request(events, 600) == events


def test_of_too_many_events_the_newest_are_shown() -> None:
    events = [event(n, "a" * 400) for n in range(1, 101)]

    fitting = within_request(events, 20 * MIN_TOKENS)

    assert 20 <= len(fitting) <= 25
    assert fitting[-1].seq == 100


@given(st.lists(st.integers(0, 3_000), min_size=1, max_size=40), st.integers(200, 5_000))
def test_a_request_holds_its_cap(lengths: list[int], cap: int) -> None:
    events = [event(n + 1, "a" * length) for n, length in enumerate(lengths)]

    fitting = within_request(events, cap)

    assert fitting
    assert sum(estimate(f"{render_line(one)}\n\n") for one in fitting) <= cap
    assert [one.seq for one in fitting] == [one.seq for one in events][-len(fitting) :]
