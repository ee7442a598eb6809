"""``python -m infra.packaging``: builds every layer into ``build/layers``, prints how large they are and BuildSha.

With ``--layer core --out FOLDER`` it builds one layer, which is what ``sam build`` asks for."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from infra.packaging.build import LAMBDA, CannotBuild, build_layer, compiled_mark
from infra.packaging.fingerprint import build_sha
from infra.packaging.functions import TEMPLATE, deployed_functions
from infra.packaging.layers import LAYERS, ROOT
from infra.packaging.sizes import function_sizes, over_limit, table, unzipped_mb

BUILD = ROOT / "build"


def main() -> int:
    """Exit code 1 when a layer cannot be built, or a function with its layers is larger than it may be."""
    given = _arguments()
    try:
        if given.layer:
            build_layer(LAYERS[given.layer], LAMBDA, given.out)
            return 0
        return _build_all()
    except CannotBuild as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.packaging", description=__doc__)
    parser.add_argument("--layer", choices=sorted(LAYERS), help="build this one alone")
    parser.add_argument("--out", type=Path, help="the folder for it; what is there is removed")
    given = parser.parse_args()
    if (given.layer is None) != (given.out is None):
        parser.error("--layer and --out belong together")
    return given


def _build_all() -> int:
    for name, layer in LAYERS.items():
        build_layer(layer, LAMBDA, BUILD / "layers" / name)
    functions = deployed_functions()
    layers = {name: unzipped_mb(BUILD / "layers" / name) for name in LAYERS}
    used = {name: function.layers for name, function in functions.items()}
    sizes = function_sizes(layers, used, {name: unzipped_mb(function.code) for name, function in functions.items()})
    parts = {f"layers/{name}": BUILD / "layers" / name for name in LAYERS} | {TEMPLATE.name: TEMPLATE}
    sha = build_sha(parts | {f"functions/{name}": function.code for name, function in functions.items()})
    (BUILD / "BuildSha").write_text(sha + "\n", encoding="ascii")
    if not (BUILD / "layers" / "core" / compiled_mark("core")).exists():
        sys.stderr.write(f"No CPython {LAMBDA.python} is here: layers are not compiled, starts take twice as long.\n")
    sys.stdout.write(f"{table(layers, used, sizes)}\n\nBuildSha={sha}\n")
    too_large = over_limit(sizes)
    sys.stderr.writelines(f"{sentence}\n" for sentence in too_large)
    return 1 if too_large else 0


if __name__ == "__main__":
    sys.exit(main())
