"""The gate on a fact before it is decided upon: the criterion ``pii`` of the storage decision."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.memories.storage_decision import FactCandidate
from neve.scope import TenantScope
from neve.usecases.core.privacy.admit import admitted, redacted

SCREENED_FIELDS = ("text", "label", "group", "tags", "metadata")
"""Fields that hold a person's words."""


def admitted_candidate(scope: TenantScope, candidate: FactCandidate) -> FactCandidate:
    """Give a caller's candidate as it may be kept. Raises 422 ``pii_blocked``."""
    screened = admitted(scope, candidate, SCREENED_FIELDS)
    return candidate if screened == candidate else replace(screened, pii="redacted")


def screened_candidate(scope: TenantScope, candidate: FactCandidate) -> FactCandidate:
    """Give a model's candidate without what is found. One that held what the policy blocks is decided upon as
    ``blocked``."""
    screened, found = redacted(scope, candidate, SCREENED_FIELDS)
    if not found.removed:
        return candidate
    return replace(screened, pii="blocked" if found.blocked else "redacted")
