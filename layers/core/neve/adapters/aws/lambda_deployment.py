"""A deployment of Lambda functions that CodeDeploy holds until a check has spoken."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from neve.adapters.aws.clients import aws_client
from neve.adapters.aws.errors import translated

ATTEMPTS = 6
BUSY_S = 3.0
"""Seconds between two attempts, for a new account, which runs ten functions at once, together 15 s (*chosen*): others
end in that time."""


class FunctionFailed(Exception):
    """A version raised something, or ran out of time; the message names the type of its error."""


class LambdaDeployment:
    """The deployment as Lambda and CodeDeploy hold it. ``functions`` and ``deployments`` are boto3's clients of Lambda
    and CodeDeploy, ``pause`` waits so many seconds. Needs ``lambda:InvokeFunction`` on the versions and
    ``codedeploy:PutLifecycleEventHookExecutionStatus`` on the deployment groups."""

    def __init__(
        self, functions: Any = None, deployments: Any = None, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._pause = pause
        self._functions = functions or aws_client("lambda")
        self._deployments = deployments or aws_client("codedeploy")

    def invoke(self, version: str, event: Mapping[str, Any]) -> Any:
        """Call a version of a function and give what its handler answers. A version that is not started because the
        account runs as many as it may is asked again, ``ATTEMPTS`` times in all. Raises FunctionFailed, and
        StoreUnavailable when it cannot be called."""
        with translated(f"function {version}"):
            answer = self._invoke_version(version, json.dumps(event).encode())
            with closing(answer["Payload"]) as payload:
                result = json.loads(payload.read())
        if "FunctionError" in answer:
            raise FunctionFailed(f"{version}: {(result or {}).get('errorType', answer['FunctionError'])}")
        return result

    def _invoke_version(self, version: str, event: bytes) -> Any:
        """Call a version, again only where it was not started: any other call may have run."""
        for _ in range(ATTEMPTS - 1):
            try:
                return self._functions.invoke(FunctionName=version, Payload=event)
            except self._functions.exceptions.TooManyRequestsException:
                self._pause(BUSY_S)
        return self._functions.invoke(FunctionName=version, Payload=event)

    def report(self, event: Mapping[str, str], *, passed: bool) -> None:
        """Tell CodeDeploy. ``event``: the one it sent. Raises StoreUnavailable."""
        with translated("deployment"):
            self._deployments.put_lifecycle_event_hook_execution_status(
                deploymentId=event["DeploymentId"],
                lifecycleEventHookExecutionId=event["LifecycleEventHookExecutionId"],
                status="Succeeded" if passed else "Failed",
            )
