"""A long session with an assistant that keeps a small shop's orders and logs: every turn looks something up, and every
third one reads a log that is longer than what a compaction leaves in a prompt. Written by rule from a seed, so that it
is the same on every machine."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SEED = 11
NAMES = ("Ines", "Bruno", "Carla", "Dinis", "Eva", "Fausto", "Gil", "Helena", "Iris", "Jorge")
GOODS = ("kettle", "lamp", "bicycle bell", "tent", "raincoat", "teapot", "desk", "backpack", "stove", "globe")
CITIES = ("Braga", "Faro", "Porto", "Evora", "Aveiro", "Lisbon", "Sintra", "Tomar")
STATES = ("packed", "shipped", "waiting for payment", "returned", "delivered")
CHOICES = (
    "Always ship {good}s to {city} with the slow carrier.",
    "From now on a {good} that comes back is refunded without asking.",
    "We stop selling the {good} in {city}.",
    "{name} decides about every {good} above the limit.",
)

ToolCall = tuple[str, str, dict[str, Any], str]


@dataclass(frozen=True, slots=True)
class MadeTurn:
    """``tools``: id, name, arguments, result. ``asked``: questions about it with the words that answer them."""

    user: str
    assistant: str
    tools: tuple[ToolCall, ...]
    asked: tuple[tuple[str, str], ...]


def tool_turns() -> Iterator[MadeTurn]:
    """Without an end."""
    chance = random.Random(SEED)
    number = 0
    while True:
        number += 1
        yield _turn(chance, number)


def _turn(chance: random.Random, number: int) -> MadeTurn:
    name, good, city = chance.choice(NAMES), chance.choice(GOODS), chance.choice(CITIES)
    order = f"A-{1000 + number}"
    calls = [
        (f"t{number}a", "find_orders", {"customer": name, "since_days": chance.randint(3, 60)}, _orders(chance, number))
    ]
    if number % 3 == 0:
        calls.append((f"t{number}b", "read_log", {"service": "shipping", "order": order}, _log(chance, order)))
    if number % 5:
        user = f"Where is the {good} that {name} ordered for {city}? The number is {order}."
        answer = f"Order {order} of {name} is {chance.choice(STATES)}; it goes to {city}."
        return MadeTurn(user, answer, tuple(calls), ())
    rule = chance.choice(CHOICES).format(good=good, city=city, name=name)
    user = f"A decision, number {number}: {rule} Check {order} against it."
    asked = ((f"What was decided in decision number {number}?", user),)
    return MadeTurn(user, f"Noted. {order} is not touched by it.", tuple(calls), asked)


def _orders(chance: random.Random, number: int) -> str:
    """A few hundred tokens: stays in the log."""
    rows = [
        f'{{"order": "A-{1000 + chance.randint(0, number)}", "good": "{chance.choice(GOODS)}", "city":'
        f' "{chance.choice(CITIES)}", "state": "{chance.choice(STATES)}", "cents": {chance.randint(500, 90_000)}}}'
        for _ in range(12)
    ]
    return "[" + ",\n ".join(rows) + "]"


def _log(chance: random.Random, order: str) -> str:
    """Some 3,000 tokens, more than both limits of a stale tool result."""
    return "\n".join(
        f"line {n:03d} shipping worker-{chance.randint(1, 9)} order={order} step={chance.choice(STATES)}"
        f" took={chance.randint(1, 900)}ms retry={chance.randint(0, 3)} queue={chance.choice(CITIES).lower()}"
        for n in range(110)
    )
