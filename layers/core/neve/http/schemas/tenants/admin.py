"""E16, E17: health, counts, policy and API keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, RootModel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from neve.domain.errors import invalid
from neve.domain.tenants.policy import Policy
from neve.domain.tenants.prices import CACHEABLE_TOKENS, price_table
from neve.domain.times import iso
from neve.http.json_body import check_model
from neve.http.operations import Body, Operation, Parameters, Response, View, route
from neve.http.pages import Page
from neve.http.schemas.enums import EmbedderState, HealthStatus, KeyScope, StoreState, TroubleKind
from neve.http.schemas.fields import Cursor, Degraded, Limit, Name, OtherLanguage, Time
from neve.http.schemas.lag.memory_lag import MemoryLagOut
from neve.http.schemas.tenants.usage import DaysQuery, PromptCacheOut, PromptDayOut, days_out
from neve.store.tenants.tenant_rows import SCOPES, set_numbers
from neve.usecases.ask.tenants.list_users import ListedUser
from neve.usecases.ask.tenants.read_policy import PolicyAt
from neve.usecases.ask.tenants.service_health import Health
from neve.usecases.ask.tenants.tenant_usage import TenantUsage
from neve.usecases.ask.tenants.user_stats import UserStats


class EmbedderOut(View):
    model: str
    dimensions: int
    state: EmbedderState = Field(
        description="`off`: keyword search only, by configuration. `loading`: the process has just started."
    )
    reason: str | None


class IndexOut(View):
    state: StoreState
    model: str | None
    dimensions: int | None
    match: bool | None = Field(description="False: the vectors are of another model and are not compared.")


class LanguagesOut(View):
    """ISO 639-1 codes; `*` is any."""

    words: list[str] = Field(description="Whose inflections the keyword leg knows. Of others, words as written.")
    meaning: list[str] = Field(description="Whose meaning the embedder knows.")
    observer: list[str] = Field(description="In which the observer recognises what to remember.")


class TroubleOut(View):
    what: str = Field(
        description="A store (`table`, `queue`, `search`, `objects`), `search_large` (a user has more passages than are"
        " searched well without a search domain; the service is well), a leg (`lexical`, `vector`), `rerank` (the model"
        " that reads candidates again), the `observer`, the `workers` (one ran out of its time), or on one machine the"
        " dead letters of a queue (`index-dlq`)."
    )
    kind: TroubleKind = Field(
        description="`language`: messages of users are in languages that the `observer` does not know; the service is"
        " well."
    )
    reason: str
    since: Time
    count: int | None = Field(description="Of `language`: how many messages, since this trouble stands.")


class HealthOut(View):
    status: HealthStatus
    version: str
    table: StoreState
    embedder: EmbedderOut
    multi: EmbedderOut | None = Field(
        description="The encoder of tenants whose policy says `languages: multi`; it is loaded when the first of them"
        " needs it. Absent where the stage's own serves them."
    )
    index: IndexOut
    observer: str = Field(description="Who observes: a language model, or `extractive` rules.")
    languages: LanguagesOut
    troubles: list[TroubleOut] = Field(description="What fails again and again, is full or is damaged.")

    @classmethod
    def of(cls, health: Health) -> Self:
        embedder, index, multi = health.embedder, health.index, health.multi
        tag, dimensions = (index.model.tag, index.model.dimensions) if index.model else (None, None)
        return super().of(
            health,
            embedder=EmbedderOut.of(embedder, model=embedder.model.tag, dimensions=embedder.model.dimensions),
            multi=multi and EmbedderOut.of(multi, model=multi.model.tag, dimensions=multi.model.dimensions),
            index=IndexOut.of(index, model=tag, dimensions=dimensions),
            troubles=[TroubleOut.of(one, since=iso(one.since), count=one.count or None) for one in health.troubles],
        )


class UsageOut(View):
    """Totals since the beginning."""

    embedded_texts: int = Field(description="Texts that were sent to the embedder.")
    reused_vectors: int = Field(description="Texts whose vector was there already.")
    model_calls: int
    model_input_tokens: int
    model_cache_read_tokens: int = Field(description="Of the input: read from the provider's cache, at its price.")
    model_cache_write_tokens: int = Field(description="Of the input: written to the provider's cache.")
    model_output_tokens: int
    model_batch_input_tokens: int = Field(description="Of the input: read in batches of nights, at half the price.")
    model_batch_output_tokens: int = Field(description="Of the output: written in batches, at half the price.")


class TenantUsageOut(View):
    users: int = Field(description="Users that have cost anything.")
    usage: UsageOut
    prompt_cache: PromptCacheOut
    prompt_cache_days: list[PromptDayOut] = Field(description="Days with reports, oldest first.")
    complete: bool = Field(
        description="False: there are more users than one call can add up. Every number is the least then, and the"
        " newest days were added up first."
    )

    @classmethod
    def of(cls, found: TenantUsage) -> Self:
        prompts = PromptCacheOut.of(found.prompts)
        return super().of(found, prompt_cache=prompts, prompt_cache_days=days_out(found.days))


class ShortTermOut(View):
    sessions: int
    events: int


class MemoriesOut(View):
    total: int
    kind: dict[str, int]
    tier: dict[str, int]
    status: dict[str, int]


class EmbeddingsOut(View):
    """Memories by embedding state; `vectors` are the stored (text, model) pairs, events included."""

    pending: int
    ready: int
    failed: int
    skipped: int
    vectors: int


class TierOut(View):
    memories: int
    active: int


class StatsOut(View):
    working: Literal["per_request"] = Field(description="A request's `task_state` lives as long as the request.")
    short_term: ShortTermOut
    semantic: TierOut
    episodic: TierOut
    memories: MemoriesOut
    embeddings: EmbeddingsOut
    usage: UsageOut
    prompt_cache: PromptCacheOut
    prompt_cache_days: list[PromptDayOut] = Field(description="Days with reports, oldest first.")
    memory_lag: MemoryLagOut = Field(description="Over all sessions and memories of the user.")
    other_language: OtherLanguage | None
    degraded: Degraded | None
    complete: bool = Field(
        description="False: there is more than one call can count. Every number of rows is the least then."
    )

    @classmethod
    def of(cls, stats: UserStats, degraded: Sequence[str] = ()) -> Self:
        by_state = {state: stats.embeddings.get(state, 0) for state in ("pending", "ready", "failed", "skipped")}
        tiers = {tier: stats.memories_by_tier.get(tier, 0) for tier in ("semantic", "episodic")}
        return super().of(
            stats,
            working="per_request",
            **{tier: TierOut(memories=n, active=stats.active_by_tier.get(tier, 0)) for tier, n in tiers.items()},
            short_term=ShortTermOut.of(stats),
            memories=MemoriesOut(
                total=stats.memories,
                kind=dict(stats.memories_by_kind),
                tier=tiers,
                status=dict(stats.memories_by_status),
            ),
            embeddings=EmbeddingsOut(**by_state, vectors=stats.vectors),
            prompt_cache=PromptCacheOut.of(stats.prompts),
            prompt_cache_days=days_out(stats.days),
            memory_lag=MemoryLagOut.of(stats.lag),
            other_language=stats.other_language or None,
            degraded=list(degraded) or None,
        )


class PolicyOut(View):
    policy: dict[str, Any] = Field(description="What was set, as it would be sent to set it again.")
    in_force: dict[str, Any] = Field(description="Every number after defaults and ratios of `window`.")
    rev: int = Field(description="For `If-Match`.")
    reindex_job: str | None = Field(
        description="The job that makes every vector anew because `languages` changed; until it is absent, recall works"
        " by keyword only."
    )

    @classmethod
    def of(cls, found: PolicyAt) -> PolicyOut:
        numbers = {"policy": set_numbers(found.policy), "in_force": in_force(found)}
        return cls(**numbers, rev=found.rev, reindex_job=found.reindex_job)


def in_force(found: PolicyAt) -> dict[str, Any]:
    """Give the policy with the numbers that follow from the window and from the observer, under the names that set
    them."""
    policy = found.policy
    derived = {
        "observe_after": asdict(found.passes_after),
        "session_reflection_trigger": policy.reflection_trigger,
        "session_reflection_target": policy.reflection_target,
        "compaction_trigger": policy.compaction_at,
        "global_budget": policy.global_layer,
        "local_rows_budget": policy.local_rows,
        "always_budget": policy.always_layer,
        "profile_budget": policy.profile_layer,
        "kept_verbatim": policy.kept_verbatim,
        "price_table": {
            name: price.model_dump(mode="json", exclude_none=True) for name, price in price_table(policy.prices).items()
        },
        "window": policy.effective_window,
        "cacheable_minimums": {**CACHEABLE_TOKENS, **policy.cacheable_tokens},
    }
    return policy.model_dump(mode="json", exclude_none=True) | derived


class PolicyChange(RootModel[dict[str, Any]]):
    """Fields of a policy, described as ``Policy``."""

    def made_of(self, before: Policy) -> Policy:
        """Make the policy that the change makes of the one before. Raises 422 ``validation_failed`` as a whole policy
        would, and for a change of nothing."""
        if not self.root:
            raise invalid("body", "has no field to change")
        return check_model(Policy, _merged(set_numbers(before), self.root))

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(Policy.__pydantic_core_schema__)


def _merged(before: Any, change: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(before) if isinstance(before, dict) else {}
    for name, value in change.items():
        merged[name] = _merged(merged.get(name), value) if isinstance(value, dict) else value
    return merged


def _distinct(scopes: list[str]) -> list[str]:
    if len(set(scopes)) < len(scopes):
        raise ValueError("must be distinct")
    return scopes


DISTINCT = (Field(min_length=1, json_schema_extra={"uniqueItems": True}), AfterValidator(_distinct))
"""The bounds of a list of scopes, beside how many there are."""


class CreateKeyBody(Body):
    scopes: Annotated[list[KeyScope], *DISTINCT] = Field(
        max_length=len(SCOPES),
        description="`documents`: calls of documents, and the tools that search and read them, alone. `tokens`: making"
        " access tokens of users.",
    )
    label: Name | None = Field(default=None, max_length=100)


class KeyOut(View):
    key_id: str
    key: str | None = Field(
        description="The key's text. Shown once: a repeat with the same `Idempotency-Key` names the key without it."
    )
    scopes: list[str]
    label: str | None
    created_at: str


class ListedKeyOut(View):
    key_id: str
    label: str | None
    scopes: list[KeyScope]
    created_at: str
    last_used_day: str | None = Field(description="In UTC; absent where no use is known.")
    revoked_at: str | None


class KeyPage(Page):
    keys: list[ListedKeyOut]
    next_cursor: str | None


class UserOut(View):
    user_id: str
    created_at: str = Field(description="When the first thing was kept of them; behind an erasure, the first since.")

    @classmethod
    def of(cls, user: ListedUser) -> Self:
        return cls(user_id=user.id, created_at=user.created_at)


class UserPage(Page):
    users: list[UserOut]
    next_cursor: str | None


class ListUsersQuery(Parameters):
    limit: Limit = 50
    cursor: Cursor | None = None


def without_secret(answer: dict[str, Any]) -> dict[str, Any]:
    """Give what may be stored of the answer with a new key."""
    return {name: value for name, value in answer.items() if name != "key"}


HEALTH = Operation(
    **route("GET", "/v1/health", "health", "service", None),
    summary="Whether the service can work, and with which models.",
    responses={200: Response("`ok`, or `degraded` and what is missing.", HealthOut)},
)

STATS = Operation(
    **route("GET", "/v1/users/{user_id}/stats", "userStats", "service", "admin"),
    summary="What is kept of one user, counted from the rows.",
    description="The cost grows with the user's memories; not meant for every turn.",
    query=DaysQuery,
    responses={200: Response("The counts.", StatsOut)},
)

USAGE = Operation(
    **route("GET", "/v1/usage", "tenantUsage", "service", "admin"),
    summary="What the tenant's memory has cost in model calls and embeddings, and what was reported of its prompts.",
    query=DaysQuery,
    responses={200: Response("The totals.", TenantUsageOut)},
)

READ_POLICY = Operation(
    **route("GET", "/v1/policy", "readPolicy", "admin", "admin"),
    summary="The tenant's policy and the numbers in force.",
    responses={200: Response("The policy.", PolicyOut, headers={"ETag": "The rev, in quotes."})},
)

WRITE_POLICY = Operation(
    **route("PUT", "/v1/policy", "writePolicy", "admin", "admin"),
    summary="Replace the tenant's policy.",
    description="What is left out goes back to its default. Every process follows within 60 s.",
    body=Policy,
    responses={200: Response("The policy.", PolicyOut, headers={"ETag": "The rev, in quotes."})},
    codes=("invalid_policy", "conflict", "static_prefix_version"),
    idempotent=True,
    if_match=True,
)

PATCH_POLICY = Operation(
    **route("PATCH", "/v1/policy", "patchPolicy", "admin", "admin"),
    summary="Change some of the tenant's policy.",
    description="What is sent is merged into what was set, also within its objects; everything else stays. The whole is"
    " checked as if it had been sent to `writePolicy`, which alone takes a field back to its default.",
    body=PolicyChange,
    responses={200: Response("The policy.", PolicyOut, headers={"ETag": "The rev, in quotes."})},
    codes=("invalid_policy", "conflict", "static_prefix_version"),
    idempotent=True,
    if_match=True,
)

CREATE_KEY = Operation(
    **route("POST", "/v1/keys", "createKey", "admin", "admin"),
    summary="A new API key; ten may be live at a time.",
    body=CreateKeyBody,
    responses={201: Response("The key.", KeyOut)},
    codes=("too_many_keys", "conflict"),
    idempotent=True,
    by_key=True,
)

LIST_KEYS = Operation(
    **route("GET", "/v1/keys", "listKeys", "admin", "admin"),
    summary="The tenant's API keys, revoked ones too, by their ids.",
    description="Never a key's text, nor its hash.",
    query=ListUsersQuery,
    responses={200: Response("A page of keys.", KeyPage)},
)

LIST_USERS = Operation(
    **route("GET", "/v1/users", "listUsers", "admin", "admin"),
    summary="The users that anything is kept of, by their ids.",
    description="Not those who were erased. One of the last second may be missing; a page may be short, its cursor goes"
    " on.",
    query=ListUsersQuery,
    responses={200: Response("A page of users.", UserPage)},
)

REVOKE_KEY = Operation(
    **route("DELETE", "/v1/keys/{key_id}", "revokeKey", "admin", "admin"),
    summary="Revoke an API key.",
    description="The last key with the scope `admin` cannot be revoked. A repeat changes nothing.",
    responses={204: Response("The key no longer works; a gateway's cache may hold it for up to 60 s.")},
    codes=("key_not_found", "last_admin_key", "conflict"),
    idempotent=True,
)
