"""Deploys the stacks of a stage, one after the other, as docs/deploy.md does."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boto3 import Session

from infra.emulate.service_template import ARTIFACTS, function_code

LASTS_S = 300.0
LOOK_S = 0.5
DONE = "CREATE_COMPLETE"


class NotDeployed(Exception):
    """The message names the resources that failed, and why."""


class Account:
    """An empty one, behind an emulator's address."""

    def __init__(self, session: Session, url: str) -> None:
        self._session = session
        self._url = url

    def client(self, service: Any) -> Any:
        return self._session.client(service, endpoint_url=self._url)

    def deploy(self, name: str, template: str, parameters: Mapping[str, str]) -> dict[str, str]:
        """The outputs of the stack. Raises NotDeployed."""
        stacks = self.client("cloudformation")
        stacks.create_stack(
            StackName=name,
            TemplateURL=self._uploaded(f"{name}.template", template.encode()),
            Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
            Capabilities=["CAPABILITY_NAMED_IAM"],
        )
        end = time.monotonic() + LASTS_S
        while (stack := stacks.describe_stacks(StackName=name)["Stacks"][0])["StackStatus"] == "CREATE_IN_PROGRESS":
            if time.monotonic() > end:
                raise NotDeployed(f"{name} is not done after {LASTS_S:.0f} s")
            time.sleep(LOOK_S)
        if stack["StackStatus"] != DONE:
            events = stacks.describe_stack_events(StackName=name)["StackEvents"]
            failed = [it for it in events if "FAILED" in it["ResourceStatus"]]
            why = "\n".join(f"  {it['LogicalResourceId']}: {it.get('ResourceStatusReason')}" for it in failed)
            raise NotDeployed(f"{name}: {stack['StackStatus']}\n{why}")
        return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}

    def resources(self, name: str) -> dict[str, str]:
        """Physical ids by logical id."""
        found = self.client("cloudformation").describe_stack_resources(StackName=name)["StackResources"]
        return {it["LogicalResourceId"]: it["PhysicalResourceId"] for it in found}

    def upload(self, nested: str) -> str:
        """The functions' code, and a nested template: its address."""
        for name, folder in function_code().items():
            self._uploaded(f"{name}.zip", _zipped(folder))
        return self._uploaded("nested.template", nested.encode())

    def _uploaded(self, key: str, body: bytes) -> str:
        """Its address. A template in a call's own body may have 51,200 characters only."""
        objects = self.client("s3")
        objects.create_bucket(Bucket=ARTIFACTS)
        objects.put_object(Bucket=ARTIFACTS, Key=key, Body=body)
        return f"{self._url}/{ARTIFACTS}/{key}"


def _zipped(folder: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in sorted(folder.glob("*.py")):
            archive.write(file, file.name)
    return packed.getvalue()
