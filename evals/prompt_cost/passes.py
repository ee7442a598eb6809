"""Measures what the model that observes costs: with a pass after every turn, and as the policy has it by default.

The same turns are appended under both, without a prompt; the session is observed to its end, as it is behind a
silence. What is counted are the requests that the prompted observer would send (``metered_observer``). ``cached``: the
constant part of every pass but the first is read from the provider's cache, as where passes of a stage follow each
other within five minutes and the part is as long as the model asks for. ``written``: as much in all as after every
turn; ``metered_observer`` has one telegram for each pass, and a model keeps of twenty turns what it would of each.

``measure_purposes`` counts what is asked for each purpose: the same turns in one long session, and in sessions of
twenty, each ended and filed, in the default window."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from evals.progress import tracked
from evals.prompt_cost.metered_observer import Spent
from evals.prompt_cost.service import Service
from evals.prompt_cost.settings import OBSERVER_MODEL, POLICY
from evals.prompt_cost.transcripts import Transcript
from neve.domain.tenants.observe_after import IDLE_S, MODEL_TOKENS
from neve.domain.tenants.prices import CACHEABLE_TOKENS, UNKNOWN, price_of

POLICIES: Mapping[str, Mapping[str, int]] = {
    "every turn": {"tokens": 0, "idle_s": IDLE_S},
    "default": {"tokens": MODEL_TOKENS, "idle_s": IDLE_S},
}
TURNS = 1_000
SESSION_TURNS = 20
Result = dict[str, Any]


def measure(transcript: Transcript, embedder: str) -> Result:
    """Play the first stop's turns under each policy, one behind the other."""
    stop = transcript.stops[0]
    spent = {name: asdict(_played(transcript, embedder, after)) for name, after in POLICIES.items()}
    return {"transcript": stop.name, "turns": stop.turns, "tokens": stop.tokens, "spent": spent}


def measure_purposes(transcript: Transcript, embedder: str) -> Result:
    """Play the first stop's turns as one session, and as sessions that end."""
    stop, after = transcript.stops[0], POLICIES["default"]
    spent = {
        f"one session, W = {POLICY['window']:,}": _played(transcript, embedder, after).purposes,
        f"sessions of {SESSION_TURNS} turns": _in_sessions(transcript, embedder, after).purposes,
    }
    return {"transcript": stop.name, "turns": stop.turns, "tokens": stop.tokens, "purposes": spent}


def _played(transcript: Transcript, embedder: str, after: Mapping[str, int]) -> Spent:
    stop = transcript.stops[0]
    policy = {**POLICY, "observe_after": dict(after)}
    with (
        tempfile.TemporaryDirectory(prefix="neve-passes-") as folder,
        Service(Path(folder), embedder, policy) as service,
    ):
        service.open()
        for turn in tracked(f"{stop.name}: {after}", transcript.turns[: stop.turns]):
            service.append(turn)
        service.observe()
        return service.observer.spent


def _in_sessions(transcript: Transcript, embedder: str, after: Mapping[str, int]) -> Spent:
    stop, policy = transcript.stops[0], {"observe_after": dict(after)}
    with (
        tempfile.TemporaryDirectory(prefix="neve-passes-") as folder,
        Service(Path(folder), embedder, policy) as service,
    ):
        for n, turn in enumerate(tracked(f"{stop.name}: in sessions", transcript.turns[: stop.turns])):
            if n % SESSION_TURNS == 0:
                if n:
                    service.end()
                service.open(f"s{n}")
            service.append(turn)
        service.end()
        return service.observer.spent


class Usd(NamedTuple):
    """The price of the model for a thousand turns: its ``passes``, these where the provider caches (``cached``), and
    all of its calls, reflections and summaries included (``every``)."""

    passes: float
    cached: float
    every: float


def usd_of(result: Result, name: str) -> Usd:
    """Reckon by the list price of the default model, for the passes of one of ``POLICIES``."""
    price = price_of(OBSERVER_MODEL, {})
    assert price is not None, f"{OBSERVER_MODEL} has no price"
    one, kept = Spent(**result["spent"][name]), _written(result)
    plain = (one.pass_input * price.input + kept * price.output) / 1e6
    saved = one.constant / one.passes * (one.passes - 1) * (price.input - price.cache_read) / 1e6
    extra = one.constant / one.passes * (price.cache_write - price.input) / 1e6
    every = (one.input * price.input + (one.output - one.pass_output + kept) * price.output) / 1e6
    per = TURNS / result["turns"]
    return Usd(plain * per, (plain - saved + extra) * per, every * per)


def _written(result: Result) -> int:
    """Tokens that all passes write together, however many they are."""
    return max(int(found["pass_output"]) for found in result["spent"].values())


def lines(result: Result) -> Iterator[str]:
    """Tell what the model costs for a thousand turns at the list price of the default model."""
    price = price_of(OBSERVER_MODEL, {})
    assert price is not None, f"{OBSERVER_MODEL} has no price"
    turns = result["turns"]
    yield (
        f"Model per {TURNS:,} turns ({OBSERVER_MODEL}: {price.input:g} / {price.output:g} USD a million tokens;"
        f" {result['transcript']}, {turns} turns of {result['tokens'] / turns:.0f} tokens):"
    )
    yield ""
    yield "| passes | in all | read by each | of that constant | known already | written | USD | cached | all calls |"
    yield "| --- |" + " --- |" * 8
    for name, found in result["spent"].items():
        one, usd = Spent(**found), usd_of(result, name)
        yield (
            f"| {name} | {one.passes} | {one.pass_input / one.passes:,.0f} | {one.constant / one.passes:,.0f} |"
            f" {one.prior / one.passes:,.0f} | {_written(result) / one.passes:,.0f} | {usd.passes:.3f} |"
            f" {usd.cached:.3f} | {usd.every:.3f} |"
        )
    least = CACHEABLE_TOKENS.get(OBSERVER_MODEL)
    known = f"caches from {least:,} tokens on" if least else f"has no minimum in our table: {UNKNOWN:,} at most"
    yield ""
    yield f"{OBSERVER_MODEL} {known}."


def purpose_lines(result: Result) -> Iterator[str]:
    """Tell what each purpose costs at the list price of the default model, nothing cached."""
    price = price_of(OBSERVER_MODEL, {})
    assert price is not None, f"{OBSERVER_MODEL} has no price"
    turns = result["turns"]
    yield f"Model per {TURNS:,} turns by purpose ({OBSERVER_MODEL}; {result['transcript']}, {turns} turns):"
    yield ""
    yield "| played as | purpose | in all | read by each | written by each | USD |"
    yield "| --- |" + " --- |" * 5
    for way, found in result["purposes"].items():
        for purpose, (calls, read, written) in sorted(found.items()):
            usd = (read * price.input + written * price.output) / 1e6 * TURNS / turns
            yield f"| {way} | {purpose} | {calls} | {read / calls:,.0f} | {written / calls:,.0f} | {usd:.4f} |"
