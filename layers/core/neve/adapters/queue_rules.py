"""The rules by which every Queue engine refuses before it sends, so that a message is malformed on one engine iff it is
on all."""

from __future__ import annotations

import json

from neve.ports.queue import Message

MAX_BODY_BYTES = 256 * 1024
"""SQS takes 1 MiB since August 2025, Lambda and the local servers not always. Bodies here are a few hundred bytes: they
name rows, they do not hold them."""

_NOT_IN_A_MESSAGE = {"\ufffe": "\\ufffe", "\uffff": "\\uffff"}
"""The characters that SQS refuses and JSON does not escape by itself."""


def encoded_body(message: Message) -> str:
    """Encode the body as JSON text. Raises ValueError for a body that is not JSON or too large, and for a message
    without a group."""
    if not message.group:
        raise ValueError("a message needs a group")
    try:
        body = json.dumps(message.body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except TypeError as error:
        raise ValueError(str(error)) from None
    for character, escape in _NOT_IN_A_MESSAGE.items():
        body = body.replace(character, escape)
    size = len(body.encode())
    if size > MAX_BODY_BYTES:
        raise ValueError(f"a message of {size} bytes, at most {MAX_BODY_BYTES} are possible")
    return body
