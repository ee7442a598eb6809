"""Where real servers hold a text: each store is asked by its own API for everything that it has.

The table's stream is asked apart: it keeps what a change was before and after for 24 h, and nobody can take a record
out of it (docs/rules/erase.md#copies)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from local.aws.local_servers import READ_S, local_session
from local.controls.raw_search import Found
from neve.adapters.aws.clients import aws_client
from neve.adapters.aws.errors import translated
from neve.adapters.opensearch.client import open_search_client
from neve.adapters.opensearch.documents import feature, stored_term
from neve.domain.terms import terms
from neve.ports.errors import StoreUnavailable

if TYPE_CHECKING:
    from opensearchpy import OpenSearch
    from types_boto3_sqs import SQSClient

READERS = 8
"""Objects that are read beside each other."""
PEEK_S = 30
"""A message that is looked at is hidden so long at most: it is given back at once."""
EXPUNGE = "index.merge.policy.expunge_deletes_allowed"
"""Percent of a segment that may be deleted without its being merged: 10 unless it is said."""
EXPUNGED_S, LOOK_S = 90.0, 0.1
WITH_WORDS = (
    *("own", "words", "tags", "metadata", "paths", "category", "group"),
    *("session_id", "fingerprint", "item_id", "user"),
)
"""Fields whose terms come from what people said or named."""
PAGE = 1_000


class StoredText:
    """``name``: whose table and bucket; ``alias``: in front of the names of the search indexes; ``queues``: the URLs by
    name, dead-letter queues included. Clients of its own: what a function may do is recorded elsewhere."""

    def __init__(self, name: str, queues: Mapping[str, str], search_url: str, alias: str) -> None:
        self._name, self._queues, self._search_url, self._alias = name, queues, search_url, alias
        session = local_session(name.replace("-", ""))
        self._client: Callable[[Any], Any] = cache(partial(aws_client, session=session))

    def find(self, text: str) -> list[Found]:
        """A place begins with what it is: row, object, message, passage or term of the search index. Raises
        StoreUnavailable, also for a queue in which something is in flight: nobody can look at that."""
        with translated("stored"):
            found = [
                *_rows(self._client("dynamodb"), text),
                *_objects(self._client("s3"), self._name, text),
                *_messages(self._client("sqs"), self._queues, text),
            ]
        with closing(open_search_client(self._search_url, read_s=READ_S)) as client:
            return found + _passages(client, f"{self._alias}*", text)

    def find_in_stream(self, text: str) -> list[Found]:
        """The records of the change streams of these credentials, in the order in which they were written. Raises
        StoreUnavailable."""
        with translated("stored"):
            return list(_records(self._client("dynamodbstreams"), text))


# --- table, objects, queues -----------------------------------------------------------------------


def _rows(client: Any, text: str) -> Iterator[Found]:
    """Of every table of these credentials. Its indexes are copies of it."""
    for table in (name for page in client.get_paginator("list_tables").paginate() for name in page["TableNames"]):
        for page in client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
            for item in page["Items"]:
                if count := _times(item, text):
                    yield Found(f"row {table}/{item['pk']['S']}/{item['sk']['S']}", count)


def _records(client: Any, text: str) -> Iterator[Found]:
    """Up to the end of each shard; of one that is open, up to where nothing has been written."""
    for stream in client.list_streams()["Streams"]:
        described = client.describe_stream(StreamArn=stream["StreamArn"])["StreamDescription"]
        for shard in described["Shards"]:
            place = {"StreamArn": stream["StreamArn"], "ShardId": shard["ShardId"]}
            iterator = client.get_shard_iterator(**place, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
            while iterator:
                page = client.get_records(ShardIterator=iterator, Limit=PAGE)
                for record in page["Records"]:
                    if count := _times(record["dynamodb"], text):
                        keys = record["dynamodb"]["Keys"]
                        place_of_row = f"{described['TableName']}/{keys['pk']['S']}/{keys['sk']['S']}"
                        yield Found(f"{record['eventName']} {place_of_row}", count)
                iterator = page.get("NextShardIterator") if page["Records"] else None


def _times(value: Any, text: str) -> int:
    """In the names and values of an item, as the API types them."""
    if isinstance(value, str):
        return value.count(text)
    if isinstance(value, bytes):
        return value.count(text.encode())
    if isinstance(value, Mapping):
        return sum(_times(part, text) for pair in value.items() for part in pair)
    return sum(_times(part, text) for part in value) if isinstance(value, list | tuple | set) else 0


def _objects(client: Any, bucket: str, text: str) -> Iterator[Found]:
    def times(key: str) -> int:
        try:
            body: bytes = client.get_object(Bucket=bucket, Key=key)["Body"].read()
        except client.exceptions.NoSuchKey:
            return 0
        return body.count(text.encode()) + key.count(text)

    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    keys = [one["Key"] for page in pages for one in page.get("Contents", ())]
    with ThreadPoolExecutor(READERS) as pool:
        for key, count in zip(keys, pool.map(times, keys), strict=True):
            if count:
                yield Found(f"object {bucket}/{key}", count)


def _messages(client: SQSClient, queues: Mapping[str, str], text: str) -> Iterator[Found]:
    """Of one FIFO group after the other the first ten, which is all that SQS shows."""
    for name, url in queues.items():
        states = client.get_queue_attributes(
            QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        )["Attributes"]
        if int(states["ApproximateNumberOfMessagesNotVisible"]):
            raise StoreUnavailable("queue", f"messages of {name} are in flight: drain first")
        if int(states["ApproximateNumberOfMessages"]):
            yield from (Found(f"message {name}/{where}", count) for where, count in _peeked(client, url, text))


def _peeked(client: SQSClient, url: str, text: str) -> list[tuple[str, int]]:
    seen: dict[str, tuple[str, int]] = {}
    while True:
        answer = client.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=10,
            VisibilityTimeout=PEEK_S,
            WaitTimeSeconds=0,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        if not answer.get("Messages"):
            break
        for message in answer["Messages"]:
            seen[message["ReceiptHandle"]] = (message["MessageId"], _times(dict(message), text))
    for receipt in seen:
        client.change_message_visibility(QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=0)
    return [(where, count) for where, count in seen.values() if count]


# --- the search index -----------------------------------------------------------------------------


def _passages(client: OpenSearch, indexes: str, text: str) -> list[Found]:
    """Every document that says it in what it gives back, or that a term of it leads to. Where there is none, the terms
    of the segments: those of a deleted document stay until its segment is merged, which is done here, once OpenSearch
    has let go of what was deleted (``OpenSearchNode.LetsGoSoon``)."""
    client.indices.refresh(index=indexes)
    if found := list(_documents(client, indexes, text)):
        return found
    client.indices.put_settings(index=indexes, body={EXPUNGE: "0"})
    end = time.monotonic() + EXPUNGED_S
    while (left := _terms_left(client, indexes, text)) and time.monotonic() < end:
        client.indices.forcemerge(index=indexes, params={"only_expunge_deletes": "true"})
        client.indices.refresh(index=indexes)
        time.sleep(LOOK_S)
    client.indices.put_settings(index=indexes, body={EXPUNGE: None})
    return left


def _documents(client: OpenSearch, indexes: str, text: str) -> Iterator[Found]:
    for hit in _all(client, indexes, {"match_all": {}}):
        if count := json.dumps(hit, ensure_ascii=False).count(text):
            yield Found(f"passage {hit['_index']}/{hit['_id']}", count)
    documents = [_holding(field, text) for field in WITH_WORDS]
    around = [{"rank_feature": {"field": f"terms.{feature(stored_term(term))}"}} for term in terms(text)]
    for hit in _all(
        client, indexes, {"bool": {"should": [*documents, {"bool": {"must": around}}] if around else documents}}
    ):
        yield Found(f"passage {hit['_index']}/{hit['_id']}", 1)


def _all(client: OpenSearch, indexes: str, query: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    page = client.search(index=indexes, scroll="1m", body={"query": query, "size": PAGE, "sort": ["_doc"]})
    while page["hits"]["hits"]:
        yield from page["hits"]["hits"]
        page = client.scroll(body={"scroll_id": page["_scroll_id"], "scroll": "1m"})
    client.clear_scroll(body={"scroll_id": [page["_scroll_id"]]})


def _holding(field: str, text: str, **more: Any) -> dict[str, Any]:
    return {"wildcard": {field: {"value": f"*{text.casefold()}*", "case_insensitive": True, **more}}}


def _terms_left(client: OpenSearch, indexes: str, text: str) -> list[Found]:
    counts = {field: len(_dictionary(client, indexes, field, text)) for field in WITH_WORDS}
    return [Found(f"term {indexes}/{field}", count) for field, count in counts.items() if count]


def _dictionary(client: OpenSearch, indexes: str, field: str, text: str) -> list[str]:
    """What a pattern for the text becomes in each shard: the terms that there are, whoever they were of."""
    answer = client.indices.validate_query(
        index=indexes,
        body={"query": _holding(field, text, rewrite="scoring_boolean")},
        params={"explain": "true", "rewrite": "true", "all_shards": "true"},
    )
    return [one["explanation"] for one in answer["explanations"] if text.casefold() in one["explanation"].casefold()]
