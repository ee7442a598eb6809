"""Everything that a call can end with, as one tree. ``code`` is stable; the message names field and cure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class FieldError(TypedDict):
    """A field that is at fault, such as ``messages[1].content``, and what holds for it."""

    field: str
    message: str


class NeveError(Exception):
    """A call failed.

    ``code``: the service's, or one of this package: ``no_key``, ``bad_base_url``, ``unreachable``, ``timeout``,
    ``not_neve``, ``unknown_message``, ``buffer_full``, ``unknown_id``, ``closed``, ``http_<status>``. ``status``: of
    the HTTP answer, None where there was none. ``request_id``: under which the service has logged the call.
    ``retry_after``: seconds, where the service named them."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        errors: Sequence[FieldError] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.errors = list(errors)
        self.request_id = request_id
        self.retry_after = retry_after

    @property
    def retryable(self) -> bool:
        """Whether the same call, made later, may succeed."""
        return False


class NeveBadRequest(NeveError):
    """400, 422, and what this package itself cannot send: ``errors`` names the fields."""


class NeveAuth(NeveError):
    """401, 403, or no key at all."""


class NeveNotFound(NeveError):
    """404, 410."""


class NeveConflict(NeveError):
    """409, 412. With ``retry_after`` another writer was faster; without it the call will be refused again."""

    @property
    def retryable(self) -> bool:
        return self.retry_after is not None or self.code == "idempotency_in_progress"


class NeveTooLarge(NeveError):
    """413, 431, and a message that is larger than an event may be."""


class NeveBufferFull(NeveError):
    """What could not be appended has filled its bound: this message is not kept."""


class NeveProtocol(NeveError):
    """Something answers that is not Neve: mostly a wrong base URL."""


class NeveConnection(NeveError):
    """Nobody answers (``unreachable``), or not within the call's budget (``timeout``). ``may_have_arrived``: the
    service may have carried the call out."""

    may_have_arrived = True

    @property
    def retryable(self) -> bool:
        return True


class NeveQuota(NeveError):
    """429."""

    @property
    def retryable(self) -> bool:
        return True


class NeveUnavailable(NeveError):
    """5xx: the service, or a proxy in front of it, could not."""

    @property
    def retryable(self) -> bool:
        return True


def class_of(status: int) -> type[NeveError]:
    """The exception of a status of 400 or above."""
    if status >= 500:
        return NeveUnavailable
    by_status: dict[int, type[NeveError]] = {
        401: NeveAuth, 403: NeveAuth, 404: NeveNotFound, 410: NeveNotFound, 409: NeveConflict, 412: NeveConflict,
        413: NeveTooLarge, 431: NeveTooLarge, 429: NeveQuota,
    }  # fmt: skip
    return by_status.get(status, NeveBadRequest)
