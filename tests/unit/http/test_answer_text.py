"""The text of an answer, against the values that it is the text of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, JsonValue

from neve.http.calls import Answer
from neve.http.operations import View

CHARACTERS = st.characters(exclude_categories=["Cs"])  # lone surrogates are refused where they come in
TEXTS = st.text(CHARACTERS, max_size=20)
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


class Thing(View):
    text: str | None
    given: dict[str, JsonValue] | None
    score: float = Field(serialization_alias="of")


@given(TEXTS | st.none(), st.dictionaries(TEXTS, VALUES, max_size=4) | st.none(), st.floats(-1e9, 1e9))
def test_the_text_of_a_model_is_that_of_its_values(
    text: str | None, given: dict[str, Any] | None, score: float
) -> None:
    answer = Answer(body=Thing(text=text, given=given, score=score))
    assert json.loads(answer.content) == answer.json
    assert ("text" in answer.json) == (text is not None)
    # the answer to a repeated call is made of what was kept of the first
    kept = json.loads(json.dumps(answer.json))
    assert Answer(body=kept).content == answer.content


@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_the_text_of_what_was_kept_is_that_of_its_values(kept: Mapping[str, Any]) -> None:
    assert json.loads(Answer(body=kept).content) == kept
