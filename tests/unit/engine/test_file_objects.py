"""What the folder of objects does beyond the contract."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cloudformation import read_yaml
from local.engine import file_objects
from local.engine.file_objects import DAYS, FileObjects, UploadHeaders
from local.engine.object_listing import Listings
from local.engine.object_paths import path_of, start_of
from local.template import ROOT
from neve.ports.errors import StoreUnavailable
from neve.store.keys import UPLOADS
from tests.contract.engines.registry import ManualClock

TEXT = "text/plain"
HOSTILE = [
    "..",
    ".",
    "../../etc/passwd",
    "a/../b",
    "./a",
    "a//b",
    "/a",
    "a/",
    "//",
    "%",
    "%2e",
    "line\nbreak",
    "nul\x00",
]
KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=250) | st.text(
    "aA./%^+=\u00e9", min_size=1, max_size=300
)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def files(tmp_path: Path, clock: ManualClock) -> FileObjects:
    return FileObjects(tmp_path / "o", clock, "http://here")


def as_the_worst_file_system_sees_it(path: PurePath) -> str:
    return unicodedata.normalize("NFKC", str(path)).casefold()


def touch(folder: Path, key: str) -> None:
    file = folder / path_of(key)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()


@given(key=KEYS)
def test_a_path_gives_its_key_back_and_is_tame(key: str) -> None:
    path = path_of(key)
    with TemporaryDirectory() as folder:
        touch(Path(folder), key)
        assert Listings(Path(folder)).all("") == [key]
    assert as_the_worst_file_system_sees_it(path) == str(path)
    assert all(part.strip(".") == part and 1 <= len(part) <= 202 for part in path.parts)
    assert not path.is_absolute()


@given(key=KEYS, data=st.data())
def test_the_start_of_a_prefix_is_above_every_key_that_has_it(key: str, data: st.DataObject) -> None:
    prefix = key[: data.draw(st.integers(0, len(key)))]
    start = start_of(prefix)
    assert path_of(key).parts[: len(start.parts)] == start.parts


@given(keys=st.lists(KEYS, max_size=12), data=st.data())
def test_pages_of_any_prefix_are_the_keys_that_have_it_in_their_order(keys: list[str], data: st.DataObject) -> None:
    """However a name is written: upper case and other letters become marks, and long names go on in further folders."""
    prefix = data.draw(st.sampled_from([*keys, ""]))
    prefix = prefix[: data.draw(st.integers(0, len(prefix)))]
    wanted = sorted({key for key in keys if key.startswith(prefix)}, key=str.encode)
    with TemporaryDirectory() as folder:
        for key in keys:
            touch(Path(folder), key)
        listings, found = Listings(Path(folder)), list[str]()
        assert listings.all(prefix) == wanted
        while page := listings.page(prefix, found[-1] if found else "", 2):
            found += page
        assert found == wanted
        for n, behind in enumerate(wanted):
            assert Listings(Path(folder)).page(prefix, behind, 100) == wanted[n + 1 :]


def test_each_folder_is_read_once_for_all_pages(files: FileObjects, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user with 50,000 objects has 50 pages of them."""
    keys = [f"packs/t1/ann/s.s{n // 10}/{n:02d}" for n in range(40)]
    for key in keys:
        files.put(key, b"x", content_type=TEXT)
    monkeypatch.setattr(file_objects, "MAX_KEYS", 4)
    scandir, read = os.scandir, list[str]()

    def counting(folder: Any) -> Any:
        read.append(str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", counting)
    found: list[str] = []
    while page := files.page("packs/t1/ann/", found[-1] if found else ""):
        found += page
    assert found == keys
    assert len(set(read)) == 5, "the user's, and those of four sessions"
    assert len(read) <= 7, "and twice for the page behind the last one, which is empty"


@pytest.mark.parametrize("key", HOSTILE)
def test_a_hostile_key_stays_in_the_folder(files: FileObjects, tmp_path: Path, key: str) -> None:
    files.put(key, b"x", content_type=TEXT)
    assert files.list("") == [key]
    assert files.get(key) == b"x"
    outside = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_relative_to(tmp_path / "o")]
    assert outside == []
    files.delete(key)
    assert files.list("") == []


def test_a_deleted_object_leaves_no_folder_that_names_its_user(files: FileObjects, tmp_path: Path) -> None:
    files.put("packs/t1/anna/1", b"x", content_type=TEXT)
    files.put("packs/t1/bert/1", b"x", content_type=TEXT)
    files.delete("packs/t1/anna/1")
    assert [path.name for path in tmp_path.rglob("*") if "anna" in path.name] == []
    assert files.list("") == ["packs/t1/bert/1"]


def test_what_a_dead_process_left_half_written_is_removed(tmp_path: Path, clock: ManualClock) -> None:
    FileObjects(tmp_path, clock, "http://here").put("k", b"x", content_type=TEXT)
    (tmp_path / "partial" / "left").write_bytes(b"half")
    files = FileObjects(tmp_path, clock, "http://here")
    assert list((tmp_path / "partial").iterdir()) == []
    assert files.get("k") == b"x"


def test_a_failed_write_leaves_nothing(files: FileObjects, tmp_path: Path) -> None:
    (tmp_path / "o" / "objects" / "d").write_text("a file where a folder should be")
    with pytest.raises(StoreUnavailable, match="objects: "):
        files.put("d/k", b"x", content_type=TEXT)
    with pytest.raises(StoreUnavailable, match="objects: "):
        files.put_new("d/k", b"x", content_type=TEXT)
    assert files.get("d/k") is None
    assert list((tmp_path / "o" / "partial").iterdir()) == []


