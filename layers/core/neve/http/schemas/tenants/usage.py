"""E18: what a prompt's tokens were, and the sums of it that E1 and E16 show."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from neve.domain.errors import invalid
from neve.domain.tenants.prompt_cache import PackChange, PromptTotals, ReportedUsage, SessionPrompts
from neve.domain.tenants.provider_usage import TAKEN, Tokens, WrongUsage, read_usage
from neve.http.operations import USER_WRITE, Body, Operation, Parameters, Response, View, route
from neve.http.schemas.enums import CollapseReason, Trigger
from neve.http.schemas.fields import Filled, Identifier, Name, whole_number
from neve.usecases.tell.tenants.report_usage import NewReport

PICO = 1e12
MAX_DAYS = 92
UNKNOWN_MODEL = "unknown"
"""Has no price."""
USD_DIGITS, RATE_DIGITS = 9, 6

Word = Annotated[Filled, Field(max_length=64)]
"""A name as it is sent: two names that were made one would lose a part."""


def usd(pico: int) -> float:
    return round(pico / PICO, USD_DIGITS)


# --- the report ---------------------------------------------------------------------------------


class ReportUsageBody(Body):
    prompt_id: Annotated[Filled, Field(max_length=128)] | None = Field(
        default=None,
        description="Of the prompt, as it was compiled. It says the session and the pack, and counts once.",
    )
    session_id: Identifier | None = Field(default=None, description="Required without `prompt_id`.")
    pack_version: int | None = Field(
        default=None,
        ge=0,
        le=10**8,
        description="Required without `prompt_id`: of the pack in the prompt; 0 for a prompt without one.",
    )
    model: Annotated[Name, Field(max_length=200)] | None = Field(
        default=None,
        description="As the provider names it: its price is looked up by it. Required without `prompt_id`; with it the"
        " policy's `chat_model` unless said.",
    )
    usage: dict[str, JsonValue] = Field(
        min_length=1,
        max_length=64,
        description=f"The provider's own object as it is: {TAKEN}.",
        examples=[
            {"input_tokens": 50, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 0, "output_tokens": 40},
            {"prompt_tokens": 950, "completion_tokens": 40, "prompt_tokens_details": {"cached_tokens": 900}},
            {"input": 50, "cache_read": 900, "cache_write": 0, "output": 40},
        ],
    )
    prefix_sha256: dict[Word, Word] = Field(
        default_factory=dict,
        max_length=8,
        description="Of the parts that stand before the pack, by name: two reports that differ in a part that both name"
        " have another prefix. With `prompt_id` they are known.",
    )

    @model_validator(mode="after")
    def _check_prompt_fields(self) -> ReportUsageBody:
        """Refuse a report that names a prompt and what is known of it, or neither. Raises 422 naming the field."""
        named = {name: getattr(self, name) for name in ("session_id", "pack_version")}
        if self.prompt_id is not None:
            if given := [name for name, value in named.items() if value is not None]:
                raise invalid(given[0], "is known of a prompt that is named by prompt_id: leave it out")
            return self
        missing = [name for name, value in (named | {"model": self.model}).items() if value is None]
        if missing:
            raise invalid(missing[0], "is required without prompt_id")
        return self

    def tokens(self) -> Tokens:
        """Read the token counts. Raises 422 for a shape that is not taken."""
        try:
            return read_usage(self.usage)
        except WrongUsage as wrong:
            raise invalid(wrong.field, wrong.why) from wrong

    def report(self) -> NewReport:
        """Make the report of a prompt without an id."""
        version, prefix = self.pack_version or 0, self.prefix_sha256
        tokens = asdict(self.tokens())
        return NewReport(model=self.model or UNKNOWN_MODEL, pack_version=version, prefix=prefix, **tokens)


class DaysQuery(Parameters):
    days: Annotated[
        int,
        Field(ge=0, le=MAX_DAYS, description="Sums of the last days, today (UTC) included."),
        BeforeValidator(whole_number),
    ] = 7


# --- sums ---------------------------------------------------------------------------------------


class TokensOut(View):
    input: int
    cache_read: int
    cache_write: int
    output: int


class MoneyOut(View):
    """USD by the prices in force when it was reported. What is saved may be negative."""

    cost_usd: float
    saved_usd_no_cache: float = Field(description="Against the same prompts without a cache.")
    saved_usd_rebuilt_pack: float = Field(
        description="Against a pack that is rebuilt every turn: only what stands before it would have been read."
    )


class PackChangesOut(View):
    """Reports with another pack than the one before."""

    count: int
    cache_writes: int = Field(description="Tokens that were written because of it.")
    cost_usd: float | None = Field(description="What they cost more than reading them.")


class CollapsesOut(View):
    """Reports in which the cache gave less than half of what it held, by reason."""

    pack_changed: int
    compacted: int
    ttl_expired: int
    prefix_changed: int
    unknown: int


class PromptCacheOut(View):
    """Sums over the reports of prompts."""

    reports: int
    hit_rate: float | None = Field(description="The share of the prompts' tokens that the cache gave.")
    tokens: TokensOut
    money: MoneyOut | None = Field(description="Of the reports whose model has a price; absent when none has.")
    unpriced_reports: int = Field(description="Reports of models without a price: in no sum of money.")
    pack_changes: PackChangesOut
    collapses: CollapsesOut

    @classmethod
    def of(cls, totals: PromptTotals) -> Self:
        cost_usd = usd(totals.pack_cost) if totals.has_money else None
        return super().of(
            totals,
            hit_rate=_rate(totals),
            tokens=TokensOut.of(totals),
            money=_money(totals),
            pack_changes=PackChangesOut(count=totals.pack_changes, cache_writes=totals.pack_writes, cost_usd=cost_usd),
            collapses=CollapsesOut.of(totals),
        )


class PromptDayOut(View):
    date: str = Field(description="UTC.")
    prompt_cache: PromptCacheOut


def days_out(days: dict[str, PromptTotals]) -> list[PromptDayOut]:
    return [PromptDayOut(date=day, prompt_cache=PromptCacheOut.of(totals)) for day, totals in days.items()]


def _rate(totals: PromptTotals) -> float | None:
    rate = totals.hit_rate
    return None if rate is None else round(rate, RATE_DIGITS)


def _money(totals: PromptTotals) -> MoneyOut | None:
    if not totals.has_money:
        return None
    return MoneyOut(
        cost_usd=usd(totals.cost),
        saved_usd_no_cache=usd(totals.uncached - totals.cost),
        saved_usd_rebuilt_pack=usd(totals.rebuilt - totals.cost),
    )


# --- what moved the cache -----------------------------------------------------------------------


class PackChangeOut(View):
    at: str
    pack_version: int
    trigger: Trigger | None = Field(description="Why that version was built.")
    cache_writes: int = Field(description="Tokens that were written because of it.")
    cost_usd: float | None = Field(description="What they cost more than reading them.")

    @classmethod
    def of(cls, change: PackChange) -> Self:
        return super().of(change, cost_usd=None if change.cost is None else usd(change.cost))


class CollapseOut(View):
    at: str
    reason: CollapseReason
    expected: int = Field(description="Tokens that the cache held after the report before.")
    cache_read: int
    pack_version: int | None = Field(description="With another pack than the report before.")
    trigger: Trigger | None


class SessionPromptsOut(PromptCacheOut):
    """Sums over the reports of a session's prompts, with the last 20 pack changes and collapses, oldest first."""

    last_pack_changes: list[PackChangeOut]
    last_collapses: list[CollapseOut]

    @classmethod
    def of_session(cls, prompts: SessionPrompts) -> SessionPromptsOut:
        return cls(
            **dict(PromptCacheOut.of(prompts.totals)),
            last_pack_changes=[PackChangeOut.of(change) for change in prompts.changes],
            last_collapses=[CollapseOut.of(collapse) for collapse in prompts.collapses],
        )


