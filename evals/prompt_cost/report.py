"""What a replay says: sums, the tables of docs/prompt-cost.md, and what had to be reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from evals.markers import write_between
from evals.prompt_cost.replay import CACHED, METHODS, NEVE, OBSERVED, UNCACHED, Played
from evals.prompt_cost.sending import Sent
from evals.prompt_cost.settings import CHAT_MODELS, OBSERVER_MODEL
from neve.domain.tenants.prices import ModelPrice, price_of

DOCUMENT = Path("docs/prompt-cost.md")
BEGIN, END = "<!-- prompt-cost:begin -->", "<!-- prompt-cost:end -->"
POINTS = 80
"""Of each line of the plot."""
MIN_PREFIX, FLAT, SHARE_OF_UNCACHED = 0.95, 1.2, 0.30
JUDGED_AT = "locomo-100k"
"""Where the cost has to be below that of the full history."""

Result = dict[str, Any]


# --- sums -----------------------------------------------------------------------------------------


def summed(played: Played) -> Result:
    """Everything that is kept of a replay."""
    methods = {method: _method(played, method) for method in METHODS}
    return {
        "tokens": played.tokens,
        "turns": played.turns,
        "window": played.window,
        "embedder": played.embedder,
        "epochs": sum(_is_new_epoch(played)) - 1,
        "packs": max(played.packs),
        "over_budget": played.over_budget,
        "asked": played.asked,
        "observer": {"input": sum(read for read, _ in played.observer), "output": sum(w for _, w in played.observer)},
        "methods": methods,
    }


def _method(played: Played, method: str) -> Result:
    sent = [Sent(*row) for row in played.sent[method]]
    costs = {model: turn_costs(played, method, _price(model)) for model in CHAT_MODELS}
    stable = [one for one, is_new in zip(sent, _is_new_epoch(played), strict=True) if not is_new]
    return {
        "bytes": sum(one.bytes for one in sent),
        "prompt_tokens": sum(one.input + one.cache_read + one.cache_write for one in sent),
        "cache_read": sum(one.cache_read for one in sent),
        "cache_write": sum(one.cache_write for one in sent),
        "prefix_share": _ratio(sum(one.prefix for one in sent), sum(one.bytes for one in sent)),
        "stable_prefix_share": _ratio(sum(one.stable_prefix for one in stable), sum(one.stable for one in stable)),
        "least_stable_prefix": min((_ratio(one.stable_prefix, one.stable) for one in stable), default=1.0),
        "usd": {model: sum(by_turn) for model, by_turn in costs.items()},
        "usd_second_fifth": {model: _fifth(by_turn, 1) for model, by_turn in costs.items()},
        "usd_last_fifth": {model: _fifth(by_turn, 4) for model, by_turn in costs.items()},
        "usd_observer": _observer_usd(played) if method in OBSERVED else 0.0,
        "evidence": played.evidence.get(method, 0),
        "line": _line(costs[CHAT_MODELS[0]]),
    }


def turn_costs(played: Played, method: str, price: ModelPrice) -> list[float]:
    """USD of each turn: prompt and answer, and where a model writes the memory, its calls."""
    observer = _price(OBSERVER_MODEL)
    costs = []
    for row, output, (read, written) in zip(played.sent[method], played.output, played.observer, strict=True):
        sent = Sent(*row)
        prompt = sent.input + sent.cache_read + sent.cache_write
        pico = output * price.pico("output", prompt)
        pico += sum(getattr(sent, kind) * price.pico(kind, prompt) for kind in ("input", "cache_read", "cache_write"))
        if method in OBSERVED:
            pico += read * observer.pico("input", read) + written * observer.pico("output", read)
        costs.append(pico / 1e12)
    return costs


def _observer_usd(played: Played) -> float:
    price = _price(OBSERVER_MODEL)
    pico = sum(read * price.pico("input", read) + out * price.pico("output", read) for read, out in played.observer)
    return pico / 1e12


def _price(model: str) -> ModelPrice:
    price = price_of(model, {})
    assert price is not None, f"{model} has no price"
    return price


def _is_new_epoch(played: Played) -> list[bool]:
    """Whether a turn's request is of another epoch than the one before; the first has none before it. Another pack
    alone is no new epoch: what it costs counts."""
    return [n == 0 or one != played.epochs[n - 1] for n, one in enumerate(played.epochs)]


def _fifth(costs: Sequence[float], which: int) -> float:
    part = costs[len(costs) * which // 5 : len(costs) * (which + 1) // 5]
    return fmean(part) if part else 0.0


def _line(costs: Sequence[float]) -> list[list[float]]:
    """(turn, mean USD of the turns up to it since the point before)."""
    step = max(1, -(-len(costs) // POINTS))
    return [[min(start + step, len(costs)), fmean(costs[start : start + step])] for start in range(0, len(costs), step)]


def _ratio(part: int, total: int) -> float:
    return part / total if total else 1.0


# --- tables ---------------------------------------------------------------------------------------


def render(results: Mapping[str, Result], at: str) -> str:
    lines = [f"Measured {at}.", ""]
    for name, result in results.items():
        lines += [*_transcript(name, result), ""]
    return "\n".join([*lines, *_reached(results)])


def _transcript(name: str, result: Result) -> Iterator[str]:
    yield (
        f"**{name}**: {result['turns']:,} turns of {result['tokens']:,} tokens in all, W = {result['window']:,};"
        f" {result['epochs']} new epochs, {result['packs']} pack versions; embedder `{result['embedder']}`."
        f" The observer read {result['observer']['input']:,} tokens and wrote {result['observer']['output']:,}."
    )
    yield ""
    models = " | ".join(f"USD, {model}" for model in CHAT_MODELS)
    yield (
        "| method | tokens sent | MB sent | bytes that the request before began with | read from the cache |"
        f" {models} | last / second fifth | evidence in the prompt |"
    )
    yield "| --- |" + " --- |" * (6 + len(CHAT_MODELS))
    for method, found in result["methods"].items():
        read = _ratio(found["cache_read"], found["prompt_tokens"])
        cells = [
            *(method, f"{found['prompt_tokens']:,}", f"{found['bytes'] / 1e6:.1f}"),
            *(_percent(found["prefix_share"]), _percent(read)),
            *(f"{found['usd'][model]:.3f}" for model in CHAT_MODELS),
            *(f"{_flatness(found):.2f}", f"{found['evidence']} of {result['asked']}"),
        ]
        yield f"| {' | '.join(cells)} |"


def _flatness(found: Result) -> float:
    """By the first model."""
    model = CHAT_MODELS[0]
    return float(found["usd_last_fifth"][model] / found["usd_second_fifth"][model])


def _reached(results: Mapping[str, Result]) -> Iterator[str]:
    yield "| what has to be reached | " + " | ".join(results) + " |"
    yield "| --- |" + " --- |" * len(results)
    for what, measured in _GOALS.items():
        yield f"| {what} | " + " | ".join(measured(name, result) for name, result in results.items()) + " |"


def _prefix_goal(name: str, result: Result) -> str:
    """Of LoCoMo: what a turn of tools adds is much of a prompt, and new."""
    found = result["methods"][NEVE]
    share = found["stable_prefix_share"]
    text = f"{_percent(share)}, {_percent(found['least_stable_prefix'])}"
    return f"{_yes(share >= MIN_PREFIX)}: {text}" if name.startswith("locomo") else text


def _flat_goal(_: str, result: Result) -> str:
    flat = _flatness(result["methods"][NEVE])
    return f"{_yes(flat <= FLAT)}: {flat:.2f}"


def _uncached_goal(name: str, result: Result) -> str:
    shares = [_against(result, UNCACHED, model) for model in CHAT_MODELS]
    return _by_model(name, shares, SHARE_OF_UNCACHED)


def _cached_goal(name: str, result: Result) -> str:
    shares = [_against(result, CACHED, model) for model in CHAT_MODELS]
    return _by_model(name, shares, 1.0)


def _by_model(name: str, shares: Sequence[float], most: float) -> str:
    text = ", ".join(_percent(share) for share in shares)
    return f"{_yes(max(shares) < most)}: {text}" if name == JUDGED_AT else text


def _against(result: Result, method: str, model: str) -> float:
    methods = result["methods"]
    return float(methods[NEVE]["usd"][model] / methods[method]["usd"][model])


_GOALS: Mapping[str, Callable[[str, Result], str]] = {
    f"at least {MIN_PREFIX:.0%} of the bytes before the last user turn are the beginning of the request before, but"
    " for a new epoch: all turns together, the least one": _prefix_goal,
    f"cost of a turn, last fifth by second fifth, at most {FLAT}": _flat_goal,
    f"cost by the full history's without a cache, at most {SHARE_OF_UNCACHED:.0%} at 100k": _uncached_goal,
    "cost by the full history's with a cache, below 100 % at 100k": _cached_goal,
}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _yes(is_reached: bool) -> str:
    return "yes" if is_reached else "**no**"


def write_markdown(text: str) -> None:
    """Raises ValueError for a document without the markers."""
    write_between(BEGIN, END, text, DOCUMENT)
