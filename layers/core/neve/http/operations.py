"""The declaration of a call. The router, the OpenAPI description and the tests of both read the same ``Operation``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypedDict, cast

from pydantic import BaseModel, ConfigDict, RootModel
from typing_extensions import TypeVar  # the standard library's has a default from Python 3.13 on

from neve.domain.given import Given
from neve.http.problems import EVERY_CALL, PROBLEMS, WITH_BODY, WITH_IDEMPOTENCY, WITH_KEY, WITH_USER

R = TypeVar("R")
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Scope = Literal["chat", "records", "admin", "documents", "tokens", "self"]
"""A key has none of `self`, a token none of `tokens` (docs/rules/access.md#scopes)."""
USER_WRITE = ("conflict", "erasing", "user_closed")
"""The codes that every write below a user can be refused with, beside its own codes."""


class Parameters(Given):
    """Base of a query model. Values arrive as text."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Body(Given):
    """Base of a JSON body model. Validated strictly: ``"5"`` is not 5 and ``1`` is not true."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def record_of(given: BaseModel, record: type[R], **own: Any) -> R:
    """Make a record of what was given: each of its fields is the model's of that name, a list as a tuple, unless
    ``own`` gives it. A field that neither has keeps its default."""
    names = {field.name for field in fields(cast(Any, record))} & type(given).model_fields.keys() - own.keys()
    values = ((name, getattr(given, name)) for name in names)
    return record(**{name: tuple(value) if isinstance(value, list) else value for name, value in values}, **own)


class View(BaseModel):
    """Base of an answer's model. A field that is None is left out of the answer, every other one is in it. The
    description leaves room for fields that come later."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, from_attributes=True, json_schema_serialization_defaults_required=True
    )

    @classmethod
    def of(cls, shown: Any, /, *_: Any, **own: Any) -> Self:
        """Show a record: each field is the record's attribute of that name, unless ``own`` gives it. Views in it show
        records in the same way."""
        return cls.model_validate({name: getattr(shown, name) for name in cls.model_fields if name not in own} | own)


class Nothing(BaseModel):
    """No query parameter, or no body."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Q = TypeVar("Q", bound=BaseModel, default=Nothing)
B = TypeVar("B", bound=BaseModel, default=Nothing)


class TextBody(RootModel[str]):
    """A body that is text and not one JSON value. ``media_type`` is what the description says; it is not enforced. A
    byte that is not UTF-8 stands in it as a lone surrogate, for the body's own reading to name its place."""

    media_type: ClassVar[str] = "text/plain"
    line: ClassVar[type[BaseModel] | None] = None
    """The model of each line of it, where it is JSON by lines: no schema of a text can say it, so it is a member
    ``x-neve-line`` of the description."""


class TextAnswer(NamedTuple):
    """An answer that is text: its media type, and when it is given."""

    media_type: str
    when: str


@dataclass(frozen=True, slots=True)
class Response:
    """The declaration of what a success status carries. ``model`` None = no JSON body. ``text``: what the answer may
    also be. ``headers``: beside those of every answer."""

    description: str
    model: type[BaseModel] | None = None
    text: TextAnswer | None = None
    headers: Mapping[str, str] | None = None


class CallRoute(TypedDict):
    method: Method
    path: str
    id: str
    tag: str
    scope: Scope | None
    also: tuple[Scope, ...]


def route(method: Method, path: str, name: str, tag: str, scope: Scope | None, *also: Scope) -> CallRoute:
    """Say of a call in one line what it is, by which name the description has it and among which, and who may make it:
    whoever has ``scope``, or one of ``also``."""
    return CallRoute(method=method, path=path, id=name, tag=tag, scope=scope, also=also)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[Q, B]):
    """One call. ``path`` is the template's resource path. ``scope`` None = no API key. ``codes``: what the call
    itself can be refused with; the codes that follow from its shape (key, body, path, idempotency) are added by
    ``all_codes``.

    ``also``: scopes of which each is enough as well. ``by_key``: no access token may make the call, whatever its
    scopes: what it makes outlives the token.
    ``answers_without_stores``: a chat-path read, which an unreadable policy does not stop. ``text_field``: a body that
    is sent as ``text/*`` is taken as this field of ``body``. ``addressed_by``: the query parameter that, with the path,
    says what the call is about. ``by_model``: a language model made its ``arguments``, so what is missing or wrong in
    them is an answer for it, and no refusal."""

    method: Method
    path: str
    id: str
    tag: str
    summary: str
    description: str = ""
    scope: Scope | None
    also: tuple[Scope, ...] = ()
    query: type[Q] = Nothing  # type: ignore[assignment]
    body: type[B] = Nothing  # type: ignore[assignment]
    responses: Mapping[int, Response]
    codes: tuple[str, ...] = ()
    idempotent: bool = False
    if_match: bool = False
    if_none_match: bool = False
    answers_without_stores: bool = False
    text_field: str | None = None
    addressed_by: str | None = None
    by_model: bool = False
    by_key: bool = False

    def __post_init__(self) -> None:
        if unknown := [code for code in self.codes if code not in PROBLEMS]:
            raise ValueError(f"{self.id}: {unknown} are not in the problem table")

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Give the scopes of which each is enough; none for a call that needs no API key."""
        if self.scope is None:
            return ()
        return (self.scope, *self.also)

    @property
    def has_body(self) -> bool:
        return self.body is not Nothing

    @property
    def path_names(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)

    @property
    def all_codes(self) -> tuple[str, ...]:
        """List every code the call can answer with, the gateway's included, in the table's order."""
        codes = {*EVERY_CALL, *self.codes}
        if self.scope is not None:
            codes |= set(WITH_KEY)
        if "user_id" in self.path_names:
            codes |= set(WITH_USER)
        if self.has_body:
            codes |= set(WITH_BODY)
        if self.idempotent:
            codes |= set(WITH_IDEMPOTENCY)
        if self.if_match:
            codes.add("precondition_failed")
        return tuple(code for code in PROBLEMS if code in codes)
