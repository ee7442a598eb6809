"""The gate on values with names: what they name stays, each under a name of its own."""

from __future__ import annotations

import json
import string
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.observe.app import router
from neve.domain.errors import NeveError
from neve.domain.privacy.structured import Walk
from neve.domain.records.sessions import EventType
from neve.domain.tenants.policy import PiiActions, Policy
from neve.http.schemas.sessions.events import MAX_EVENT_BYTES
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from tests.unit.api_world import Api, installed
from tests.unit.world import World

RESULT = EventType.TOOL_RESULT
CARD, OTHER = "4111 1111 1111 1111", "5500 0000 0000 0004"
ACTIONS = Policy().pii.actions


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World.make(tmp_path)
    world.open()
    yield world
    world.table.close()


def balances(one: str, other: str) -> NewEvent:
    data = {"tool_use_id": "t", "name": "balances", "rows": {CARD: one, OTHER: other}}
    return NewEvent(RESULT, "ok", client_id="c1", event_data=data)


def test_two_members_whose_names_are_taken_out_are_both_kept(world: World) -> None:
    session = world.user("ann").of_session("s1")
    assert append_events(session, [balances("120 EUR", "80 EUR")]).redacted == {"card_number": 2}
    [kept] = list_events(session, 1, 10).events
    assert kept.event_data["rows"] == {"[removed]": "120 EUR", "[removed] 2": "80 EUR"}


def test_what_differs_under_such_a_name_is_another_event(world: World) -> None:
    session = world.user("ann").of_session("s1")
    append_events(session, [balances("120 EUR", "80 EUR")])
    assert append_events(session, [balances("120 EUR", "80 EUR")]).seqs == [1], "a repeat is known"
    with pytest.raises(NeveError, match="client_id_conflict"):
        append_events(session, [balances("999 EUR", "80 EUR")])


def test_what_differs_under_such_a_name_is_another_call(world: World) -> None:
    def sent(api: Api, balance: str) -> int:
        data = {"tool_use_id": "t", "name": "balances", "rows": {CARD: balance, OTHER: "80 EUR"}}
        body = {"events": [{"event_type": "tool_result", "content": "ok", "event_data": data}]}
        place = "/v1/users/{user_id}/sessions/{session_id}/events"
        headers = {"Idempotency-Key": "k1"}
        return api.call("POST", place, body, headers=headers, user_id="ann", session_id="s1").status

    for _ in installed(world):
        api = Api(router)
        assert [sent(api, balance) for balance in ("120 EUR", "120 EUR", "999 EUR")] == [201, 201, 422]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ([CARD, "[removed]"], ["[removed] 2", "[removed]"]),
        (["[removed]", CARD, "[removed] 2", OTHER], ["[removed]", "[removed] 3", "[removed] 2", "[removed] 4"]),
        ([f"to {CARD}", f"to {OTHER}", OTHER], ["to [removed]", "to [removed] 2", "[removed]"]),
        ([CARD, OTHER, "378282246310005 2"], ["[removed]", "[removed] 2", "[removed] 2 2"]),
        (["a", "[removed] 2"], ["a", "[removed] 2"]),
    ],
)
def test_a_name_that_was_sent_stays_and_the_others_are_numbered(sent: list[str], kept: list[str]) -> None:
    screened = Walk(ACTIONS).members({name: n for n, name in enumerate(sent)})
    assert list(screened.items()) == [(name, n) for n, name in enumerate(kept)]


def test_the_largest_event_of_such_names_fits_a_row(world: World) -> None:
    """A number makes a name longer than it was: the shortest names that are taken out are those that grow most."""
    session = world.user("ann").of_session("s1")
    signs = string.digits + string.ascii_lowercase
    names = ("pwd:" + "".join(three) for three in product(signs, repeat=3) if any(sign.isdigit() for sign in three))
    data = {"tool_use_id": "t", "name": "n", "rows": dict.fromkeys(islice(names, 21_830), 1)}
    assert 0.99 * MAX_EVENT_BYTES < len(json.dumps(data, separators=(",", ":"))) < MAX_EVENT_BYTES - 60
    append_events(session, [NewEvent(RESULT, "", event_data=data)])
    [kept] = list_events(session, 1, 10).events
    assert len(kept.event_data["rows"]) == 21_830


def test_contacts_are_known_by_the_names_of_members() -> None:
    walk = Walk(PiiActions(phone="redact", address="redact", email="redact").actions)
    taken = {"phone": 5550199, "mobile_number": "555 0199", "shippingAddress": "Rua das Flores 12"}
    stay = {"ip_address": "10.0.0.1", "address": "https://x.example/12 a", "phone_model": "15 Pro", "mobile": True}
    kept = {"phone": "[*]", "mobile_number": "[*]", "shippingAddress": "[removed]"}
    assert walk.members(taken | stay) == kept | stay


NAMES = st.sampled_from(
    (CARD, OTHER, f"to {CARD}", f"{OTHER} 2", "378282246310005", "ssn 123-45-6789", "[removed]", "[removed] 2", "n")
) | st.text(max_size=4)
VALUES = st.recursive(
    st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=24,
)


def shape(value: Any) -> Any:
    """A value without the names in it."""
    if isinstance(value, dict):
        return [shape(member) for member in value.values()], "members"
    return [shape(one) for one in value] if isinstance(value, list) else value


@given(VALUES)
def test_as_many_members_are_kept_as_were_sent_at_every_depth(sent: Any) -> None:
    kept = Walk(ACTIONS).value(sent)
    assert shape(kept) == shape(sent)
    assert Walk(ACTIONS).value(sent) == kept, "the same names each time"
    assert Walk(ACTIONS).value(kept) == kept, "nothing is left to be taken out"
