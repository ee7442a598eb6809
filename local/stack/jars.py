"""What the servers consist of, fetched by Maven once and kept in a cache folder.

``pom.xml`` pins the servers' versions, ``jars.sha256`` the content of every file that Maven brings for them, the
dependencies of dependencies included. The cache folder is named after both and after the wrappers' sources, so another
version of any of them is another folder."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
POM, SUMS, JAVA = HERE / "pom.xml", HERE / "jars.sha256", HERE / "java"
DEFAULT_CACHE: Final = "~/.cache/neve/stack"
JAVA_RELEASE: Final = 17
COMPILER: Final = ("-m", "jdk.compiler/com.sun.tools.javac.Main")
"""The compiler of the ``java`` that will run the servers, whatever ``javac`` may be first in the path."""
LAST_OUTPUT: Final = 3_000
"""Characters of a tool's output that an error repeats."""


class Server(StrEnum):
    OPENSEARCH = "opensearch"
    DYNAMODB = "dynamodb"
    SQS = "sqs"
    S3 = "s3"


WRAPPERS: Final = {
    Server.OPENSEARCH: "OpenSearchNode.java",
    Server.DYNAMODB: "DynamoDbOnLoopback.java",
    Server.SQS: "ElasticMqOnDatabase.java",
}
RUNS_EVERY_SERVER: Final = "EndWithParent.java"


class CannotFetch(Exception):
    """The servers could not be downloaded or built, or are not the pinned ones."""


@cache
def available() -> str | None:
    """None, or the reason why servers cannot run here. Looked up once a process: 0.4 s."""
    version = _java_version()
    if version is None:
        return f"no JDK {JAVA_RELEASE} or newer: neither JAVA_HOME nor the path leads to a java that can compile"
    if version < JAVA_RELEASE:
        return f"no JDK {JAVA_RELEASE} or newer: {java()} is version {version}"
    if platform.system() == "Linux" and platform.machine() != "x86_64":
        return f"DynamoDB Local has no SQLite library for Linux on {platform.machine()}"
    if shutil.which("mvn") is None and not cache_folder().is_dir():
        return "no Maven: there is no mvn in the path to fetch the servers with"
    return None


def java() -> str:
    """The program that runs the servers: that of JAVA_HOME, else the first in the path."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"


def cache_folder() -> Path:
    """Where the servers of this version are kept, whether or not they are there. NEVE_STACK_CACHE moves it."""
    digest = hashlib.sha256()
    for source in (POM, SUMS, *sorted(JAVA.glob("*.java"))):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    parent = Path(os.environ.get("NEVE_STACK_CACHE") or DEFAULT_CACHE).expanduser().absolute()
    return parent / digest.hexdigest()[:16]


def fetched_jars() -> Path:
    """The cache folder, filled first when it is missing: ``<server>/lib`` and ``<server>/classes`` for every server.

    Processes that ask at the same time wait for the one that fetches; one that dies meanwhile leaves nothing that is
    taken for complete. Says in one line on stderr that it fetches. Raises CannotFetch."""
    folder = cache_folder()
    if folder.is_dir():
        return folder
    reason = available()
    if reason is not None:
        raise CannotFetch(reason)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_suffix(".lock")):
        if not folder.is_dir():
            _say("Fetching OpenSearch, DynamoDB Local, ElasticMQ and S3Proxy (once, 195 MB) …")
            partial = folder.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            _fill(partial)
            partial.rename(folder)
    return folder


def _fill(folder: Path) -> None:
    for server in Server:
        _resolve(server, folder / server)
    _check_sums(folder)
    for server in Server:
        _compile(server, folder / server)


def _resolve(server: Server, folder: Path) -> None:
    """With the user's own Maven settings and repository; ``-C``: a wrong checksum is an error, not a warning."""
    command = ["mvn", "-q", "-B", "-C", "-f", str(POM), f"-Dserver={server}", f"-Dout={folder}", "package"]
    _run(command, f"Maven could not fetch {server}")
    shutil.rmtree(folder / "maven", ignore_errors=True)


def _compile(server: Server, folder: Path) -> None:
    sources = [str(JAVA / name) for name in (WRAPPERS.get(server), RUNS_EVERY_SERVER) if name]
    libraries = os.pathsep.join(str(jar) for jar in sorted(folder.glob("lib/*.jar")))
    options = ["--release", str(JAVA_RELEASE), "-classpath", libraries, "-d", str(folder / "classes")]
    _run([java(), *COMPILER, *options, *sources], f"the wrapper of {server} could not be compiled")


def _run(command: list[str], failure: str) -> None:
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise CannotFetch(f"{failure}:\n{done.stdout[-LAST_OUTPUT:]}")


# --- sums ---------------------------------------------------------------------------------------


def sums_of(folder: Path) -> str:
    """A line ``<sha256>  <path>`` for every file under ``folder``, sorted by path: the content of ``jars.sha256``."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "".join(f"{_sha256(path)}  {path.relative_to(folder)}\n" for path in files)


def _check_sums(folder: Path) -> None:
    expected, found = set(SUMS.read_text().splitlines()), set(sums_of(folder).splitlines())
    if expected != found:
        differing = sorted({line.split("  ", 1)[1] for line in expected ^ found})
        raise CannotFetch(f"{len(differing)} files are not as {SUMS.name} has them: {', '.join(differing[:10])}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- the machine --------------------------------------------------------------------------------


def _java_version() -> int | None:
    """The feature release of the JDK, such as 17. None without one."""
    try:
        done = subprocess.run([java(), *COMPILER, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    found = re.search(r"javac (\d+)", done.stdout + done.stderr)
    return int(found[1]) if done.returncode == 0 and found else None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("Waiting for another process that fetches the servers …")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
