"""Counts what a provider's prompt cache did for a conversation, from what its answers report (docs/rules/usage.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal

from neve.domain.records.packs import Trigger
from neve.domain.tenants.prices import DEFAULT_TTL_S, ModelPrice
from neve.domain.times import parse

Reason = Literal["pack_changed", "compacted", "ttl_expired", "prefix_changed", "unknown"]

MIN_CACHED_SHARE = 0.5
"""The share of what the cache held after the report before: reading less is a collapse
(docs/rules/usage.md#collapse)."""
MAX_CHANGES = 20
"""The number of the last pack changes, and of the last collapses, a session's row holds."""


@dataclass(frozen=True, slots=True)
class PromptReport:
    """One answer of a model. ``input``: tokens of the prompt that were neither read from the cache nor written to it.
    ``prefix``: sha256 of the parts that stand before the pack, by name; ``epoch``: of the session, by then."""

    at: str
    model: str
    pack_version: int
    input: int
    cache_read: int
    cache_write: int
    output: int
    epoch: int = 0
    prefix: Mapping[str, str] = field(default_factory=dict)

    @property
    def prompt(self) -> int:
        """Count the tokens of the whole prompt."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class PromptTotals:
    """Sums over reports. Money is in pico-USD, of the reports whose model has a price: what was paid, what the same
    prompts would have cost without a cache (``uncached``), and with a pack that is rebuilt every turn (``rebuilt``).
    ``pack_writes``: tokens written to the cache because a pack changed; ``pack_cost``: what they cost more than reading
    them."""

    reports: int = 0
    unpriced_reports: int = 0
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    cost: int = 0
    uncached: int = 0
    rebuilt: int = 0
    pack_changes: int = 0
    pack_writes: int = 0
    pack_cost: int = 0
    pack_changed: int = 0
    compacted: int = 0
    ttl_expired: int = 0
    prefix_changed: int = 0
    unknown: int = 0

    def plus(self, other: PromptTotals) -> PromptTotals:
        return PromptTotals(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(PromptTotals)))

    @property
    def hit_rate(self) -> float | None:
        """Give the share of the prompts' tokens that the cache gave; None before the first token."""
        prompt = self.input + self.cache_read + self.cache_write
        return self.cache_read / prompt if prompt else None

    @property
    def has_money(self) -> bool:
        return self.reports > self.unpriced_reports


@dataclass(frozen=True, slots=True)
class PackChange:
    """The first report with another pack than the one before; of a prompt without one, version 0 and no ``trigger``.
    ``cache_writes``: tokens written because of it."""

    at: str
    pack_version: int
    trigger: Trigger | None = None
    cache_writes: int = 0
    cost: int | None = None


@dataclass(frozen=True, slots=True)
class Collapse:
    """The cache gave less than ``MIN_CACHED_SHARE`` of what it held. ``pack_version`` and ``trigger`` are set when the
    pack changed, whatever the reason is."""

    at: str
    reason: Reason
    expected: int
    cache_read: int
    pack_version: int | None = None
    trigger: Trigger | None = None


@dataclass(frozen=True, slots=True)
class SessionPrompts:
    """The sums over a session's reports. ``shared``: tokens that the cache gave for the last pack that was new to it:
    what stands before the pack. ``write_ids``: of the last reports, by which a writer recognises its own."""

    totals: PromptTotals = field(default_factory=PromptTotals)
    last: PromptReport | None = None
    shared: int = 0
    changes: tuple[PackChange, ...] = ()
    collapses: tuple[Collapse, ...] = ()
    write_ids: tuple[str, ...] = ()
    version: int = 0


@dataclass(frozen=True, slots=True)
class Counted:
    """The sums after one report. ``added``: what the report adds to every sum. ``session``: with it."""

    added: PromptTotals
    session: SessionPrompts
    change: PackChange | None = None
    collapse: Collapse | None = None


@dataclass(frozen=True, slots=True)
class ReportedUsage:
    """The usage that the caller is told. ``report``: what it added. ``session``: the session's sums with it."""

    model: str
    report: PromptTotals
    session: PromptTotals
    change: PackChange | None = None
    collapse: Collapse | None = None


def count_report(
    before: SessionPrompts, report: PromptReport, price: ModelPrice | None, trigger: Trigger | None
) -> Counted:
    """Count a report. ``price`` None: tokens are counted and money is not. ``trigger``: why the reported pack version
    was built."""
    expired = _is_cache_expired(before.last, report, price)
    is_new = before.last is None or before.last.pack_version != report.pack_version
    shared = report.cache_read if is_new and not expired else before.shared
    change = None
    if before.last is not None and is_new:
        change = _cost_pack_change(before.last, report, price, trigger, expired=expired)
    collapse = _collapse(before.last, report, trigger, expired=expired)
    added = _tokens(report).plus(_price_report(report, price, shared))
    if change is not None:
        caused = PromptTotals(pack_changes=1, pack_writes=change.cache_writes, pack_cost=change.cost or 0)
        added = added.plus(caused)
    if collapse is not None:
        added = replace(added, **{collapse.reason: 1})
    session = replace(
        before,
        totals=before.totals.plus(added),
        last=report,
        shared=shared,
        changes=(*before.changes, *([change] if change else ()))[-MAX_CHANGES:],
        collapses=(*before.collapses, *([collapse] if collapse else ()))[-MAX_CHANGES:],
    )
    return Counted(added, session, change, collapse)


def _tokens(report: PromptReport) -> PromptTotals:
    return PromptTotals(
        reports=1,
        input=report.input,
        cache_read=report.cache_read,
        cache_write=report.cache_write,
        output=report.output,
    )


def _price_report(report: PromptReport, price: ModelPrice | None, shared: int) -> PromptTotals:
    """Price a report. Of a pack that is rebuilt every turn only what stands before it is read from the cache; the rest
    is taken to be sent without writing it, which is the cheaper way to do that."""
    if price is None:
        return PromptTotals(unpriced_reports=1)
    new, read, write, output = (
        price.pico(kind, report.prompt) for kind in ("input", "cache_read", "cache_write", "output")
    )
    answer = report.output * output
    cached = min(report.cache_read, shared)
    return PromptTotals(
        cost=report.input * new + report.cache_read * read + report.cache_write * write + answer,
        uncached=report.prompt * new + answer,
        rebuilt=cached * read + (report.prompt - cached) * new + answer,
    )


def _is_cache_expired(last: PromptReport | None, report: PromptReport, price: ModelPrice | None) -> bool:
    """Say whether the cache had forgotten the session by then: its entries live on when they are read."""
    if last is None:
        return False
    ttl_s = DEFAULT_TTL_S if price is None else price.cache_ttl_s
    return (parse(report.at) - parse(last.at)).total_seconds() > ttl_s


def _cost_pack_change(
    last: PromptReport, report: PromptReport, price: ModelPrice | None, trigger: Trigger | None, *, expired: bool
) -> PackChange:
    """Work out what a change of the pack has cost: what was written beyond the growth of the prompt. An expired cache
    would have been written all the same."""
    growth = max(0, report.prompt - last.prompt)
    caused = 0 if expired else max(0, report.cache_write - growth)
    cost = None
    if price is not None:
        cost = caused * (price.pico("cache_write", report.prompt) - price.pico("cache_read", report.prompt))
    return PackChange(report.at, report.pack_version, trigger, caused, cost)


def _collapse(
    last: PromptReport | None, report: PromptReport, trigger: Trigger | None, *, expired: bool
) -> Collapse | None:
    if last is None:
        return None
    expected = last.cache_read + last.cache_write
    if report.cache_read >= expected * MIN_CACHED_SHARE:
        return None
    has_new_pack = last.pack_version != report.pack_version
    return Collapse(
        report.at,
        _reason(last, report, expired=expired),
        expected,
        report.cache_read,
        report.pack_version if has_new_pack else None,
        trigger if has_new_pack else None,
    )


def _reason(last: PromptReport, report: PromptReport, *, expired: bool) -> Reason:
    """Find the reason that explains the most: a cache that is gone, then a change in front of the pack, then of the
    history behind it with the pack, then of the pack."""
    if expired:
        return "ttl_expired"
    both = last.prefix.keys() & report.prefix.keys()
    if last.model != report.model or any(last.prefix[name] != report.prefix[name] for name in both):
        return "prefix_changed"
    if last.epoch != report.epoch:
        return "compacted"
    return "pack_changed" if last.pack_version != report.pack_version else "unknown"
