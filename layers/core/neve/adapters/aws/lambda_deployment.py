"""A deployment of Lambda functions that CodeDeploy holds until a check has spoken."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from neve.adapters.aws.clients import aws_client
from neve.adapters.aws.errors import translated


class FunctionFailed(Exception):
    """A version raised something, or ran out of time; the message names the type of its error."""


class LambdaDeployment:
    """``functions`` and ``deployments`` are boto3's clients of Lambda and CodeDeploy. Needs ``lambda:InvokeFunction``
    on the versions and ``codedeploy:PutLifecycleEventHookExecutionStatus`` on the deployment groups."""

    def __init__(self, functions: Any = None, deployments: Any = None) -> None:
        self._functions = functions or aws_client("lambda")
        self._deployments = deployments or aws_client("codedeploy")

    def invoke(self, version: str, event: Mapping[str, Any]) -> Any:
        """What the handler of a version answers. Raises FunctionFailed, and StoreUnavailable when it cannot be
        called."""
        with translated(f"function {version}"):
            answer = self._functions.invoke(FunctionName=version, Payload=json.dumps(event).encode())
            with closing(answer["Payload"]) as payload:
                result = json.loads(payload.read())
        if "FunctionError" in answer:
            raise FunctionFailed(f"{version}: {(result or {}).get('errorType', answer['FunctionError'])}")
        return result

    def report(self, event: Mapping[str, str], *, passed: bool) -> None:
        """Tell CodeDeploy. ``event``: the one it sent. Raises StoreUnavailable."""
        with translated("deployment"):
            self._deployments.put_lifecycle_event_hook_execution_status(
                deploymentId=event["DeploymentId"],
                lifecycleEventHookExecutionId=event["LifecycleEventHookExecutionId"],
                status="Succeeded" if passed else "Failed",
            )
