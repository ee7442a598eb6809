"""What a client knows of its own writes: each was answered, or it may have happened or not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple


class Account(NamedTuple):
    """A user of a tenant."""

    tenant: str
    user: str

    @property
    def path(self) -> str:
        return f"/v1/users/{self.user}"


@dataclass(slots=True)
class Append:
    """One E2 call as it was sent, with a key, with client ids, or both. ``seqs`` None: no answer came."""

    session: str
    events: list[dict[str, Any]]
    key: str | None
    seqs: list[int] | None = None

    @property
    def texts(self) -> list[str]:
        return [event["content"] for event in self.events]


@dataclass(slots=True)
class KnownMemory:
    """One memory. ``id`` None: the POST was not answered. ``texts``: those that it may have now."""

    body: dict[str, Any]
    key: str
    id: str | None = None
    texts: set[str] = field(default_factory=set)
    deleted: Literal["no", "perhaps", "yes"] = "no"


@dataclass(slots=True)
class Journal:
    """One client's for one account. ``packs``: sha256 of the text by session and version, as first seen. ``etags``: of
    the text format, newest last, by session. ``jobs``: ids of accepted work. ``findings``: what should not have been
    answered."""

    account: Account
    sessions: list[str] = field(default_factory=list)
    appends: list[Append] = field(default_factory=list)
    memories: list[KnownMemory] = field(default_factory=list)
    packs: dict[tuple[str, int], str] = field(default_factory=dict)
    etags: dict[str, list[str]] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
