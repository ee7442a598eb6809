"""How each server is started: its command, its environment, and how to see that it is up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from local.stack.archives import Archive, archive_of
from local.stack.jars import HERE, Server, java

SMALL_JVM: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8")
"""One collector thread and the quick compiler: half the memory and half the start of the defaults."""

ONE_DATABASE: Final = "-sharedDb"
SYNC_WRITES: Final = ";WRITE_DELAY=0"
"""ElasticMQ's database writes half a second later without it, and a kill would lose a message just accepted."""

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
    another status than ``status`` means that the server never will work."""

    command: list[str]
    ready_line: str
    probe: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


def launch_of(
    server: Server, jars: Path, data: Path, port: int, to_write: Archive | None = None, *, for_many: bool = False
) -> Launch:
    """``jars``: the cache folder. ``data``: an existing folder of this server alone. ``to_write``: the class archive
    that the JVM writes at its end; without it, it uses the one that is there. ``for_many``: for as long as it runs
    alone. DynamoDB Local keeps a database for each access key: in one, all tables share a stream of changes, and every
    read of it takes longer. ElasticMQ does not write every message before it answers: two fifths of its processor
    time."""
    launch = _LAUNCHES[server](_Classes(jars / server, archive_of(jars, server), to_write), data, port)
    if not for_many:
        return launch
    return replace(
        launch,
        command=[part for part in launch.command if part != ONE_DATABASE],
        environment={name: value.removesuffix(SYNC_WRITES) for name, value in launch.environment.items()},
    )


@dataclass(frozen=True, slots=True)
class _Classes:
    """``folder``: of the server's jars."""

    folder: Path
    archive: Archive | None
    to_write: Archive | None

    def options(self, more_jars: str = "") -> list[str]:
        """Where the JVM finds the classes."""
        own, flags = self.folder / "classes", list[str]()
        if self.to_write is not None:
            own, flags = self.to_write.classes, [f"-XX:ArchiveClassesAtExit={self.to_write.made}"]
        elif self.archive is not None:
            own, flags = self.archive.classes, [f"-XX:SharedArchiveFile={self.archive.made}"]
        return [*flags, "-cp", f"{own}:{self.folder}/lib/*{more_jars}"]


def _opensearch(classes: _Classes, data: Path, port: int) -> Launch:
    command = _java(classes, 512, "OpenSearchNode", str(data), str(port), more_jars=f":{classes.folder}/knn/*")
    # GET / and not the cluster's health, which waits for what a fresh node does not have.
    return Launch(command, "READY", "/")


def _dynamodb(classes: _Classes, data: Path, port: int) -> Launch:
    libraries = classes.folder / "lib"
    native = (f"-Djava.library.path={libraries}", f"-Dsqlite4java.library.path={libraries}")
    arguments = ("-port", str(port), "-dbPath", str(data), ONE_DATABASE, "-disableTelemetry")
    return Launch(
        _java(classes, 256, "DynamoDbOnLoopback", *arguments, options=native),
        ready_line="READY",
        probe="/",
        headers=LIST_TABLES,
        body=b"{}",
    )


def _sqs(classes: _Classes, data: Path, port: int) -> Launch:
    config = f"-Dconfig.file={HERE / 'elasticmq.conf'}"
    return Launch(
        _java(classes, 192, "ElasticMqOnDatabase", options=(config,)),
        ready_line="started in",
        probe="/?Action=ListQueues",
        environment={"SQS_PORT": str(port), "SQS_DATABASE": f"jdbc:h2:{data}/messages{SYNC_WRITES}"},
    )


def _s3(classes: _Classes, data: Path, port: int) -> Launch:
    store = f"-Djclouds.filesystem.basedir={data}"
    options = (f"-Ds3proxy.endpoint=http://127.0.0.1:{port}", store, f"-Dlogback.configurationFile={HERE}/logback.xml")
    return Launch(
        _java(classes, 128, "org.gaul.s3proxy.Main", "--properties", str(HERE / "s3proxy.conf"), options=options),
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
    classes: _Classes, heap_mb: int, main: str, *arguments: str, options: tuple[str, ...] = (), more_jars: str = ""
) -> list[str]:
    virtual_machine = [java(), f"-Xmx{heap_mb}m", *SMALL_JVM, *options, *classes.options(more_jars)]
    return [*virtual_machine, "EndWithParent", main, *arguments]
