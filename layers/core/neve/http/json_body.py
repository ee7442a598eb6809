"""Parsing what a caller sent, and naming what is wrong with it.

400 is for what cannot be parsed (not UTF-8, not JSON, a byte order mark, NaN and Infinity, a repeated name in one
object), 422 for what cannot be accepted (control characters and lone surrogates in any string, numbers out of range, a
model's own rules)."""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from neve.domain.errors import FieldError, NeveError, invalid

M = TypeVar("M", bound=BaseModel)

BYTE_ORDER_MARK = "\ufeff"
MAX_DEPTH = 64
MAX_ERRORS = 20
REFUSED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters (Unicode category Cc) other than tab, line feed and carriage return, and lone surrogates."""

LARGEST = sys.float_info.max
"""The largest number with a point or an exponent."""


class _Unreadable(ValueError):
    """A refusal, in our words, of what json would take and we do not."""


def decode_utf8(raw: bytes, at: str = "") -> str:
    """Decode bytes as UTF-8. ``at``: which part of the body it is. Raises 400 ``malformed_json``."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        what = f"{at}: This" if at else "The body"
        raise NeveError("malformed_json", f"{what} is not UTF-8 at byte {error.start}.") from None


def parse_json(text: str, at: str = "") -> Any:
    """Parse a JSON text whose strings and numbers can all be stored. ``at`` is put before the field names of a 422
    (``lines[3]``). Raises 400 ``malformed_json`` and 422 ``validation_failed``."""
    where = f"{at}: " if at else ""
    if text.startswith(BYTE_ORDER_MARK):
        mark = "a byte order mark (U+FEFF), which is no part of JSON"
        raise NeveError("malformed_json", f"{where}This begins with {mark}.")
    try:
        value = json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}"
        raise NeveError("malformed_json", f"{where}This is not JSON from {position} on.") from None
    except RecursionError:
        raise NeveError("malformed_json", f"{where}The JSON is nested too deeply.") from None
    except _Unreadable as error:
        raise NeveError("malformed_json", f"{where}{error}") from None
    except ValueError:
        most = sys.get_int_max_str_digits()
        raise NeveError("malformed_json", f"{where}A number has more than {most} digits.") from None
    for field, message in _find_unacceptable(value, at):
        raise invalid(field, message)
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    given = dict(pairs)
    if len(given) < len(pairs):
        times = Counter(name for name, _ in pairs)  # an object may have a hundred thousand names
        repeated = next(name for name, n in times.items() if n > 1)
        raise _Unreadable(f"The name '{shown_field(repeated)}' occurs twice in one object.")
    return given


def _refuse_constant(name: str) -> Any:
    raise _Unreadable(f"{name} is not JSON.")


def _find_unacceptable(value: Any, at: str) -> Iterator[tuple[str, str]]:
    """Find what cannot be accepted, as paths and reasons. A body may hold half a million numbers, so a path is made
    only for what is looked at."""
    waiting: list[tuple[str, Any, int]] = [(at, value, 0)]
    while waiting:
        path, item, depth = waiting.pop()
        if isinstance(item, str):
            if problem := refused_text(item):
                yield path or "body", problem
        elif isinstance(item, float):
            if not math.isfinite(item):
                yield path or "body", f"must be a number between -{LARGEST:.1e} and {LARGEST:.1e}"
        elif isinstance(item, dict | list) and depth == MAX_DEPTH:
            yield path or "body", f"is nested deeper than {MAX_DEPTH} levels"
        elif isinstance(item, dict):
            for name, part in item.items():
                if problem := refused_text(name):
                    yield member(path, name), f"its name {problem}"
                if isinstance(part, _LOOKED_AT):
                    waiting.append((member(path, name), part, depth + 1))
        elif isinstance(item, list):
            parts = ((n, part) for n, part in enumerate(item) if isinstance(part, _LOOKED_AT))
            waiting.extend((f"{path}[{n}]", part, depth + 1) for n, part in parts)


_LOOKED_AT = (str, float, dict, list)


def refused_text(text: str) -> str | None:
    """Say why a string cannot be stored, or None."""
    found = REFUSED.search(text)
    if found is None:
        return None
    point = ord(found[0])
    what = "a lone surrogate" if point >= 0xD800 else "a control character"
    return f"holds {what} (U+{point:04X}) at position {found.start()}"


def shown_field(name: str) -> str:
    """Make a caller's own field name fit to be repeated in an answer."""
    safe = REFUSED.sub("\ufffd", name)
    return safe if len(safe) <= 64 else f"{safe[:63]}…"


def member(path: str, name: str) -> str:
    return f"{path}.{shown_field(name)}" if path else shown_field(name)


