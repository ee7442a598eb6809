"""The parts that the forms have in common: reading members of a message, and images."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any

from neve.domain.errors import NeveError, invalid

MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
ANY_IMAGE = "image/*"
"""The media type of an image by address whose name does not say more."""
_ENDINGS = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
_ADDRESS = re.compile(r"https?://[^\s]{1,2040}")
_DATA = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+*-]+)?(?:;[\w.=+-]+)*?(?P<base64>;base64)?,(?P<data>.*)", re.DOTALL)


def listed_parts(value: Any, at: str, what: str = "parts") -> Sequence[Mapping[str, Any]]:
    """List the parts of a content that is a list: each an object with a ``type``. Raises NeveError."""
    if not isinstance(value, list):
        raise invalid(at, f"must be text or a list of {what}")
    for n, part in enumerate(value):
        if not isinstance(part, Mapping):
            raise invalid(f"{at}[{n}]", "must be an object with a type")
        if not isinstance(part.get("type"), str) or not part["type"]:
            raise invalid(f"{at}[{n}].type", 'is required: it says what the part is, such as "text"')
    return value


def read_text(part: Mapping[str, Any], name: str, at: str) -> str:
    """Read a member that has to be text. Raises NeveError."""
    value = part.get(name)
    if not isinstance(value, str):
        raise invalid(f"{at}.{name}", "must be text")
    return value


def filled_text(part: Mapping[str, Any], name: str, at: str, most: int = 256) -> str:
    """Read a member that has to be text and not blank. Raises NeveError."""
    value = read_text(part, name, at)
    if not value.strip() or len(value) > most:
        raise invalid(f"{at}.{name}", f"must have 1 to {most} characters")
    return value


def image_of(source: Any, media_type: Any, at: str) -> dict[str, Any] | None:
    """Make the block of an image by address, as a ``data:`` URL or in base64; None of one of a type that no model
    takes. Raises NeveError for what is none of these."""
    if not isinstance(source, str) or not source:
        raise invalid(at, "must be an https address, a data: URL, or base64")
    if _ADDRESS.fullmatch(source):
        return {"type": "image", "media_type": _by_name(source, media_type), "url": source}
    found = _DATA.fullmatch(source) if source.startswith("data:") else None
    if source.startswith(("data:", "http:", "https:")) and (found is None or not found["base64"]):
        raise invalid(
            at, "must be an address without white space, of at most 2048 characters, or a data: URL in base64"
        )
    data, kind = (found["data"], found["type"] or media_type) if found else (source, media_type)
    data = _checked(data, at)
    if kind == "image/jpg":
        kind = "image/jpeg"
    if kind in (None, ANY_IMAGE):
        kind = _sniffed(data)
    return {"type": "image", "media_type": kind, "data": data} if kind in MEDIA_TYPES else None


def _checked(data: str, at: str) -> str:
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise invalid(at, "must be base64") from None
    if len(data) < 4:
        raise invalid(at, "must not be empty")
    return data


def _by_name(address: str, media_type: Any) -> str:
    if media_type in MEDIA_TYPES:
        return str(media_type)
    ending = address.split("?")[0].split("#")[0].rpartition(".")[2].lower()
    return _ENDINGS.get(ending, ANY_IMAGE)


def _sniffed(data: str) -> str | None:
    beginnings = {"iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}
    return next((kind for start, kind in beginnings.items() if data.startswith(start)), None)


def unknown_role(at: str, role: Any, taken: Sequence[str]) -> NeveError:
    """Make the refusal of a message whose role is none of the form's."""
    said = f"'{role}' is no role here" if isinstance(role, str) else "is required"
    return invalid(f"{at}.role", f"{said}; send one of {', '.join(taken)}")
