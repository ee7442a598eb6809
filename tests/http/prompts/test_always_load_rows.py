"""Rows of docs/features.md about documents that every session starts with: C02, C03, C06, C09."""

from __future__ import annotations

import pytest

from tests.http.driving.people import Json, Person


def paths(pack: Json, layer: str) -> list[str]:
    return [entry["path"] for entry in pack["layers"][layer]]


@pytest.mark.live
def test_c02_all_of_them_in_one_block_by_priority_then_path(user: Person) -> None:
    user.put_document("/always-load/b", "Second of the normal ones.")
    user.put_document("/always-load/c", "First of all.", include_priority="high")
    user.put_document("/always-load/a", "First of the normal ones.")
    pack = user.open("s1")["pack"]
    assert paths(pack, "always") == ["/always-load/c", "/always-load/a", "/always-load/b"]
    block = pack["text"].partition("<always>\n")[2].partition("\n</always>")[0]
    _, _, documents = block.partition("\n")
    assert documents == "First of all.\n\nFirst of the normal ones.\n\nSecond of the normal ones."
    user.put_document("/always-load/a", "Another text.")
    assert user.open("s1")["pack"]["text"] == pack["text"], "an edit moves no frozen pack"
    assert "Another text." in user.open("s2")["pack"]["text"]


@pytest.mark.live
def test_c03_a_line_names_what_was_loaded(user: Person) -> None:
    assert user.open("s0")["transparency"] == ["Loaded 0 always-load entries: (none)"]
    for name in "cab":
        user.put_document(f"/always-load/{name}", f"Text {name}.")
    user.put_document("/profile/identity", "Ana.", prompt_label="Identity")
    loaded = "Loaded 3 always-load entries: a, b, c"
    assert user.open("s1")["transparency"] == [loaded]
    user.put_document("/always-load/novel", "word " * 4_000)
    opened = user.open("s2")
    assert opened["transparency"] == [loaded, "Left out for want of room: novel"]
    assert [entry["path"] for entry in opened["pack"]["left_out"]] == ["/always-load/novel"]
    assert user.open("s1")["transparency"] == [loaded]


@pytest.mark.live
def test_c06_by_path_or_by_flag(user: Person) -> None:
    user.put_document("/always-load/rules", "Be brief.", always_include=False)
    user.put_document("/reference/prices", "Prices are in euros.", always_include=True)
    user.put_document("/reference/other", "On demand.")
    assert paths(user.open("s1")["pack"], "always") == ["/always-load/rules", "/reference/prices"]
    shown = {path: user.document(path)["always_include"] for path in ("/always-load/rules", "/reference/prices")}
    assert shown == {"/always-load/rules": True, "/reference/prices": True}
    assert user.document("/reference/other").get("always_include", False) is False


@pytest.mark.live
def test_c09_what_is_always_loaded_is_not_recalled_again(user: Person) -> None:
    loaded = user.put_document("/always-load/mascot", "The quetzal is the mascot of the house.")
    user.open("s1")
    others = [user.remember(f"User saw a quetzal, number {n}.")["id"] for n in range(5)]
    later = user.put_document("/reference/birds", "The quetzal eats avocados.")
    user.settle()
    answer = user.recall("quetzal", session_id="s1", debug=True)
    found = [hit["id"] for hit in answer["hits"]]
    assert len(found) == 5 and set(found) < {*others, later["id"]}
    assert {"id": loaded["id"], "reason": "in_pack"} in answer["debug"]["dropped"]
    assert "/always-load/mascot" in [hit.get("path") for hit in user.recall("quetzal", limit=10)["hits"]]
