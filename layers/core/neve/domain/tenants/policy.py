"""A tenant's policy: every number of docs/rules/tenants.md#defaults that it may override, with the sanity rules between
them.

``W`` is the effective context window. A number left out follows W by its ratio; the 35,000 / 8,000 / 4,000 caps of the
observer do not scale. An invalid policy is refused with the numbers, never clamped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field
from typing_extensions import TypeAliasType

from neve.domain.errors import FieldError
from neve.domain.given import Given
from neve.domain.records.epochs import Verbosity
from neve.domain.tenants.budgets import Budget, named_budget
from neve.domain.tenants.observe_after import ObserveAfter
from neve.domain.tenants.prices import ModelPrice
from neve.domain.tenants.static_prefix import StaticPrefix
from neve.domain.tokens import CounterName
from neve.domain.zones import is_zone

Tokens = int
Rerank = TypeAliasType("Rerank", Literal["off", "linear", "deep"])
"""The way to order what the legs found: RRF alone; a linear model; for a tool a cross-encoder over the
first of its order too, where a stage has one."""
Languages = TypeAliasType("Languages", Literal["en", "multi"])
"""The languages whose meaning recall knows: English, by the encoder that knows it best; or many, by one that knows
some hundred. Another choice has every vector of the tenant made anew."""
NightlyModel = TypeAliasType("NightlyModel", Literal["direct", "batch"])
"""The way in which nights ask the model: at once; or in batches that the provider answers within a day, for half."""
ReviewMode = TypeAliasType("ReviewMode", Literal["auto", "interactive"])
"""The mode in which a person decides or does not decide on facts that were not said plainly."""
WriteTools = TypeAliasType("WriteTools", Literal["off", "propose", "on"])
"""The use of the tools by which a model writes: refused; into the inbox, for a person to decide; kept."""
Action = Literal["block", "redact", "allow"]
"""``block``: a memory or a document that holds it is refused. ``redact``: it is kept without. In events both only take
it out. ``allow``: it is not looked for."""
PiiAction = TypeAliasType("PiiAction", Action)
PiiClass = Literal[
    "card_number", "ssn", "password", "api_key", "medical_record_number", "phone", "email", "iban", "address"
]
TokenCounter = TypeAliasType("TokenCounter", CounterName)
MAX_WINDOW = 10_000_000
MAX_PRICES = 100
MAX_DAYS = 3_650
_PACK_SHARE = 495
"""Thousandths of W: what the layers of a pack may have together where every one follows W."""


def _bare(name: str) -> str:
    if name != name.strip():
        raise ValueError("must not be blank or have white space around it: no model is called so")
    return name


ModelName = Annotated[str, AfterValidator(_bare), Field(min_length=1, max_length=200)]


class CustomBudget(Given):
    """A budget of the caller's own. What the sections leave of the input goes to memories, history and task by need, in
    this order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    total: Tokens = Field(ge=1, le=MAX_WINDOW)
    output: Tokens = Field(ge=0, le=MAX_WINDOW, description="Kept free for the answer.")
    system: Tokens = Field(ge=0, le=MAX_WINDOW, description="Tools, static prefix, boundaries, instructions.")
    memories: Tokens = Field(ge=0, le=MAX_WINDOW, description="The pack and what is retrieved.")
    history: Tokens = Field(ge=0, le=MAX_WINDOW, description="With the message.")
    task: Tokens = Field(default=0, ge=0, le=MAX_WINDOW)

    def budget(self) -> Budget:
        return Budget("custom", self.total, self.output, self.system, self.memories, self.history, self.task)


