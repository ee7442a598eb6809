"""The values that a memory of a pass or a reflection has, unless its observer says otherwise."""

from __future__ import annotations

BASE_TAG = "observational-memory"
DEFAULT_IMPORTANCE = 3
DEFAULT_CONFIDENCE = 1.0
