"""The table as the template of the data stack defines it, for whoever has to create it without CloudFormation. There is
no second schema."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import yaml

from local.template import ROOT, TemplateError

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

TEMPLATE = ROOT / "infra" / "data.yaml"
TABLE = "Table"
"""Its logical id."""
CREATED_WITH = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode")
INDEX_PARTS = ("IndexName", "KeySchema", "Projection")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads a template whatever functions are in it; the value of one is unknown (None)."""


_Loader.add_multi_constructor("!", lambda loader, suffix, node: None)  # noqa: ARG005


def create_table(client: DynamoDBClient, name: str) -> None:
    """Create the table, unless it is there, and wait until it takes writes. Raises TemplateError, and what the client
    raises.

    Time to live is left off, as it is on a new table: a stand-in would compare ``expires_at`` with its own clock, and
    DynamoDB Local stops removing rows at the first one without index keys. Readers look at ``expires_at`` themselves.
    """
    with suppress(client.exceptions.ResourceInUseException):
        client.create_table(**table_parameters(name))
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})


def table_parameters(name: str) -> Any:
    """The parameters of ``create_table``. Raises TemplateError when the template does not define the table, or a value
    that they need is not a plain one."""
    defined = table_properties()
    parameters: dict[str, Any] = {part: defined[part] for part in CREATED_WITH}
    parameters["GlobalSecondaryIndexes"] = [
        {part: index[part] for part in INDEX_PARTS} for index in defined["GlobalSecondaryIndexes"]
    ]
    parameters["StreamSpecification"] = {"StreamEnabled": True, **defined["StreamSpecification"]}
    if _has_unknown(parameters):
        raise TemplateError(f"{TABLE}: its schema is not written out")
    return {"TableName": name, **parameters}


def table_properties() -> Mapping[str, Any]:
    """What the template says of the table. Raises TemplateError."""
    document = yaml.load(TEMPLATE.read_text(encoding="utf-8"), _Loader)  # noqa: S506  (a subclass of the safe loader)
    resource = document["Resources"].get(TABLE)
    if resource is None:
        raise TemplateError(f"{TEMPLATE.name} does not define {TABLE}")
    properties: Mapping[str, Any] = resource["Properties"]
    return properties


def _has_unknown(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_unknown, value.values()))
    return any(map(_has_unknown, value)) if isinstance(value, list) else value is None
