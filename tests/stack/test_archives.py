"""Class archives: made once, used by every later start, and missed by none."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.stack import archives, servers
from local.stack.archives import archive_of, keep, missing_archives, to_be_made
from local.stack.jars import Server, fetched_jars
from local.stack.launches import launch_of
from local.stack.servers import make_archives, start_servers
from tests.servers import need_servers


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder with S3Proxy and without archives."""
    need_servers()
    folder = tmp_path / "jars"
    folder.mkdir()
    (folder / Server.S3).symlink_to(fetched_jars() / Server.S3)
    monkeypatch.setattr(servers, "fetched_jars", lambda: folder)
    monkeypatch.setattr(archives, "ARCHIVED", (Server.S3,))
    return folder


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads Linux's table of mapped files")
def test_a_start_maps_the_archive_that_was_made_before(jars: Path, tmp_path: Path) -> None:
    assert missing_archives(jars) == [Server.S3]
    make_archives()
    assert missing_archives(jars) == []
    made = archive_of(jars, Server.S3)
    assert made is not None
    assert sorted(path.name for path in made.made.parent.iterdir()) == ["s3.jar", "s3.jsa"]
    with start_servers([Server.S3], tmp_path / "data") as running:
        assert str(made.made) in Path(f"/proc/{running.pids[Server.S3]}/maps").read_text()


def test_without_one_the_classes_come_from_their_folder(jars: Path, tmp_path: Path) -> None:
    command = " ".join(launch_of(Server.S3, jars, tmp_path, 1).command)
    assert f"-cp {jars}/s3/classes:" in command
    assert "Archive" not in command


def test_a_jvm_that_wrote_none_leaves_nothing(jars: Path) -> None:
    keep(jars, Server.S3, to_be_made(jars, Server.S3))
    assert archive_of(jars, Server.S3) is None
    assert [path.name for path in jars.with_suffix(".archives").iterdir()] == ["s3.jar"]
