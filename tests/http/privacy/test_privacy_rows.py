"""Rows A37 and B46 of docs/features.md: what must not be remembered is kept nowhere."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest
from stdnum import luhn

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.downloads import exported_text
from tests.http.driving.people import Json, Person, answered, user_message


def new_card() -> str:
    """A number of nobody, that no other test has said."""
    digits = "4" + "".join(random.SystemRandom().choices("0123456789", k=14))
    return digits + luhn.calc_check_digit(digits)


def with_dashes(card: str) -> str:
    return "-".join(card[n : n + 4] for n in range(0, 16, 4))


def in_every_way(card: str) -> list[str]:
    """As it was said, as digits alone, and parts of it that no other number has."""
    return [card, with_dashes(card), card[4:], with_dashes(card)[5:], f"{card[:8]}"]


@pytest.mark.controls
def test_a37_a_card_number_is_nowhere(user: Person, controls: Controls) -> None:
    card = new_card()
    said_so = f"My marmoset's vet takes {with_dashes(card)} on the phone."
    tool = {"tool_use_id": "t1", "name": "pay", "args": {"card": int(card), "note": [f"number {card}"]}}
    user.open("s1", title=f"Paying with {card}", user_meta={"name": f"Ann {card}"})
    model_says = {
        "has_memory": True,
        "observations": [{"text": f"🟡 User pays the marmoset's vet with {card}.", "seq_from": 1, "seq_to": 4}],
        "current_task": f"Pay with {card}",
    }
    controls.script(model_says)
    appended = user.append(
        "s1",
        user_message(said_so, name=f"Ann {card}"),
        {"event_type": "tool_call", "content": "", "event_data": tool},
        {
            "event_type": "tool_result",
            "content": json.dumps({"paid_with": card}),
            "event_data": {"tool_use_id": "t1", "name": "pay"},
        },
        answered([{"type": "text", "text": f"Paid with {card[:8]}"}, {"type": "text", "text": f"{card[8:]}."}]),
        headers={"Idempotency-Key": "pay-once"},
    )
    assert appended["redacted"] == {"card_number": 6}
    controls.drain()
    user.compact("s1")
    controls.drain()
    asked = json.dumps([controls.calls("model"), controls.calls("embed")])
    user.recall(f"who takes {card}?")
    user.context("s1", f"Pay with {card} again")
    controls.drain()

    [row] = user.memories()
    assert row["text"] == "🟡 User pays the marmoset's vet with [removed]."
    assert controls.files_with("marmoset's vet") != [], "the search must be able to find what is there"
    assert [part for part in in_every_way(card) if controls.files_with(part)] == []
    assert "marmoset" in asked
    assert [part for part in in_every_way(card) if part in asked] == []


@pytest.mark.live
def test_b46_the_gate(user: Person, job_ended: Callable[[ApiClient, Json], Json]) -> None:
    card, wrong = new_card(), "4111 1111 1111 1112"
    user.open("s1")
    refused = user.expect(422, "POST", "/memories", {"text": f"The card is {with_dashes(card)}.", "tags": [card]})
    assert refused["code"] == "pii_blocked"
    assert [error["field"] for error in refused["errors"]] == ["text", "tags[0]"]
    assert all("card_number" in error["message"] for error in refused["errors"])
    assert user.expect(422, "POST", "/memories", {"text": "SSN 123-45-6789"})["code"] == "pii_blocked"
    assert user.expect(422, "POST", "/memories", {"text": "My password is hunter2."})["code"] == "pii_blocked"
    line = json.dumps({"text": f"Imported {card}"}).encode()
    lines = user.expect(200, "POST", "/memories/import", raw=b'{"text":"Fine"}\n' + line)
    assert len(lines["imported"]) == 1
    assert [(one["line"], one["errors"][0]["field"]) for one in lines["rejected"]] == [(2, "lines[2].text")]

    document = {"query": {"path": "/people/anna"}}
    refused_document = user.expect(422, "PUT", "/documents", {"text": f"Pays with {card}."}, **document)
    assert (refused_document["code"], refused_document["errors"][0]["field"]) == ("pii_blocked", "text")
    kept_document = user.expect(201, "PUT", "/documents", {"text": f"Her MRN: 001234567, not {wrong}."}, **document)
    assert kept_document["text"] == f"Her MRN: [removed], not {wrong}."

    sister = user.remember("My sister Anna Maria lives in Galway, in 12 Elm Street.")
    assert sister["text"] == "My sister Anna Maria lives in Galway, in 12 Elm Street."
    assert user.remember(f"Reference {wrong}")["text"] == f"Reference {wrong}"
    assert user.remember("Her MRN: 001234567, since May.")["text"] == "Her MRN: [removed], since May."
    changed = user.expect(422, "PATCH", f"/memories/{sister['id']}", {"text": f"Anna's card is {card}"})
    assert [error["field"] for error in changed["errors"]] == ["text"]

    first = user_message(f"Her card is {with_dashes(card)}, her number {wrong}.", client_id="c1")
    appended = user.append("s1", first, answered())
    assert appended["redacted"] == {"card_number": 1}
    assert user.append("s1", first)["seqs"] == [1], "the same event again is the same event"
    assert user.events("s1")[0]["content"] == f"Her card is [removed], her number {wrong}."
    user.settle()
    hit = user.recall("whose card number?", sources=["event"])
    ledger = user.expect(200, "GET", f"/recalls/{hit['recall_id']}") if "recall_id" in hit else {}
    exported = exported_text(job_ended(user.api, user.expect(202, "POST", "/export")))
    assert "Her card is [removed]" in exported and "Anna Maria" in exported
    lines_left: list[Json] = [
        *user.memories(),
        *user.events("s1"),
        ledger,
        hit,
        refused,
        refused_document,
        lines,
        changed,
    ]
    assert [part for part in (card, with_dashes(card)) if part in json.dumps(lines_left) + exported] == []
