"""Finds whose memory a request is about: by the token, whose claims are read and not checked. The API checks every call
that is made with it, where a claim that somebody has changed is a wrong signature."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Mapping
from typing import Any

from neve_mcp.calls import Call
from neve_mcp.memory import Memory

BEARER = re.compile(r"Bearer +([!-~]+)", re.IGNORECASE)
PARTS = 3
"""Header, claims, signature."""
NO_USER = (
    "This key is a tenant's and names no user, whose memory it would be. Make a token of the user with "
    "POST /v1/users/{user_id}/tokens, and connect with that."
)
NO_TOKEN = "There is no token: send the header Authorization: Bearer <token of the user>."
EXPIRED = "The token has expired: make another one with POST /v1/users/{user_id}/tokens, and connect with that."
NOT_TOLD = {"WWW-Authenticate": "Bearer"}
INVALID = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


class Refused(Exception):
    """Whoever connects cannot be served; the message names the cure. ``headers``: of the answer over HTTP."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


def memory_of(authorization: str | None, call: Call, session_id: str | None = None) -> Memory:
    """Open the memory of a header's user. Raises Refused: 401 without a token and for one that is over, 403 for a key
    that names no user."""
    found = BEARER.fullmatch((authorization or "").strip())
    if found is None:
        raise Refused(401, NO_TOKEN, NOT_TOLD)
    claims, user = claims_of(found[1]), user_of(found[1])
    if user is None:
        raise Refused(403, NO_USER)
    if isinstance(until := claims.get("exp"), int | float) and until <= time.time():
        raise Refused(401, EXPIRED, INVALID)
    return Memory(call, found[1], user, session_id)


def user_of(token: str) -> str | None:
    """Read whose token it is; None: it is no token of a user."""
    user = claims_of(token).get("sub")
    return user if isinstance(user, str) and user else None


def claims_of(token: str) -> Mapping[str, Any]:
    """Read what a token says of itself: nothing where it is none."""
    parts = token.split(".")
    if len(parts) != PARTS:
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except ValueError:
        return {}
    return claims if isinstance(claims, dict) else {}