class ReportedUsageOut(View):
    hit_rate: float | None = Field(description="Of this prompt.")
    money: MoneyOut | None = Field(description="Of this prompt; absent when the model has no price.")
    unpriced: str | None = Field(description="Why there is no money.")
    pack_change: PackChangeOut | None
    collapse: CollapseOut | None
    session: PromptCacheOut = Field(description="The session's sums, with this report.")

    @classmethod
    def of(cls, reported: ReportedUsage) -> Self:
        unpriced = None
        if not reported.report.has_money:
            unpriced = f"There is no price for '{reported.model}'; the policy's `prices` can have one."
        return super().of(
            reported,
            hit_rate=_rate(reported.report),
            money=_money(reported.report),
            unpriced=unpriced,
            pack_change=PackChangeOut.of(reported.change) if reported.change else None,
            session=PromptCacheOut.of(reported.session),
        )


REPORT_USAGE = Operation(
    **route("POST", "/v1/users/{user_id}/usage", "reportUsage", "service", "chat"),
    summary="What the tokens of a prompt were, as the model's answer says.",
    description="Once for each answer of a model. A prompt that is named by its `prompt_id` counts once; without one,"
    " every call without an `Idempotency-Key` counts. The sums are in `userStats`, `tenantUsage` and the session.",
    body=ReportUsageBody,
    responses={200: Response("What it added, and the session's sums.", ReportedUsageOut)},
    codes=("session_not_found", "prompt_not_found", "pack_version_not_found", *USER_WRITE),
    idempotent=True,
)
