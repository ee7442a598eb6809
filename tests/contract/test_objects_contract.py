"""What every ObjectStore does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from neve.ports.objects import MAX_KEYS, ObjectStart
from tests.contract.engines.endless_writer import SEEDS, killed_after_some_writes, object_body
from tests.contract.engines.harnesses import ObjectsHarness
from tests.contract.engines.registry import OBJECTS

TEXT = "text/plain; charset=utf-8"

KEYS = [
    "a",
    "a/b",
    "a/b/c.json",
    "packs/t1/a@b:c/s.chat-1/00000001.json",
    "packs/t1/A@b:c/s.chat-1/00000001.json",
    "...",
    ".hidden",
    "dot.",
    "=a",
    "a+",
    "%2e",
    "^a",
    "con",
    'a b*?"<>|\\',
    "naïve/日本/😀",
    "e\u0301",
    "\u00e9",
    "L" * 300,
    "L" * 301,
    "x" * 250 + "/" + "y" * 250,
    "A" * 1024,
]
"""All different, also where a file system would take two of them for one."""


def test_every_key_has_its_own_object(objects: ObjectsHarness) -> None:
    store = objects.store
    for n, key in enumerate(KEYS):
        assert store.get(key) is None
        store.put(key, b"%d" % n, content_type=TEXT)
    assert [store.get(key) for key in KEYS] == [b"%d" % n for n in range(len(KEYS))]
    assert store.list("") == sorted(KEYS)
    for key in KEYS[::2]:
        store.delete(key)
    assert store.list("") == sorted(KEYS[1::2])
    assert [store.get(key) for key in KEYS[::2]] == [None] * len(KEYS[::2])


@pytest.mark.parametrize("body", [b"", b"\x00\n\r\n\xff", b"text/html\nsecond line", bytes(range(256)) * 4096])
def test_bytes_and_content_type_come_back(objects: ObjectsHarness, body: bytes) -> None:
    objects.store.put("k", body, content_type=TEXT)
    assert objects.store.get("k") == body
    assert objects.content_type("k") == TEXT
    assert objects.content_type("other") is None


def test_put_replaces(objects: ObjectsHarness) -> None:
    objects.store.put("k", b"long first", content_type=TEXT)
    objects.store.put("k", b"second", content_type="image/png")
    assert (objects.store.get("k"), objects.content_type("k")) == (b"second", "image/png")


def test_put_new_writes_once(objects: ObjectsHarness) -> None:
    assert objects.store.put_new("k", b"first", content_type=TEXT) is True
    assert objects.store.put_new("k", b"second", content_type="image/png") is False
    assert (objects.store.get("k"), objects.content_type("k")) == (b"first", TEXT)
    objects.store.delete("k")
    assert objects.store.put_new("k", b"third", content_type=TEXT) is True
    assert objects.store.get("k") == b"third"


def test_deleting_is_idempotent(objects: ObjectsHarness) -> None:
    objects.store.put("a/b", b"1", content_type=TEXT)
    for key in ("a/b", "a/b", "a", "a/b/c", "never"):
        objects.store.delete(key)
    assert objects.store.list("") == []


def test_a_listing_takes_any_prefix(objects: ObjectsHarness) -> None:
    keys = ["packs/t1/u1/1", "packs/t1/u1/2", "packs/t1/u10/1", "packs/t2/u1/1", "Packs/t1/u1/1"]
    for key in keys:
        objects.store.put(key, b"", content_type=TEXT)
    assert objects.store.list("packs/t1/u1/") == keys[:2]
    assert objects.store.list("packs/t1/u1") == keys[:3]
    assert objects.store.list("packs/t1/u1/2") == keys[1:2]
    assert objects.store.list("P") == keys[4:]
    assert objects.store.list("nothing/") == []


def test_a_listing_is_in_the_order_of_utf8_bytes(objects: ObjectsHarness) -> None:
    keys = ["p/A", "p/B/x", "p/_", "p/a", "p/a.b", "p/é", "p/\uffff", "p/😀"]
    assert sorted(keys, key=str.encode) == keys
    for key in reversed(keys):
        objects.store.put(key, b"", content_type=TEXT)
    assert objects.store.list("p/") == keys


def test_pages_are_of_one_prefix_and_behind_any_key(objects: ObjectsHarness) -> None:
    keys = ["p/1", "p/2/x", "p/3", "p/a b+?&%2e", "p/é", "p/😀"]
    for key in [*reversed(keys), "o", "q", "pp"]:
        objects.store.put(key, b"", content_type=TEXT)
    assert objects.store.page("p/") == keys
    for n, key in enumerate(keys):
        assert objects.store.page("p/", key) == keys[n + 1 :]
    assert objects.store.page("p/", "p/2") == keys[1:]
    assert objects.store.page("p/", "a") == keys
    assert (objects.store.page("p/", "q"), objects.store.page("nothing/")) == ([], [])
    objects.store.delete("p/3")
    assert objects.store.page("p/", "p/3") == keys[3:]


def test_a_page_has_at_most_a_thousand_keys(objects: ObjectsHarness) -> None:
    keys = [f"p/{n:04d}" for n in range(MAX_KEYS + 2)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: objects.store.put(key, b"", content_type=TEXT), keys))
    first = objects.store.page("p/")
    assert (first, objects.store.page("p/", first[-1])) == (keys[:MAX_KEYS], keys[MAX_KEYS:])
    assert objects.store.list("p/") == keys


def test_a_further_page_is_of_what_there_is_by_then(objects: ObjectsHarness) -> None:
    """Also a thousand keys behind the one before, among which some have come and gone."""
    keys = [f"p/{n:04d}" for n in range(MAX_KEYS + 3)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: objects.store.put(key, b"", content_type=TEXT), keys))
    first = objects.store.page("p/")
    objects.store.delete(keys[-1])
    assert objects.store.page("p/", first[-1]) == keys[MAX_KEYS:-1]
    assert objects.store.page("p/") == first
    objects.store.put("p/9/new", b"x", content_type=TEXT)
    objects.store.put_new("p/9999", b"x", content_type=TEXT)
    assert objects.store.page("p/", first[-1]) == [*keys[MAX_KEYS:-1], "p/9/new", "p/9999"]


@pytest.mark.parametrize("key", ["", "k" * 1025, "é" * 513, "\ud800"])
def test_a_key_that_no_store_takes_is_a_value_error(objects: ObjectsHarness, key: str) -> None:
    store = objects.store
    with pytest.raises(ValueError, match=r"object key|surrogates"):
        store.put(key, b"", content_type=TEXT)
    with pytest.raises(ValueError, match=r"object key|surrogates"):
        store.put_new(key, b"", content_type=TEXT)
    with pytest.raises(ValueError, match=r"object key|surrogates"):
        store.get(key)
    with pytest.raises(ValueError, match=r"object key|surrogates"):
        store.presign_put(key, content_type=TEXT, expires_s=60)


@pytest.mark.parametrize("content_type", ["", "text/plain\r\nX-Evil: 1", "texté"])
def test_a_content_type_that_is_none_is_a_value_error(objects: ObjectsHarness, content_type: str) -> None:
    with pytest.raises(ValueError, match="not a content type"):
        objects.store.put("k", b"", content_type=content_type)
    assert objects.store.list("") == []


# --- beginnings and copies ----------------------------------------------------------------------


@pytest.mark.parametrize(("body", "start"), [(b"", b""), (b"abc", b"abc"), (b"\n0123456789", b"\n01234567")])
def test_a_peek_tells_the_beginning_the_type_and_the_size(objects: ObjectsHarness, body: bytes, start: bytes) -> None:
    objects.store.put("a/b c", body, content_type="image/png")
    assert objects.store.peek("a/b c", 9) == ObjectStart(len(body), "image/png", start)


def test_a_peek_is_at_one_key_and_not_at_what_begins_so(objects: ObjectsHarness) -> None:
    objects.store.put("a/bc", b"1", content_type=TEXT)
    assert [objects.store.peek(key, 1) for key in ("a", "a/b", "a/bcd")] == [None] * 3


@pytest.mark.parametrize(("body", "end"), [(b"", b""), (b"abc", b"abc"), (b"\n0123456789", b"123456789")])
def test_a_tail_is_the_end(objects: ObjectsHarness, body: bytes, end: bytes) -> None:
    objects.store.put("a/b c", body, content_type="image/png")
    assert objects.store.tail("a/b c", 9) == end
    assert objects.store.tail("a/b", 9) is None


def test_a_copy_has_the_bytes_and_the_type(objects: ObjectsHarness) -> None:
    objects.store.put("a/b%c d+é", b"\x00\n\xff", content_type="image/png")
    objects.store.put("t", b"before", content_type=TEXT)
    assert objects.store.copy("a/b%c d+é", "t") is True
    assert (objects.store.get("t"), objects.content_type("t")) == (b"\x00\n\xff", "image/png")
    assert objects.store.get("a/b%c d+é") == b"\x00\n\xff"


def test_what_is_not_there_is_not_copied(objects: ObjectsHarness) -> None:
    assert objects.store.copy("never", "t") is False
    assert objects.store.get("t") is None


# --- uploads ------------------------------------------------------------------------------------


def test_an_upload_to_a_presigned_url_is_stored(objects: ObjectsHarness) -> None:
    url = objects.store.presign_put("images/t1/a@b:c/1", content_type="image/png", expires_s=60)
    assert objects.store.list("") == []
    assert objects.upload(url, "image/png", b"\x89PNG")
    assert objects.store.get("images/t1/a@b:c/1") == b"\x89PNG"
    assert objects.content_type("images/t1/a@b:c/1") == "image/png"


def test_an_upload_of_another_type_is_refused(objects: ObjectsHarness) -> None:
    url = objects.store.presign_put("k", content_type="image/png", expires_s=60)
    assert not objects.upload(url, "text/html", b"<script>")
    assert objects.store.list("") == []


@pytest.mark.parametrize(("size", "taken"), [(4, True), (3, False), (5, False)])
def test_an_upload_of_another_size_is_refused(objects: ObjectsHarness, size: int, taken: bool) -> None:
    url = objects.store.presign_put("k", content_type="image/png", expires_s=60, size=size)
    assert objects.upload(url, "image/png", b"\x89PNG") is taken
    assert objects.store.list("") == (["k"] if taken else [])


def test_an_upload_address_takes_one_put(objects: ObjectsHarness) -> None:
    url = objects.store.presign_put("k", content_type="image/png", expires_s=60)
    assert objects.upload(url, "image/png", b"first")
    assert not objects.upload(url, "image/png", b"second")
    assert objects.store.get("k") == b"first"


def test_an_upload_may_not_replace(objects: ObjectsHarness) -> None:
    url = objects.store.presign_put("k", content_type="image/png", expires_s=60)
    assert not objects.upload(url, "image/png", b"x", if_none_match="other")
    assert objects.store.list("") == []


def test_an_upload_after_the_expiry_is_refused(objects: ObjectsHarness) -> None:
    url = objects.store.presign_put("k", content_type="image/png", expires_s=1)
    objects.pass_time(2)
    assert not objects.upload(url, "image/png", b"late")
    assert objects.store.list("") == []


def test_an_upload_with_a_changed_signature_is_refused(objects: ObjectsHarness) -> None:
    url = objects.store.presign_put("k", content_type="image/png", expires_s=60)
    changed = url[:-1] + ("0" if url[-1] != "0" else "1")
    assert not objects.upload(changed, "image/png", b"forged")
    assert objects.store.list("") == []


# --- concurrency and crashes --------------------------------------------------------------------


def test_one_of_eight_concurrent_creators_wins(objects: ObjectsHarness) -> None:
    for n in range(20):
        key = f"deep/{n}/k"

        def create(thread: int, key: str = key) -> bool:
            return objects.store.put_new(key, b"%d" % thread * 50_000, content_type=TEXT)

        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(create, range(8)))
        assert won.count(True) == 1
        assert objects.store.get(key) == b"%d" % won.index(True) * 50_000


def test_readers_see_whole_objects_while_writers_replace_and_delete_them(objects: ObjectsHarness) -> None:
    store = objects.store

    def write(thread: int) -> None:
        for _ in range(20):
            store.put("d/k", b"%d" % thread * 50_000, content_type=TEXT)
            store.delete("d/k")
            store.put_new("d/k", b"%d" % thread * 50_000, content_type=TEXT)
            store.delete("d/k")

    def read() -> None:
        for _ in range(100):
            found = store.get("d/k")
            assert found is None or found in [b"%d" % thread * 50_000 for thread in range(4)]
            assert store.list("") in ([], ["d/k"])

    with ThreadPoolExecutor(8) as pool:
        working = [pool.submit(write, thread) for thread in range(4)] + [pool.submit(read) for _ in range(4)]
        for work in working:
            work.result()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_killed_writer_leaves_only_whole_objects(objects_engine: str, tmp_path: Path, seed: int) -> None:
    engine = OBJECTS[objects_engine]
    location = engine.create(tmp_path)
    acknowledged = killed_after_some_writes("objects", objects_engine, location, seed)
    with engine.connect(location) as objects:
        written = {int(key.removeprefix("k/")): objects.store.get(key) for key in objects.store.list("k/")}
    assert acknowledged <= len(written) <= acknowledged + 1
    assert written == {n: object_body(n) for n in range(len(written))}


# --- downloads ----------------------------------------------------------------------------------


def test_what_is_stored_is_loaded_from_a_presigned_url(objects: ObjectsHarness) -> None:
    objects.store.put("exports/t1/a@b:c/1.jsonl", b"{}\n", content_type="application/jsonl")
    assert objects.download(objects.store.presign_get("exports/t1/a@b:c/1.jsonl", expires_s=60)) == b"{}\n"
    assert objects.download(objects.store.presign_get("never", expires_s=60)) is None


def test_a_download_after_the_expiry_is_refused(objects: ObjectsHarness) -> None:
    objects.store.put("k", b"x", content_type="text/plain")
    url = objects.store.presign_get("k", expires_s=1)
    objects.pass_time(2)
    assert objects.download(url) is None


def test_a_download_address_is_for_one_object(objects: ObjectsHarness) -> None:
    objects.store.put("k", b"x", content_type="text/plain")
    url = objects.store.presign_get("k", expires_s=60)
    assert objects.download(url[:-1] + ("0" if url[-1] != "0" else "1")) is None
    upload = objects.store.presign_put("k", content_type="text/plain", expires_s=60)
    assert objects.download(upload) is None
