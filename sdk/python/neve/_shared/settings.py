"""Where the service is, how long its calls may take, and how much is kept of what could not be sent."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import NeveAuth, NeveBadRequest, NeveError

BASE_URL = "http://127.0.0.1:8787"
TIMEOUTS_S = {"append": 2.0, "context": 2.0, "pack": 1.0, "recall": 1.0, "turn": 2.0, "usage": 1.0, "flush": 10.0}
"""Of one call with all its repeats (chosen: a chat waits for these); any other call has ``OTHER_S``."""
OTHER_S = 30.0
BOUND = 1_000
LINGER_S = 5.0


@dataclass(frozen=True, slots=True)
class Settings:
    """``wrong``: why nothing can be sent; said at the first call, because no call is needed before it."""

    base_url: str
    key: str = field(repr=False)
    strict: bool = False
    bound: int = BOUND
    linger_s: float = LINGER_S
    timeouts_s: Mapping[str, float] = field(default_factory=dict)
    wrong: NeveError | None = None

    def timeout_s(self, call: str) -> float:
        """The budget of a call of the session, or of any other."""
        return self.timeouts_s.get(call, TIMEOUTS_S.get(call, self.timeouts_s.get("other", OTHER_S)))


def settings_of(
    key: str | None,
    base_url: str | None,
    *,
    strict: bool,
    bound: int,
    linger: float,
    timeouts: Mapping[str, float] | None,
) -> Settings:
    """From the arguments, else ``NEVE_KEY`` and ``NEVE_URL``. Raises ValueError for a timeout of an unknown call."""
    given = dict(timeouts or {})
    if unknown := set(given) - set(TIMEOUTS_S) - {"other"}:
        known = ", ".join(sorted([*TIMEOUTS_S, "other"]))
        raise ValueError(f"timeouts: there is no {', '.join(sorted(unknown))}; known are {known}")
    found_key = (os.environ.get("NEVE_KEY", "") if key is None else key).strip()
    found_url = (base_url or os.environ.get("NEVE_URL") or BASE_URL).strip().rstrip("/").removesuffix("/v1").rstrip("/")
    return Settings(found_url, found_key, strict, bound, linger, given, _wrong(found_key, found_url))


def _wrong(key: str, base_url: str) -> NeveError | None:
    if not base_url.startswith(("http://", "https://")) or not base_url.partition("://")[2].strip("/"):
        return NeveBadRequest(
            "bad_base_url",
            f"base_url is {base_url!r}: it has to begin with http:// or https://, as http://127.0.0.1:8787. "
            "Set base_url, or NEVE_URL.",
        )
    if not key:
        return NeveAuth("no_key", "There is no API key: pass it as Neve(key), or set NEVE_KEY.")
    if not key.isascii() or not key.isprintable() or " " in key:
        return NeveAuth("no_key", "The API key holds what no key has (a blank, a line break): check key, or NEVE_KEY.")
    return None
