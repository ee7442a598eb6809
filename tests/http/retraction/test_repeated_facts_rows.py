"""Row E01 of docs/features.md, for what was said in several messages: it stands as long as one of them does."""

from __future__ import annotations

import pytest

from tests.http.driving.people import Json, Person, answered, user_message
from tests.http.retraction.test_retract_rows import done, facts, retract, words

PARIS = "User lives in Paris"


def tell(user: Person, session: str, text: str) -> None:
    user.open_without_pack(session)
    user.append(session, user_message(text), answered("I see."))
    user.observe(session)
    user.settle()


def only(user: Person) -> Json:
    [fact] = user.memories(status="active", kind="fact")
    return fact


@pytest.mark.live
@pytest.mark.parametrize("reason", ["edited", "deleted"])
def test_e01_what_was_said_twice_stands_until_both_are_taken_back(user: Person, reason: str) -> None:
    tell(user, "s1", "I live in Paris.")
    tell(user, "s2", "I live in Paris.")
    tell(user, "s1", "I live in Paris.")
    first = only(user)
    assert (first["text"], first["occurrences"], first["provenance"]["session_id"]) == (PARIS, 3, "s1")
    user.open("s2")

    result = done(user, retract(user, "s1", 1, 1, reason))
    second = only(user)
    assert (second["text"], second["occurrences"], second["id"] != first["id"]) == (PARIS, 2, True)
    assert result["restored"] >= 1
    done(user, retract(user, "s1", 3, 3, reason))
    third = only(user)
    place = third["provenance"]
    assert (third["text"], third["occurrences"], third["session_id"]) == (PARIS, 1, "s2")
    assert (place["session_id"], place["seq_from"], place["trust"]) == ("s2", 1, "user")
    assert PARIS in words(user.recall("Where do I live? Paris?", sources=["memory"]))
    user.open("s3")
    assert "lives in Paris" in user.pack_text("s3")

    done(user, retract(user, "s2", 1, 1, reason))
    assert facts(user) == []
    user.open("s4")
    assert "lives in Paris" not in user.pack_text("s4")


@pytest.mark.live
def test_e01_a_repetition_that_is_taken_back_is_not_counted(user: Person) -> None:
    tell(user, "s1", "I live in Paris.")
    tell(user, "s2", "I live in Paris.")
    before = only(user)
    done(user, retract(user, "s2", 1, 1, "deleted"))
    after = only(user)
    assert (after["id"], after["rev"]) == (before["id"], before["rev"])
    assert (before["occurrences"], after["occurrences"]) == (2, 1)


@pytest.mark.live
def test_e01_what_another_conversation_corrected_comes_back_with_it(user: Person) -> None:
    """No session has a pack that names the home."""
    tell(user, "s1", "I live in Paris.")
    tell(user, "s2", "I moved to Rome.")
    assert [fact for fact in facts(user) if "Paris" in fact] == [] and "Rome" in facts(user)[0]
    done(user, retract(user, "s2", 1, 1))
    assert facts(user) == [PARIS]
