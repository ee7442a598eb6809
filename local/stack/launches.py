"""How each server is started: its command, its environment, and how to see that it is up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from local.stack.jars import HERE, Server, java

SMALL_JVM: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8")
"""One collector thread and the quick compiler: half the memory and half the start of the defaults."""

LIST_TABLES: Final = {
    "X-Amz-Target": "DynamoDB_20120810.ListTables",
    "Content-Type": "application/x-amz-json-1.0",
    "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host, Signature=0",
}
"""DynamoDB Local wants a signature to be there and does not check it."""


@dataclass(frozen=True, slots=True)
class Launch:
    """``ready_line`` stands in the log once the server has its port: an answer alone could be a stranger's. Then
    ``probe`` is asked; it reaches the server's storage where a plain look does not show that it works. An answer with
    another status than ``status``, or ``broken_line`` in the log, means that the server never will work."""

    command: list[str]
    ready_line: str
    probe: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    broken_line: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


def launch_of(server: Server, jars: Path, data: Path, port: int) -> Launch:
    """``jars``: the cache folder. ``data``: an existing folder of this server alone."""
    return _LAUNCHES[server](jars / server, data, port)


def _opensearch(jars: Path, data: Path, port: int) -> Launch:
    command = _java(jars, 384, "OpenSearchNode", str(data), str(port), more_jars=f":{jars}/knn/*")
    # GET / and not the cluster's health, which waits for what a fresh node does not have.
    return Launch(command, "READY", "/")


def _dynamodb(jars: Path, data: Path, port: int) -> Launch:
    native = (f"-Djava.library.path={jars}/lib", f"-Dsqlite4java.library.path={jars}/lib")
    arguments = ("-port", str(port), "-dbPath", str(data), "-sharedDb", "-disableTelemetry")
    return Launch(
        _java(jars, 256, "DynamoDbOnLoopback", *arguments, options=native),
        ready_line="READY",
        probe="/",
        headers=LIST_TABLES,
        body=b"{}",
    )


def _sqs(jars: Path, data: Path, port: int) -> Launch:
    config = f"-Dconfig.file={HERE / 'elasticmq.conf'}"
    return Launch(
        _java(jars, 192, "org.elasticmq.server.Main", options=(config,)),
        ready_line="started in",
        probe="/?Action=ListQueues",
        # Without its database it would go on, and keep nothing.
        broken_line="ActorInitializationException",
        environment={"SQS_PORT": str(port), "SQS_DATA": str(data)},
    )


def _s3(jars: Path, data: Path, port: int) -> Launch:
    store = f"-Djclouds.filesystem.basedir={data}"
    options = (f"-Ds3proxy.endpoint=http://127.0.0.1:{port}", store, f"-Dlogback.configurationFile={HERE}/logback.xml")
    return Launch(
        _java(jars, 128, "org.gaul.s3proxy.Main", "--properties", str(HERE / "s3proxy.conf"), options=options),
        ready_line="Started ogsoejs.ServerConnector",
        probe="/",
        # Like S3, it lists no buckets for somebody without a signature.
        status=403,
    )


_LAUNCHES: Final = {
    Server.OPENSEARCH: _opensearch,
    Server.DYNAMODB: _dynamodb,
    Server.SQS: _sqs,
    Server.S3: _s3,
}


def _java(
    jars: Path, heap_mb: int, main: str, *arguments: str, options: tuple[str, ...] = (), more_jars: str = ""
) -> list[str]:
    classpath = f"{jars}/classes:{jars}/lib/*{more_jars}"
    virtual_machine = [java(), f"-Xmx{heap_mb}m", *SMALL_JVM, *options, "-cp", classpath]
    return [*virtual_machine, "EndWithParent", main, *arguments]
