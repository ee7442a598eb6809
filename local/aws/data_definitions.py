"""The table as the template of the data stack defines it, for whoever has to create it without CloudFormation. There is
no second schema."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.cloudformation import TemplateError, has_intrinsics, read_yaml
from local.template import ROOT

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

TEMPLATE = ROOT / "infra" / "data.yaml"
TABLE = "Table"
"""Its logical id."""
CREATED_WITH = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode")
INDEX_PARTS = ("IndexName", "KeySchema", "Projection")


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
    if has_intrinsics(parameters):
        raise TemplateError(f"{TABLE}: its schema is not written out")
    return {"TableName": name, **parameters}


def table_properties() -> Mapping[str, Any]:
    """What the template says of the table. Raises TemplateError."""
    return _table_in(TEMPLATE)


@cache
def _table_in(template: Path) -> Mapping[str, Any]:
    """Read once a process: nobody changes it."""
    resource = read_yaml(template)["Resources"].get(TABLE)
    if resource is None:
        raise TemplateError(f"{template.name} does not define {TABLE}")
    properties: Mapping[str, Any] = resource["Properties"]
    return properties
