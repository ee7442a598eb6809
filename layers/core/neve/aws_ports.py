"""The managed stores as ``ports.engines.Ports``: what a deployed function works on.

A port is made when it is first read, with the packages that it alone needs: a function imports and connects to nothing
that it does not use."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from neve.adapters.clock import SystemClock, SystemIds, ThreadTasks
from neve.adapters.o200k import token_counter
from neve.caching import Caches
from neve.config import Settings, needed
from neve.domain.languages import ANY_LANGUAGE, ENGLISH
from neve.observing import Observer
from neve.ports.models import CrossEncoder, Embedder, ModelFiles
from neve.ports.objects import ObjectStore
from neve.ports.queue import Queue, QueueName
from neve.ports.receivers import Receivers
from neve.ports.search import IndexModel, SearchIndex
from neve.ports.table import Table

if TYPE_CHECKING:
    from boto3 import Session

    from neve.adapters.aws.secrets import Secrets


class AwsPorts:
    """The managed stores as ``ports.engines.Ports``. Reading a port raises SettingsError, naming the variable, when one
    is not set. ``session``: whose credentials and region to use instead of the process's."""

    def __init__(self, settings: Settings, session: Session | None = None) -> None:
        self._settings = settings
        self._session = session
        self.clock = SystemClock()
        self.ids = SystemIds()
        self.tasks = ThreadTasks(self.clock)
        self.caches = Caches(self.clock.now)
        self.counter = token_counter

    @cached_property
    def table(self) -> Table:
        from neve.adapters.aws.clients import aws_client
        from neve.adapters.dynamodb.table import DynamoDbTable
        from neve.readable_table import ReadableTable

        client = aws_client("dynamodb", session=self._session)
        return ReadableTable(DynamoDbTable(client, needed(self._settings.table, "table")), self.caches, self.clock.now)

    @cached_property
    def objects(self) -> ObjectStore:
        from neve.adapters.aws.clients import aws_client
        from neve.adapters.aws.s3_objects import S3Objects

        return S3Objects(aws_client("s3", session=self._session), needed(self._settings.bucket, "bucket"))

    @cached_property
    def queue(self) -> Queue:
        from neve.adapters.aws.clients import aws_client
        from neve.adapters.aws.sqs_queue import SqsQueue

        urls = {name: getattr(self._settings, queue_field(name)) for name in QueueName}
        return SqsQueue(aws_client("sqs", session=self._session), {name: url for name, url in urls.items() if url})

    @cached_property
    def search(self) -> SearchIndex:
        if self._settings.search == "segments":
            from neve.adapters.segments.index import SegmentsIndex

            return SegmentsIndex(
                self.table,
                self.objects,
                self._model,
                clock=self.clock,
                ids=self.ids,
                tasks=self.tasks,
                caches=self.caches,
                cache_bytes=_memory_bytes() // 4,
            )
        from neve.adapters.opensearch.client import open_search_client
        from neve.adapters.opensearch.index import ALIAS, OpenSearchIndex

        endpoint = needed(self._settings.search_endpoint, "search_endpoint")
        return OpenSearchIndex(open_search_client(endpoint), ALIAS, self._model, caches=self.caches)

    @property
    def _model(self) -> IndexModel:
        """Give the model whose vectors an index is made for: a function that writes words only needs no embedder to
        know it."""
        if self._settings.embedder == "none":
            from neve.adapters.embedders import no_embedder

            return no_embedder.MODEL
        if self._settings.embedder == "titan":
            from neve.adapters.embedders import titan_embedder

            return titan_embedder.MODEL
        from neve.adapters.embedders import bge_small

        return bge_small.MODEL

    @cached_property
    def embedder(self) -> Embedder:
        if self._settings.embedder == "none":
            from neve.adapters.embedders.no_embedder import NoEmbedder

            return NoEmbedder()
        if self._settings.embedder == "titan":
            from neve.adapters.aws.clients import aws_client
            from neve.adapters.embedders.titan_embedder import TitanEmbedder

            return TitanEmbedder(aws_client("bedrock-runtime", session=self._session))
        from neve.adapters.embedders.bge_small import BgeSmall

        return BgeSmall(needed(self._settings.encoder_dir, "encoder_dir"))

    @cached_property
    def multi(self) -> Embedder | None:
        """Make the encoder of many languages; its files are fetched from the bucket when the first tenant needs
        them. Titan knows many languages itself."""
        if self._settings.embedder != "bge-small":
            return None
        from neve.adapters.embedders.multi_e5 import MultilingualE5

        return MultilingualE5(self._optional_models, self._settings.encoder_dir)

    @cached_property
    def cross_encoder(self) -> CrossEncoder | None:
        """Make the cross-encoder; its files are fetched from the bucket when the first call needs them."""
        if self._settings.encoder_dir is None or self._settings.embedder == "none":
            return None
        from neve.adapters.embedders.cross_encoder import MiniLmCrossEncoder

        return MiniLmCrossEncoder(self._optional_models)

    @cached_property
    def _optional_models(self) -> ModelFiles:
        from neve.adapters.model_files import BucketFiles

        return BucketFiles(lambda: self.objects, Path(gettempdir()) / "neve-models")

    @cached_property
    def observer(self) -> Observer:
        if self._settings.observer == "extractive":
            from neve.observers.extractive.observer import ExtractiveObserver

            return ExtractiveObserver()
        from neve.adapters.models.anthropic_model import DEFAULT_MODEL
        from neve.adapters.models.anthropic_when_asked import AnthropicWhenAsked, bedrock_when_asked, with_key
        from neve.domain.observe.time_limits import PASS_S
        from neve.observers.prompted import PromptedObserver

        given = self._settings
        if given.observer == "bedrock":
            name = needed(given.bedrock_model, "bedrock_model")
            return PromptedObserver(bedrock_when_asked(name, given.bedrock_region), name, PASS_S)
        model = AnthropicWhenAsked(self._anthropic_key, with_key(given.anthropic_base_url))
        return PromptedObserver(model, DEFAULT_MODEL, PASS_S, batches=model)

    @property
    def observer_languages(self) -> tuple[str, ...]:
        return (ENGLISH,) if self._settings.observer == "extractive" else (ANY_LANGUAGE,)

    @cached_property
    def receivers(self) -> Receivers:
        from neve.adapters.https_receivers import HttpsReceivers

        return HttpsReceivers()

    def make_all(self) -> None:
        """Make every port that the environment names. Raises SettingsError."""
        given = self._settings
        wanted = {
            "table": given.table,
            "objects": given.bucket,
            "queue": any(getattr(given, queue_field(name)) for name in QueueName),
            "embedder": given.encoder_dir or (given.search_endpoint and given.embedder != "bge-small"),
            "search": (given.search == "segments" or given.search_endpoint)
            and (given.encoder_dir or given.embedder != "bge-small"),
        }
        for name in (name for name, is_named in wanted.items() if is_named):
            getattr(self, name)

    def _anthropic_key(self) -> str:
        return self._secrets.read(needed(self._settings.anthropic_secret, "anthropic_secret"))

    @cached_property
    def _secrets(self) -> Secrets:
        from neve.adapters.aws.clients import aws_client
        from neve.adapters.aws.secrets import Secrets

        return Secrets(aws_client("secretsmanager", session=self._session), self.caches)


def _memory_bytes() -> int:
    """Give the memory that Lambda gives the process; elsewhere that of a function which recalls."""
    return int(os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1769")) * 1_000_000


def queue_field(queue: QueueName) -> str:
    """Name the setting that holds a queue's URL."""
    return f"{queue.replace('-', '_')}_queue_url"
