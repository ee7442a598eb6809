"""Counts what a user's memory has cost: counters on one row a user, moved inside the transactions that caused the
cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neve.ports.table import Expect, Item, Put, Version
from neve.store.keys import UserKeys
from neve.store.stream_records import Change


def usage_put(keys: UserKeys, current: Item | None, added: Mapping[str, int]) -> Put:
    """Make the row with ``added`` counted in; conditional, so that two workers never lose a count. The index ``due``
    lists the rows of a tenant's users; it holds no counter, so moving one does not write it."""
    key = keys.usage
    counters = {name: int((current or {}).get(name, 0)) + n for name, n in added.items()}
    item = {**(current or {}), "pk": key.pk, "sk": key.sk, "type": "usage", **counters}
    item |= {"due_pk": keys.usages, "due_sk": keys.user}
    return Put(item, Version(int(current["version"])) if current else Expect.ABSENT)


def model_usage(calls: int, usage: Mapping[str, int]) -> dict[str, int]:
    """Give the counters that ``calls`` of a model with these tokens (``ModelAnswer.usage``) move. What the provider's
    cache read and wrote is counted among the input, and again by itself, and so is what a batch read and wrote: it has
    a price of its own."""
    priced = {
        "model_cache_read_tokens": "cache_read",
        "model_cache_write_tokens": "cache_write",
        "model_batch_input_tokens": "batch_input",
        "model_batch_output_tokens": "batch_output",
    }
    return {
        "model_calls": calls,
        "model_input_tokens": sum(usage.get(part, 0) for part in ("input", "cache_read", "cache_write")),
        "model_output_tokens": usage.get("output", 0),
    } | {counter: usage[part] for counter, part in priced.items() if usage.get(part)}


def answer_cost(calls: int, usage: Mapping[str, int]) -> dict[str, int]:
    """Give the counters that an answer moves; rules answer without tokens, and cost nothing."""
    return model_usage(calls, usage) if usage else {}


MODEL_METRICS = {"model_input_tokens": "ModelInputTokens", "model_output_tokens": "ModelOutputTokens"}
PRICED = {
    "model_cache_read_tokens": ("model_input_tokens", 0.1 - 1.0),
    "model_cache_write_tokens": ("model_input_tokens", 1.25 - 1.0),
    "model_batch_input_tokens": ("model_input_tokens", 0.5 - 1.0),
    "model_batch_output_tokens": ("model_output_tokens", 0.5 - 1.0),
}
"""What a token of these counters adds to the metric of another one, which has it as a whole token, and which an alarm
takes for money: the provider's cache gives it for a tenth of the price, and takes it for a quarter more; a batch halves
both prices, and asks for nothing of the cache."""


def model_metrics(changes: Sequence[Change]) -> dict[str, float]:
    """Give by how much the model counters of all users grew in these changes of the table; empty when they did not."""
    grown: dict[str, float] = {}
    for change in changes:
        if change.new is None or change.new.get("type") != "usage":
            continue
        shares = {counter: (metric, 1.0) for counter, metric in MODEL_METRICS.items()}
        shares |= {counter: (MODEL_METRICS[of], share) for counter, (of, share) in PRICED.items()}
        for counter, (metric, share) in shares.items():
            by = change.new.get(counter, 0) - (change.old or {}).get(counter, 0)
            if by:
                grown[metric] = grown.get(metric, 0) + by * share
    return grown
