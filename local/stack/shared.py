"""Servers that somebody else started and stops. Several services work on one set of them: each keeps its table, bucket,
index and queues under a name of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from uuid import uuid4

from local.stack.jars import Server

VARIABLE: Final = "NEVE_SERVERS"
"""Names a file that ``SharedServers.write`` made. Without it a service of the full stack starts servers of its own."""
NAME_FILE: Final = "name"


@dataclass(frozen=True, slots=True)
class SharedServers:
    """``urls``: the base URL of every server. ``folder``: what they keep is below it."""

    urls: Mapping[Server, str]
    folder: Path

    @classmethod
    def named(cls) -> Self | None:
        """Those of ``NEVE_SERVERS``; None without it. Raises OSError for a file that cannot be read."""
        path = os.environ.get(VARIABLE)
        if not path:
            return None
        known = json.loads(Path(path).read_bytes())
        return cls({Server(name): url for name, url in known["urls"].items()}, Path(known["folder"]))

    def write(self, path: Path) -> None:
        """Whole or not there, also when several processes write it."""
        partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
        partial.write_text(json.dumps({"urls": self.urls, "folder": str(self.folder)}), encoding="utf-8")
        partial.replace(path)


def name_of(folder: Path) -> str:
    """What a service with this existing folder calls its own on shared servers: kept in the folder, so that the next
    start finds it again. Only one process has the folder open."""
    file = folder / NAME_FILE
    if not file.exists():
        file.write_text(f"neve-{uuid4().hex[:12]}", encoding="utf-8")
    return file.read_text(encoding="utf-8")
