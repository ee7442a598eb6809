"""Row B41 for ids of users and sessions of any letters: each is one of its own, and two spellings of one are one."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from unicodedata import normalize

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from local.api_client import ApiClient
from tests.http.driving.people import Person, answered, in_path, new_word, user_message
from tests.ids import AWKWARD, names
from tests.pictures import TINY_PNG

pytestmark = pytest.mark.live

WRONG = (
    "%20a",
    "a%0Ab",
    "a%E2%80%8Bb",
    "%FF",
    "a%FFb",
    "a%23b",
    "a%7Eb",
    "a%25b",
    "a%3Fb",
    "a%5Cb",
    "a%2Fb",
    "%C3%A9" * 65,
)
FEW = settings(
    max_examples=15,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def session_ids(user: Person, limit: int = 3) -> list[str]:
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = user.expect(200, "GET", "/sessions", query={"limit": limit, **cursor})
        found += [one["id"] for one in page["sessions"]]
        if "next_cursor" not in page:
            return found
        cursor = {"cursor": page["next_cursor"]}


def test_b41_sessions_of_any_id_are_apart_and_all_are_listed(user: Person) -> None:
    words = {name: new_word() for name in AWKWARD}
    for name, word in words.items():
        user.open_without_pack(name)
        path = f"/sessions/{in_path(name)}"
        sent = user_message(f"I call it {word}.", client_id=name)
        assert user.expect(201, "POST", f"{path}/events", {"events": [sent, answered()]})["seqs"] == [1, 2]
        again = user.expect(201, "POST", f"{path}/events", {"events": [sent]})
        assert again["seqs"] == [1]
    assert sorted(session_ids(user)) == sorted(AWKWARD)
    user.settle()
    for name, word in words.items():
        path = f"/sessions/{in_path(name)}"
        assert user.expect(200, "GET", path)["id"] == name
        [first, _] = user.expect(200, "GET", f"{path}/events")["events"]
        assert word in first["content"] and first["client_id"] == name
        found = user.recall(f'"{word}"', mode="tool", threshold=0, scope="session", session_id=name, sources=["event"])
        assert [word in hit["text"] for hit in found["hits"]] == [True]
        assert user.pack(name)["state"] in ("ready", "partial")


def test_b41_users_of_any_id_are_apart(person: Callable[[ApiClient], Person], api: ApiClient) -> None:
    """Their rows, objects, vectors and messages; and one who is erased takes nobody along."""
    base = person(api)
    stem = new_word()
    people = [
        replace(base, id=f"{stem}{end}")
        for end in ("", " b", "!", "\u00e9", '"<&>', ",b;c", "\U0001f600", "@", "A", "a")
    ]
    words = {one.id: new_word() for one in people}
    image = {"type": "image", "media_type": "image/png", "data": b64encode(TINY_PNG).decode()}
    for one in people:
        one.open_without_pack("s")
        one.append("s", user_message(f"I prefer {words[one.id]}."), answered(), user_message([image]))
        one.remember(f"User likes {words[one.id]}.")
        one.put_document("/likes", f"# Likes\n\n{words[one.id]}")
        one.observe("s")
    for one in people:
        one.settle()
    for one in people:
        found = one.recall("User prefers likes", mode="tool", threshold=0, limit=50)
        own = [words[other.id] in str(found["hits"]) for other in people]
        assert own == [other.id == one.id for other in people], one.id
        assert words[one.id] in one.document("/likes")["text"]
        one.open("after")
        assert words[one.id] in one.pack_text("after")


@FEW
@given(name=names(), session=names())
def test_b41_an_id_is_answered_as_it_is_kept(user: Person, name: str, session: str) -> None:
    one = replace(user, id=name)
    assert one.open(session, budget_ms=0)["session"]["id"] == session
    assert one.expect(200, "GET", f"/sessions/{in_path(session)}")["id"] == session


@FEW
@given(typed=st.text(st.sampled_from("aeou\u0308\u0301\u0323\u212b\u1100\u1161"), min_size=1, max_size=12))
def test_b41_two_spellings_of_an_id_are_one_user(user: Person, typed: str) -> None:
    stem, word = new_word(), new_word()
    composed, decomposed = (replace(user, id=normalize(form, stem + typed)) for form in ("NFC", "NFD"))
    kept = composed.remember(f"User likes {word}.")
    assert [row["id"] for row in decomposed.memories()] == [kept["id"]]
    decomposed.open(decomposed.id, budget_ms=0)
    assert session_ids(composed) == [composed.id]


@pytest.mark.parametrize("text", WRONG)
def test_b41_what_is_no_id_is_refused_by_name(user: Person, text: str) -> None:
    for path, field in (
        (f"/v1/users/{text}/sessions", "path.user_id"),
        (f"{user.path}/sessions/{text}", "path.session_id"),
    ):
        reply = user.api.call("GET", path)
        assert reply.status == 422, reply.text
        assert [error["field"] for error in reply.json()["errors"]] == [field]
    refused = user.expect(422, "POST", "/sessions", {"session_id": " a"})
    assert [error["field"] for error in refused["errors"]] == ["session_id"]