CALLS: dict[str, Callable[[FileObjects], object]] = {
    "get": lambda files: files.get("packs/ann/1"),
    "peek": lambda files: files.peek("packs/ann/1", 9),
    "copy": lambda files: files.copy("packs/ann/1", "t"),
    "list": lambda files: files.list("packs/ann/"),
    "page": lambda files: files.page("packs/ann/"),
    "delete": lambda files: files.delete("packs/ann/1"),
    "put": lambda files: files.put("packs/ann/2", b"Ann has moved.", content_type=TEXT),
    "put new": lambda files: files.put_new("packs/ann/2", b"Ann has moved.", content_type=TEXT),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_where_no_object_can_be_seen_none_is_said_to_be_gone(
    files: FileObjects, tmp_path: Path, call: Callable[[FileObjects], object]
) -> None:
    """As where a disk is not mounted: an erasure would say in its receipt that it had looked."""
    files.put("packs/ann/1", b"Ann lives in Lisbon.", content_type=TEXT)
    (tmp_path / "o" / "objects").rename(tmp_path / "elsewhere")
    with pytest.raises(StoreUnavailable, match="the folder of the objects is gone"):
        call(files)
    (tmp_path / "elsewhere").rename(tmp_path / "o" / "objects")
    assert files.list("packs/ann/") == ["packs/ann/1"]


def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path: Path, clock: ManualClock) -> None:
    (tmp_path / "o").write_text("a file")
    with pytest.raises(StoreUnavailable, match="objects: "):
        FileObjects(tmp_path / "o", clock, "http://here")


# --- upload tokens ------------------------------------------------------------------------------


SIGNED = UploadHeaders("image/png", "*")


def token_of(files: FileObjects, key: str = "k", expires_s: int = 60, size: int | None = None) -> str:
    url = files.presign_put(key, content_type="image/png", expires_s=expires_s, size=size)
    address, _, token = url.rpartition("/")
    assert address == "http://here/__uploads"
    return token


def test_a_token_names_the_reason_of_its_refusal(files: FileObjects, clock: ManualClock) -> None:
    token = token_of(files)
    with pytest.raises(PermissionError, match="signed for image/png, not text/html"):
        files.accept_upload(token, UploadHeaders("text/html", "*"), b"x")
    with pytest.raises(PermissionError, match="signed with If-None-Match"):
        files.accept_upload(token, UploadHeaders("image/png", ""), b"x")
    with pytest.raises(PermissionError, match="signed for 2 bytes, not 1"):
        files.accept_upload(token_of(files, size=2), SIGNED, b"x")
    assert files.accept_upload(token, SIGNED, b"x") == "k"
    with pytest.raises(FileExistsError, match="one PUT"):
        files.accept_upload(token, SIGNED, b"x")
    clock.advance(60)
    with pytest.raises(PermissionError, match="expired"):
        files.accept_upload(token, SIGNED, b"x")


def test_no_character_of_a_token_can_be_changed(files: FileObjects) -> None:
    token = token_of(files)
    for at, character in enumerate(token):
        changed = f"{token[:at]}{'B' if character == 'A' else 'A'}{token[at + 1 :]}"
        with pytest.raises(PermissionError, match="not an upload address"):
            files.accept_upload(changed, SIGNED, b"x")
    assert files.list("") == []


@pytest.mark.parametrize("token", ["", ".", "a", "a.b", "a.b.c", "é.é", "e30=.e30="])
def test_a_token_that_is_none_is_refused(files: FileObjects, token: str) -> None:
    with pytest.raises(PermissionError, match="not an upload address"):
        files.accept_upload(token, SIGNED, b"x")


def test_what_was_uploaded_and_not_copied_expires_after_a_day(files: FileObjects) -> None:
    files.put("uploads/t/u/1", b"x", content_type="image/png")
    files.put("images/t/u/1", b"x", content_type="image/png")
    now = datetime.now(UTC)
    assert files.delete_expired(now + timedelta(days=DAYS[UPLOADS], minutes=-5)) == 0
    assert files.delete_expired(now + timedelta(days=DAYS[UPLOADS], minutes=5)) == 1
    assert files.list("") == ["images/t/u/1"]


def test_the_deployed_bucket_forgets_uploads_as_soon() -> None:
    resources = read_yaml(ROOT / "infra" / "data.yaml")["Resources"]
    rules = resources["Bucket"]["Properties"]["LifecycleConfiguration"]["Rules"]
    [rule] = [rule for rule in rules if rule.get("Prefix") == UPLOADS]
    assert (rule["Status"], rule["ExpirationInDays"]) == ("Enabled", DAYS[UPLOADS])


def test_tokens_survive_a_restart_and_are_good_for_one_folder(tmp_path: Path, clock: ManualClock) -> None:
    first = FileObjects(tmp_path / "1", clock, "http://here")
    token = token_of(first)
    assert FileObjects(tmp_path / "1", clock, "http://here").accept_upload(token, SIGNED, b"x") == "k"
    with pytest.raises(PermissionError, match="not an upload address"):
        FileObjects(tmp_path / "2", clock, "http://here").accept_upload(token, SIGNED, b"x")
    assert first.list("") == ["k"]
