"""The health that the embed workers last found out about their embedder, for those that have none of their own
(health)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from neve.domain.times import iso
from neve.ports.search import IndexModel
from neve.ports.table import Item, Put
from neve.store.keys import embedder_health


@dataclass(frozen=True, slots=True)
class EmbedderHealth:
    """The state of the embedder. ``reason`` says why when unavailable, in words of the adapter, never a caller's
    text."""

    model: IndexModel
    state: Literal["ready", "unavailable"]
    at: str
    reason: str | None = None


def put_embedder_health(
    model: IndexModel, state: Literal["ready", "unavailable"], reason: str | None, at: datetime
) -> Put:
    """Make the put of the row of an embedder; it is written when the state changes, not with every batch: it would
    be a hot row."""
    key = embedder_health(model.tag)
    item: Item = {
        "pk": key.pk,
        "sk": key.sk,
        "type": "embedder_health",
        "model": model.tag,
        "dimensions": model.dimensions,
        "state": state,
        "at": iso(at),
    }
    return Put(item | ({"reason": reason} if reason else {}))


def read_embedder_health(item: Item) -> EmbedderHealth:
    model = IndexModel(item["model"], item["dimensions"])
    return EmbedderHealth(model, item["state"], item["at"], item.get("reason"))
