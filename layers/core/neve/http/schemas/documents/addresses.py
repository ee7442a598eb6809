"""Paths and prefixes in requests."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from neve.domain.documents.paths import MAX_GIVEN, PATH_RULE, normal_path, normal_prefix

DocumentPath = Annotated[
    str, AfterValidator(normal_path), Field(min_length=1, max_length=MAX_GIVEN, description=f"A path {PATH_RULE}.")
]
"""Decomposed letters count two before they are put together."""
DocumentPrefix = Annotated[
    str,
    AfterValidator(normal_prefix),
    Field(min_length=1, max_length=MAX_GIVEN, description="`/`, or a path; whole segments below it."),
]
