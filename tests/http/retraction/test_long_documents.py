"""Rows E01 and E02 of docs/features.md, of documents whose text is no row: each text of one is an object."""

from __future__ import annotations

import pytest

from tests.http.driving.controls import Controls
from tests.http.driving.people import LONG_TEXT, Person, answered, user_message
from tests.http.retraction.test_retract_rows import done, retract

LOG = "/reference/ferry-log"


@pytest.mark.controls
@pytest.mark.parametrize("reason", ["edited", "deleted"])
def test_e02_what_was_added_to_a_long_document_goes_with_its_message(
    user: Person, controls: Controls, reason: str
) -> None:
    """The text of before is put back as a revision of its own, and what is deleted leaves no object."""
    marker = f"zq{user.id[-12:]}xv"
    user.put_document(LOG, LONG_TEXT)
    user.settle()  # the librarian is shown what it finds by the words of the conversation
    added = {"action": "append", "path": LOG, "text": f"The number is {marker}.", "base_rev": 1, "seqs": [1]}
    filed = {"title": "A number", "emotional_tone": "calm", "key_topics": ["numbers"], "actions": []}
    controls.script(filed | {"actions": [added | {"certainty": "high"}]}, filed, purpose="file")
    user.open_without_pack("s1")
    user.append("s1", user_message(f"The ferry left the harbour: note the number {marker}."), answered("Added."))
    ended = user.ended(user.expect(202, "POST", "/sessions/s1/end", {})["id"])
    user.settle()
    assert marker in user.document(LOG)["text"], ended["result"]

    result = done(user, retract(user, "s1", 1, 2, reason))
    assert result["documents_replaced"] == 1, result
    assert user.document(LOG)["text"] == LONG_TEXT
    if reason == "deleted":
        user.settle()
        controls.run("sweep")
        assert [place for place in controls.stored(marker) if "document" in place] == []
