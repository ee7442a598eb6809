"""The gate before a memory, a fact or a document is kept: what the policy blocks is refused, what it redacts is taken
out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import Field, replace
from typing import Any, ClassVar, Protocol, TypeVar

from neve.domain.errors import FieldError, NeveError
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.metadata import Metadata
from neve.domain.privacy.screen import blocked, metrics, screen
from neve.domain.privacy.structured import Walk
from neve.domain.tenants.policy import Action, PiiClass
from neve.scope import TenantScope


class Record(Protocol):
    """A dataclass with fields that pass the gate."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


R = TypeVar("R", bound=Record)
V = TypeVar("V", bound="str | Sequence[str] | Mapping[str, str] | None")
"""The value of a field: a text, several, several with names, or none."""
OF_A_FACT = ("text", "label", "group", "tags", "metadata")
"""Fields of a candidate that hold a person's words."""


def admit(scope: TenantScope, given: Mapping[str, V], at: str = "") -> dict[str, V]:
    """Give the values of fields as they may be kept, under the same names. ``at``: where they stand in the request.
    Raises 422 ``pii_blocked`` with every field at fault and the classes that were found there, never what was found."""
    found: dict[str, Counter[str]] = {}
    actions, dot = scope.policy.pii.actions, f"{at}." if at else ""
    kept = {name: _screened(value, actions, dot + name, found) for name, value in given.items()}
    _refuse({field: blocked(counts, actions) for field, counts in found.items()}, "blocks")
    return kept


def _screened(value: Any, actions: Mapping[PiiClass, Action], field: str, found: dict[str, Counter[str]]) -> Any:
    """Give a value without what is found in it. ``found``: gets what that was, by its field; a label's key that holds
    any of it is not named."""
    if value is None:
        return None
    if isinstance(value, str):
        screened = screen(value, actions)
        found[field] = screened.found
        return screened.text
    if not isinstance(value, Mapping):
        return tuple(_screened(text, actions, f"{field}[{n}]", found) for n, text in enumerate(value))
    kept: Metadata = {}
    for key, text in value.items():
        walk = Walk(actions)
        left = walk.labels({key: text})
        at = f"{field}.{key}" if key in left else field
        found[at] = found.get(at, Counter()) + walk.found
        kept |= left
    return kept


def admit_path(scope: TenantScope, field: str, path: str) -> None:
    """Refuse a path that holds anything the policy redacts or blocks: without what the gate takes out it would be
    another path, under which no reader looks. Raises as ``admit``, for what the policy redacts too."""
    _refuse({field: screen(path, scope.policy.pii.actions).found}, "blocks or redacts")


def _refuse(found: Mapping[str, Counter[str]], policy_does: str) -> None:
    errors = [
        FieldError(field, f"contains data that the policy {policy_does}: {', '.join(sorted(counts))}")
        for field, counts in found.items()
        if counts
    ]
    if errors:
        detail = "; ".join(f"{error.field} {error.message}" for error in errors) + "."
        total = sum(found.values(), Counter[str]())
        raise NeveError("pii_blocked", detail, errors=errors, metrics=metrics("Blocked", total))


def admitted(scope: TenantScope, given: R, names: Sequence[str], at: str = "") -> R:
    """Give a record with its fields ``names`` as they may be kept. Raises as ``admit``."""
    return replace(given, **admit(scope, {name: getattr(given, name) for name in names}, at))


def redacted(scope: TenantScope, given: R, names: Sequence[str]) -> tuple[R, Counter[str]]:
    """Take out of a record that came from no caller who could be told, such as a model's, also what ``admitted`` would
    refuse."""
    found: dict[str, Counter[str]] = {}
    actions = scope.policy.pii.actions
    kept = {name: _screened(getattr(given, name), actions, name, found) for name in names}
    return replace(given, **kept), sum(found.values(), Counter[str]())


def admitted_candidate(scope: TenantScope, candidate: FactCandidate) -> FactCandidate:
    """Give a caller's candidate as it may be kept: the criterion ``pii`` of its storage decision. Raises 422
    ``pii_blocked``."""
    screened = admitted(scope, candidate, OF_A_FACT)
    return candidate if screened == candidate else replace(screened, pii="redacted")


def screened_candidate(scope: TenantScope, candidate: FactCandidate) -> FactCandidate:
    """Give a model's candidate without what is found. One that held what the policy blocks is decided upon as
    ``blocked``."""
    screened, found = redacted(scope, candidate, OF_A_FACT)
    if not found:
        return candidate
    return replace(screened, pii="blocked" if blocked(found, scope.policy.pii.actions) else "redacted")
