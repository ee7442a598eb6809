"""Signs what a webhook is sent, by the scheme of Standard Webhooks (docs/rules/events.md#signature)."""

from __future__ import annotations

import binascii
import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence

PREFIX = "whsec_"
MIN_BYTES, MAX_BYTES = 24, 64
"""*Limit*: the scheme's own."""


def secret_of(key: bytes) -> str:
    return PREFIX + b64encode(key).decode()


def key_of(secret: str) -> bytes:
    """Read the key from a secret. Raises ValueError, whose message says what a secret is."""
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True) if secret.startswith(PREFIX) else b""
    except binascii.Error:
        key = b""
    if not MIN_BYTES <= len(key) <= MAX_BYTES:
        raise ValueError(f"must be {PREFIX} and the base64 of {MIN_BYTES} to {MAX_BYTES} random bytes")
    return key


def signed_headers(secrets: Sequence[str], event_id: str, at: int, body: bytes) -> dict[str, str]:
    """Make the headers of one attempt. ``at``: seconds since 1970. Each secret signs: while one takes the place of
    another, a receiver may know either."""
    content = f"{event_id}.{at}.".encode() + body
    signatures = (b64encode(hmac.digest(key_of(secret), content, "sha256")).decode() for secret in secrets)
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
