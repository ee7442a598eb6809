"""Class archives: each JVM maps what an earlier one has loaded and verified already, instead of doing it again. Half
the processor time of a start: OpenSearch 5.5 s instead of 9.9, ElasticMQ 1.8 instead of 4.2, S3Proxy 1.1 instead of 2.1
(JDK 17, two cores). A start works the same without them."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from local.stack.jars import Server

ARCHIVED: Final = (Server.OPENSEARCH, Server.SQS, Server.S3)
"""Not DynamoDB Local: its jar names its own folder in the class path, and the JVM archives nothing from folders."""


@dataclass(frozen=True, slots=True)
class Archive:
    """``classes``: the wrapper in a jar, for the same reason. ``made``: what the JVM has written."""

    classes: Path
    made: Path


def archive_of(jars: Path, server: Server) -> Archive | None:
    """``jars``: the cache folder. None where there is none for this server."""
    archive = _archive(jars, server)
    return archive if archive.made.exists() else None


def missing_archives(jars: Path) -> list[Server]:
    return [server for server in ARCHIVED if archive_of(jars, server) is None]


def to_be_made(jars: Path, server: Server) -> Archive:
    """An archive for a JVM to write at its end; ``keep`` then takes it."""
    archive = _archive(jars, server)
    archive.classes.parent.mkdir(exist_ok=True)
    if not archive.classes.exists():
        _pack(jars / server / "classes", archive.classes)
    return Archive(archive.classes, Path(tempfile.mkdtemp(dir=archive.classes.parent)) / archive.made.name)


def keep(jars: Path, server: Server, written: Archive) -> None:
    """Does nothing when the JVM wrote none."""
    if written.made.exists():
        written.made.replace(_archive(jars, server).made)
    shutil.rmtree(written.made.parent)


def _archive(jars: Path, server: Server) -> Archive:
    folder = jars.with_suffix(".archives")
    return Archive(folder / f"{server}.jar", folder / f"{server}.jsa")


def _pack(classes: Path, jar: Path) -> None:
    """Whole or not there: an archive is good for the one jar that it was made with."""
    with tempfile.TemporaryDirectory(dir=jar.parent) as folder:
        partial = Path(folder) / jar.name
        with zipfile.ZipFile(partial, "w") as packed:
            for file in sorted(classes.iterdir()):
                packed.write(file, file.name)
        partial.replace(jar)
