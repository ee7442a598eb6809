"""Asks an account about its stacks, and names the command that cures a stack that cannot be deployed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from boto3 import Session

READY = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE")
EMPTY = ("ROLLBACK_COMPLETE", "REVIEW_IN_PROGRESS", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")
"""States of a stack that was never made: it holds nothing, and takes no deployment before it is deleted."""
CURES = {
    "UPDATE_ROLLBACK_FAILED": "aws cloudformation continue-update-rollback --stack-name {name}",
    "UPDATE_FAILED": "aws cloudformation rollback-stack --stack-name {name}",
}
WAIT = "it is being changed: run this again when it is done (aws cloudformation describe-stacks --stack-name {name})"


class NotReady(Exception):
    """Something that a deployment needs is missing. The message says what, and what cures it."""


class Cloud:
    """One account in one region."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def client(self, service: Any) -> Any:
        return self.session.client(service)

    def who(self) -> str:
        """Name account and caller. Raises NotReady."""
        if self.session.region_name is None:
            raise NotReady("no region. Cure: export AWS_DEFAULT_REGION=eu-central-1 (or another one)")
        if self.session.get_credentials() is None:
            raise NotReady("no AWS credentials. Cure: sign in (aws sso login), or export AWS_PROFILE")
        try:
            caller = self.client("sts").get_caller_identity()
        except (BotoCoreError, ClientError) as error:
            raise NotReady(f"AWS does not take the credentials ({error}). Cure: sign in again") from error
        return f"account {caller['Account']}, region {self.session.region_name}, as {caller['Arn']}"

    def state(self, name: str) -> str | None:
        """Give the state of a stack that takes a deployment; None: it is not there. Raises NotReady for one that a
        person has to look at."""
        found = self._stack(name)
        state = None if found is None else str(found["StackStatus"])
        if state is None or state == "DELETE_COMPLETE":
            return None
        if state in READY or state in EMPTY:
            return state
        cure = CURES.get(state, WAIT).format(name=name)
        raise NotReady(f"the stack {name} is {state}. Cure: {cure}")

    def remove(self, name: str) -> None:
        """Delete a stack, and wait until it is gone."""
        stacks = self.client("cloudformation")
        stacks.delete_stack(StackName=name)
        stacks.get_waiter("stack_delete_complete").wait(StackName=name)

    def outputs(self, name: str) -> Mapping[str, str]:
        found = self._stack(name) or {}
        return {one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", [])}

    def parameters(self, stage: str) -> Mapping[str, str]:
        """Give what the data stack has written into Parameter Store."""
        pages = self.client("ssm").get_paginator("get_parameters_by_path").paginate(Path=f"/neve/{stage}/")
        return {one["Name"]: one["Value"] for page in pages for one in page["Parameters"]}

    def has_value(self, secret: str) -> bool:
        secrets = self.client("secretsmanager")
        try:
            return bool(secrets.get_secret_value(SecretId=secret).get("SecretString"))
        except secrets.exceptions.ResourceNotFoundException:
            return False

    def _stack(self, name: str) -> Mapping[str, Any] | None:
        try:
            found: Mapping[str, Any] = self.client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
        except ClientError as error:
            if error.response["Error"]["Code"] == "ValidationError":  # CloudFormation's word for "no such stack"
                return None
            raise
        return found
