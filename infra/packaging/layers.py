"""Which layers there are, and what each holds beside the packages of its lock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "requirements" / "layers"

AWS_SERVICES = ("bedrock-runtime", "codedeploy", "dynamodb", "lambda", "s3", "secretsmanager", "sqs")
"""Those that the adapters make clients of. botocore's descriptions of the other 400 are 26 MB."""

NUMBERS_OF = ("us",)
"""Countries whose numbers the gate knows (docs/rules/privacy.md#classes). stdnum has 90, and 3 MB of tables."""


@dataclass(frozen=True, slots=True)
class Layer:
    """``logical_id`` in template.yaml. ``content``: folders and files of the repository by their place in the layer,
    which is under /opt on Lambda. ``fetch``: the script that downloads part of the content. ``dropped``: folders of
    installed packages that nothing here imports, under ``python/``."""

    name: str
    logical_id: str
    content: Mapping[str, str]
    fetch: str | None = None
    dropped: tuple[str, ...] = ()

    @property
    def lock(self) -> Path:
        """Pinned, hashed requirements of its packages."""
        return LOCKS / f"{self.name}.txt"


LAYERS: Mapping[str, Layer] = {
    layer.name: layer
    for layer in (
        Layer("core", "CoreLayer", {"python/neve": "layers/core/neve"}, dropped=("boto3/examples",)),
        Layer("search", "SearchLayer", {}),
        Layer("llm", "LlmLayer", {}),
        Layer("tokens", "TokensLayer", {"tokens/bpe": "layers/tokens/bpe"}, fetch="layers/tokens/fetch.py"),
        Layer("numbers", "NumbersLayer", {}, dropped=("numpy/f2py",)),
        Layer("mcp", "McpLayer", {"python/neve_mcp": "sdk/python/neve_mcp"}),
        Layer(
            "encoder",
            "EncoderLayer",
            {
                f"encoder/{name}": f"layers/encoder/{name}"
                for name in ("model", "calibration.json", "multi_directions.json")
            },
            fetch="layers/encoder/fetch.py",
            dropped=(
                *("onnxruntime/backend", "onnxruntime/quantization", "onnxruntime/tools", "onnxruntime/transformers"),
            ),
        ),
    )
}
