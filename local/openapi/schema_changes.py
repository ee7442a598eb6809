"""What a change of a schema breaks. A request breaks where something that was taken is refused now, an answer where
something comes now that could not come before, or comes no more. Clients take fields of an answer and values of its
enums that they do not know (docs/rules/http.md#description), so that neither is a change that breaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]

_LEAST = ("minLength", "minItems", "minProperties")
_LOWER = ("minimum", "exclusiveMinimum", *_LEAST)
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_EXACT = ("pattern", "format", "const", "multipleOf", "contentEncoding", "contentMediaType", "propertyNames")
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


@dataclass(frozen=True)
class SchemaChanges:
    """Of one direction, between two documents. ``found`` yields sentences that begin with the place."""

    old: Json
    new: Json
    of: Literal["request", "answer"]
    _seen: set[tuple[str, str]] = field(default_factory=set)

    def found(self, old: Any, new: Any, at: str) -> Iterator[str]:
        names = str(old.get("$ref", "")), str(new.get("$ref", ""))
        if all(names):
            if names in self._seen:  # told where it was met first; a schema may lead to itself
                return
            self._seen.add(names)
        old, new = resolved(self.old, old), resolved(self.new, new)
        yield from self._choices(old, new, at) if _is_choice(old) or _is_choice(new) else self._plain(old, new, at)

    def _plain(self, old: Json, new: Json, at: str) -> Iterator[str]:
        before, now = _types(old), _types(new)
        if gone := self._lost(before, now):
            what = "no longer takes" if self.of == "request" else "may now be"
            yield f"{at} {what} {' or '.join(sorted(gone))}"
            return
        yield from self._enum(old, new, at)
        if self.of == "request":
            yield from _bounds(old, new, at)
        for name in _EXACT:
            if (name in (new if self.of == "request" else old)) and new.get(name) != old.get(name):
                yield f"{at} has another {name}"
        if "object" in before & now:
            yield from self._members(old, new, at)
        if "items" in old and "items" in new:
            yield from self.found(old["items"], new["items"], f"{at}[]")
        elif "items" in (new if self.of == "request" else old):
            yield f"{at} has another kind of items"

    def _lost(self, before: set[str], now: set[str]) -> set[str]:
        """Types that one side has to expect and does not."""
        given, taken = (before, now) if self.of == "request" else (now, before)
        return given - taken - ({"integer"} if "number" in taken else set())

    def _enum(self, old: Json, new: Json, at: str) -> Iterator[str]:
        if self.of == "answer":
            if "enum" in old and "enum" not in new and "const" not in new:
                yield f"{at} is no enum any more"
        elif "enum" in new:
            if "enum" not in old and "const" not in old:
                yield f"{at} takes some values only"
            for value in _values(old):
                if value not in new["enum"]:
                    yield f"{at} no longer takes {json.dumps(value, ensure_ascii=False)}"

    def _members(self, old: Json, new: Json, at: str) -> Iterator[str]:
        before, now = old.get("properties", {}), new.get("properties", {})
        was_needed, is_needed = set(old.get("required", ())), set(new.get("required", ()))
        for name in before:
            place = f"{at}.{name}"
            if name not in now:
                yield f"{place} is gone"
                continue
            yield from self.found(before[name], now[name], place)
            if self.of == "request" and name in is_needed - was_needed:
                yield f"{place} is required now"
            if self.of == "answer" and name in was_needed - is_needed:
                yield f"{place} may be absent now"
            if self.of == "request" and before[name].get("default") != now[name].get("default"):
                yield f"{place} has another default"
        if self.of == "request":
            yield from (f"{at}.{name} is new and required" for name in is_needed - before.keys())
        rest_before, rest_now = old.get("additionalProperties", True), new.get("additionalProperties", True)
        if isinstance(rest_before, dict) and isinstance(rest_now, dict):
            yield from self.found(rest_before, rest_now, f"{at}.*")
        elif self.of == "request" and rest_now is not True and rest_before is not False:
            yield f"{at} no longer takes any field"
        elif self.of == "answer" and isinstance(rest_before, dict) and rest_now is True and not now:
            yield f"{at} may now hold anything"

    def _choices(self, old: Json, new: Json, at: str) -> Iterator[str]:
        """Each kind that is given has to be one that is taken."""
        before, now = _options(old), _options(new)
        for given in before if self.of == "request" else now:
            pairs = [(given, one) for one in now] if self.of == "request" else [(one, given) for one in before]
            if all(self._differ(*pair) for pair in pairs):
                what = "no longer takes" if self.of == "request" else "may now be"
                yield f"{at} {what} {_shown(given)}"

    def _differ(self, old: Json, new: Json) -> bool:
        apart = SchemaChanges(self.old, self.new, self.of, set(self._seen))
        return any(True for _ in apart.found(old, new, ""))


def resolved(document: Json, node: Json) -> Json:
    """What a reference leads to, with what stands beside it."""
    while "$ref" in node:
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = {**target, **{name: value for name, value in node.items() if name != "$ref"}}
    return node


def _bounds(old: Json, new: Json, at: str) -> Iterator[str]:
    for name in _LOWER:
        before = old.get(name, 0 if name in _LEAST else None)
        if name in new and (before is None or new[name] > before):
            yield f"{at} has a higher {name}"
    for name in _UPPER:
        if name in new and (name not in old or new[name] < old[name]):
            yield f"{at} has a lower {name}"


def _is_choice(schema: Json) -> bool:
    return "anyOf" in schema or "oneOf" in schema


def _options(schema: Json) -> list[Json]:
    return list(schema.get("anyOf") or schema.get("oneOf") or [schema])


def _types(schema: Json) -> set[str]:
    """All of them where the schema does not say."""
    said = schema.get("type")
    if said is None:
        values = _values(schema)
        return {_type_of(value) for value in values} if values else set(_TYPES)
    return {said} if isinstance(said, str) else set(said)


def _values(schema: Json) -> list[Any]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def _type_of(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return "null" if value is None else kinds[type(value)]


def _shown(schema: Json) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2] or str(schema.get("type", "a kind of it"))
