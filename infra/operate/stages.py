"""The stores of a stage: where its data stack says they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from neve.config import Settings

if TYPE_CHECKING:
    from boto3 import Session

PARAMETER_FIELDS = {
    "table-name": "table",
    "bucket-name": "bucket",
    "search": "search",
    "search-endpoint": "search_endpoint",
}
"""Parameters below ``/neve/<stage>/`` (infra/data.yaml), and the settings that they are."""


class NoSuchStage(LookupError):
    """The message says what is missing."""


class NoAccount(LookupError):
    """Nobody has said which account and region; the message says how to."""


def settings_of(stage: str | None, session: Session, **chosen: Any) -> Settings:
    """Where the stores of a deployed stage are; ``stage`` None: what NEVE_TABLE and the other variables say.
    ``chosen``: settings that the stage does not say. Raises NoSuchStage, NoAccount."""
    if session.region_name is None:
        raise NoAccount("no region: export AWS_DEFAULT_REGION (boto3 does not read AWS_REGION), or name a profile")
    if session.get_credentials() is None:
        raise NoAccount("no AWS credentials: sign in, or export AWS_PROFILE")
    if stage is None:
        given = Settings.from_environment(os.environ).model_dump(exclude_unset=True)
    else:
        given = {"stage": stage, **_parameters(stage, session)}
    return Settings.model_validate({**given, **chosen})


def _parameters(stage: str, session: Session) -> Mapping[str, str]:
    pages = session.client("ssm").get_paginator("get_parameters_by_path").paginate(Path=f"/neve/{stage}/")
    named = {one["Name"].rpartition("/")[2]: one["Value"] for page in pages for one in page["Parameters"]}
    missing = sorted(PARAMETER_FIELDS.keys() - named.keys())
    if missing:
        region = session.region_name
        raise NoSuchStage(f"/neve/{stage}/{missing[0]} is not in Parameter Store of {region}: is its data stack there?")
    return {field: named[name] for name, field in PARAMETER_FIELDS.items()}
