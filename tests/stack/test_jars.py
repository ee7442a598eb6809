"""Fetching the servers, with a Maven and a Java of our own: what is checked, and that it happens once."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from local.stack import jars
from local.stack.__main__ import main
from local.stack.jars import CannotFetch, Server, fetched_jars

MAVEN = """#!/bin/sh
for argument in "$@"; do case $argument in -Dout=*) out=${argument#-Dout=} ;; esac; done
echo "$out" >> "$CALLS"
[ -z "$MAVEN_FAILS" ] || { echo "no way to the repository"; exit 1; }
mkdir -p "$out/lib" "$out/maven"
printf 'a jar' > "$out/lib/a.jar"
"""
JAVA = """#!/bin/sh
case "$*" in *-version*) echo "javac ${JAVA_FEATURE:-17}.0.1"; exit ;; esac
while [ "$1" != -d ]; do shift; done
mkdir -p "$2"
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which every run of Maven leaves a line. Everything around it is ours and empty."""
    _program(tmp_path / "bin" / "mvn", MAVEN)
    _program(tmp_path / "jdk" / "bin" / "java", JAVA)
    sums = tmp_path / "jars.sha256"
    sums.write_text(
        "".join(f"{hashlib.sha256(b'a jar').hexdigest()}  {server}/lib/a.jar\n" for server in sorted(Server))
    )
    monkeypatch.setattr(jars, "SUMS", sums)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    monkeypatch.setenv("NEVE_STACK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setattr(jars, "available", jars.available.__wrapped__)
    return tmp_path / "calls"


def test_they_are_fetched_once_each_in_a_run_of_its_own(calls: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = fetched_jars()
    assert fetched_jars() == folder == jars.cache_folder()
    assert sorted(path.name for path in folder.iterdir()) == sorted(Server)
    assert all((folder / server / "lib" / "a.jar").is_file() for server in Server)
    assert all((folder / server / "classes").is_dir() for server in Server)
    assert Counter(Path(line).name for line in calls.read_text().splitlines()) == Counter(list(Server))
    captured = capfd.readouterr().err.splitlines()
    assert len(captured) == 1
    assert re.fullmatch(r"Fetching OpenSearch, DynamoDB Local, ElasticMQ and S3Proxy \(once, \d+ MB\) …", captured[0])


def test_those_who_ask_at_once_wait_for_one_of_them(calls: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        folders = {future.result() for future in [pool.submit(fetched_jars) for _ in range(4)]}
    assert folders == {jars.cache_folder()}
    assert len(calls.read_text().splitlines()) == len(Server)


def test_what_a_killed_one_left_is_not_taken_for_complete(calls: Path) -> None:
    left = jars.cache_folder().with_suffix(".partial") / "opensearch" / "lib"
    left.mkdir(parents=True)
    (left / "half.jar").write_bytes(b"hal")
    assert not (fetched_jars() / "opensearch" / "lib" / "half.jar").exists()


def test_a_file_that_is_not_the_pinned_one_is_refused_by_name(calls: Path) -> None:
    pinned = jars.SUMS.read_text().splitlines(keepends=True)
    jars.SUMS.write_text("".join(["0" * 64 + pinned[0][64:], *pinned[1:], f"{'1' * 64}  sqs/lib/missing.jar\n"]))
    with pytest.raises(CannotFetch, match=r"2 files are not as jars\.sha256 has them: .*a\.jar, sqs/lib/missing\.jar"):
        fetched_jars()
    assert not jars.cache_folder().exists()


def test_a_failure_of_maven_is_told_in_its_words(
    calls: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MAVEN_FAILS", "1")
    assert main() == 1
    assert "Maven could not fetch opensearch:\nno way to the repository" in capsys.readouterr().err
    assert not jars.cache_folder().exists()


def test_without_a_jdk_or_maven_it_says_what_is_missing(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert jars.available() is None
    monkeypatch.setenv("JAVA_FEATURE", "11")
    assert jars.available() == f"no JDK 17 or newer: {calls.parent}/jdk/bin/java is version 11"
    monkeypatch.setenv("JAVA_HOME", str(calls.parent / "nowhere"))
    assert str(jars.available()).startswith("no JDK 17 or newer: neither JAVA_HOME nor the path")


def test_maven_is_not_missed_once_they_are_fetched(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = fetched_jars()
    (calls.parent / "bin" / "mvn").unlink()
    monkeypatch.setenv("PATH", "/bin-of-nobody")
    assert jars.available() is None
    assert fetched_jars() == fetched
    monkeypatch.setenv("NEVE_STACK_CACHE", str(calls.parent / "another"))
    assert str(jars.available()).startswith("no Maven")
    with pytest.raises(CannotFetch, match="no Maven"):
        fetched_jars()


def test_the_cache_folder_follows_every_source(calls: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = jars.cache_folder()
    other = tmp_path / "pom.xml"
    other.write_bytes(jars.POM.read_bytes() + b"\n")
    monkeypatch.setattr(jars, "POM", other)
    assert jars.cache_folder() != before


def test_the_sums_are_of_every_server_and_sorted() -> None:
    lines = jars.SUMS.read_text().splitlines()
    paths = [line.split("  ", 1)[1] for line in lines]
    assert all(re.fullmatch(r"[0-9a-f]{64}  [a-z0-9]+/(lib|knn)/\S+", line) for line in lines)
    assert paths == sorted(paths, key=lambda path: Path(path).parts)
    assert {path.split("/")[0] for path in paths} == set(Server)


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text)
    path.chmod(0o755)
