"""``make deploy STAGE=dev``: deploys a stage, asks no question and may be run again at any time. What is there already
stays as it is. ``--dry-run`` prints the steps and takes none."""

from __future__ import annotations

import argparse
import os
import sys

from boto3 import Session
from botocore.exceptions import BotoCoreError, ClientError

from infra.deploy.cloud import Cloud, NotReady
from infra.deploy.deployment import deploy
from infra.deploy.steps import StepFailed
from infra.deploy.t0 import T0Failed
from infra.deploy.wanted import Wanted
from infra.operate.stages import NoSuchStage

REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""The AWS CLI reads the first, boto3 and SAM the second."""


def main() -> int:
    given = _arguments()
    named = next((os.environ[name] for name in REGIONS if os.environ.get(name)), None)
    if named is not None:
        os.environ.update(dict.fromkeys(REGIONS, named))
    wanted = Wanted(
        given.stage, tuple(given.more.split()), tuple(given.stores.split()), tuple(given.account.split()), given.data
    )
    try:
        deploy(Cloud(Session()), wanted, dry=given.dry_run, t0=not given.no_t0)
    except (NotReady, StepFailed, T0Failed, NoSuchStage, BotoCoreError, ClientError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.deploy", description=__doc__)
    parser.add_argument("--stage", required=True, help="dev, staging or prod")
    parser.add_argument("--dry-run", action="store_true", help="print the steps, take none")
    parser.add_argument("--more", default="", help="parameters of the service that infra/parameters does not name")
    parser.add_argument("--stores", default="", help="parameters of the data stack, which is then deployed again")
    parser.add_argument("--account", default="", help="those of the account's stack, which is then deployed again")
    parser.add_argument("--data", action="store_true", help="deploy the data stack again: its template has changed")
    parser.add_argument("--no-t0", action="store_true", help="show nothing in the end: of a stage that takes no calls")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
