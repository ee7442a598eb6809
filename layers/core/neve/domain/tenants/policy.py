"""A tenant's policy: every number of docs/rules/tenants.md#defaults that it may override, with the sanity rules between
them.

``W`` is the effective context window. A number left out follows W by its ratio; the 35,000 / 8,000 / 4,000 caps of the
observer do not scale. An invalid policy is refused with the numbers, never clamped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from neve.domain.errors import FieldError

Tokens = int
Rerank = Literal["off", "linear", "late"]
"""Who orders what the legs found: RRF alone; a linear model; the same with late interaction."""
LARGEST_WINDOW = 10_000_000


class Policy(BaseModel):
    """What the tenant set, as it is stored. The properties give the numbers in force."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    window: Tokens = Field(default=200_000, ge=100, le=LARGEST_WINDOW)
    session_reflection_trigger: Tokens | None = Field(default=None, ge=0, le=LARGEST_WINDOW)
    session_reflection_target: Tokens | None = Field(default=None, ge=0, le=LARGEST_WINDOW)
    compaction_trigger: Tokens | None = Field(default=None, ge=0, le=LARGEST_WINDOW)
    global_budget: Tokens | None = Field(default=None, ge=0, le=LARGEST_WINDOW)
    local_rows_budget: Tokens | None = Field(default=None, ge=0, le=LARGEST_WINDOW)
    observer_transcript_cap: Tokens = Field(default=35_000, ge=100, le=150_000)
    observer_output_cap: Tokens = Field(default=8_000, ge=1, le=64_000)
    prior_memory_cap: Tokens = Field(default=4_000, ge=0, le=15_000)
    token_counter: Literal["estimate", "o200k_base"] = "estimate"
    recall_k: int = Field(default=5, ge=1, le=50)
    recall_tool_k: int = Field(default=8, ge=1, le=50)
    recall_threshold: float = Field(default=0.7, ge=0.0, le=1.0)
    prompt_share: float = Field(default=0.5, ge=0.0, le=1.0)
    rerank: Rerank = "linear"
    prompt_budget_ms: int = Field(default=300, ge=1, le=20_000)
    session_start_budget_ms: int = Field(default=500, ge=1, le=20_000)
    manual_search_budget_ms: int = Field(default=10_000, ge=1, le=20_000)

    @classmethod
    def stored(cls, numbers: Mapping[str, Any]) -> Policy:
        """As it was accepted when it was written: a bound that came later refuses no call. ``rerank`` was true or false
        once."""
        given = dict(numbers)
        if isinstance(given.get("rerank"), bool):
            given["rerank"] = "linear" if given["rerank"] else "off"
        return cls.model_construct(**given)

    @property
    def reflection_trigger(self) -> Tokens:
        """In-session reflection starts at this many tokens of live observations and reflections: 0.325 W."""
        return self.session_reflection_trigger if self.session_reflection_trigger is not None else self._share(325)

    @property
    def reflection_target(self) -> Tokens:
        """Half of the trigger."""
        if self.session_reflection_target is not None:
            return self.session_reflection_target
        return self.reflection_trigger // 2

    @property
    def compaction_at(self) -> Tokens:
        """Tokens after the horizon that make a compaction due: 0.5 W."""
        return self.compaction_trigger if self.compaction_trigger is not None else self._share(500)

    @property
    def kept_verbatim(self) -> Tokens:
        """A compaction keeps the newest whole turns that fit this: half of its trigger."""
        return self.compaction_at // 2

    @property
    def global_layer(self) -> Tokens:
        """Budget of the pack's global layer: 0.075 W."""
        return self.global_budget if self.global_budget is not None else self._share(75)

    @property
    def local_rows(self) -> Tokens:
        """Budget of the note, manual and fact rows in the local layer: 0.05 W."""
        return self.local_rows_budget if self.local_rows_budget is not None else self._share(50)

    def _share(self, thousandths: int) -> Tokens:
        return self.window * thousandths // 1000

    def problems(self) -> list[FieldError]:
        """Why these numbers do not fit together; empty when they do. A problem stands under a field that was set: a
        number that follows the window, under the window."""
        found = []
        for name, target, trigger_name, trigger in (
            (
                "session_reflection_target",
                self.reflection_target,
                "session_reflection_trigger",
                self.reflection_trigger,
            ),
            ("compaction_trigger", self.compaction_at, "window", self.window),
            ("session_reflection_trigger", self.reflection_trigger, "window", self.window),
        ):
            field = self._first_set(name, trigger_name, "window")
            if target <= 0:
                found.append(FieldError(field, f"{name} must be greater than 0, is {target}"))
            elif target >= trigger:
                found.append(FieldError(field, f"{name} = {target} must be below {trigger_name} = {trigger}"))
        total = self.global_layer + self.local_rows + self.reflection_trigger
        if total > self.window:
            field = self._first_set("global_budget", "local_rows_budget", "session_reflection_trigger", "window")
            found.append(
                FieldError(
                    field,
                    f"global {self.global_layer} + local rows {self.local_rows} + session observations"
                    f" {self.reflection_trigger} = {total} exceed window = {self.window}",
                )
            )
        if self.observer_output_cap >= self.observer_transcript_cap:
            found.append(
                FieldError(
                    self._first_set("observer_output_cap", "observer_transcript_cap"),
                    f"observer_output_cap = {self.observer_output_cap} must be below"
                    f" observer_transcript_cap = {self.observer_transcript_cap}",
                )
            )
        return found

    def _first_set(self, *names: str) -> str:
        """Of the fields that meet in a rule, the first that was set; with none of them the defaults hold, which fit."""
        fields = type(self).model_fields
        return next((name for name in names if getattr(self, name) != fields[name].default), names[0])
