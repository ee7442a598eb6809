"""The tables of docs/cost.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evals.cost import sums
from evals.cost.prices import KNOWN, PRICES, REGION
from evals.cost.sums import GB, THOUSAND, VOLUMES, Line, Unit
from evals.markers import write_between
from evals.prompt_cost.passes import usd_of

DOCUMENT = Path("docs/cost.md")
MODEL_PASSES = Path("evals/results/model_passes.json")
BEGIN, END = "<!-- cost:begin -->", "<!-- cost:end -->"


RARE = {"end": "ends of a session", "export": "exports", "erasure": "erasures"}
"""What is measured beside the turns, and what 1,000 of them are called."""


def render(result: dict[str, Any]) -> str:
    turn, settings = result["turn"], result["settings"]
    ends = THOUSAND / settings["turns_a_session"]
    parts = [
        f"Measured {result['at'][:10]} on {result['machine']['cores']} cores ({result['machine']['cpu']}):"
        f" {turn['times']:,} turns of a user with {settings['kept']} memories, a new session every"
        f" {settings['turns_a_session']} turns. Prices of {REGION}, {KNOWN}.",
        "**What 1,000 turns cause, by function**",
        _by_function(turn),
        "**1,000 turns**",
        _lines(sums.of_thousand(turn), "1,000 turns"),
        "**1,000 turns where a language model observes**: a pass when somebody could need it, and what the model itself"
        " costs (`python -m evals.prompt_cost`)",
        _of_a_model(result["turn_of_a_model"]),
        f"The table grows by {turn['stored'] / turn['times'] * THOUSAND / 1e6:.1f} MB in 1,000 turns:"
        f" {_storage(turn):.4f} USD for each month that they are kept, point-in-time recovery included.",
        f"**What 1,000 ends of a session cause, by function**: a session of {settings['turns_a_session']} turns,"
        " which is compacted and filed",
        _by_function(result["end"]),
        "**What one export and one erasure cause, by function**: of that user, with all these turns",
        _by_function(result["export"], 1),
        _by_function(result["erasure"], 1),
        "**1,000 of each**",
        _rare({name: sums.of_thousand(result[name]) for name in RARE}),
        "**A month without a single call**",
        _months(result["schedules"]),
        "**A month with calls, beside each call**",
        _lines(sums.of_traffic(result), "a month"),
        f"**1,000 turns with the {ends:.0f} ends of their sessions and their part of the month**, beside AgentCore"
        " Memory",
        _spread(result, ends / THOUSAND),
        "**Prices**",
        _prices(),
    ]
    return "\n\n".join(parts)


def write_markdown(result: dict[str, Any], document: Path = DOCUMENT) -> None:
    """Replace what stands between the markers. Raises ValueError for a document without them."""
    write_between(BEGIN, END, render(result), document)


def _table(head: list[str], body: list[list[str]]) -> str:
    rows = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _by_function(played: Unit, times: int = THOUSAND) -> str:
    scale = times / played["times"]
    body = []
    for name in sorted(played["calls"], key=lambda one: -played["calls"][one]):
        units, runs = played["units"].get(name, {}), played["calls"][name]
        counted = [f"{units.get(unit, 0) * scale:,.0f}" for unit in ("write unit", "read unit", "search request")]
        body.append([name, f"{runs * scale:,.0f}", f"{played['billed_ms'][name] / runs:,.0f}", *counted])
    return _table(["function", "runs", "billed ms a run", "write units", "read units", "search requests"], body)


def _lines(lines: list[Line], of: str) -> str:
    body = [[line.what, _number(line.units), f"{line.usd:.4f}"] for line in lines]
    return _table(["what", "units", f"USD, {of}"], [*body, ["**together**", "", f"**{sums.total(lines):.4f}**"]])


def _of_a_model(turn: Unit) -> str:
    """Show the observing model beside the infrastructure, as ``evals.prompt_cost`` keeps it, for turns of 95 tokens."""
    usd = usd_of(json.loads(MODEL_PASSES.read_text(encoding="utf-8")), "default")
    infrastructure = sums.total(sums.of_thousand(turn))
    body: list[tuple[str, float]] = [
        ("infrastructure", infrastructure),
        ("passes of the model", usd.passes),
        ("… its constant part from the provider's cache", usd.cached),
        ("**together**, nothing cached", infrastructure + usd.passes),
        ("reflections and summaries by the model, in the smallest window (W = 16,000)", usd.every - usd.passes),
    ]
    return _table(["what", "USD, 1,000 turns"], [[what, f"{one:.4f}"] for what, one in body])


def _rare(found: dict[str, list[Line]]) -> str:
    names = list(dict.fromkeys(line.what for lines in found.values() for line in lines))
    body = [[name, *(_usd(lines, name, 4) for lines in found.values())] for name in names]
    together = ["**together**", *(f"**{sums.total(lines):.4f}**" for lines in found.values())]
    return _table(["USD", *(f"1,000 {RARE[name]}" for name in found)], [*body, together])


def _number(units: float) -> str:
    return f"{units:,.0f}" if units >= 10 else f"{units:.3f}"


def _storage(turn: Unit) -> float:
    price = PRICES["row storage"].usd + PRICES["row recovery"].usd
    return float(turn["stored"] / turn["times"] * THOUSAND / GB * price)


def _months(schedules: dict[str, Unit]) -> str:
    found = {f"{sums.UNOBSERVED}, no domain": sums.of_a_month(sums.UNOBSERVED, schedules, domain=False)}
    found |= {stage: sums.of_a_month(stage, schedules) for stage in sums.search_sizes()}
    names = list(dict.fromkeys(line.what for lines in found.values() for line in lines))
    body = [[name, *(_usd(lines, name) for lines in found.values())] for name in names]
    together = ["**together**", *(f"**{sums.total(lines):.2f}**" for lines in found.values())]
    return _table(["USD a month", *found], [*body, together])


def _usd(lines: list[Line], name: str, digits: int = 2) -> str:
    return next((f"{line.usd:.{digits}f}" for line in lines if line.what == name), "")


def _spread(result: dict[str, Any], ends: float) -> str:
    """``ends``: of sessions, a turn."""
    turns, theirs = sums.total(sums.of_thousand(result["turn"])), sums.total(sums.theirs())
    variable = turns + ends * sums.total(sums.of_thousand(result["end"]))
    body = [["the turns alone", f"{turns:.3f}", f"{theirs:.3f}"], ["with the ends of sessions", f"{variable:.3f}", ""]]
    for stage in ("staging", "prod"):
        month = sums.total(sums.of_a_month(stage, result["schedules"])) + sums.total(sums.of_traffic(result))
        body += [
            [f"{stage}, {volume:,} turns a month", f"{variable + month / volume * THOUSAND:.3f}", f"{theirs:.3f}"]
            for volume in VOLUMES
        ]
        if theirs > variable:
            body.append([f"{stage}: equal at", f"{month / (theirs - variable) * THOUSAND:,.0f} turns a month", ""])
    return _table(["USD, 1,000 turns", "Neve", "AgentCore Memory"], body)


def _prices() -> str:
    body = [[name, _price(price.usd), price.unit, price.page] for name, price in PRICES.items()]
    return _table(["", "USD", "unit", "page"], body)


def _price(usd: float) -> str:
    return f"{usd * 1e6:.6g} a million" if usd < 1e-4 else f"{usd:g}"
