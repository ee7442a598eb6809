"""The refusals: everything that can be wrong with a call, raised where it is known. ``http/problems.py`` is the one
table that says which status each code becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldError:
    """A field that is wrong, and why. ``field`` is a path into the request: ``events[3].content``, ``query.limit``,
    ``path.user_id``, ``header.If-Match``."""

    field: str
    message: str


class NeveError(Exception):
    """A refusal with a stable ``code`` (a key of the problem table) and a sentence for a person. ``metrics``: what is
    counted of it, by name."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        errors: Sequence[FieldError] = (),
        retry_after_s: int | None = None,
        metrics: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.errors = tuple(errors)
        self.retry_after_s = retry_after_s
        self.metrics = dict(metrics or {})


class TenantRemoved(NeveError):
    """401 for a caller; for a worker nothing is left to be done."""

    def __init__(self) -> None:
        super().__init__("unauthorized", "The tenant of this key no longer exists.")


def invalid(field: str, message: str) -> NeveError:
    """Make a 422 that names one field."""
    return NeveError("validation_failed", f"{field}: {message}", errors=[FieldError(field, message)])


def lost_to_writer(detail: str) -> NeveError:
    """Make a 409: another writer was faster, and is done when the caller tries again. A ``conflict`` without
    ``Retry-After`` will be the same again (docs/rules/http.md#conflicts)."""
    return NeveError("conflict", detail, retry_after_s=1)


def not_found(thing: str, identifier: str) -> NeveError:
    """Make a 404 for a session, memory, pack_version, recall or job that does not exist for this user."""
    return NeveError(f"{thing}_not_found", f"{thing.replace('_', ' ').capitalize()} '{identifier}' not found.")
