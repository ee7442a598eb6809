"""The one settings model of a deployed function: every environment variable that the product reads, and no other.

A function is given the variables that its ports need (template.yaml, docs/deploy.md). What is not set is an error only
when something asks for it, and the error names the variable."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

PREFIX = "NEVE_"
DEFAULT_STAGE = "dev"
V = TypeVar("V")


class SettingsError(RuntimeError):
    """A variable is missing or wrong; the message names it. The function cannot do its work until it is mended."""


class Settings(BaseModel):
    """A field ``table`` is read from ``NEVE_TABLE``. An empty variable counts as not set.

    ``encoder_dir`` and ``bpe_dir`` are where their layers are mounted. ``anthropic_secret`` is the ARN of
    the secret with the API key, never the key; ``anthropic_base_url`` where the API is, unless it is Anthropic's.
    ``bedrock_model`` is the id of a model or inference profile, ``bedrock_region`` where it is asked, unless where the
    function runs. ``search``, ``embedder`` and ``observer`` choose an engine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stage: str = DEFAULT_STAGE
    table: str | None = None
    bucket: str | None = None
    index_queue_url: str | None = None
    embed_queue_url: str | None = None
    extract_queue_url: str | None = None
    compact_queue_url: str | None = None
    reflect_queue_url: str | None = None
    librarian_queue_url: str | None = None
    jobs_queue_url: str | None = None
    deliver_queue_url: str | None = None
    deliver_dlq_queue_url: str | None = None
    search: Literal["opensearch", "segments"] = "opensearch"
    search_endpoint: str | None = None
    embedder: Literal["bge-small", "titan", "none"] = "bge-small"
    observer: Literal["anthropic", "bedrock", "extractive"] = "extractive"
    anthropic_secret: str | None = None
    anthropic_base_url: str | None = None
    bedrock_model: str | None = None
    bedrock_region: str | None = None
    encoder_dir: Path | None = None
    bpe_dir: Path | None = None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Settings:
        """Read the settings. Raises SettingsError for a value that cannot be."""
        given = {name: environ.get(variable(name)) for name in cls.model_fields}
        try:
            return cls.model_validate({name: value for name, value in given.items() if value})
        except ValidationError as error:
            wrong = ", ".join(f"{variable(str(part['loc'][0]))}: {part['msg']}" for part in error.errors())
            raise SettingsError(wrong) from None


def stage_of(environ: Mapping[str, str]) -> str:
    """Read the one setting that every call asks for, without the others."""
    return environ.get(variable("stage")) or DEFAULT_STAGE


def variable(field: str) -> str:
    """Name the environment variable of a field of Settings."""
    return PREFIX + field.upper()


def needed(value: V | None, field: str) -> V:
    """Give the value of a field that something cannot do without. Raises SettingsError when it is not set."""
    if value is None:
        raise SettingsError(f"{variable(field)} is not set")
    return value