class PiiActions(Given):
    """The actions on each class of personal data that is found (docs/rules/privacy.md#classes). Names, places and
    relatives are what a memory of a person is made of: the gate does not look for them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    card_number: PiiAction = "block"
    ssn: PiiAction = "block"
    password: PiiAction = "block"
    api_key: PiiAction = "block"
    medical_record_number: PiiAction = "redact"
    phone: PiiAction = "allow"
    email: PiiAction = "allow"
    iban: PiiAction = "allow"
    address: PiiAction = "allow"

    @property
    def actions(self) -> dict[PiiClass, Action]:
        """Give the actions by class, of those that are looked for."""
        return {
            "card_number": self.card_number,
            "ssn": self.ssn,
            "password": self.password,
            "api_key": self.api_key,
            "medical_record_number": self.medical_record_number,
            "phone": self.phone,
            "email": self.email,
            "iban": self.iban,
            "address": self.address,
        }


BudgetProfile = TypeAliasType("BudgetProfile", Literal["compact_8k", "window_200k", "agentic"])
Profile = BudgetProfile | CustomBudget


def budget_of(profile: Profile, window: int) -> Budget:
    return profile.budget() if isinstance(profile, CustomBudget) else named_budget(profile, window)


class Policy(Given):
    """The numbers that the tenant set, as they are stored. The properties give the numbers in force."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    window: Tokens = Field(
        default=200_000,
        ge=100,
        le=MAX_WINDOW,
        description="Tokens of the effective context window; what is not set follows it.",
    )
    session_reflection_trigger: Tokens | None = Field(
        default=None,
        ge=0,
        le=MAX_WINDOW,
        description="Tokens at which a session's observations are folded; 0.325 of the window.",
    )
    session_reflection_target: Tokens | None = Field(
        default=None, ge=0, le=MAX_WINDOW, description="Tokens that a folding may leave; half of its trigger."
    )
    compaction_trigger: Tokens | None = Field(
        default=None,
        ge=0,
        le=MAX_WINDOW,
        description="Tokens of turns at which a session is compacted; half of the window.",
    )
    global_budget: Tokens | None = Field(
        default=None,
        ge=0,
        le=MAX_WINDOW,
        description="Tokens of the pack for what holds in every session; 0.075 of the window.",
    )
    local_rows_budget: Tokens | None = Field(
        default=None,
        ge=0,
        le=MAX_WINDOW,
        description="Tokens of the pack for notes and facts of the session itself; 0.05 of the window.",
    )
    always_budget: Tokens | None = Field(
        default=None,
        ge=0,
        le=MAX_WINDOW,
        description="Tokens of the pack for documents that are always in it; 0.02 of the window.",
    )
    profile_budget: Tokens | None = Field(
        default=None,
        ge=0,
        le=MAX_WINDOW,
        description="Tokens of the pack for the profile, people included; 0.025 of the window.",
    )
    observer_transcript_cap: Tokens = Field(
        default=35_000, ge=100, le=150_000, description="Tokens of events that the observer reads at a time."
    )
    observer_output_cap: Tokens = Field(
        default=8_000, ge=1, le=64_000, description="Tokens that the observer may answer with."
    )
    prior_memory_cap: Tokens = Field(
        default=4_000, ge=0, le=15_000, description="Tokens of earlier memories that the observer is shown."
    )
    observe_after: ObserveAfter | None = Field(
        default=None, description="When the observer reads what was said; what waits is found by its words meanwhile."
    )
    token_counter: TokenCounter = Field(default="estimate", description="How tokens are counted.")
    recall_limit: int = Field(default=5, ge=1, le=50, description="Hits of a recall in a prompt.")
    recall_tool_limit: int = Field(default=8, ge=1, le=50, description="Hits of the tool `recall_memory`.")
    recall_threshold: float = Field(
        default=0.7, ge=0.0, le=1.0, description="Calibrated similarity below which a hit is no hit."
    )
    prompt_share: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        description="Share of a prompt's words that makes up for some similarity; 0 lets everything through.",
    )
    rerank: Rerank = Field(
        default="deep",
        description="Who orders the hits again: nobody, a linear model, or for tools a model that reads them.",
    )
    languages: Languages = Field(
        default="en", description="Whose meaning recall knows; a change makes every vector anew."
    )
    summary_verbosity: Verbosity = Field(default="standard", description="How long a summary is.")
    prompt_budget_ms: int = Field(default=300, ge=1, le=20_000, description="Milliseconds of a recall in a prompt.")
    session_start_budget_ms: int = Field(
        default=500, ge=1, le=20_000, description="Milliseconds of the pack when a session is opened."
    )
    manual_search_budget_ms: int = Field(
        default=10_000, ge=1, le=20_000, description="Milliseconds of a search by a tool."
    )
    prices: dict[ModelName, ModelPrice] = Field(
        default_factory=dict,
        max_length=MAX_PRICES,
        description="By model: what corrects the list prices or adds to them.",
    )
    timezone: str = Field(
        default="UTC", min_length=1, max_length=64, description="The IANA time zone whose 03:00 is the tenant's night."
    )
    retention_days: int | None = Field(
        default=None, ge=1, le=MAX_DAYS, description="Days until an archived event is removed; without it never."
    )
    reflection_min_age_days: int = Field(
        default=3, ge=0, le=MAX_DAYS, description="Days until a memory is old enough for a night."
    )
    reflection_min_rows: int = Field(default=20, ge=1, le=10_000, description="Memories that are worth a night's run.")
    reflection_min_tokens: Tokens = Field(default=8_000, ge=1, le=MAX_WINDOW, description="Or so many tokens of them.")
    nightly_model: NightlyModel = Field(
        default="direct",
        description="How nights, and filings of sessions that nobody ended, ask a model: at once, or in batches at half"
        " the price where its provider has them.",
    )
    min_importance: int = Field(
        default=2, ge=1, le=5, description="A fact of less importance is kept only if somebody asked for it."
    )
    review_mode: ReviewMode = Field(
        default="auto", description="`interactive`: facts that were not said plainly wait in the inbox."
    )
    write_tools: WriteTools = Field(
        default="off", description="What a model may write: nothing, proposals for the inbox, or memories."
    )
    budget_profile: Profile = Field(default="agentic", description="How a prompt and its pack are shared out.")
    static_prefix: StaticPrefix | None = Field(
        default=None, description="The part of every prompt that is the tenant's own."
    )
    pii: PiiActions = Field(default=PiiActions(), description="What is done with personal data that is found.")
    chat_model: Annotated[ModelName, Field(max_length=100)] | None = Field(
        default=None, description="The model that prompts are for, by its provider's name."
    )
    cacheable_tokens: dict[ModelName, Annotated[int, Field(ge=0, le=100_000)]] = Field(
        default_factory=dict,
        max_length=50,
        description="By model: from how many tokens on it caches, where the table is wrong.",
    )

    @classmethod
    def stored(cls, numbers: Mapping[str, Any]) -> Policy:
        """Read a policy as it was accepted when it was written: a bound that came later refuses no call. ``rerank`` was
        true or false once, and ``pii`` named classes that the gate does not look for."""
        given = dict(numbers)
        if isinstance(given.get("rerank"), bool):
            given["rerank"] = "linear" if given["rerank"] else "off"
        if "prices" in given:
            given["prices"] = {name: ModelPrice.model_construct(**price) for name, price in given["prices"].items()}
        if isinstance(given.get("static_prefix"), dict):
            given["static_prefix"] = StaticPrefix.model_construct(**given["static_prefix"])
        if isinstance(given.get("budget_profile"), dict):
            given["budget_profile"] = CustomBudget.model_construct(**given["budget_profile"])
        if isinstance(given.get("observe_after"), dict):
            given["observe_after"] = ObserveAfter.model_construct(**given["observe_after"])
        if isinstance(given.get("pii"), dict):
            given["pii"] = PiiActions.model_construct(**given["pii"])
        return cls.model_construct(**given)

    @property
    def reflection_trigger(self) -> Tokens:
        """Give the tokens of live observations and reflections at which in-session reflection starts: 0.325 W."""
        return self.session_reflection_trigger if self.session_reflection_trigger is not None else self._pack_share(325)

    @property
    def reflection_target(self) -> Tokens:
        """Give the target of an in-session reflection: half of the trigger."""
        if self.session_reflection_target is not None:
            return self.session_reflection_target
        return self.reflection_trigger // 2

    @property
    def compaction_at(self) -> Tokens:
        """Give the tokens after the horizon that make a compaction due: 0.5 W."""
        return self.compaction_trigger if self.compaction_trigger is not None else self._share(500)

    @property
    def kept_verbatim(self) -> Tokens:
        """Give the tokens of the newest whole turns that a compaction keeps: half of its trigger."""
        return self.compaction_at // 2

    @property
    def global_layer(self) -> Tokens:
        """Give the budget of the pack's global layer: 0.075 W."""
        return self.global_budget if self.global_budget is not None else self._pack_share(75)

    @property
    def local_rows(self) -> Tokens:
        """Give the budget of the note, manual and fact rows in the local layer: 0.05 W."""
        return self.local_rows_budget if self.local_rows_budget is not None else self._pack_share(50)

    @property
    def chronicle_limit(self) -> Tokens:
        """Give the tokens of a session's observations and reflections that a pack has room for, while a reflection of
        them is due: half of what the other layers leave of W. A pack is never cut, so it must leave room for a
        conversation."""
        others = self.always_layer + self.profile_layer + self.global_layer + self.local_rows
        return max(self.reflection_trigger, (self.effective_window - others) // 2)

    @property
    def always_layer(self) -> Tokens:
        """Give the budget of the documents in the pack's always layer: 0.02 W."""
        return self.always_budget if self.always_budget is not None else self._pack_share(20)

    @property
    def profile_layer(self) -> Tokens:
        """Give the budget of the documents and people in the pack's profile layer: 0.025 W."""
        return self.profile_budget if self.profile_budget is not None else self._pack_share(25)

    @property
    def budget(self) -> Budget:
        """Give the budget of a prompt, unless the caller names another one."""
        return budget_of(self.budget_profile, self.effective_window)

    @property
    def effective_window(self) -> Tokens:
        """Give W: what was set, else the input of the profile, which is 200,000 for the default one."""
        if "window" in self.model_fields_set or self.budget_profile == "agentic":
            return self.window
        return budget_of(self.budget_profile, self.window).input

    def _share(self, thousandths: int) -> Tokens:
        return self.effective_window * thousandths // 1000

    def _pack_share(self, thousandths: int) -> Tokens:
        """Give the share of a layer: the layers together fit the profile's pack."""
        share = self._share(thousandths)
        if self.budget_profile == "agentic":
            return share
        return min(share, self.budget.pack_limit * thousandths // _PACK_SHARE)

    def problems(self) -> list[FieldError]:
        """Say why these numbers do not fit together; empty when they do. A problem stands under a field that was set: a
        number that follows the window, under the window."""
        found = []
        for name, target, trigger_name, trigger in (
            (
                "session_reflection_target",
                self.reflection_target,
                "session_reflection_trigger",
                self.reflection_trigger,
            ),
            ("compaction_trigger", self.compaction_at, "window", self.effective_window),
            ("session_reflection_trigger", self.reflection_trigger, "window", self.effective_window),
        ):
            field = self._first_field_set(name, trigger_name, "window")
            if target <= 0:
                found.append(FieldError(field, f"{name} must be greater than 0, is {target}"))
            elif target >= trigger:
                found.append(FieldError(field, f"{name} = {target} must be below {trigger_name} = {trigger}"))
        layers = {
            "always_budget": self.always_layer,
            "profile_budget": self.profile_layer,
            "global_budget": self.global_layer,
            "local_rows_budget": self.local_rows,
            "session_reflection_trigger": self.reflection_trigger,
        }
        total = sum(layers.values())
        if total > self.effective_window:
            field = self._first_field_set("global_budget", "local_rows_budget", *layers, "window")
            listed = " + ".join(f"{name} {tokens}" for name, tokens in layers.items())
            found.append(FieldError(field, f"{listed} = {total} exceed window = {self.effective_window}"))
        if self.observer_output_cap >= self.observer_transcript_cap:
            found.append(
                FieldError(
                    self._first_field_set("observer_output_cap", "observer_transcript_cap"),
                    f"observer_output_cap = {self.observer_output_cap} must be below"
                    f" observer_transcript_cap = {self.observer_transcript_cap}",
                )
            )
        if not is_zone(self.timezone):
            found.append(FieldError("timezone", f"time zone {self.timezone} not found; name it as Europe/Dublin"))
        if self.observe_after is not None:
            found += self.observe_after.problems("observe_after", self.observer_transcript_cap)
        found += self.budget.problems("budget_profile")
        if self.static_prefix is not None:
            found += self.static_prefix.problems("static_prefix")
        return found

    def _first_field_set(self, *names: str) -> str:
        """Name the first of the fields that meet in a rule that was set, else the profile, whose input is the window
        then; with none of them the defaults hold, which fit."""
        fields, meeting = type(self).model_fields, (*names, "budget_profile")
        return next((name for name in meeting if getattr(self, name) != fields[name].default), names[0])
