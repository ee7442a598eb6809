"""The part of every prompt that is the tenant's own and the same for all its users (docs/rules/compile.md#prefix)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from neve.domain.errors import FieldError
from neve.domain.given import Given
from neve.domain.tokens import estimate

PREFIX_TOKENS = 8_000
"""The tokens that a prefix may have, boundaries included."""
_NUMBER = r"(?:0|[1-9]\d{0,14})"
_VERSION = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_REFUSED: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (what, re.compile(pattern, re.IGNORECASE))
    for what, pattern in (
        ("a date", r"\b\d{4}-\d\d-\d\d(?!\d)"),
        ("a date", r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b"),
        ("a date", rf"\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}\b"),
        ("a date", rf"\b\d{{1,2}}(?:st|nd|rd|th)?\.? {_MONTH}\.?,? \d{{4}}\b"),
        ("a time", r"\b\d{1,2}:\d\d:\d\d\b"),
        ("a time", r"(?<!\d)1\d{9}(?:\d{3})?(?!\d)"),
        ("an e-mail address", r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]*\w"),
        ("a placeholder", r"\{\{.{,200}?\}\}|\$\{.{,200}?\}|\{[a-z_]\w*\}|%\(\w+\)s|<%.{,200}?%>"),
        ("an id", r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
        ("an id", r"\b(?:mem|ses|rcl|job|req)_[0-9a-z]{8,}\b"),
    )
)
"""Patterns of what belongs to a request, a user or a day: it would make the prefix another one for each of them. Each
pattern looks at a text once: an address begins where nothing of one stands before it, and a placeholder has an end."""


def _version(text: str) -> str:
    if not re.fullmatch(_VERSION, text, re.ASCII):
        raise ValueError("must be three numbers of at most 15 digits, such as 1.2.0")
    return text


class StaticPrefix(Given):
    """The texts that say who the assistant is, what it can do, what it must not; and the version that all three have
    together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Annotated[str, AfterValidator(_version)] = Field(
        json_schema_extra={"pattern": f"^{_VERSION}$"},
        description="Semantic: `1.2.0`. A changed text needs a higher one; else 409.",
    )
    identity: str = Field(default="", max_length=100_000)
    capabilities: str = Field(default="", max_length=100_000)
    boundaries: str = Field(default="", max_length=100_000, description="Safety and wellbeing. Never left out.")

    @property
    def text(self) -> str:
        """Give what stands in front of the boundaries, which begin behind it."""
        return "\n\n".join(part for part in (self.identity, self.capabilities) if part.strip())

    @property
    def rendered(self) -> str:
        """Give the first text of a prompt."""
        parts = (self.text, self.boundaries, f"(Prefix version {self.version}.)")
        return "\n\n".join(part for part in parts if part.strip())

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.rendered.encode()).hexdigest()

    @property
    def order(self) -> tuple[int, ...]:
        return version_order(self.version)

    def problems(self, field: str) -> list[FieldError]:
        """Say why the prefix cannot be cached for all users. What is too long is not looked through."""
        parts = {"identity": self.identity, "capabilities": self.capabilities, "boundaries": self.boundaries}
        blank = "".join(part for part in parts.values() if not part.strip())  # in no prompt, but kept
        tokens = estimate(self.rendered) + estimate(blank)
        if tokens > PREFIX_TOKENS:
            return [FieldError(field, f"has {tokens} tokens; {PREFIX_TOKENS} are accepted")]
        return [FieldError(f"{field}.{name}", problem) for name, part in parts.items() for problem in lint(part)]


def version_order(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def lint(text: str) -> Iterator[str]:
    """Say what in a text belongs to a request, a user or a day, for a person to read."""
    for what, pattern in _REFUSED:
        if found := pattern.search(text):
            yield f"holds {what} at position {found.start()}: it is the same for every user on every day"
