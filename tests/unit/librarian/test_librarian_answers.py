"""What a librarian may read, and what is made of what a model answers: data that nobody vouches for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.documents.paths import normal_path
from neve.domain.librarian.answer import read_filing_answer
from neve.domain.librarian.filing import Action, ShownDocument
from neve.domain.librarian.looking import known_paths, search_words
from neve.domain.librarian.paths import conversation_path, decision_path, librarian_path, person_path, slug
from neve.domain.librarian.routing import certainty_of, place_for, trust_of_action
from neve.domain.librarian.window import within_window
from neve.domain.observe.trust import SaidHere
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import render_line
from neve.domain.tokens import estimate

USER, ASSISTANT, TOOL = EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE, EventType.TOOL_RESULT
SHOWN = (ShownDocument("/profile/identity", 3, "Works at Google."), ShownDocument("/reference/long", 2, "x"))


def event(seq: int, text: str, event_type: EventType = USER) -> Event:
    return Event(seq, event_type, text, estimate(text), "2026-03-10T09:30:00.000Z")


def action(verb: str = "create", path: str = "/profile/goals", **more: Any) -> dict[str, Any]:
    return {"action": verb, "path": path, "text": "Runs a marathon.", "seqs": [1], **more}


def read(*actions: Any, **more: Any) -> Any:
    whole = {"/profile/identity"}
    return read_filing_answer({"actions": list(actions), **more}, seqs=range(1, 5), shown=SHOWN, whole=whole)


# --- answers --------------------------------------------------------------------------------------


def test_what_is_of_the_form_is_taken() -> None:
    got = read(
        action(tags=["sport"], certainty="high", seqs=[2, 1, 9]),
        action("update", "/profile/identity", base_rev=3),
        action("append", "/reference/long", base_rev=2),
        {"action": "noop", "seqs": [1]},
        title=" A  title ",
        key_topics=["run", "run", " "],
        decisions=None,
    )
    assert [(one.verb, one.path, one.seqs) for one in got.actions] == [
        ("create", "/profile/goals", (1, 2)),
        ("update", "/profile/identity", (1,)),
        ("append", "/reference/long", (1,)),
    ]
    assert (got.account.title, got.account.key_topics, got.rejected) == ("A title", ("run",), {})


def test_a_tag_is_kept_as_it_is_asked_for_however_its_accents_were_written() -> None:
    assert read(action(tags=["cafe\u0301", "caf\u00e9"])).actions[0].tags == ("caf\u00e9",)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("not an action", "malformed"),
        ({"action": "delete", "path": "/a", "seqs": [1]}, "malformed"),
        (action(user_id="somebody-else"), "malformed"),
        (action(tenant="another"), "malformed"),
        (action(text=" "), "malformed"),
        (action(importance=6), "malformed"),
        (action(seqs=[]), "malformed"),
        (action(seqs=[77]), "unknown_events"),
        (action("update", "/profile/preferences", base_rev=1), "unknown_path"),
        (action("append", "/projects/other/plan", base_rev=1), "unknown_path"),
        (action("move", "/reference/none", to_path="/reference/b", base_rev=1), "unknown_path"),
        (action("update", "/profile/identity"), "stale_base_rev"),
        (action("update", "/profile/identity", base_rev=2), "stale_base_rev"),
        (action("create", "/profile/identity"), "stale_base_rev"),
        (action("update", "/reference/long", base_rev=2), "not_shown_whole"),
        (action("move", "/profile/identity", base_rev=3), "malformed"),
        (action("move", "/profile/identity", base_rev=3, to_path="/reference/long"), "stale_base_rev"),
        (action("move", "/profile/identity", base_rev=3, to_path="/profile/identity"), "stale_base_rev"),
    ],
)
def test_what_cannot_be_meant_is_counted_and_takes_nothing_with_it(entry: Any, reason: str) -> None:
    got = read(entry, action())
    assert got.rejected == {reason: 1}
    assert [one.path for one in got.actions] == ["/profile/goals"]
    assert got.illegal == ()


@pytest.mark.parametrize("more", [{}, {"seqs": []}, {"path": None, "text": None}, {"reason": "small talk"}])
def test_nothing_to_do_is_no_fault_whatever_is_said_with_it(more: dict[str, Any]) -> None:
    """A fault would be asked about once more, and paid for twice."""
    got = read({"action": "noop", **more})
    assert (got.actions, got.illegal, got.rejected) == ((), (), {})


@pytest.mark.parametrize(
    "path",
    [
        "/profile/../identity",
        "no slash",
        "/artifacts/x",
        "/always-load/x",
        "/conversations/x",
        "/elsewhere/x",
        "/profile",
        "/profile/people/a/b",
        "/a/b/c/d/e/f/g/h/i",
    ],
)
def test_a_path_that_may_not_be_is_a_persons_to_decide(path: str) -> None:
    got = read(action(path=path))
    assert (got.actions, [one.path for one in got.illegal], got.rejected) == ((), [path], {})


def test_one_action_a_document_and_so_many_an_answer() -> None:
    assert read(action(), action()).rejected == {"too_many": 1}
    many = read(*(action(path=f"/reference/{n}") for n in range(20)))
    assert len(many.actions) == 16
    assert many.rejected == {"too_many": 4}


@pytest.mark.parametrize(
    "again",
    [
        action(path="/reference/b"),
        action("move", "/reference/long", base_rev=2, to_path="/reference/b"),
        action("update", "/profile/identity", base_rev=3),
        action("move", "/reference/long", base_rev=2, to_path="/profile/identity"),
    ],
)
def test_what_is_about_a_path_of_an_earlier_action_is_left_out(again: Any) -> None:
    first = action("move", "/profile/identity", base_rev=3, to_path="/reference/b")
    got = read(first, again, action())
    assert [one.path for one in got.actions] == ["/profile/identity", "/profile/goals"]
    assert got.rejected == {"too_many": 1}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = (
    "action",
    "path",
    "text",
    "base_rev",
    "to_path",
    "title",
    "tags",
    "importance",
    "certainty",
    "seqs",
    "user_id",
)


@settings(max_examples=150, deadline=None)
@given(st.lists(JSON | st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=8), max_size=6))
def test_whatever_comes_back_only_legal_changes_of_what_was_shown_are_made(entries: list[Any]) -> None:
    got = read(*entries)
    for one in got.actions:
        assert librarian_path(one.path) == one.path
        assert one.seqs and set(one.seqs) <= set(range(1, 5))
        shown = {document.path: document.rev for document in SHOWN}
        assert one.base_rev == shown.get(one.path) if one.verb != "create" else one.path not in shown
    places = [place for one in got.actions for place in one.places]
    assert len(set(places)) == len(places)
    noops = sum(isinstance(one, dict) and one.get("action") == "noop" for one in entries)
    assert len(got.actions) + len(got.illegal) + sum(got.rejected.values()) >= len(entries) - noops


# --- paths ----------------------------------------------------------------------------------------


def test_each_kind_has_its_place() -> None:
    assert person_path("Sarah") == "/profile/people/sarah"
    assert person_path("Zoë O'Neil") == "/profile/people/zoë-o-neil"
    decided = decision_path("Alpha", "2026-03-10", "Postgres it is")
    assert decided == "/projects/alpha/decisions/2026-03-10-postgres-it-is"
    assert conversation_path("2026-03-10", "Honeymoon in Paris!") == "/conversations/2026-03-10-honeymoon-in-paris"
    assert conversation_path("2026-03-10", "🎉", "ab12") == "/conversations/2026-03-10-conversation-ab12"


@given(st.text(max_size=120))
def test_a_slug_is_always_a_segment(text: str) -> None:
    assert normal_path(f"/{slug(text)}") == f"/{slug(text)}"
    assert normal_path(conversation_path("2026-03-10", text, "abcdef"))


# --- the window -----------------------------------------------------------------------------------


def conversation(*texts: str) -> list[Event]:
    return [event(n, text, USER if n % 2 else ASSISTANT) for n, text in enumerate(texts, start=1)]


def test_what_fits_is_shown_whole() -> None:
    events = conversation("one", "two", "three")
    cut = within_window(events, 1_000)
    assert (cut.events, cut.left_out) == (tuple(events), 0)


def test_a_long_session_keeps_its_begin_its_end_and_what_is_to_be_remembered() -> None:
    turns = [f"{n} {'word ' * 60}" for n in range(1, 41)]
    turns[14] = f"Important: the code is 4711. {'word ' * 60}"
    events = conversation(*turns)
    cap = sum(estimate(f"{render_line(one)}\n\n") for one in events) // 3
    cut = within_window(events, cap)
    seqs = [one.seq for one in cut.events]
    assert seqs == sorted(seqs) and {1, 2, 15, 16, 39, 40} <= set(seqs)
    assert cut.left_out == 40 - len(seqs) > 0
    assert sum(estimate(f"{render_line(one)}\n\n") for one in cut.events) <= cap


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("ab \n", max_size=400), min_size=1, max_size=30), st.integers(200, 2_000))
def test_no_request_is_above_its_cap(texts: list[str], cap: int) -> None:
    cut = within_window(conversation(*texts), cap)
    assert sum(estimate(f"{render_line(one)}\n\n") for one in cut.events) <= cap or len(cut.events) == 1
    assert cut.left_out + len(cut.events) == len(texts)


# --- routing --------------------------------------------------------------------------------------


def test_what_a_user_says_plainly_is_stored_and_a_guess_waits() -> None:
    events = [
        event(1, "I prefer tea."),
        event(2, "Tea it is.", ASSISTANT),
        event(3, "It is raining."),
        event(4, "The user wants all invoices sent", TOOL),
    ]
    plain = Action("create", "/profile/preferences", "Tea", seqs=(1,), certainty="low")
    follows = Action("create", "/profile/preferences", "Rain", seqs=(3,), certainty="high")
    guess = Action("create", "/profile/preferences", "Rain", seqs=(3,), certainty="low")
    assistants = Action("create", "/profile/preferences", "Tea", seqs=(2,), certainty="high")
    assert [certainty_of(one, events) for one in (plain, follows, guess, assistants)] == [
        "high",
        "medium",
        "low",
        "low",
    ]
    printed = Action("create", "/profile/preferences", "Known: the user wants all invoices sent", seqs=(3,))
    trusts = [trust_of_action(one, SaidHere(events)) for one in (plain, assistants, printed)]
    assert trusts == ["user", "assistant", "tool"]
    assert place_for("high", "user", "interactive") == place_for("medium", "user", "auto") == "store"
    assert place_for("medium", "user", "interactive") == place_for("low", "user", "auto") == "inbox"
    assert place_for("high", "tool", "auto") == "inbox"


def test_where_to_look_follows_from_what_was_said() -> None:
    events = conversation("My sister Sarah moved to Oslo. Sarah likes it.", "Oslo is lovely.")
    assert known_paths(events)[:3] == ["/profile/identity", "/profile/preferences", "/profile/goals"]
    assert "/profile/people/sarah" in known_paths(events)
    assert search_words(events).split()[:2] == ["sarah", "oslo"]
    assert search_words(conversation("the a of")) == ""
