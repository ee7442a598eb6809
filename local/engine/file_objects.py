"""The ObjectStore port on a folder of files."""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import os
import secrets
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from local.engine.object_listing import Listings
from local.engine.object_paths import path_of
from neve.adapters.object_rules import check_content_type
from neve.ports.errors import StoreUnavailable
from neve.ports.objects import MAX_KEYS, ObjectStart
from neve.ports.runtime import Clock
from neve.store.keys import EXPORTS, UPLOADS
from neve.troubles import Troubles

SECRET_BYTES = 32
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
DAYS = {UPLOADS: 1, EXPORTS: 7}
"""As the bucket's lifecycle rules say (infra/data.yaml)."""


@dataclass(frozen=True, slots=True)
class UploadHeaders:
    """What comes with the bytes of an upload."""

    content_type: str
    if_none_match: str


class FileObjects:
    """One process has the folder open. An object is one file, its content type in the first line: it is there whole or
    not at all, also after a power cut. What a dead process left half-written is removed when the folder is opened."""

    def __init__(self, folder: Path, clock: Clock, base_url: str, troubles: Troubles | None = None) -> None:
        """``base_url``: where the server that calls ``accept_upload`` is reached, without a slash at the end.
        ``troubles`` hear of a disk that is full."""
        self._troubles = troubles
        self._clock = clock
        self._base_url = base_url
        self._objects = folder / "objects"
        self._partial = folder / "partial"
        self._tree = threading.Lock()
        self._listings = Listings(self._objects)
        with self._reading():
            self._objects.mkdir(parents=True, exist_ok=True)
            self._partial.mkdir(exist_ok=True)
            for left in self._partial.iterdir():
                left.unlink()
            self._secret = self._own_secret(folder / "upload-secret")

    # --- ports.ObjectStore ----------------------------------------------------------------------

    def put(self, key: str, body: bytes, *, content_type: str) -> None:
        target = self._path(key)
        with self._writing(), self._written(_framed(content_type, body)) as partial, self._tree:
            _make_folders(target.parent)
            partial.replace(target)
            self._listings.added(key)
            _sync_folder(target.parent)

    def put_new(self, key: str, body: bytes, *, content_type: str) -> bool:
        target = self._path(key)
        with self._writing(), self._written(_framed(content_type, body)) as partial, self._tree:
            self._listings.added(key)
            return _link_new(partial, target)

    def get(self, key: str) -> bytes | None:
        found = self._read(key)
        return found[1] if found else None

    def peek(self, key: str, length: int) -> ObjectStart | None:
        with self._reading():
            try:
                with self._path(key).open("rb") as file:
                    content_type = file.readline()
                    size = os.fstat(file.fileno()).st_size - len(content_type)
                    return ObjectStart(size, content_type.decode("ascii").rstrip("\n"), file.read(length))
            except (FileNotFoundError, NotADirectoryError):
                self._must_be_there()
                return None

    def tail(self, key: str, length: int) -> bytes | None:
        with self._reading():
            try:
                with self._path(key).open("rb") as file:
                    starts = len(file.readline())
                    file.seek(max(starts, os.fstat(file.fileno()).st_size - length))
                    return file.read()
            except (FileNotFoundError, NotADirectoryError):
                self._must_be_there()
                return None

    def copy(self, source: str, target: str) -> bool:
        found = self._read(source)
        if found:
            self.put(target, found[1], content_type=found[0])
        return found is not None

    def delete(self, key: str) -> None:
        """Idempotent. Folders that it leaves empty go too: their names hold user ids."""
        target = self._path(key)
        with self._reading(), self._tree:
            try:
                target.unlink()
            except (FileNotFoundError, NotADirectoryError):
                self._must_be_there()
                return
            folder = target.parent
            while folder != self._objects and not any(folder.iterdir()):
                folder.rmdir()
                folder = folder.parent
            _sync_folder(folder)

    def list(self, prefix: str) -> list[str]:
        with self._reading(), self._tree:
            self._must_be_there()
            return self._listings.all(prefix)

    def page(self, prefix: str, behind: str = "") -> Sequence[str]:
        with self._reading(), self._tree:
            self._must_be_there()
            return self._listings.page(prefix, behind, MAX_KEYS)

    def presign_put(self, key: str, *, content_type: str, expires_s: int, size: int | None = None) -> str:
        """``<base_url>/__uploads/<token>``: good for this key, content type and size until it expires, restarts
        included."""
        self._path(key)
        check_content_type(content_type)
        until = self._clock.now().timestamp() + expires_s
        signed = {"key": key, "type": content_type, "until": until, "size": size}
        claims = json.dumps(signed, separators=(",", ":")).encode()
        return f"{self._base_url}/__uploads/{self._token(claims)}"

    def presign_get(self, key: str, *, expires_s: int) -> str:
        """``<base_url>/__downloads/<token>``, as ``presign_put``."""
        self._path(key)
        claims = {"get": key, "until": self._clock.now().timestamp() + expires_s}
        return f"{self._base_url}/__downloads/{self._token(json.dumps(claims, separators=(',', ':')).encode())}"

    # --- beside the port ------------------------------------------------------------------------

    def content_type(self, key: str) -> str | None:
        found = self._read(key)
        return found[0] if found else None

    def accept_upload(self, token: str, headers: UploadHeaders, body: bytes) -> str:
        """Store what was sent to a pre-signed URL; returns the key. Raises PermissionError for a token that was not
        made here or has expired, or for headers that are not those that were signed; FileExistsError when something
        was sent there before."""
        claims = self._claims(token)
        if "key" not in claims:
            raise PermissionError("not an upload address of this server")
        if self._clock.now().timestamp() >= claims["until"]:
            raise PermissionError("the upload address has expired")
        if headers.content_type != claims["type"]:
            raise PermissionError(f"the upload was signed for {claims['type']}, not {headers.content_type}")
        if claims["size"] not in (None, len(body)):
            raise PermissionError(f"the upload was signed for {claims['size']} bytes, not {len(body)}")
        if headers.if_none_match != "*":
            raise PermissionError("the upload was signed with If-None-Match: *")
        key = str(claims["key"])
        if not self.put_new(key, body, content_type=headers.content_type):
            raise FileExistsError("an upload address takes one PUT")
        return key

    def download(self, token: str) -> tuple[str, bytes] | None:
        """Content type and bytes of what a pre-signed URL is for; None when it is not there. Raises PermissionError for
        a token that was not made here or has expired."""
        claims = self._claims(token)
        if "get" not in claims:
            raise PermissionError("not a download address of this server")
        if self._clock.now().timestamp() >= claims["until"]:
            raise PermissionError("the download address has expired")
        return self._read(str(claims["get"]))

    def delete_expired(self, now: datetime) -> int:
        """Remove what is as old as ``DAYS`` says, as a lifecycle rule does: uploads that no event named, and exports.
        How many objects that were."""
        old = [
            key
            for prefix, days in DAYS.items()
            for key in self.list(prefix)
            if self._written_at(key) <= now - timedelta(days=days)
        ]
        for key in old:
            self.delete(key)
        return len(old)

    def _written_at(self, key: str) -> datetime:
        """Of a key that is gone meanwhile: now."""
        with self._reading():
            try:
                return datetime.fromtimestamp(self._path(key).stat().st_mtime, UTC)
            except (FileNotFoundError, NotADirectoryError):
                return datetime.now(UTC)

    def _claims(self, token: str) -> dict[str, Any]:
        try:
            claims, _ = (urlsafe_b64decode(part.encode("ascii")) for part in token.split("."))
        except ValueError:
            raise PermissionError("not an upload address of this server") from None
        if not hmac.compare_digest(token, self._token(claims)):  # as text: several texts decode to the same bytes
            raise PermissionError("not an upload address of this server")
        found: dict[str, Any] = json.loads(claims)
        return found

    def _token(self, claims: bytes) -> str:
        return f"{_base64(claims)}.{_base64(hmac.digest(self._secret, claims, hashlib.sha256))}"

    def _own_secret(self, path: Path) -> bytes:
        if not path.exists():
            with self._written(secrets.token_bytes(SECRET_BYTES)) as partial:
                _link_new(partial, path)
        return path.read_bytes()

    def _path(self, key: str) -> Path:
        return self._objects / path_of(key)

    def _read(self, key: str) -> tuple[str, bytes] | None:
        with self._reading():
            try:
                framed = self._path(key).read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                self._must_be_there()
                return None
        content_type, _, body = framed.partition(b"\n")
        return content_type.decode("ascii", "replace"), body  # a damaged file is an object of other bytes

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """What is read or listed, or goes. That works is no sign of room."""
        try:
            yield
        except OSError as error:
            self._failed(error)
            raise StoreUnavailable("objects", str(error.strerror)) from error  # the path names a user

    def _failed(self, error: OSError) -> None:
        if self._troubles is None:
            return
        if error.errno in NO_ROOM:
            self._troubles.note("objects", "full", str(error.strerror))
        else:
            self._troubles.failed("objects", str(error.strerror))

    def _must_be_there(self) -> None:
        """Raises OSError when it is not one object that is missing, but all of them."""
        if not self._objects.is_dir():
            raise NotADirectoryError(errno.ENOENT, "the folder of the objects is gone")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Never into a new folder in the place of one that has gone: what was stored would be missing beside it, and
        nobody would say so."""
        try:
            self._must_be_there()
            yield
        except OSError as error:
            self._failed(error)
            raise StoreUnavailable("objects", str(error.strerror)) from error  # the path names a user
        if self._troubles is not None:
            self._troubles.worked("objects")

    @contextmanager
    def _written(self, content: bytes) -> Iterator[Path]:
        """A file of its own with ``content`` on disk; gone afterwards unless it was moved."""
        partial = self._partial / secrets.token_hex(16)
        descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            yield partial
        finally:
            partial.unlink(missing_ok=True)


def _framed(content_type: str, body: bytes) -> bytes:
    check_content_type(content_type)
    return content_type.encode() + b"\n" + body


def _link_new(partial: Path, target: Path) -> bool:
    """``link`` fails when the name is taken, and gives it a complete file when it is not."""
    _make_folders(target.parent)
    try:
        target.hardlink_to(partial)
    except FileExistsError:
        return False
    _sync_folder(target.parent)
    return True


def _make_folders(folder: Path) -> None:
    """Like ``mkdir -p``, and on disk."""
    if folder.is_dir():
        return
    _make_folders(folder.parent)
    folder.mkdir(exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _base64(content: bytes) -> str:
    return urlsafe_b64encode(content).decode()
