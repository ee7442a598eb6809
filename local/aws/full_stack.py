"""The service on real servers of this machine, through the adapters that a deployed function works with: DynamoDB Local
and its stream, OpenSearch, ElasticMQ and an S3 server. ``make run STACK=full``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.aws.call_recorder import CallRecorder
from local.aws.data_definitions import create_table
from local.aws.dynamodb_stream import DynamoDbStream
from local.aws.local_servers import READ_S, local_session
from local.aws.queues import STACK, create_queues, without_delays
from local.aws.sqs_consumer import SqsBroker
from local.aws.stored_text import StoredText
from local.aws.writes import Writes
from local.backend import Choices, make_cross_encoder, make_embedder, make_multi, make_observer
from local.controls.raw_search import Found, find_raw
from local.controls.search_cut import ServerCut
from local.stack.servers import RunningServers, Server, start_servers
from local.stack.shared import SharedServers, name_of
from local.template import Template
from neve.adapters.aws.clients import aws_client
from neve.adapters.https_receivers import HttpsReceivers
from neve.adapters.opensearch.calls import Calls
from neve.adapters.opensearch.client import open_search_client
from neve.adapters.opensearch.index import ALIAS, OpenSearchIndex
from neve.adapters.opensearch.mapping import REFRESHED_EVERY
from neve.adapters.opensearch.places import prepare_index
from neve.aws_ports import AwsPorts, queue_field
from neve.config import Settings
from neve.observing import Observer
from neve.ports.models import CrossEncoder, Embedder
from neve.ports.queue import QueueName

if TYPE_CHECKING:
    from boto3 import Session

SERVERS = "servers"
REFRESHED_IN_TESTS = "50ms"
OWN = STACK
"""The name of table, bucket and queues on servers of its own, where nobody else has one."""
RECORD_VARIABLE = "NEVE_RECORD_CALLS"
"""Names a folder: which permissions every function used is written into it when the service stops."""


class FullStack(AwsPorts):
    """``local.engines.Engines``. Its servers are its own, and everything that they keep is below ``<folder>/servers``;
    or ``NEVE_SERVERS`` names shared ones (``local.stack.shared``). ``search_url`` and ``alias``: where its search index
    is."""

    holds = (SERVERS,)
    uploads = None

    def __init__(self, folder: Path, template: Template, choices: Choices, *, delays: bool) -> None:
        """``delays`` False: for tests, see ``create_queues``. Raises DidNotStart and CannotFetch."""
        self._folder = folder
        here = folder / SERVERS
        here.mkdir(parents=True, exist_ok=True)
        running = SharedServers.named() or start_servers(list(Server), here)
        shared = running if isinstance(running, SharedServers) else None
        self.servers = running if isinstance(running, RunningServers) else None
        try:
            name = name_of(here) if shared else OWN
            self.alias = f"{name}-passages" if shared else ALIAS
            self.elsewhere = (shared.folder,) if shared else ()
            self._choices = choices
            self._open(running.urls, name, template, here, delays=delays)
        except BaseException:
            self._stop_servers()
            raise

    def _open(
        self, servers: Mapping[Server, str], name: str, template: Template, folder: Path, *, delays: bool
    ) -> None:
        self._recorder = CallRecorder()
        _aim(servers)
        session = local_session(name.replace("-", ""), short_way=True)
        session.events.register("provide-client-params", self._recorder.aws_call)
        dynamodb, writes = aws_client("dynamodb", session=session), Writes()
        writes.watch(session)
        self.template = template if delays else without_delays(template)
        urls = create_queues(aws_client("sqs", session=session), template, delays=delays, prefix=name)
        create_table(dynamodb, name)
        _create_bucket(session, name)
        self.search_url = servers[Server.OPENSEARCH]
        super().__init__(_settings(name, self.search_url, urls), session)
        client = open_search_client(self.search_url, read_s=READ_S)
        self._recorder.watch(client)
        self.search_cut = ServerCut(client)
        self.search = OpenSearchIndex(client, self.alias, self.embedder.model, caches=self.caches)
        self._stored = StoredText(name, urls, self.search_url, self.alias)
        self._prepare_search(Calls(client), REFRESHED_IN_TESTS if not delays else REFRESHED_EVERY)
        self.broker = SqsBroker(aws_client("sqs", session=session), self.template.queues, urls, alone=True)
        self.changes = DynamoDbStream(
            aws_client("dynamodbstreams", session=session),
            dynamodb,
            name,
            folder / "stream-position.json",
            writes,
        )

    @property
    def queue(self) -> SqsBroker:
        """What is sent through it wakes the workers of this process."""
        return self.broker

    @cached_property
    def embedder(self) -> Embedder:
        return make_embedder(self._choices.embedder)

    @cached_property
    def multi(self) -> Embedder | None:
        return make_multi(self._choices.embedder)

    @cached_property
    def cross_encoder(self) -> CrossEncoder | None:
        return make_cross_encoder(self._choices.embedder)

    @cached_property
    def observer(self) -> Observer:
        return make_observer(self._choices)

    @property
    def observer_languages(self) -> tuple[str, ...]:
        return self.observer.languages

    @cached_property
    def receivers(self) -> HttpsReceivers:
        return HttpsReceivers(allow_loopback=self._choices.loopback_webhooks)

    def take_over(self) -> None:
        """As on AWS: what a dead process was working on comes back when its visibility timeout is over."""

    def expire(self, now: datetime) -> None:
        """Readers look at ``expires_at`` themselves; removing is the store's business."""

    def stored(self, text: str) -> list[Found]:
        """Of the servers by their APIs, of the rest of the data folder byte by byte."""
        files = find_raw([self._folder], text.encode())
        return [one for one in files if not one.place.startswith(f"{SERVERS}/")] + self._stored.find(text)

    def in_stream(self, text: str) -> list[Found]:
        """Of the change stream, in which it stays when it has left every store."""
        return self._stored.find_in_stream(text)

    def close(self) -> None:
        self.broker.close()
        self.changes.close()
        if os.environ.get(RECORD_VARIABLE):
            self._recorder.write(Path(os.environ[RECORD_VARIABLE]))
        self._stop_servers()

    def _prepare_search(self, calls: Calls, refreshed_every: str) -> None:
        """A write returns when it can be found, so its time is mostly the wait for the next refresh."""
        prepare_index(calls, self.alias, self.embedder.model)
        calls.refresh_every(self.alias, refreshed_every)

    def _stop_servers(self) -> None:
        if self.servers is not None:
            self.servers.stop()


def _aim(urls: Mapping[Server, str]) -> None:
    """Every client of this process that is made from now on talks to these servers."""
    for service, server in (
        ("DYNAMODB", Server.DYNAMODB),
        ("DYNAMODB_STREAMS", Server.DYNAMODB),
        ("SQS", Server.SQS),
        ("S3", Server.S3),
    ):
        os.environ[f"AWS_ENDPOINT_URL_{service}"] = urls[server]


def _settings(name: str, search: str, queues: dict[str, str]) -> Settings:
    urls: dict[str, Any] = {queue_field(queue): queues[queue] for queue in QueueName}
    return Settings(stage="local", table=name, bucket=name, search_endpoint=search, **urls)


def _create_bucket(session: Session, name: str) -> None:
    s3 = aws_client("s3", session=session)
    if name not in {bucket["Name"] for bucket in s3.list_buckets()["Buckets"]}:
        s3.create_bucket(Bucket=name)
