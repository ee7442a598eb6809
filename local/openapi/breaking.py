"""What of the API broke since the last release: ``python -m local.openapi.breaking`` compares ``docs/openapi.json``
with ``docs/openapi.released.json``, says it in sentences, and ends with 1 where there is one."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from local.openapi import RELEASED, TARGET
from local.openapi.schema_changes import Json, SchemaChanges, resolved

METHODS = ("get", "post", "put", "patch", "delete")


def breaking_changes(released: Json, current: Json) -> list[str]:
    """Sentences, one for each change that a caller of the released API would notice as a fault."""
    found = list[str]()
    for path, methods in released["paths"].items():
        for method in METHODS:
            if method in methods:
                now = current["paths"].get(path, {}).get(method)
                found += _of_call(released, current, f"{method.upper()} {path}", methods[method], now)
    return found


def _of_call(old: Json, new: Json, call: str, before: Json, now: Json | None) -> Iterator[str]:
    if now is None:
        yield f"{call} is gone"
        return
    if before["operationId"] != now["operationId"]:
        yield f"{call} is no longer called {before['operationId']}"
    if before.get("x-neve-scope") != now.get("x-neve-scope") and now.get("x-neve-scope"):
        yield f"{call} needs another scope, {now['x-neve-scope']}"
    yield from _parameters(SchemaChanges(old, new, "request"), call, before, now)
    yield from _body(SchemaChanges(old, new, "request"), call, before.get("requestBody"), now.get("requestBody"))
    yield from _answers(SchemaChanges(old, new, "answer"), call, before["responses"], now["responses"])


def _parameters(changes: SchemaChanges, call: str, before: Json, now: Json) -> Iterator[str]:
    then, current = _by_name(changes.old, before), _by_name(changes.new, now)
    for (place, name), one in then.items():
        at = f"{call}: {place}.{name}"
        if (place, name) not in current:
            yield f"{at} is gone"
            continue
        other = current[place, name]
        if other.get("required") and not one.get("required"):
            yield f"{at} is required now"
        if one["schema"].get("default") != other["schema"].get("default"):
            yield f"{at} has another default"
        yield from changes.found(one["schema"], other["schema"], at)
    for (place, name), other in current.items():
        if (place, name) not in then and other.get("required"):
            yield f"{call}: {place}.{name} is new and required"


def _by_name(document: Json, operation: Json) -> dict[tuple[str, str], Json]:
    given = (resolved(document, one) for one in operation.get("parameters", ()))
    return {(one["in"], one["name"]): one for one in given}


def _body(changes: SchemaChanges, call: str, before: Json | None, now: Json | None) -> Iterator[str]:
    if before is None:
        if now is not None and now.get("required"):
            yield f"{call}: a body is new and required"
        return
    if now is None:
        yield f"{call}: takes no body any more"
        return
    if now.get("required") and not before.get("required"):
        yield f"{call}: the body is required now"
    for kind, one in before["content"].items():
        if kind not in now["content"]:
            yield f"{call}: the body may no longer be {kind}"
        else:
            yield from changes.found(one["schema"], now["content"][kind]["schema"], f"{call}: body")


def _answers(changes: SchemaChanges, call: str, before: Json, now: Json) -> Iterator[str]:
    """Of success: a problem has one shape, and its codes are open."""
    for status, one in before.items():
        if int(status) >= 400:
            continue
        if status not in now:
            yield f"{call}: {status} is not answered any more"
            continue
        one, other = resolved(changes.old, one), resolved(changes.new, now[status])
        for name in one.get("headers", {}):
            if name not in other.get("headers", {}):
                yield f"{call}: {status} has no header {name} any more"
        for kind, described in one.get("content", {}).items():
            if kind not in other.get("content", {}):
                yield f"{call}: {status} is no longer {kind}"
            else:
                at = f"{call}: {status}"
                yield from changes.found(described["schema"], other["content"][kind]["schema"], at)


def main() -> int:
    found = breaking_changes(_read(RELEASED), _read(TARGET))
    print("\n".join(found) if found else "nothing that was released breaks")
    return 1 if found else 0


def _read(path: Any) -> Json:
    return dict(json.loads(path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    sys.exit(main())
