"""E9: the fields of a memory, and which kind has which."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, Protocol, TypeVar, cast

from pydantic import AfterValidator, BaseModel, Field

from neve.domain.errors import invalid
from neve.domain.ids import MEMORY_ID, is_memory_id
from neve.domain.records.memories import Kind, Priority, Scope, Status
from neve.domain.sessions.frames import one_line
from neve.domain.validity import Valid, require_span
from neve.http.operations import record_of
from neve.http.schemas.fields import Filled, Label, Name

R = TypeVar("R")
MAX_TEXT = 64_000
MAX_REASON = 2_000


def _memory_id(text: str) -> str:
    if not is_memory_id(text):
        raise ValueError("must be 1 to 64 of A-Z a-z 0-9 _ -")
    return text


MemoryId = Annotated[
    str, AfterValidator(_memory_id), Field(min_length=1, max_length=64, json_schema_extra={"pattern": f"^{MEMORY_ID}$"})
]
Text = Annotated[Filled, Field(max_length=MAX_TEXT)]
_EACH_ONCE = AfterValidator(lambda given: list(dict.fromkeys(given)))
"""A list in which what is written twice, or in two ways, is one."""
Tags = Annotated[list[Label], Field(max_length=32), _EACH_ONCE]
Topics = Annotated[list[Label], Field(max_length=32), _EACH_ONCE]
Tone = Annotated[Name, Field(max_length=200)]
ClearableTone = Annotated[str, AfterValidator(one_line), Field(max_length=200)]
"""One that an empty text takes away."""
Importance = Annotated[int, Field(ge=1, le=5)]
Confidence = Annotated[
    float, Field(ge=0, le=1, description="Kept to six places."), AfterValidator(lambda given: round(given, 6))
]

_FIELDS_OF = {"fact": ("category", "by"), "session_summary": ("outcome", "emotional_tone", "key_topics")}
_NEEDED_BY = {"fact": ("category",), "session_summary": ("outcome", "session_id")}


_ENUMS = {"kind": Kind, "scope": Scope, "priority": Priority, "status": Status}


def memory_record(given: BaseModel, record: type[R], **own: Any) -> R:
    """Make a record of the fields of a memory, as ``record_of`` does, with the domain's enums."""
    names = {field.name for field in fields(cast(Any, record))} & _ENUMS.keys()
    enums = {name: _ENUMS[name](value) for name in names if (value := getattr(given, name, None)) is not None}
    return record_of(given, record, **enums, **own)


class KindFields(Valid, Protocol):
    """The fields that a memory is kept with, as far as they depend on its kind."""

    @property
    def kind(self) -> str: ...

    @property
    def scope(self) -> str | None: ...

    @property
    def session_id(self) -> str | None: ...


def check_fields(given: KindFields, at: str, *, needs_session: bool = True) -> None:
    """Refuse a field that the kind does not have, or the lack of one that it needs. ``at``: what the names of fields
    begin with. ``needs_session``: whether a kind that is of a session has to name it. Raises 422."""
    require_span(given.valid_from, given.valid_until, at)
    if given.scope == "session" and given.session_id is None:
        raise invalid(f"{at}session_id", "is required when scope is session")
    for kind, names in _FIELDS_OF.items():
        for name in names:
            if given.kind != kind and getattr(given, name, None) is not None:
                raise invalid(f"{at}{name}", f"is a field of the kind {kind}")
    for name in _NEEDED_BY.get(given.kind, ()):
        if getattr(given, name) is None and (needs_session or name != "session_id"):
            raise invalid(f"{at}{name}", f"is required for the kind {given.kind}")
