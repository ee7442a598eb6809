"""``raw.py`` of the SDK: a method for every operation of the description, by its name."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Any

from infra.sdk.types_file import type_of

HEAD = '''"""Every operation of the service as it is, made of docs/openapi.json by ``make sdk-generate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .._shared.calls import Call, path_of
from .operations import AsyncOperations

if TYPE_CHECKING:
    from .. import types as shapes


class AsyncRaw(AsyncOperations):
    """Parameters of the path come first, then the body, then the others by name. ``timeout``: seconds, all repeats
    included. What fails raises ``NeveError``."""
'''
METHODS = ("get", "put", "post", "delete", "patch")
OK = ("200", "201", "202")
SPANS = (
    ("search_memory", re.compile(r"recall$|compile|call[A-Z]|search")),
    ("upsert_memory", re.compile(r"(create|update|evolve|import)Memor|append|turn$|(put|evolve|move|restore)Document")),
    ("delete_memory", re.compile(r"(delete|erase)(User|Memor|Document|Session)|retract")),
)
"""Which operations of memory tracing tells, and as what."""
Operation = Mapping[str, Any]


def raw_file(document: Mapping[str, Any]) -> str:
    """The module's text, before it is formatted."""
    methods = [
        "\n".join(_method(verb, path, operation))
        for path, operations in document["paths"].items()
        for verb, operation in operations.items()
        if verb in METHODS
    ]
    return "\n\n".join([HEAD.rstrip(), *methods]) + "\n"


def snake(name: str) -> str:
    """An operation's name as a method, or a parameter's as an argument."""
    found = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).strip("_").lower()
    return f"{found}_" if keyword.iskeyword(found) else found


def _method(verb: str, path: str, operation: Operation) -> Iterator[str]:
    told = [one for one in operation.get("parameters", ()) if "$ref" not in one]
    by_place = {place: [one for one in told if one["in"] == place] for place in ("path", "query", "header")}
    text_too = "text/plain" in operation["responses"].get("200", {}).get("content", {})
    if text_too:  # AsyncOperations has what is no JSON
        by_place["query"] = [one for one in by_place["query"] if one["name"] != "format"]
    body = _body(operation.get("requestBody"))
    answer = _answer(operation["responses"])
    arguments = ["self", *(f"{snake(one['name'])}: str" for one in by_place["path"])]
    arguments += [body] if body else []
    arguments.append("*")
    arguments += [_argument(one) for one in (*by_place["query"], *by_place["header"])]
    arguments.append("timeout: float | None = None")
    yield f"    async def {snake(operation['operationId'])}({', '.join(arguments)}) -> {answer}:"
    yield f'        """{operation["summary"]}"""'
    call = [repr(verb.upper()), _path(path)]
    call += _parts(by_place, operation)
    sent = f"await self._answer(Call({', '.join(call)}), timeout)"
    if answer == "None":
        yield f"        {sent}"
    else:
        yield f"        answer: {answer} = {sent}"
        yield "        return answer"


def _body(given: Mapping[str, Any] | None) -> str | None:
    if given is None:
        return None
    content = given["content"]
    kinds = [
        type_of(one["schema"], "shapes.") if name == "application/json" else "str" for name, one in content.items()
    ]
    optional = "" if given.get("required") else " | None = None"
    return f"body: {' | '.join(kinds)}{optional}"


def _answer(responses: Mapping[str, Any]) -> str:
    found = [
        type_of(responses[status]["content"]["application/json"]["schema"], "shapes.")
        for status in OK
        if "application/json" in responses.get(status, {}).get("content", {})
    ]
    if "304" in responses:
        found.append("None")
    return " | ".join(dict.fromkeys(found)) or "None"


def _argument(parameter: Mapping[str, Any]) -> str:
    kind = type_of(parameter.get("schema", {}), "shapes.")
    return f"{snake(parameter['name'])}: {kind}" + ("" if parameter.get("required") else " | None = None")


def _path(path: str) -> str:
    parts = [
        snake(part[1:-1]) if part.startswith("{") else repr(part)
        for part in path.removeprefix("/v1").strip("/").split("/")
    ]
    return f"path_of({', '.join(parts)})"


def _parts(by_place: Mapping[str, Any], operation: Operation) -> Iterator[str]:
    content = (operation.get("requestBody") or {}).get("content", {})
    if content:
        yield "body=body"
        other = next((kind for kind in content if kind != "application/json"), None)
        if other is not None and "application/json" in content:
            yield f'content_type={other!r} if isinstance(body, str) else "application/json"'
        elif other is not None:
            yield f"content_type={other!r}"
    for place, name in (("query", "query"), ("header", "headers")):
        if by_place[place]:
            members = ", ".join(f"{one['name']!r}: {snake(one['name'])}" for one in by_place[place])
            yield f"{name}=self._given({{{members}}})"
    span = next((span for span, pattern in SPANS if pattern.match(operation["operationId"])), None)
    if span:
        yield f"span={span!r}"
