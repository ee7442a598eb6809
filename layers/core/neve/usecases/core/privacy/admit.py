"""The gate before a memory or a document is kept: what the policy blocks is refused, what it redacts is taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, replace
from typing import Any, ClassVar, Protocol, TypeVar

from neve.domain.errors import FieldError, NeveError
from neve.domain.metadata import Metadata
from neve.domain.privacy.classes import Action, PiiClass, metrics
from neve.domain.privacy.screen import Found, Screened, screen
from neve.domain.privacy.structured import Walk
from neve.scope import TenantScope
from neve.usecases.core.privacy.screen_metadata import walk_metadata


class Record(Protocol):
    """A dataclass with fields that pass the gate."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


R = TypeVar("R", bound=Record)
Value = str | Sequence[str] | Mapping[str, str] | None
"""The value of a field: a text, several, several with names, or none."""


def admit(scope: TenantScope, given: Mapping[str, str]) -> dict[str, str]:
    """Screen texts, and give them as they may be kept, under the same names. ``given``: texts by the path of their
    field in the request. Raises 422 ``pii_blocked`` with every field at fault and the classes that were found there,
    never what was found."""
    screened = _screened(given, scope.policy.pii.actions)
    return {field: found.text for field, found in screened.items()}


def admit_path(scope: TenantScope, field: str, path: str) -> None:
    """Refuse a path that holds anything the policy redacts or blocks: without what the gate takes out it would be
    another path, under which no reader looks. Raises as ``admit``, for what the policy redacts too."""
    refused: dict[PiiClass, Action] = {
        kind: "block" if action == "redact" else action for kind, action in scope.policy.pii.actions.items()
    }
    _screened({field: path}, refused, "blocks or redacts")


def _screened(
    given: Mapping[str, str], actions: Mapping[PiiClass, Action], policy_does: str = "blocks"
) -> dict[str, Screened]:
    """Screen texts. Raises as ``admit``."""
    screened = {field: screen(text, actions) for field, text in given.items()}
    _refuse(screened, policy_does)
    return screened


def _refuse(screened: Mapping[str, Found], policy_does: str) -> None:
    if any(found.blocked for found in screened.values()):
        raise _refusal(screened, policy_does)


def admitted(scope: TenantScope, given: R, names: Sequence[str], at: str = "") -> R:
    """Give a record with its fields ``names`` as they may be kept. ``at``: where it stands in the request. Raises as
    ``admit``."""
    return replace(given, **admitted_values(scope, {name: getattr(given, name) for name in names}, at))


def admitted_values(scope: TenantScope, given: Mapping[str, Value], at: str = "") -> dict[str, Value]:
    """Give the values of a record, by the names of its fields, as they may be kept. Raises as ``admit``."""
    dot, actions = f"{at}." if at else "", scope.policy.pii.actions
    texts: dict[str, str] = {}
    found: dict[str, Found] = {}
    named: dict[str, Value] = {}
    for name, value in given.items():
        if isinstance(value, Mapping):
            named[name] = _labels(actions, value, dot + name, found)
        elif isinstance(value, str):
            texts[dot + name] = value
        elif value:
            texts |= {f"{dot}{name}[{n}]": text for n, text in enumerate(value)}
    screened = {field: screen(text, actions) for field, text in texts.items()}
    _refuse({**screened, **found}, "blocks")
    admitted_texts = {field: one.text for field, one in screened.items()}
    plain = {name: value for name, value in given.items() if not isinstance(value, Mapping)}
    return {name: _admitted_value(value, dot + name, admitted_texts) for name, value in plain.items()} | named


def _labels(
    actions: Mapping[PiiClass, Action], metadata: Mapping[str, str], field: str, found: dict[str, Found]
) -> Metadata:
    """Give labels as they may be kept. ``found``: gets what is in each; a key that holds any of it is not named."""
    kept: Metadata = {}
    for key, value in metadata.items():
        walk = Walk(actions)
        left = walk_metadata(walk, {key: value})
        at = f"{field}.{key}" if key in left else field
        found[at] = found.get(at, Found()) + walk.found
        kept |= left
    return kept


def _admitted_value(value: str | Sequence[str] | None, field: str, texts_admitted: Mapping[str, str]) -> Value:
    if value is None or isinstance(value, str):
        return texts_admitted.get(field)
    return tuple(texts_admitted[f"{field}[{n}]"] for n in range(len(value)))


def _refusal(screened: Mapping[str, Found], policy_does: str) -> NeveError:
    errors = [
        FieldError(field, f"contains data that the policy {policy_does}: {', '.join(sorted(found.blocked))}")
        for field, found in screened.items()
        if found.blocked
    ]
    total = Found()
    for found in screened.values():
        total += Found(blocked=found.blocked)
    detail = "; ".join(f"{error.field} {error.message}" for error in errors) + "."
    return NeveError("pii_blocked", detail, errors=errors, metrics=metrics("Blocked", total.blocked))


def redacted(scope: TenantScope, given: R, names: Sequence[str]) -> tuple[R, Found]:
    """Take out of a record that came from no caller who could be told, such as a model's, also what ``admitted`` would
    refuse."""
    walk = Walk(scope.policy.pii.actions)
    texts_redacted = {name: _walked(walk, getattr(given, name)) for name in names}
    return replace(given, **texts_redacted), walk.found


def _walked(walk: Walk, value: Value) -> Value:
    if value is None or isinstance(value, str):
        return walk.text(value) if value else value
    return walk_metadata(walk, value) if isinstance(value, Mapping) else tuple(map(walk.text, value))
