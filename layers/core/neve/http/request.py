"""One API Gateway proxy event, read: names without case, one value a parameter, a body in bytes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from neve.domain.errors import NeveError, invalid
from neve.http.callers import Caller
from neve.http.json_body import refused_text, shown_field

MAX_BODY_BYTES = 1024 * 1024


class Request:
    """An event of API Gateway, read as a request: ``method``, ``resource`` (the template's path), ``request_id`` and
    the caller; the rest is read on demand."""

    def __init__(self, event: Mapping[str, Any]) -> None:
        context = event.get("requestContext") or {}
        authorizer = context.get("authorizer") or {}
        self.method: str = event["httpMethod"]
        self.resource: str = event["resource"]
        self.request_id: str = context.get("requestId") or "unknown"
        self.caller = Caller.of(authorizer)
        self._event = event
        self._headers: dict[str, list[str]] | None = None

    def body(self) -> bytes:
        """Decode the body. Raises 413 ``payload_too_large``."""
        text = self._event.get("body") or ""
        try:
            raw = base64.b64decode(text, validate=True) if self._event.get("isBase64Encoded") else text.encode()
        except (binascii.Error, UnicodeEncodeError):
            raise NeveError("malformed_json", "The body is not text in UTF-8.") from None
        if len(raw) > MAX_BODY_BYTES:
            raise NeveError("payload_too_large", f"The body has {len(raw)} bytes; {MAX_BODY_BYTES} are accepted.")
        return raw

    def path_ids(self) -> dict[str, str]:
        """Read the path parameters. A percent sign is in no id, so decoding what a gateway has decoded already changes
        nothing."""
        return {name: unquote(value) for name, value in (self._event.get("pathParameters") or {}).items()}

    def query(self) -> dict[str, str]:
        """Read the query parameters. Raises 422 for a parameter that is given twice or holds what cannot be stored."""
        multi: Mapping[str, Sequence[str]] | None = self._event.get("multiValueQueryStringParameters")
        if multi is None:
            single = self._event.get("queryStringParameters") or {}
            multi = {name: [value] for name, value in single.items()}
        for name, values in multi.items():
            if len(values) > 1:
                raise invalid(f"query.{shown_field(name)}", "is given more than once")
            if problem := refused_text(values[0]):
                raise invalid(f"query.{shown_field(name)}", problem)
        return {name: values[0] for name, values in multi.items()}

    def headers(self, name: str) -> list[str]:
        """Give every value of a header, in the order sent."""
        if self._headers is None:
            multi: Mapping[str, Sequence[str]] = self._event.get("multiValueHeaders") or {
                name: [value] for name, value in (self._event.get("headers") or {}).items()
            }
            self._headers = {}
            for given, values in multi.items():
                self._headers.setdefault(given.lower(), []).extend(values)
        return self._headers.get(name.lower(), [])

    def header(self, name: str) -> str | None:
        """Give the one value of a header, or None. Raises 422 when it is given twice."""
        values = self.headers(name)
        if len(values) > 1:
            raise invalid(f"header.{name}", "is given more than once")
        return values[0].strip() if values else None
