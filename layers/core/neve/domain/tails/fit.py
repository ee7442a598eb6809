"""Chooses the utterances of unobserved logs that there is room for (docs/rules/pack.md#just-said)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from neve.domain.pack.render import JUST_SAID, escape, indented
from neve.domain.pack.room import BESIDE_A_TEXT, Size, answer_bytes, row_bytes
from neve.domain.records.packs import PackEntry
from neve.domain.tails.told import Told
from neve.domain.tokens import estimate


@dataclass(frozen=True, slots=True)
class JustSaid:
    """The utterances for which there is room. ``conversations``: what is told of each, the newest first, in the order
    in which it was said."""

    conversations: tuple[tuple[Told, ...], ...] = ()

    @property
    def lines(self) -> list[list[str]]:
        return [[one.line for one in told] for told in self.conversations]

    @property
    def entries(self) -> tuple[PackEntry, ...]:
        return tuple(one.entry for told in self.conversations for one in told)

    @property
    def tokens(self) -> int:
        return sum(cost_of(line) for line in (*self._headings, *(line for lines in self.lines for line in lines)))

    @property
    def size(self) -> Size:
        items = [*self._headings, *(line for lines in self.lines for line in lines)]
        return Size(
            sum(answer_bytes(escape(indented(line))) + BESIDE_A_TEXT for line in items), row_bytes(self.entries)
        )

    @property
    def _headings(self) -> list[str]:
        return [JUST_SAID] * len(self.conversations)


def just_said(conversations: Iterable[Sequence[Told]], room: int) -> JustSaid:
    """Choose what fits ``room`` tokens: first of what the user said, then of what they were answered, each from the
    newest conversation and its newest utterance on. One that has no room is left out as a whole."""
    tails = list(conversations)
    chosen: list[set[int]] = [set() for _ in tails]
    for of_user in (True, False):
        for told, kept in zip(tails, chosen, strict=True):
            for place in reversed(range(len(told))):
                cost = cost_of(told[place].line) + (0 if kept else cost_of(JUST_SAID))
                if told[place].of_user is of_user and cost <= room:
                    kept.add(place)
                    room -= cost
    shown = (tuple(told[place] for place in sorted(kept)) for told, kept in zip(tails, chosen, strict=True))
    return JustSaid(tuple(told for told in shown if told))


def cost_of(line: str) -> int:
    """Count the tokens of a line as it is rendered."""
    return estimate(escape(indented(line)) + "\n")
