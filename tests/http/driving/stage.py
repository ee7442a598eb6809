"""What the black-box tests run against."""

from __future__ import annotations

from dataclasses import dataclass

from tests.http.driving.controls import Controls


@dataclass(frozen=True, slots=True)
class Stage:
    """``key`` has every scope; ``other_key`` is of another tenant. ``controls`` None: a deployed stage."""

    base_url: str
    key: str
    other_key: str | None
    controls: Controls | None
