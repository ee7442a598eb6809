"""Puts the built console into the bucket of a stage that has one (infra/console.yaml)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from infra.operate.stages import NoSuchStage
from local.console.page import ALWAYS_ASKED, DIST, KEPT, NOT_BUILT, TYPES, is_built

if TYPE_CHECKING:
    from boto3 import Session

PREFIX = "console/"
INDEX = "index.html"


class NotBuilt(LookupError):
    """The message says what builds it."""


def put_console(session: Session, stage: str | None, dist: Path = DIST) -> Iterator[str]:
    """Name each file once it is there. The page comes last: what it names is there by then, and what the page before
    it named stays. Raises NotBuilt, NoSuchStage."""
    if not is_built(dist):
        raise NotBuilt(NOT_BUILT.strip())
    bucket = _bucket_of(session, stage)
    s3 = session.client("s3")
    for file in sorted(dist.iterdir(), key=lambda one: (one.name == INDEX, one.name)):
        kept = ALWAYS_ASKED if file.name == INDEX else KEPT
        s3.put_object(
            Bucket=bucket,
            Key=PREFIX + file.name,
            Body=file.read_bytes(),
            ContentType=TYPES[file.suffix],
            CacheControl=kept,
        )
        yield f"{PREFIX}{file.name} put"


def _bucket_of(session: Session, stage: str | None) -> str:
    ssm = session.client("ssm")
    name = f"/neve/{stage}/console/bucket-name"
    try:
        return str(ssm.get_parameter(Name=name)["Parameter"]["Value"])
    except ssm.exceptions.ParameterNotFound:
        raise NoSuchStage(
            f"{name} is not in Parameter Store of {session.region_name}: is its console stack there?"
        ) from None
