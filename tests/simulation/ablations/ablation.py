"""A safeguard of the product, with a way to take it out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

Patch = tuple[Any, str, Any]
"""An object, the name of its attribute, and what stands there instead."""


@dataclass(frozen=True)
class Ablation:
    """``without``: the safeguard that is gone. ``within``: the seeds in which a broken invariant has to be found."""

    name: str
    without: str
    workload: str
    within: int
    patches: Callable[[], list[Patch]]

    @contextmanager
    def applied(self) -> Iterator[None]:
        with ExitStack() as stack:
            for where, name, instead in self.patches():
                stack.enter_context(mock.patch.object(where, name, instead))
            yield
