"""The composition root of the check before a deployment. Everything else is put together in ``wiring``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neve.adapters.aws.lambda_deployment import LambdaDeployment


def deployment() -> LambdaDeployment:
    """Make the deployment. Clients are made with each call, boto3 is imported with the first one."""
    from neve.adapters.aws.lambda_deployment import LambdaDeployment

    return LambdaDeployment()
