"""The field types that several calls share: ids, times, limits, cursors."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated
from unicodedata import category, normalize

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from typing_extensions import TypeAliasType

from neve.domain import metadata
from neve.domain.ids import IDENTIFIER, MEMORY_ID, NAME, NAME_RULE, as_name
from neve.domain.sessions.frames import one_line
from neve.domain.times import iso, parse
from neve.domain.validity import LAST_YEAR
from neve.domain.zones import is_zone

NAMES = frozenset({"user_id", "session_id"})
"""Ids in a path that the caller gave."""
PATH_IDS = dict.fromkeys(("memory_id", "item_id"), f"{IDENTIFIER}|{MEMORY_ID}") | dict.fromkeys(NAMES, NAME)
"""Grammars of ids in a path that are not ``IDENTIFIER`` alone: what another memory store gave out may begin with - or
_, also where it waits in the inbox."""
FIRST_YEAR = 1970
MAX_CURSOR = 4096
"""Characters. A path of 900 quotes takes 1,800 signs in JSON, and with its digest 2,424 in base64."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]+")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ADDRESS = re.compile(r"https?://[^\s]+")
_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})
"""Categories of blanks and of signs without a shape, such as U+200B."""
_FAR = 10**18
"""Beyond every bound of a field, whose own message then says which."""


def _identifier(text: str) -> str:
    name = as_name(text)
    if name is None:
        raise ValueError(NAME_RULE)
    return name


def _time(text: str) -> str:
    if not _TIME.fullmatch(text):
        raise ValueError("must be an RFC 3339 time with an offset, such as 2026-03-10T09:30:00Z")
    try:
        stored = iso(parse(text.upper()))
    except (ValueError, OverflowError):
        raise ValueError("is not a time that exists") from None
    if not FIRST_YEAR <= int(stored[:4]) <= LAST_YEAR:
        raise ValueError(f"must be between the years {FIRST_YEAR} and {LAST_YEAR}")
    return stored


def _day(text: str) -> str:
    if not _DAY.fullmatch(text):
        raise ValueError("must be a day such as 2026-03-10")
    try:
        date.fromisoformat(text)
    except ValueError:
        raise ValueError("is not a day that exists") from None
    return text


def _timezone(name: str) -> str:
    if not is_zone(name):
        raise ValueError("must be the name of an IANA time zone, such as Europe/Vienna")
    return name


def whole_number(value: object) -> object:
    """Read a parameter as a whole number: in a body a text is no number. Pydantic's lax integers allow spaces, signs
    and underscores, and have no word for one of many digits."""
    if not isinstance(value, str):
        return value
    if not _INTEGER.fullmatch(value):
        raise ValueError("must be a whole number")
    return int(value) if len(value.lstrip("-0")) < len(str(_FAR)) else _FAR * (-1 if value[0] == "-" else 1)


def _address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise ValueError("must begin with http:// or https:// and hold no white space")
    return text


def _metadata_key(name: str) -> str:
    if not metadata.is_key(name):
        raise ValueError("has a key that is not 1 to 64 of A-Z a-z 0-9 _ . -")
    return name


def _filled(text: str) -> str:
    if all(category(sign) in _UNSEEN for sign in text):
        raise ValueError("must not be blank")
    return text


Identifier = Annotated[
    str, AfterValidator(_identifier), Field(min_length=1, max_length=128, json_schema_extra={"pattern": f"^{NAME}$"})
]
Time = Annotated[
    str,
    AfterValidator(_time),
    Field(
        description="RFC 3339 with an offset; kept in UTC with milliseconds.", json_schema_extra={"format": "date-time"}
    ),
]
ClearableTime = Annotated[
    str,
    AfterValidator(lambda given: given and _time(given)),
    Field(json_schema_extra={"anyOf": [{"format": "date-time"}, {"maxLength": 0}]}),
]
"""A time that an empty text takes away."""
Day = Annotated[str, AfterValidator(_day), Field(json_schema_extra={"pattern": f"^{_DAY.pattern}$"})]
Address = Annotated[
    str, AfterValidator(_address), Field(max_length=2048, json_schema_extra={"pattern": f"^{_ADDRESS.pattern}$"})
]
Timezone = Annotated[str, AfterValidator(_timezone), Field(min_length=1, max_length=64)]
Filled = Annotated[str, AfterValidator(_filled), Field(min_length=1)]
"""Text that is not blank."""
Name = Annotated[Filled, AfterValidator(one_line)]
"""The name of a person or a tool: white space in it, line breaks included, becomes single spaces, and none stands
around it."""
_COMPOSED = AfterValidator(lambda given: normalize("NFC", one_line(given)))
Composed = Annotated[str, _COMPOSED]
"""Text by which something is found: however its accents and the white space in it and around it were typed, it is kept
and asked for in the same letters."""
Clearable = Annotated[Composed, Field(max_length=128)]
"""A label that an empty text takes away."""
Label = Annotated[Filled, _COMPOSED, Field(max_length=128)]
"""A tag, a group, a project: ``Composed``, and not blank."""

MetadataKey = Annotated[str, AfterValidator(_metadata_key), Field(json_schema_extra={"pattern": f"^{metadata.KEY}$"})]
MetadataValue = Annotated[
    str, AfterValidator(lambda given: normalize("NFC", given)), Field(max_length=metadata.MAX_VALUE)
]
Metadata = Annotated[dict[MetadataKey, MetadataValue], Field(max_length=metadata.MAX_KEYS)]
"""Labels of the caller's own (docs/rules/sessions.md#metadata)."""
BY_KEY = "metadata."
MetadataParameters = Annotated[
    Metadata,
    WithJsonSchema(
        {
            "type": "object",
            "maxProperties": metadata.MAX_KEYS,
            "patternProperties": {
                f"^{re.escape(BY_KEY)}{metadata.KEY}$": {"type": "string", "maxLength": metadata.MAX_VALUE}
            },
            "additionalProperties": False,
            "description": "`metadata.<key>=<value>`: only what has this value under the key; of several, all of them.",
        }
    ),
]
"""Parameters of a list, one for each key that is asked for (``http/accept.py``)."""

About = Annotated[
    list[Identifier], Field(max_length=50), BeforeValidator(lambda given: [given] if isinstance(given, str) else given)
]
"""Ids of participants that are asked for; one may be sent as it is."""

# A constraint stands before the validator that runs before it, or the description loses it.
Limit = Annotated[int, Field(ge=1, le=200, description="Rows of a page."), BeforeValidator(whole_number)]
Cursor = Annotated[str, Field(min_length=1, max_length=MAX_CURSOR, description="The `next_cursor` of the page before.")]
Seq = Annotated[int, Field(ge=1, le=10**9, description="A position in the log.")]

OtherLanguage = TypeAliasType(
    "OtherLanguage",
    Annotated[
        int,
        Field(
            description="How many of the user's messages are not observed, because the observer does not know their"
            " language: `observer:language`. Search finds them all the same."
        ),
    ],
)
Degraded = TypeAliasType(
    "Degraded",
    Annotated[
        list[str],
        Field(description="What the answer had to do without, such as `vector:error`: docs/rules/degradation.md."),
    ],
)
"""A component of its own, which every answer that may lack something has."""
