"""The ObjectStore port on one S3 bucket."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from botocore.exceptions import ClientError

from neve.adapters.aws.errors import error_code, http_status, translated
from neve.adapters.object_rules import check_content_type, check_key
from neve.ports.errors import StoreUnavailable
from neve.ports.objects import ObjectStart

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

CONFLICT_ATTEMPTS = 4
MAX_PAUSE_S = (0.1, 0.2, 0.4)
"""Seconds before each attempt after the first: drawn between 0 and this. The other writer needs tens of
milliseconds."""
WRITE_ID = "write"
"""Metadata of an object: which ``put_new`` wrote it."""


class S3Objects:
    """Needs ``s3:GetObject``, ``s3:PutObject``, ``s3:DeleteObject`` on the objects and ``s3:ListBucket`` on the bucket:
    without the last one S3 answers 403 for a key that does not exist, which is StoreUnavailable here. ``pause`` waits
    so many seconds between two attempts. ``client`` must sign with ``s3v4`` (``aws_client`` does)."""

    def __init__(self, client: S3Client, bucket: str, pause: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._bucket = bucket
        self._pause = pause

    def put(self, key: str, body: bytes, *, content_type: str) -> None:
        """Store an object. Raises ValueError for what is no key or no content type, as every method does."""
        check_key(key)
        check_content_type(content_type)
        with translated("objects"):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType=content_type)

    def put_new(self, key: str, body: bytes, *, content_type: str) -> bool:
        """See ``ports.ObjectStore``. A request whose answer was lost is sent again by the SDK and then finds its own
        object: it is recognised by the id of the write."""
        check_key(key)
        check_content_type(content_type)
        write_id = uuid4().hex
        with translated("objects"):
            for attempt in range(CONFLICT_ATTEMPTS):
                if attempt:
                    self._pause(random.uniform(0, MAX_PAUSE_S[attempt - 1]))
                try:
                    self._client.put_object(
                        Bucket=self._bucket,
                        Key=key,
                        Body=body,
                        ContentType=content_type,
                        Metadata={WRITE_ID: write_id},
                        IfNoneMatch="*",
                    )
                except ClientError as error:
                    if http_status(error) == 412:
                        sent_before = attempt or error.response["ResponseMetadata"].get("RetryAttempts", 0)
                        return bool(sent_before) and self._wrote(key, write_id)
                    if error_code(error) != "ConditionalRequestConflict":
                        raise
                else:
                    return True
        raise StoreUnavailable("objects", f"ConditionalRequestConflict {CONFLICT_ATTEMPTS} times")

    def get(self, key: str) -> bytes | None:
        found = self._read(key)
        return None if found is None else found[1]

    def peek(self, key: str, length: int) -> ObjectStart | None:
        found = self._read(key, Range=f"bytes=0-{length - 1}")
        if found is None:
            return None
        about, start = found
        if about is None:
            with translated("objects"):
                head = self._client.head_object(Bucket=self._bucket, Key=key)
            return ObjectStart(head["ContentLength"], head["ContentType"], b"")
        return ObjectStart(int(about["ContentRange"].rpartition("/")[2]), about["ContentType"], start)

    def tail(self, key: str, length: int) -> bytes | None:
        found = self._read(key, Range=f"bytes=-{length}")
        return None if found is None else found[1]

    def _read(self, key: str, **part: Any) -> tuple[Any, bytes] | None:
        """Read an object, or a ``Range`` of it: what S3 says of it, and the bytes; None where there is no object. An
        empty one has no range, and nothing is said of it."""
        check_key(key)
        with translated("objects"):
            try:
                found = self._client.get_object(Bucket=self._bucket, Key=key, **part)
            except self._client.exceptions.NoSuchKey:
                return None
            except ClientError as error:
                if http_status(error) != 416:
                    raise
                return None, b""
            with closing(found["Body"]) as body:
                return found, body.read()

    def copy(self, source: str, target: str) -> bool:
        check_key(source)
        check_key(target)
        with translated("objects"):
            try:
                self._client.copy_object(
                    Bucket=self._bucket, Key=target, CopySource={"Bucket": self._bucket, "Key": source}
                )
            except ClientError as error:
                if http_status(error) != 404:
                    raise
                return False
        return True

    def delete(self, key: str) -> None:
        check_key(key)
        with translated("objects"):
            self._client.delete_object(Bucket=self._bucket, Key=key)

    def page(self, prefix: str, behind: str = "") -> Sequence[str]:
        """See ``ports.ObjectStore``. S3 may answer with none and say that there are more."""
        pages = self._client.get_paginator("list_objects_v2")
        with translated("objects"):
            found = pages.paginate(Bucket=self._bucket, Prefix=prefix, StartAfter=behind)
            return next(([entry["Key"] for entry in page["Contents"]] for page in found if page.get("Contents")), [])

    def list(self, prefix: str) -> list[str]:
        pages = self._client.get_paginator("list_objects_v2")
        with translated("objects"):
            found = pages.paginate(Bucket=self._bucket, Prefix=prefix)
            return [entry["Key"] for page in found for entry in page.get("Contents", [])]

    def presign_put(self, key: str, *, content_type: str, expires_s: int, size: int | None = None) -> str:
        """See ``ports.ObjectStore``; made without asking S3. It ends with the credentials that sign it, if they end
        sooner: those of a Lambda role last hours."""
        check_key(key)
        check_content_type(content_type)
        with translated("objects"):
            signed = {"Bucket": self._bucket, "Key": key, "ContentType": content_type, "IfNoneMatch": "*"}
            length = {} if size is None else {"ContentLength": size}
            return self._client.generate_presigned_url("put_object", Params=signed | length, ExpiresIn=expires_s)

    def presign_get(self, key: str, *, expires_s: int) -> str:
        """See ``ports.ObjectStore``; ends as ``presign_put``'s does."""
        check_key(key)
        with translated("objects"):
            signed = {"Bucket": self._bucket, "Key": key}
            return self._client.generate_presigned_url("get_object", Params=signed, ExpiresIn=expires_s)

    def _wrote(self, key: str, write_id: str) -> bool:
        try:
            found = self._client.head_object(Bucket=self._bucket, Key=key)
        except ClientError as error:
            if http_status(error) == 404:  # deleted since
                return False
            raise
        return found["Metadata"].get(WRITE_ID) == write_id
