"""The classes that the gate knows to look for, and what a tenant may have done with it
(docs/rules/privacy.md#classes)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Action = Literal["block", "redact", "allow"]
"""``block``: a memory or a document that holds it is refused. ``redact``: it is kept without. In events both only take
it out. ``allow``: it is not looked for."""

PiiClass = Literal[
    "card_number", "ssn", "password", "api_key", "medical_record_number", "phone", "email", "iban", "address"
]


def metrics(verb: str, counts: Mapping[str, int]) -> dict[str, int]:
    """Make metrics of counts: ``{"card_number": 2}`` as the metric ``PiiRedactedCardNumber`` of 2, with the verb
    ``Redacted``."""
    return {f"Pii{verb}{''.join(part.title() for part in kind.split('_'))}": n for kind, n in counts.items()}
