"""Translates DynamoDB's refusals into the words of ``ports.errors``, and says how long to wait before asking again."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from botocore.exceptions import ClientError, ParamValidationError

from neve.adapters.aws.errors import SDK_ERRORS, error_code, reason
from neve.ports.errors import Conflict, StoreUnavailable

ATTEMPTS: Final = 6
FIRST_PAUSE_S, MAX_PAUSE_S = 0.02, 0.4
"""Six attempts wait 0.31 s on average and 0.62 s at most."""

TRANSIENT_REASONS: Final = frozenset({"TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"})
"""The reasons for which a transaction may be cancelled though every expectation of it held."""


def attempts() -> Iterator[None]:
    """Give ATTEMPTS turns, each but the first after a random pause below a limit that doubles."""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(random.uniform(0, min(MAX_PAUSE_S, FIRST_PAUSE_S * 2 ** (attempt - 1))))
        yield


@contextmanager
def table_errors() -> Iterator[None]:
    """Turn what the SDK raises inside into StoreUnavailable, or ValueError for a call that is malformed."""
    try:
        yield
    except ParamValidationError as error:
        raise ValueError(str(error)) from error
    except SDK_ERRORS as error:
        if isinstance(error, ClientError) and error_code(error) == "ValidationException":
            raise ValueError(error.response["Error"].get("Message", "ValidationException")) from error
        raise StoreUnavailable("table", reason(error)) from error


def cancelled(error: ClientError) -> StoreUnavailable | None:
    """Give what to raise of a cancelled transaction once there is no attempt left: None stands for Conflict. Raises at
    once what no further attempt can change: Conflict with the positions whose expectation failed, ValueError for an
    operation that the service finds malformed, StoreUnavailable for anything unknown."""
    reasons: Sequence[Mapping[str, Any]] = error.response.get("CancellationReasons", [])
    codes = [one.get("Code", "None") for one in reasons]
    if failed := [at for at, code in enumerate(codes) if code == "ConditionalCheckFailed"]:
        raise Conflict(failed) from error
    if malformed := [one for one in reasons if one.get("Code") == "ValidationError"]:
        raise ValueError(malformed[0].get("Message", "ValidationError")) from error
    given = sorted(set(codes) - {"None"})
    unavailable = StoreUnavailable("table", f"{reason(error)}: {', '.join(given)}")
    if not given or not TRANSIENT_REASONS.issuperset(given):
        raise unavailable from error
    return None if given == ["TransactionConflict"] else unavailable
