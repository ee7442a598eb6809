"""``python infra/transform.py TEMPLATE NAME=VALUE …`` prints a SAM template as AWS expands it, in JSON: with the
translator that AWS runs itself, offline.

It runs in the environment of ``requirements/sam.txt``: the translator needs an older pydantic than the service."""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

from samtranslator.translator.managed_policy_translator import ManagedPolicyLoader  # type: ignore[import-not-found]
from samtranslator.translator.transform import transform  # type: ignore[import-not-found]
from samtranslator.yaml_helper import yaml_parse  # type: ignore[import-not-found]

CODE = {"AWS::Serverless::Function": "CodeUri", "AWS::Serverless::LayerVersion": "ContentUri"}
"""What names a folder here and an uploaded archive on AWS."""


class NoManagedPolicies(ManagedPolicyLoader):  # type: ignore[misc]
    """IAM is not asked for its policies: the template names them by ARN."""

    def __init__(self) -> None:
        super().__init__(None)

    def load(self) -> dict[str, str]:
        return {}


def main(path: Path, parameters: dict[str, str]) -> None:
    template: dict[str, Any] = yaml_parse(path.read_text(encoding="utf-8"))
    for resource in template["Resources"].values():
        if (code := CODE.get(resource["Type"])) is not None:
            resource["Properties"][code] = "s3://artifacts/code.zip"
    json.dump(transform(template, parameters, NoManagedPolicies()), sys.stdout)


if __name__ == "__main__":
    gc.disable()  # it copies the template again and again, and ends: looking for cycles takes a quarter of its time
    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
    main(Path(sys.argv[1]), dict(argument.split("=", 1) for argument in sys.argv[2:]))
