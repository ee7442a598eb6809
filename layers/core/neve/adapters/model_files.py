"""The files of optional models: beside the code on one machine, else objects of the bucket that are fetched when they
are first needed (docs/packaging.md#optional-models)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from neve.ports.errors import EmbeddingUnavailable, ModelMissing
from neve.ports.models import ModelFile
from neve.ports.objects import ObjectStore

CONTENT_TYPE = "application/octet-stream"


def model_object(file: ModelFile) -> str:
    """Name the object of a file in the bucket: another version of the file is another object."""
    return f"models/{file.sha256}/{file.name}"


class FolderFiles:
    """``ports.models.ModelFiles`` of a folder, which a script of the repository has filled."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, file: ModelFile) -> Path:
        found = self._folder / file.name
        try:
            check_sum(found.read_bytes(), file)
        except OSError as error:
            raise ModelMissing(f"{file.name} is not in {self._folder}") from error
        return found


class BucketFiles:
    """``ports.models.ModelFiles`` of a bucket. What was fetched stays in ``folder`` as long as the machine of this
    process: Lambda keeps ``/tmp`` (512 MB) between the calls of one."""

    def __init__(self, objects: Callable[[], ObjectStore], folder: Path) -> None:
        self._objects = objects
        self._folder = folder

    def path(self, file: ModelFile) -> Path:
        """See ``ModelFiles``. A file gets its name when it is whole and was found to be the right one."""
        found = self._folder / file.sha256 / file.name
        if found.is_file():
            return found
        content = self._objects().get(model_object(file))
        if content is None:
            raise ModelMissing(f"{model_object(file)} is not in the bucket")
        check_sum(content, file)
        try:
            found.parent.mkdir(parents=True, exist_ok=True)
            part = found.with_name(f"{file.name}.part")
            part.write_bytes(content)
            part.replace(found)
        except OSError as error:
            raise EmbeddingUnavailable(f"{found} cannot be written: {error}") from error
        return found


def check_sum(content: bytes, file: ModelFile) -> None:
    """Raises EmbeddingUnavailable for bytes that are not those of the file."""
    given = hashlib.sha256(content).hexdigest()
    if given != file.sha256:
        raise EmbeddingUnavailable(f"{file.name} has sha256 {given}, and not {file.sha256}")
