"""The policy of when a pass of the observer runs (docs/rules/observe.md#when): after so many tokens, or after so long a
silence."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pydantic import ConfigDict, Field

from neve.domain.errors import FieldError
from neve.domain.given import Given
from neve.domain.languages import ANY_LANGUAGE

MODEL_TOKENS = 2_000
"""New tokens that a language model is asked about together (*chosen*: one pass a turn reads its instructions and what
is known already ten times as often, at the same answers)."""
IDLE_S = 600
"""*Chosen*: the sweep looks as often."""
MIN_IDLE_S = 60
MAX_IDLE_S = 3_600
"""A session that is silent for so long is ended (docs/rules/librarian.md#idle), and observed then."""
MAX_GIVEN = 10_000_000


class ObserveAfter(Given):
    """Says when the observer reads what was said. A call of observe, a session's end, a compaction and another session
    of the user do not wait for it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tokens: int | None = Field(
        default=None,
        ge=0,
        le=MAX_GIVEN,
        description="New tokens of complete turns that are read together; 0: after every turn. By default 2,000 where"
        " a language model observes, else 0.",
    )
    idle_s: int | None = Field(
        default=None,
        ge=0,
        le=MAX_GIVEN,
        description="Seconds without an event behind which fewer are read, too; the sweep looks every ten minutes."
        " By default 600.",
    )

    def problems(self, field: str, transcript_cap: int) -> Iterator[FieldError]:
        """Say what does not fit, each with what would."""
        if self.tokens is not None and self.tokens > transcript_cap:
            yield FieldError(
                f"{field}.tokens",
                f"{field}.tokens = {self.tokens} must be at most observer_transcript_cap = {transcript_cap}, which is"
                " what one pass reads; 0 observes after every turn",
            )
        if self.idle_s is not None and not MIN_IDLE_S <= self.idle_s <= MAX_IDLE_S:
            yield FieldError(
                f"{field}.idle_s",
                f"{field}.idle_s = {self.idle_s} must be from {MIN_IDLE_S} to {MAX_IDLE_S}: a session that is silent"
                f" for {MAX_IDLE_S} s is ended, and observed then; tokens = 0 observes after every turn",
            )


@dataclass(frozen=True, slots=True)
class PassesAfter:
    """The numbers in force."""

    tokens: int
    idle_s: int


def passes_after(given: ObserveAfter | None, languages: Collection[str]) -> PassesAfter:
    """Give the numbers in force. ``languages``: the observer's; one that knows any is a language model, which is paid
    for by the token, while rules cost next to nothing a turn."""
    tokens = given.tokens if given is not None else None
    if tokens is None:
        tokens = MODEL_TOKENS if ANY_LANGUAGE in languages else 0
    return PassesAfter(tokens, idle_s(given))


def idle_s(given: ObserveAfter | None) -> int:
    """Give the silence in force: the same for every observer."""
    return given.idle_s if given is not None and given.idle_s is not None else IDLE_S
