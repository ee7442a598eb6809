"""The tables of docs/cost.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evals.cost import sums
from evals.cost.prices import KNOWN, PRICES, REGION
from evals.cost.sums import GB, TURNS, VOLUMES, Line, Unit

DOCUMENT = Path("docs/cost.md")
BEGIN, END = "<!-- cost:begin -->", "<!-- cost:end -->"


def render(result: dict[str, Any]) -> str:
    turn, sweep, settings = result["turn"], result["sweep"], result["settings"]
    parts = [
        f"Measured {result['at'][:10]} on {result['machine']['cores']} cores ({result['machine']['cpu']}):"
        f" {turn['turns']:,} turns of a user with {settings['kept']} memories, a new session every"
        f" {settings['turns_a_session']} turns. Prices of {REGION}, {KNOWN}.",
        "**What 1,000 turns cause, by function**",
        _by_function(turn),
        "**1,000 turns**",
        _lines(sums.of_turns(turn), "1,000 turns"),
        f"The table grows by {turn['stored'] / turn['turns'] * TURNS / 1e6:.1f} MB in 1,000 turns:"
        f" {_storage(turn):.4f} USD for each month that they are kept, point-in-time recovery included.",
        "**A month without a single call**",
        _months(sweep),
        "**1,000 turns with their part of the month**, beside AgentCore Memory",
        _spread(turn, sweep),
        "**Prices**",
        _prices(),
    ]
    return "\n\n".join(parts)


def write_markdown(result: dict[str, Any], document: Path = DOCUMENT) -> None:
    """Replace what stands between the markers. Raises ValueError for a document without them."""
    text = document.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise ValueError(f"{document} has no markers {BEGIN} {END}")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    document.write_text(f"{before}{BEGIN}\n{render(result)}\n{END}{after}", encoding="utf-8")


def _table(head: list[str], body: list[list[str]]) -> str:
    rows = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _by_function(turn: Unit) -> str:
    scale = TURNS / turn["turns"]
    body = []
    for name in sorted(turn["calls"], key=lambda one: -turn["calls"][one]):
        units, runs = turn["units"].get(name, {}), turn["calls"][name]
        counted = [f"{units.get(unit, 0) * scale:,.0f}" for unit in ("write unit", "read unit", "search request")]
        body.append([name, f"{runs * scale:,.0f}", f"{turn['billed_ms'][name] / runs:.0f}", *counted])
    return _table(["function", "runs", "billed ms a run", "write units", "read units", "search requests"], body)


def _lines(lines: list[Line], of: str) -> str:
    body = [[line.what, _number(line.units), f"{line.usd:.4f}"] for line in lines]
    return _table(["what", "units", f"USD, {of}"], [*body, ["**together**", "", f"**{sums.total(lines):.4f}**"]])


def _number(units: float) -> str:
    return f"{units:,.0f}" if units >= 10 else f"{units:.3f}"


def _storage(turn: Unit) -> float:
    price = PRICES["row storage"].usd + PRICES["row recovery"].usd
    return float(turn["stored"] / turn["turns"] * TURNS / GB * price)


def _months(sweep: Unit) -> str:
    stages = list(sums.search_sizes())
    found = {stage: sums.of_a_month(stage, sweep) for stage in stages}
    names = list(dict.fromkeys(line.what for lines in found.values() for line in lines))
    body = [[name, *(_usd(found[stage], name) for stage in stages)] for name in names]
    together = ["**together**", *(f"**{sums.total(found[stage]):.2f}**" for stage in stages)]
    return _table(["USD a month", *stages], [*body, together])


def _usd(lines: list[Line], name: str) -> str:
    return next((f"{line.usd:.2f}" for line in lines if line.what == name), "")


def _spread(turn: Unit, sweep: Unit) -> str:
    variable, theirs = sums.total(sums.of_turns(turn)), sums.total(sums.theirs())
    body = [["the turns alone", f"{variable:.3f}", f"{theirs:.3f}"]]
    for stage in ("staging", "prod"):
        month = sums.total(sums.of_a_month(stage, sweep))
        body += [
            [f"{stage}, {volume:,} turns a month", f"{variable + month / volume * TURNS:.3f}", f"{theirs:.3f}"]
            for volume in VOLUMES
        ]
        if theirs > variable:
            body.append([f"{stage}: equal at", f"{month / (theirs - variable) * TURNS:,.0f} turns a month", ""])
    return _table(["USD, 1,000 turns", "Neve", "AgentCore Memory"], body)


def _prices() -> str:
    body = [[name, _price(price.usd), price.unit, price.page] for name, price in PRICES.items()]
    return _table(["", "USD", "unit", "page"], body)


def _price(usd: float) -> str:
    return f"{usd * 1e6:.6g} a million" if usd < 1e-4 else f"{usd:g}"
