"""The row of docs/features.md that what there is can be listed and removed: some of a policy is changed, and telephone
numbers, e-mail addresses, bank accounts and postal addresses are taken out where a tenant asks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from local.api_client import ApiClient
from tests.http.driving.people import Person, answered, user_message

SAID = (
    "Call +49 171 1234567 or write to ann@example.com, pay to DE89 3704 0044 0532 0130 00,"
    " and send it to Musterstr. 5, 10115 Berlin."
)
CONTACTS = ("phone", "email", "iban", "address")


@pytest.mark.live
def test_e25_contacts_stay_unless_a_tenant_asks(user: Person) -> None:
    user.open("s1")
    appended = user.append("s1", user_message(SAID), answered())
    assert "redacted" not in appended
    assert user.events("s1")[0]["content"] == SAID
    assert user.remember(SAID)["text"] == SAID


@pytest.mark.controls
def test_e25_contacts_are_taken_out_where_a_tenant_asks(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person]
) -> None:
    api = tenant_with(window=100_000)
    before = api.expect(200, "GET", "/v1/policy")
    changed = api.expect(200, "PATCH", "/v1/policy", {"pii": dict.fromkeys(CONTACTS, "redact")})
    assert changed["policy"]["window"] == before["policy"]["window"] == 100_000
    assert changed["in_force"]["pii"]["card_number"] == "block", "the others stay as they were"
    user = person(api)
    user.open("s1", title="Write to ann@example.com", metadata={"mail": "ann@example.com"})
    assert user.session("s1")["title"] == "Write to [removed]"
    assert user.session("s1")["metadata"] == {"mail": "[removed]"}
    appended = user.append("s1", user_message(SAID, metadata={"phone": "5550199"}), answered())
    assert appended["redacted"] == {"phone": 2, "email": 1, "iban": 1, "address": 1}
    event = user.events("s1")[0]
    assert event["content"] == ("Call [removed] or write to [removed], pay to [removed], and send it to [removed].")
    assert event["metadata"] == {"phone": "[*]"}
    assert user.remember(SAID)["text"] == event["content"]


@pytest.mark.controls
def test_e25_contacts_are_refused_where_a_tenant_blocks_them(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person]
) -> None:
    api = tenant_with()
    api.expect(200, "PATCH", "/v1/policy", {"pii": dict.fromkeys(CONTACTS, "block")})
    user = person(api)
    problem = user.expect(422, "POST", "/memories", {"text": SAID, "metadata": {"mail": "ann@example.com"}})
    assert problem["code"] == "pii_blocked"
    assert all(kind in problem["detail"] for kind in CONTACTS) and "ann" not in problem["detail"]
    problem = user.expect(422, "POST", "/memories", {"text": "x", "metadata": {"mail": "ann@example.com"}})
    assert problem["errors"][0]["field"] == "metadata.mail"
    memory = user.remember("User likes bees.")
    problem = user.expect(422, "PATCH", f"/memories/{memory['id']}", {"metadata": {"to": "+49 171 1234567"}})
    assert problem["code"] == "pii_blocked"
    user.open("s1")
    user.append("s1", user_message(SAID), answered())
    assert "ann@example.com" not in str(user.events("s1")), "a conversation is never refused"


@pytest.mark.live
def test_e25_a_change_of_a_policy_is_checked_and_conditional(api: ApiClient) -> None:
    before = api.call("GET", "/v1/policy")
    etag, policy = before.headers["etag"], before.json()["policy"]
    for change, field in (
        ({"colour": "red"}, "colour"),
        ({"pii": {"colour": "block"}}, "pii.colour"),
        ({"window": None}, "window"),
    ):
        problem = api.expect(422, "PATCH", "/v1/policy", change)
        assert problem["errors"][0]["field"] == field
    wrong = api.expect(422, "PATCH", "/v1/policy", {"compaction_trigger": 9_000_000})
    assert wrong["code"] == "invalid_policy"
    stale = api.call("PATCH", "/v1/policy", {"window": 150_000}, headers={"If-Match": '"999999"'})
    assert stale.status == 412
    after = api.call("GET", "/v1/policy")
    assert (after.headers["etag"], after.json()["policy"]) == (etag, policy)
