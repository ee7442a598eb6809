"""Makes every check that a call passes before its function is called."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from neve.domain.errors import NeveError, invalid
from neve.domain.ids import IDENTIFIER, IDENTIFIER_RULE, NAME_RULE, as_name
from neve.domain.privacy.structured import Walk
from neve.domain.tenants.policy import Policy
from neve.http.callers import Caller
from neve.http.calls import Call
from neve.http.json_body import BYTE_ORDER_MARK, check_model, decode_utf8, parse_json, refused_text
from neve.http.model_mistakes import without_nulls
from neve.http.operations import Nothing, Operation, TextBody
from neve.http.preconditions import NO_TAGS, read_entity_tags, read_idempotency_key, read_revs, refuse_encoded
from neve.http.request import Request
from neve.http.schemas.fields import BY_KEY, NAMES, PATH_IDS
from neve.ports.engines import Ports
from neve.store.idempotency import IdempotencyKey
from neve.usecases.core.tenants.policy_in_force import tenant_scope

METADATA = "metadata"


def accept(ports: Ports, request: Request, operation: Operation[Any, Any]) -> Call[Any, Any]:
    """Run the checks of a call in the order of ``router.py``. Raises NeveError, and StoreUnavailable when the policy
    cannot be read."""
    began_ms = ports.clock.monotonic_ms()
    raw = request.body()
    caller = _authorize(request, operation, ports.clock.now())
    ids = _path_ids(request)
    query = _query(request.query(), operation)
    if_match = read_revs(request.headers("If-Match")) if operation.if_match else None
    if_none_match = read_entity_tags(request.headers("If-None-Match")) if operation.if_none_match else NO_TAGS
    if operation.idempotent:
        # a write would be done whatever a header says that is not read (RFC 9110, 13.1.1 forbids it)
        for name, is_taken in (("If-Match", operation.if_match), ("If-None-Match", operation.if_none_match)):
            if not is_taken and request.headers(name):
                raise invalid(f"header.{name}", "must be left out: this call does not look at it")
    key = read_idempotency_key(request.header("Idempotency-Key")) if operation.idempotent else None
    if operation.has_body:
        refuse_encoded(request.headers("Content-Encoding"))
    body, given = _body(raw, operation, request.header("Content-Type") or "")
    key = key or _tool_use(body)
    scope = None
    if caller is not None:
        scope = tenant_scope(ports, caller.tenant_id, without_store=operation.answers_without_stores)
    idempotency = None
    if key is not None:
        route = _route(operation, ids, query)
        policy = scope.policy if scope else Policy()
        idempotency = IdempotencyKey(route, key, _body_sha(given, _options(operation, query), policy))
    checked = (ids, query, body, caller, scope)
    return Call(ports, request.request_id, *checked, began_ms, idempotency, if_match, if_none_match)


def _tool_use(body: BaseModel) -> str | None:
    """Give the key of a model's call of a tool: a session has each one once."""
    named = getattr(body, "tool_use_id", None)
    return f"{getattr(body, 'session_id', None) or ''}#{named}" if named else None


def _route(operation: Operation[Any, Any], ids: dict[str, str], query: BaseModel) -> str:
    """Give the method and the concrete path; a parameter that belongs to it is there as a hash, because a key holds no
    more."""
    route = f"{operation.method} {operation.path.format(**ids)}"
    if operation.addressed_by is None:
        return route
    address = str(getattr(query, operation.addressed_by))
    return f"{route}?{hashlib.sha256(address.encode()).hexdigest()}"


def _authorize(request: Request, operation: Operation[Any, Any], now: datetime) -> Caller | None:
    """Refuse a caller whose key or token lacks the scope (no scope implies another one), whose token has expired, or is
    of another user than the path's: they are not there for it, whatever its scopes."""
    if operation.scope is None:
        return None
    caller = request.caller
    if caller is None:
        raise NeveError("unauthorized", "Send the key as 'Authorization: Bearer <api key>'.")
    caller.refuse_expired(now)
    whose = request.path_ids().get("user_id")
    if whose is not None:
        caller.refuse_other(whose)
    if not set(caller.scopes) & set(operation.scopes):
        named = " or ".join(f"'{scope}'" for scope in operation.scopes)
        raise NeveError("forbidden", f"This call needs a key or a token with the scope {named}.")
    if operation.by_key and caller.expires_at is not None:
        raise NeveError("forbidden", "This call needs an API key: what it makes outlives an access token.")
    return caller


def _path_ids(request: Request) -> dict[str, str]:
    ids = request.path_ids()
    for name in NAMES & ids.keys():
        known = as_name(ids[name])
        if known is None:
            raise invalid(f"path.{name}", NAME_RULE)
        ids[name] = known
    for name, value in ids.items():
        if not re.fullmatch(PATH_IDS.get(name, IDENTIFIER), value):
            raise invalid(f"path.{name}", IDENTIFIER_RULE)
    return ids


def _query(given: dict[str, str], operation: Operation[Any, Any]) -> BaseModel:
    model: type[BaseModel] = operation.query
    return check_model(
        model, _collect_metadata(given) if METADATA in model.model_fields else given, "query", strict=False
    )


def _collect_metadata(given: dict[str, str]) -> dict[str, Any]:
    """Collect the parameters ``metadata.<key>`` as the members of one parameter."""
    if METADATA in given:
        raise invalid(f"query.{METADATA}", f"is asked for by its keys: {BY_KEY}<key>=<value>")
    plain: dict[str, Any] = {name: value for name, value in given.items() if not name.startswith(BY_KEY)}
    wanted = {name.removeprefix(BY_KEY): value for name, value in given.items() if name not in plain}
    return plain | {METADATA: wanted} if wanted else plain


def _body(raw: bytes, operation: Operation[Any, Any], content_type: str) -> tuple[BaseModel, Any]:
    """Read the body, and what its idempotency record is compared by. No body at all counts as ``{}``, except where a
    body takes the place of what is there: ``{}`` would be a policy of defaults."""
    if not operation.has_body:
        if operation.method not in ("GET", "HEAD") and raw.strip() not in (b"", b"{}"):
            raise invalid("body", "must be empty: this call takes none")
        return Nothing(), None
    if issubclass(operation.body, TextBody):
        lines = raw.decode(errors="surrogateescape")
        return operation.body(lines), lines
    text = decode_utf8(raw)
    if operation.text_field and content_type.lower().startswith("text/"):
        # the mark of an editor: it says how the file is encoded, and is no word of it
        text = text.removeprefix(BYTE_ORDER_MARK)
        if problem := refused_text(text):
            raise invalid("body", problem)
        return check_model(operation.body, {operation.text_field: text}), text
    if not raw and operation.method == "PUT":
        raise invalid("body", "is required: it takes the place of what is there")
    given = parse_json(text) if raw else {}
    if operation.by_model:
        given = without_nulls(given)
    model: type[BaseModel] = operation.body
    return check_model(model, given), given


def _options(operation: Operation[Any, Any], query: BaseModel) -> dict[str, Any]:
    """Give the parameters that say how the call is done: all but those that say to what, and what is as if it had not
    been sent."""
    address = {operation.addressed_by} if operation.addressed_by else set()
    return query.model_dump(mode="json", exclude=address, exclude_defaults=True)


def _body_sha(given: Any, options: dict[str, Any], policy: Policy) -> str:
    """Hash a call's body without what the gate takes out: a hash of few digits and a known rest can be turned back into
    them."""
    basis = Walk(policy.pii.actions).value([given, options] if options else given)
    return hashlib.sha256(json.dumps(basis, sort_keys=True).encode()).hexdigest()
