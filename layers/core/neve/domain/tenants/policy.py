"""A tenant's policy: every number of docs/rules/tenants.md#defaults that it may override, with the sanity rules between
them.

``W`` is the effective context window. A number left out follows W by its ratio; the 35,000 / 8,000 / 4,000 caps of the
observer do not scale. An invalid policy is refused with the numbers, never clamped."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from neve.domain.errors import FieldError, NeveError

Tokens = int


class Policy(BaseModel):
    """What the tenant set, as it is stored. The properties give the numbers in force."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    window: Tokens = Field(default=200_000, ge=100, le=10_000_000)
    session_reflection_trigger: Tokens | None = Field(default=None, ge=0)
    session_reflection_target: Tokens | None = Field(default=None, ge=0)
    compaction_trigger: Tokens | None = Field(default=None, ge=0)
    global_budget: Tokens | None = Field(default=None, ge=0)
    local_rows_budget: Tokens | None = Field(default=None, ge=0)
    observer_transcript_cap: Tokens = Field(default=35_000, ge=100)
    observer_output_cap: Tokens = Field(default=8_000, ge=1)
    prior_memory_cap: Tokens = Field(default=4_000, ge=0)
    token_counter: Literal["estimate", "o200k_base"] = "estimate"
    recall_k: int = Field(default=5, ge=1, le=50)
    recall_tool_k: int = Field(default=8, ge=1, le=50)
    recall_threshold: float = Field(default=0.7, ge=0.0, le=1.0)
    rerank: bool = True
    prompt_budget_ms: int = Field(default=300, ge=1, le=20_000)
    session_start_budget_ms: int = Field(default=500, ge=1, le=20_000)
    manual_search_budget_ms: int = Field(default=10_000, ge=1, le=20_000)

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
        """Why these numbers do not fit together; empty when they do."""
        found = []
        for name, target, trigger_name, trigger in (
            (
                "session_reflection_target",
                self.reflection_target,
                "session_reflection_trigger",
                self.reflection_trigger,
            ),
            ("compaction_trigger", self.compaction_at, "window", self.window),
        ):
            if target <= 0:
                found.append(FieldError(name, f"must be greater than 0, is {target}"))
            elif target >= trigger:
                found.append(FieldError(name, f"{target} must be below {trigger_name} = {trigger}"))
        if self.reflection_trigger >= self.window:
            found.append(
                FieldError(
                    "session_reflection_trigger", f"{self.reflection_trigger} must be below window = {self.window}"
                )
            )
        total = self.global_layer + self.local_rows + self.reflection_trigger
        if total > self.window:
            found.append(
                FieldError(
                    "global_budget",
                    f"global {self.global_layer} + local rows {self.local_rows} + session observations"
                    f" {self.reflection_trigger} = {total} exceed window = {self.window}",
                )
            )
        if self.observer_output_cap >= self.observer_transcript_cap:
            found.append(
                FieldError(
                    "observer_output_cap",
                    f"{self.observer_output_cap} must be below"
                    f" observer_transcript_cap = {self.observer_transcript_cap}",
                )
            )
        return found


def read_policy(given: dict[str, Any]) -> Policy:
    """The policy a tenant sent. Raises NeveError ``invalid_policy`` (422) that names every number that does not fit."""
    try:
        policy = Policy.model_validate(given)
    except ValidationError as error:
        errors = [FieldError(".".join(str(part) for part in e["loc"]), e["msg"]) for e in error.errors()]
        raise NeveError("invalid_policy", "The policy holds values that cannot be used.", errors=errors) from None
    problems = policy.problems()
    if problems:
        raise NeveError("invalid_policy", "The policy's numbers do not fit together.", errors=problems)
    return policy
