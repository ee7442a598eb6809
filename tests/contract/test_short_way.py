"""What a call gives by the short way is what botocore gives without it, refusals included."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError, ParamValidationError

from local.aws.data_definitions import create_table
from local.aws.local_servers import local_session
from local.aws.short_way import CALLS
from neve.adapters.aws.clients import Service, aws_client
from tests.servers import dynamodb_url, sqs_url

KEY = {"pk": {"S": "P"}, "sk": {"S": "é\n"}}
NO_KEY = {**KEY, "sk": {"S": "none"}}
ROW: dict[str, Any] = {
    **KEY,
    "B": {"S": "no bytes"},
    "bytes": {"B": b"\x00\xff"},
    "nothing": {"L": []},
    "deep": {"M": {"B": {"B": b"x"}, "n": {"N": "1.50"}, "b": {"BOOL": False}, "NS": {"NS": ["1"]}, "m": {"M": {}}}},
}
NEW = {"ConditionExpression": "attribute_not_exists(pk)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
OF_THE_CALL = {"ResponseMetadata", "NextShardIterator", "eventID", "ApproximateCreationDateTime"}
OF_THE_CALL |= {"MessageId", "ReceiptHandle", "SentTimestamp", "SequenceNumber", "ApproximateFirstReceiveTimestamp"}
Parameters = dict[str, Any]


class Ways:
    """The same calls of a service by either way. ``answers``: to the last one, whole."""

    def __init__(self, service: Service, url: str) -> None:
        self.called: set[str] = set()
        self.answers: list[Any] = []
        whose = uuid4().hex
        self.clients: list[Any] = []
        for short in (False, True):
            session = local_session(f"{whose}{short}", short_way=short)
            client: Any = aws_client(service, endpoint_url=url, session=session)
            client.meta.events.register("provide-client-params", lambda model, **_: self.called.add(model.name))
            self.clients.append(client)

    def same(self, call: str, *each: Parameters, **parameters: Any) -> Any:
        """What both answered, or refused. ``each``: what only the one and what only the other is called with."""
        given = zip(self.clients, each or ({}, {}), strict=True)
        self.answers = [outcome(partial(getattr(client, call), **parameters, **own)) for client, own in given]
        by_botocore, by_short_way = map(comparable, self.answers)
        assert by_short_way == by_botocore
        return by_short_way


def outcome(call: Callable[[], Any]) -> Any:
    try:
        answer = call()
        assert answer["ResponseMetadata"]["HTTPStatusCode"] == 200
        return answer
    except ClientError as error:
        assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 400
        return {"refused": type(error).__name__, "said": str(error), **error.response}
    except ParamValidationError as error:
        return str(error)


def comparable(value: Any) -> Any:
    """Without what is another one in every answer. Where botocore leaves an empty list out, it may be there."""
    if isinstance(value, dict):
        wanted = {name: part for name, part in value.items() if name not in OF_THE_CALL}
        return {name: comparable(part) for name, part in wanted.items() if (name, part) != ("Messages", [])}
    return [comparable(part) for part in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def tables() -> Ways:
    ways = Ways("dynamodb", dynamodb_url())
    for client in ways.clients:
        create_table(client, "neve")
    return ways


def test_rows(tables: Ways) -> None:
    same = partial(tables.same, TableName="neve")
    assert same("put_item", Item=ROW) == {}
    assert same("get_item", Key=KEY, ConsistentRead=True) == {"Item": ROW}
    assert same("get_item", Key=NO_KEY) == {}
    both = tables.same("batch_get_item", RequestItems={"neve": {"Keys": [KEY, NO_KEY]}})
    assert both == {"Responses": {"neve": [ROW]}, "UnprocessedKeys": {}}
    check = {"TableName": "neve", "Key": KEY, "ConditionExpression": "attribute_exists(pk)"}
    put = {"TableName": "neve", "Item": {**ROW, "sk": {"S": "z"}}}
    assert tables.same("transact_write_items", TransactItems=[{"Put": put}, {"ConditionCheck": check}]) == {}
    query = partial(
        same, "query", KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "P"}}, Limit=1
    )
    page = query()
    assert query(ExclusiveStartKey=page["LastEvaluatedKey"])["Items"] != page["Items"]
    assert same("delete_item", Key={**KEY, "sk": {"S": "z"}}) == {}
    assert same("get_item", Key={**KEY, "sk": {"S": "z"}}) == {}


def test_what_the_table_refuses(tables: Ways) -> None:
    for client in tables.clients:
        client.put_item(TableName="neve", Item=ROW)
    same = partial(tables.same, TableName="neve")
    refused = same("put_item", Item=ROW, **NEW)
    assert (refused["refused"], refused["Item"]) == ("ConditionalCheckFailedException", ROW)
    put = {"Put": {"TableName": "neve", "Item": ROW, **NEW}}
    refused = tables.same("transact_write_items", TransactItems=[put])
    assert refused["CancellationReasons"][0]["Item"] == ROW
    assert tables.same("get_item", TableName="none", Key=KEY)["Error"]["Code"] == "ResourceNotFoundException"
    assert same("get_item", Key={"pk": {"S": "P"}})["Error"]["Message"]
    assert "Invalid type" in same("get_item", Key=3)
    assert tables.called >= CALLS["dynamodb"]


def test_changes() -> None:
    """Both read one stream."""
    url, whose = dynamodb_url(), uuid4().hex
    table = aws_client("dynamodb", endpoint_url=url, session=local_session(whose))
    create_table(table, "neve")
    table.put_item(TableName="neve", Item=ROW)
    read = []
    for short in (False, True):
        streams = aws_client("dynamodbstreams", endpoint_url=url, session=local_session(whose, short_way=short))
        arn = table.describe_table(TableName="neve")["Table"]["LatestStreamArn"]
        [shard] = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        at = streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")
        page = streams.get_records(ShardIterator=at["ShardIterator"])
        assert page["NextShardIterator"]
        read.append(comparable(page))
    assert read[0] == read[1]
    assert read[0]["Records"][0]["dynamodb"]["NewImage"]["bytes"] == {"B": b"\x00\xff"}


def test_messages() -> None:
    ways = Ways("sqs", sqs_url())
    queues: list[Parameters] = []
    for client in ways.clients:
        made = client.create_queue(QueueName=f"{uuid4().hex}.fifo", Attributes={"FifoQueue": "true"})
        queues.append({"QueueUrl": made["QueueUrl"]})
    entry = {"Id": "0", "MessageBody": 'é{"B": "no bytes"}', "MessageGroupId": "g", "MessageDeduplicationId": "d"}
    assert [one["Id"] for one in ways.same("send_message_batch", *queues, Entries=[entry])["Successful"]] == ["0"]
    count = partial(ways.same, "get_queue_attributes", *queues, AttributeNames=["ApproximateNumberOfMessages"])
    assert count() == {"Attributes": {"ApproximateNumberOfMessages": "1"}}
    [found] = ways.same("receive_message", *queues, MessageSystemAttributeNames=["All"])["Messages"]
    assert (found["Body"], found["Attributes"]["MessageGroupId"]) == (entry["MessageBody"], "g")
    taken = [
        {**queue, "ReceiptHandle": answer["Messages"][0]["ReceiptHandle"]}
        for queue, answer in zip(queues, ways.answers, strict=True)
    ]
    assert ways.same("receive_message", *queues) == {}
    assert ways.same("change_message_visibility", *taken, VisibilityTimeout=9) == {}
    assert ways.same("delete_message", *taken) == {}
    assert count() == {"Attributes": {"ApproximateNumberOfMessages": "0"}}
    refused = ways.same("delete_message", *queues, ReceiptHandle="none")
    assert refused["refused"] == "ReceiptHandleIsInvalid"
    gone = [{"QueueUrl": f"{queue['QueueUrl'].removesuffix('.fifo')}-gone"} for queue in queues]
    for client_call in ("receive_message", "get_queue_attributes"):
        outcomes = {outcome(partial(getattr(client, client_call), **gone[0]))["refused"] for client in ways.clients}
        assert len(outcomes) == 1
    assert ways.called >= CALLS["sqs"]
