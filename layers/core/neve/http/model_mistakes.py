"""Says what a language model has done wrong in a call of a tool (docs/rules/recall.md#tool): the backend passes the
answer on as the result, and the model tries again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from neve.domain.errors import FieldError, NeveError
from neve.http.operations import View

ARGUMENTS = "arguments."
"""The place where a tool's body holds what the model wrote; the rest is the backend's."""
MOST = 5
"""Mistakes that the sentence names (*chosen*)."""


class MistakeView(View):
    """The model's mistake. Nothing was looked for."""

    content: str = Field(description="A sentence for the model, which belongs into the `tool_result`.")
    is_error: Literal[True] = True


def without_nulls(body: Any) -> Any:
    """Leave out of a tool's body the arguments that the model wrote as null: a provider's strict mode has it name every
    argument, and null is how it leaves one out."""
    given = body.get("arguments") if isinstance(body, dict) else None
    if not isinstance(given, dict):
        return body
    return body | {"arguments": {name: value for name, value in given.items() if value is not None}}


def is_a_models(error: NeveError) -> bool:
    """Say whether nothing is wrong but what the model wrote."""
    return bool(error.errors) and all(one.field.startswith(ARGUMENTS) for one in error.errors)


def mistake(errors: Sequence[FieldError]) -> MistakeView:
    """Tell the model its mistake. ``errors``: at least one, in the arguments."""
    found = "; ".join(f"{one.field.removeprefix(ARGUMENTS)} {one.message}" for one in errors[:MOST])
    return MistakeView(content=f"The arguments of this call are wrong: {found}. Call the tool again with other ones.")