def check_model(model: type[M], value: Any, at: str = "", *, strict: bool = True) -> M:
    """Validate a value as a model. Raises 422 ``validation_failed`` that names up to 20 fields, below ``at``."""
    if not isinstance(value, dict):
        raise invalid(at or "body", "must be an object")
    try:
        return model.model_validate(value, strict=strict)
    except ValidationError as error:
        errors = list(_name_errors(error.errors(include_url=False), value, at))[:MAX_ERRORS]
        detail = "; ".join(f"{e.field}: {e.message}" for e in errors[:3])
        raise NeveError("validation_failed", detail, errors=errors) from None


def _name_errors(found: list[ErrorDetails], value: Any, at: str) -> Iterator[FieldError]:
    """Give each error once: a null is wrong for every member of a union in the same words."""
    yield from dict.fromkeys(FieldError(field_path(error, value, at), _message(error)) for error in found)


def field_path(error: ErrorDetails, value: Any, at: str) -> str:
    """Give Pydantic's location as a path into what was sent. Parts that are not there (the tags of a union) are left
    out, except the name of a missing field; for an object of an unknown kind it is the member that says its kind."""
    loc: tuple[int | str, ...] = error["loc"]
    if error["type"] in _OF_UNKNOWN_KIND:
        loc = (*loc, error["ctx"]["discriminator"].strip("'"))
    return _resolve_path(loc, value, at, error["type"]) or at or "body"


def _resolve_path(loc: tuple[int | str, ...], value: Any, path: str, kind: str) -> str | None:
    """Follow ``loc`` into ``value`` and give it as a path; None when ``loc`` ends in the name of a member and there is
    no object left to have it: then what was taken for a member on the way was the tag of a union, as ``text`` is both
    in ``{"type": "text", "text": …}``."""
    if not loc:
        return path
    part, rest = loc[0], loc[1:]
    if isinstance(value, list) and isinstance(part, int):
        return _resolve_path(rest, value[part], f"{path}[{part}]", kind)
    if isinstance(value, dict) and isinstance(part, str):
        if part in value:
            found = _resolve_path(rest, value[part], member(path, part), kind)
            if found is not None:
                return found
        elif not rest and kind in _ABSENT:
            return member(path, part)
    if not rest and kind in (*_ABSENT, "extra_forbidden"):
        return None
    return _resolve_path(rest, value, path, kind)


_OF_UNKNOWN_KIND = ("union_tag_invalid", "union_tag_not_found")
_ABSENT = ("missing", *_OF_UNKNOWN_KIND)
NOT_NULL = "must not be null; leave it out instead"
_MESSAGES = {
    "missing": "is required",
    "union_tag_not_found": "is required",
    "extra_forbidden": "is not a known field",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be a string",
    "int_parsing": "must be a whole number",
    "float_parsing": "must be a number",
}
_REWORDED = (("Value error, ", ""), ("Input should ", "must "), ("String should ", "must "))


_LENGTHS = {
    "too_short": ("min_length", "at least"),
    "string_too_short": ("min_length", "at least"),
    "too_long": ("max_length", "at most"),
    "string_too_long": ("max_length", "at most"),
}


_NUMBERS = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
}


def _describe_number(kind: str, given: Any) -> str:
    """Say which number is expected, and what keeps the sent value from being one: 5.0 is a whole number to the caller
    that sent it, and so is "5"."""
    if isinstance(given, float) and given.is_integer():
        return f"{_NUMBERS[kind]}, without a point or an exponent"
    return f"{_NUMBERS[kind]}, not a string" if isinstance(given, str) else _NUMBERS[kind]


def _describe_length(kind: str, error: ErrorDetails) -> str:
    """Say how long a value must be, in the unit of what was sent: a constraint that stands behind a validator calls
    everything items."""
    (limit, words), given = _LENGTHS[kind], error["input"]
    bound = error["ctx"][limit]
    unit = "character" if isinstance(given, str) else "member" if isinstance(given, dict) else "item"
    return f"must have {words} {bound} {unit}{'' if bound == 1 else 's'}, not {len(given)}"


def _message(error: ErrorDetails) -> str:
    """Give Pydantic's sentence as the rest of one that begins with the field's name. It never repeats what was sent."""
    kind, message = error["type"], error["msg"]
    if error["input"] is None:
        return NOT_NULL
    if kind in _MESSAGES:
        return _MESSAGES[kind]
    if kind in _NUMBERS:
        return _describe_number(kind, error["input"])
    if kind == "union_tag_invalid":
        return f"must be one of {error['ctx']['expected_tags']}"
    if kind in _LENGTHS:
        return _describe_length(kind, error)
    for prefix, better in _REWORDED:
        if message.startswith(prefix):
            return better + message.removeprefix(prefix)
    return message
