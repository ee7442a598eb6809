"""Puts the functions' code where the emulator looks for it."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from infra.emulate.service_template import ARTIFACTS, function_code


def upload(s3: Any) -> None:
    """``s3``: a client."""
    s3.create_bucket(Bucket=ARTIFACTS)
    for name, folder in function_code().items():
        s3.put_object(Bucket=ARTIFACTS, Key=f"{name}.zip", Body=_zipped(folder))


def _zipped(folder: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in sorted(folder.glob("*.py")):
            archive.write(file, file.name)
    return packed.getvalue()
