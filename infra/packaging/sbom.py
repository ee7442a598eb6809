"""``make sbom``: writes what is in each layer as CycloneDX lists it, into ``build/sbom``. The packages are those of the
layer's lock, which the build installs by hash; what the layer takes from this repository is named without a version."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from infra.packaging.layers import LAYERS, ROOT, Layer

FOLDER = ROOT / "build" / "sbom"
PINNED = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for layer in LAYERS.values():
        listed = bill_of(layer)
        (FOLDER / f"{layer.name}.cdx.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
        print(f"{FOLDER.relative_to(ROOT)}/{layer.name}.cdx.json: {len(listed['components'])} components")
    return 0


def bill_of(layer: Layer) -> dict[str, Any]:
    """Give the document of one layer, the same for the same lock."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": layer.logical_id, "name": f"neve-layer-{layer.name}"}
        },
        "components": [*packages(layer.lock), *_of_the_repository(layer)],
    }


def packages(lock: Path) -> Iterator[dict[str, Any]]:
    """Give each package of a lock. ``hashes``: of the files that the build may install it from."""
    text = lock.read_text(encoding="utf-8")
    found = list(PINNED.finditer(text))
    for at, package in enumerate(found):
        name, version = re.sub(r"[-_.]+", "-", package[1]).lower(), package[2]
        until = found[at + 1].start() if at + 1 < len(found) else len(text)
        yield {
            "type": "library",
            "bom-ref": f"pkg:pypi/{name}@{version}",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name}@{version}",
            "hashes": [{"alg": "SHA-256", "content": content} for content in HASH.findall(text[package.end() : until])],
        }


def _of_the_repository(layer: Layer) -> Iterator[dict[str, Any]]:
    for place, source in layer.content.items():
        kind = "machine-learning-model" if place.endswith("/model") else "file"
        yield {"type": kind, "bom-ref": source, "name": source, "description": f"in the layer: /opt/{place}"}


if __name__ == "__main__":
    sys.exit(main())
