"""Find where each part of a planned prompt stands in the request that was made of it, in whatever provider's form
(docs/rules/compile.md#parts). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neve.domain.compile.conversation import Text
from neve.domain.compile.plan import PromptPlan
from neve.domain.tokens import estimate

_LAST = ("updates", "retrieved", "task_state", "session", "message")
"""The parts of the user's last message, which are looked for from the end: a history may say the same."""


@dataclass(frozen=True, slots=True)
class PlacedPart:
    """One part of a request, in its order. ``at``: a JSON pointer to the text that holds it, ``start`` and ``end`` its
    place there in characters; of tools and history a pointer to the first of them, without a place. None where a form
    writes it otherwise."""

    name: str
    tokens: int
    at: str | None = None
    start: int | None = None
    end: int | None = None


Leaf = tuple[str, str]
"""A JSON pointer, and the text there."""


def placed_parts(plan: PromptPlan, request: Mapping[str, Any]) -> list[PlacedPart]:
    """Place each part that the prompt has. Tokens are those of the plan's sections; the section of the message counts
    the lines about the session with it, and all that waits for an answer."""
    prompt, leaves = plan.prompt, list(_leaves(request, ""))
    used = {section.name: section.used for section in plan.sections}
    used["static"] = used["static"] + used.get("boundaries", 0)
    texts = {"static": prompt.static, "system": prompt.callers, "instructions": prompt.instructions}
    texts |= {"pack": prompt.pack, **plan.texts}
    found = [PlacedPart("tools", used["tools"], "/tools" if "tools" in request else None)] if prompt.tools else []
    front = (name for name in ("static", "system", "instructions", "pack") if texts[name])
    found += (_placed(name, used[name], texts[name], leaves) for name in front)
    if prompt.history:
        found.append(PlacedPart("history", used["history"], _first_message(plan, leaves)))
    last = [_placed(name, estimate(texts[name]), texts[name], leaves[::-1]) for name in _LAST if texts.get(name)]
    return [*found, *last]


def _placed(name: str, tokens: int, text: str, leaves: Sequence[Leaf]) -> PlacedPart:
    for at, whole in leaves:
        start = whole.find(text)
        if start >= 0:
            return PlacedPart(name, tokens, at, start, start + len(text))
    return PlacedPart(name, tokens)


def _first_message(plan: PromptPlan, leaves: Sequence[Leaf]) -> str | None:
    """Point to the message of the history that comes first."""
    first = next((block.text for block in plan.prompt.history[0].blocks if isinstance(block, Text)), None)
    at = next((at for at, whole in leaves if first and first in whole and at.count("/") > 1), None)
    return "/".join(at.split("/")[:3]) if at else None


def _leaves(value: Any, at: str) -> Iterator[Leaf]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _leaves(part, f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for n, part in enumerate(value):
            yield from _leaves(part, f"{at}/{n}")
