"""The base of what a caller gives, as a model."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import CoreSchema

_AROUND_A_VALUE = ("default", "function-before", "function-after", "function-wrap")


def _take_null_away(schema: Any) -> None:
    while schema["type"] != "model-fields":
        if "schema" not in schema:  # nothing of it has a name that could be left out
            return
        schema = schema["schema"]
    for field in schema["fields"].values():
        value = field["schema"]
        while value["type"] in _AROUND_A_VALUE:
            if value["schema"]["type"] == "nullable":
                value["schema"] = value["schema"]["schema"]
            value = value["schema"]


class Given(BaseModel):
    """Base of a request's models: an optional field is left out, never null. ``T | None = None`` is T to the caller,
    and None to the code where the field was not sent, so ``{"limit": null}`` is refused as ``{"limit": "x"}`` is."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        _take_null_away(schema)
        return schema
