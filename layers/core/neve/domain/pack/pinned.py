"""Chooses the pinned documents that a pack holds (docs/rules/pack.md#always, docs/rules/pack.md#profile): whole or not
at all, each layer within its own budget. One that does not fit is named, and those behind it still may."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from neve.domain.documents.pins import Pin
from neve.domain.pack.fit import greedy_fit
from neve.domain.tokens import estimate


@dataclass(frozen=True, slots=True)
class Chosen:
    """The pinned documents of a pack, in the order in which they are rendered."""

    always: tuple[Pin, ...] = ()
    profile: tuple[Pin, ...] = ()
    people: tuple[Pin, ...] = ()
    left_out: tuple[Pin, ...] = ()

    @property
    def whole(self) -> tuple[Pin, ...]:
        """Give those whose text is shown."""
        return self.always + self.profile


def choose_pins(pins: Iterable[Pin], always_budget: int, profile_budget: int) -> Chosen:
    """Choose by place, order and path. People come last and share the profile's budget."""
    ordered = sorted(pins, key=lambda pin: pin.sort_key)
    always = [pin for pin in ordered if pin.place == "always" and not pin.too_long]
    profile = [pin for pin in ordered if pin.place != "always" and not pin.too_long]
    chosen = {id(always[n]) for n in greedy_fit([pin.tokens for pin in always], always_budget)}
    chosen |= {id(profile[n]) for n in greedy_fit([pin_tokens(pin) for pin in profile], profile_budget)}
    return Chosen(
        always=tuple(pin for pin in always if id(pin) in chosen),
        profile=tuple(pin for pin in profile if id(pin) in chosen and pin.place == "profile"),
        people=tuple(pin for pin in profile if id(pin) in chosen and pin.place == "people"),
        left_out=tuple(pin for pin in ordered if id(pin) not in chosen),
    )


def pin_tokens(pin: Pin) -> int:
    """Count the tokens of what a pack shows of a pin: a document's text as it was counted when it was written, under
    its title; or a person's line."""
    if pin.place == "always":
        return pin.tokens
    return estimate(pin.line) if pin.place == "people" else pin.tokens + estimate(pin.title)
