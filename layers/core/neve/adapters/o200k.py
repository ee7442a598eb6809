"""Token counters by name; o200k_base is for tenants whose model is OpenAI's.

tiktoken with a merge table from the folder ``NEVE_BPE_DIR`` (``layers/tokens/fetch.py`` fills it from the wheel
``litellm==1.109.1``, file ``litellm/litellm_core_utils/tokenizers/fb374d419588a4632f3f557e76b4b70aebbca790``). The
table's sum is checked and nothing is ever fetched here: tiktoken's own loader would go to the network."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from neve.config import Settings, variable
from neve.domain.errors import FieldError, NeveError
from neve.domain.tokens import Counter, CounterName, estimate

BPE_DIR_VARIABLE = variable("bpe_dir")
BPE_FILE = "o200k_base.tiktoken"
BPE_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"

_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
PATTERN = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{_CONTRACTION}",
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_CONTRACTION}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
"""The pattern by which o200k_base splits text before merging."""


def token_counter(name: CounterName) -> Counter:
    """See ``ports.Ports.counter``."""
    return estimate if name == "estimate" else load_counter()


def load_counter() -> Callable[[str], int]:
    """Load the counter that counts tokens of plain text (a special token's spelling is text like any other). Raises
    NeveError ``invalid_policy`` when the package or the merge table is not there, or the table is not the pinned
    one."""
    folder = Settings.from_environment(os.environ).bpe_dir
    if folder is None:
        raise _unavailable(f"{BPE_DIR_VARIABLE} is not set")
    return _counter(folder / BPE_FILE)


@lru_cache(maxsize=1)
def _counter(path: Path) -> Callable[[str], int]:
    try:
        import tiktoken
    except ImportError:
        raise _unavailable("the package tiktoken is not installed") from None
    encoding = tiktoken.Encoding("o200k_base", pat_str=PATTERN, mergeable_ranks=_ranks(path), special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


def _ranks(path: Path) -> dict[bytes, int]:
    try:
        table = path.read_bytes()
    except OSError:
        raise _unavailable(f"{path.name} is not in {BPE_DIR_VARIABLE}") from None
    if hashlib.sha256(table).hexdigest() != BPE_SHA256:
        raise _unavailable(f"{path.name} is damaged: its sha256 is not {BPE_SHA256[:12]}…")
    return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, table.splitlines())}


def _unavailable(why: str) -> NeveError:
    message = f"o200k_base cannot be used here: {why}"
    return NeveError("invalid_policy", message, errors=[FieldError("token_counter", message)])
