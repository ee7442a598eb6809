"""What stands in the place of a recall's safeguards."""

from __future__ import annotations

from typing import Any

from neve.ports.search import SearchFilter
from neve.ports.table import ItemPage
from neve.usecases.ask.recall.stages import reads
from neve.usecases.ask.recall.stages.legs import Legs
from tests.simulation.ablations.ablation import Patch


def looks_at_nothing_new() -> list[Patch]:
    return [(reads, "_new_rows", lambda _: ItemPage([], None))]


def searches_before_it_looks() -> list[Patch]:
    """BM25 beside the reading of what the index may not have."""
    start, search = Legs.start, Legs._search_text

    def at_once(legs: Legs, where: SearchFilter, depth: int) -> None:
        start(legs, where, depth)
        if legs.request.lexical:
            vars(legs)["early"] = legs.ports.tasks.start(lambda: search(legs, where, depth))

    def found_before(legs: Legs, where: SearchFilter, depth: int) -> Any:
        before = vars(legs).pop("early", None)
        return search(legs, where, depth) if before is None else before.result()

    return [(Legs, "start", at_once), (Legs, "_search_text", found_before)]
