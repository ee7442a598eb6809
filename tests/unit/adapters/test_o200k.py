"""The o200k_base counter on a tiny merge table: nothing is fetched, everything that is missing is said."""

from __future__ import annotations

import base64
import hashlib
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from neve.adapters import o200k
from neve.adapters.o200k import token_counter
from neve.domain.errors import NeveError
from neve.domain.tokens import trim_to

MERGES = [bytes([n]) for n in range(256)] + [b"he", b"ll", b"hell", b"hello", b" w", b"or", b" wor", b"ld", b" world"]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small table whose sum is the pinned one."""
    path = tmp_path / o200k.BPE_FILE
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(MERGES)))
    monkeypatch.setattr(o200k, "BPE_SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setenv("NEVE_BPE_DIR", str(tmp_path))
    return path


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("hello", 1), ("hello world", 2), ("hex", 2), ("🟡", 4), ("<|endoftext|>", 13)]
)
def test_counts_by_the_merge_table(table: Path, text: str, tokens: int) -> None:
    assert token_counter("o200k_base")(text) == tokens


def test_trimming_uses_the_counter(table: Path) -> None:
    assert trim_to("hello world hello world", 3, marker="…", count=token_counter("o200k_base")) == "…"
    assert trim_to("hello world hello world", 4, marker="…", count=token_counter("o200k_base")) == "hello…"


def test_a_missing_folder_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEVE_BPE_DIR", raising=False)
    _refused("NEVE_BPE_DIR is not set")


def test_a_missing_table_is_said(table: Path) -> None:
    table.unlink()
    _refused("o200k_base.tiktoken is not in NEVE_BPE_DIR")


def test_a_damaged_table_is_said(table: Path) -> None:
    table.write_bytes(table.read_bytes() + b"\n")
    _refused("o200k_base.tiktoken is damaged")


def test_a_missing_package_is_said(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    _refused("the package tiktoken is not installed")


def _refused(why: str) -> None:
    with pytest.raises(NeveError) as refused:
        token_counter("o200k_base")
    assert refused.value.code == "invalid_policy"
    assert why in refused.value.detail
    assert [error.field for error in refused.value.errors] == ["token_counter"]


def test_pattern_and_sum_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    package = import_module("tiktoken_ext.openai_public")
    asked: dict[str, Any] = {}

    def no_download(url: str, expected_hash: str) -> dict[bytes, int]:
        asked.update(url=url, sha256=expected_hash)
        return {}

    monkeypatch.setattr(package, "load_tiktoken_bpe", no_download)
    assert package.o200k_base()["pat_str"] == o200k.PATTERN
    assert asked["sha256"] == o200k.BPE_SHA256
    assert asked["url"].endswith(o200k.BPE_FILE)
